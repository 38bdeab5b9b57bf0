"""``reproduce``: the experiments of the paper, which come with the source tree only."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import fairmix
from fairmix.cli.settings import nearest
from fairmix.cli.telling import FAILED, CommandError, sentence

#: Where they are, seen from the package in a source tree.
FOLDER = Path(fairmix.__file__).parents[2] / "experiments"


def reproduce(name: str | None) -> int:
    """Run an experiment, or list them.

    Parameters
    ----------
    name : str or None
        The experiment.

    Returns
    -------
    int
        The exit code.
    """
    scripts = {path.stem: path for path in sorted(FOLDER.glob("[!_]*.py"))}
    if not scripts:
        raise CommandError(
            "the experiments of the paper are not in the installed package; they come with the "
            "source tree, in its folder experiments/.",
            FAILED,
        )
    if name is None:
        print("\n".join(scripts))
        return 0
    if name not in scripts:
        raise CommandError(sentence(f"{name} is no experiment{nearest(name, scripts)}"))
    return subprocess.run([sys.executable, str(scripts[name])], check=False).returncode
