"""``reproduce``: the experiments of the paper, which come with the source tree only."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import fairmix
from fairmix.cli.settings import nearest
from fairmix.cli.telling import DONE, FAILED, INTERRUPTED, CommandError, Teller, sentence

#: Where they are, seen from the package in a source tree.
FOLDER = Path(fairmix.__file__).parents[2] / "experiments"
#: What names all of them.
ALL = "all"


def reproduce(
    name: str | None, is_quick: bool, is_anew: bool, out: Path | None, teller: Teller
) -> int:
    """Run experiments, or list them.

    Parameters
    ----------
    name : str or None
        The experiment, or "all".
    is_quick : bool
        Whether the quick form is run.
    is_anew : bool
        Whether results that are there are made anew.
    out : Path or None
        Where results go; None is their own folder.
    teller : Teller
        Tells what goes on.

    Returns
    -------
    int
        The exit code.
    """
    if not (FOLDER / "protocol.py").is_file():
        raise CommandError(
            "the experiments of the paper are not in the installed package; they come with the "
            "source tree, in its folder experiments/.",
            FAILED,
        )
    from rich.text import Text

    items = _import("items")
    if name is None:
        titles = {each: items.get_experiment(each).title for each in items.NAMES}
        text = "\n".join(f"{each:20} {title}" for each, title in titles.items())
        teller.answer(Text(text), {"experiments": titles})
        return DONE
    if name != ALL and name not in items.NAMES:
        text = f"{name} is no experiment{nearest(name, [*items.NAMES, ALL])}"
        raise CommandError(sentence(text))
    protocol, running = _import("protocol"), _import("running")
    effort = protocol.QUICK if is_quick else protocol.FULL
    folder = out or running.RESULTS / effort.name
    names = items.NAMES if name == ALL else [name]
    try:
        problems = running.reproduce(names, effort, folder, teller.note, is_anew)
    except KeyboardInterrupt:
        rest = "the quick form begins anew next time" if is_quick else "the same command goes on"
        raise CommandError(f"interrupted; {rest}", INTERRUPTED) from None
    text = "\n".join([*problems, f"open {folder / 'index.html'}"])
    teller.answer(Text(text), {"out": str(folder), "problems": problems})
    return FAILED if problems else DONE


def _import(module: str) -> Any:
    """Import a module of the experiments, from the source tree that this package is in."""
    root = str(FOLDER.parent)
    if root not in sys.path:
        sys.path.insert(0, root)
    return import_module(f"experiments.{module}")
