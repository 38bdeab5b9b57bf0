"""``compare``: the same table clustered in several ways, side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fairmix.cli.inspection import family_of_features, inspect
from fairmix.cli.reading import read_table
from fairmix.cli.run_folder import refusal_to_write
from fairmix.cli.safe_csv import csv_of
from fairmix.cli.settings import Settings, nearest
from fairmix.cli.telling import DONE, CommandError, Teller, sentence
from fairmix.cli.understanding import describe
from fairmix.comparison import compare
from fairmix.comparison.methods import METHODS
from fairmix.files import write_whole
from fairmix.posterior.wording import short_text

#: Columns that people do without, and what others are if there is nothing to tell.
NOT_SHOWN = ("silhouette", "memory")
USUAL = {"runs": 1, "failures": 0, "left_out": 0}


def compare_methods(
    settings: Settings, methods: tuple[str, ...], n_seeds: int, out: Path | None, teller: Teller
) -> int:
    """Cluster a table in several ways.

    Parameters
    ----------
    settings : Settings
        The table, and how long it may take.
    methods : tuple of str
        Names of methods; empty are all.
    n_seeds : int
        Runs of each setting.
    out : Path or None
        A file for all runs.
    teller : Teller
        Tells the user.

    Returns
    -------
    int
        The exit code.
    """
    if out is not None and out.exists():
        raise CommandError(f"--out {out} is there already; name another file, or remove it.")
    chosen = [_find_method(name) for name in methods]
    found = inspect(read_table(settings), settings)
    teller.note(describe(found))
    found.refuse()
    for text in found.warned:
        teller.warn(text)
    given = found.settings.parameters()
    result = compare(
        found.frame(found.features),
        found.frame(found.settings.sensitive),
        methods=chosen or None,
        n_clusters=settings.k,
        family=family_of_features(found.settings, found.features),
        n_seeds=n_seeds,
        random_state=settings.seed or 0,
        n_warmup=settings.warmup,
        n_draws=settings.draws,
        time_limit=given["max_seconds"],
        n_jobs=settings.jobs,
        verbose=0 if teller.is_quiet else 1,
    )
    runs: Any = result.runs
    if out is not None:
        try:
            write_whole(out, csv_of(list(runs.columns), runs.to_numpy(dtype=object).tolist()))
        except OSError as error:
            raise refusal_to_write(out, error) from None
    summary = result.summary().reset_index().round(3)
    plain = json.loads(summary.to_json(orient="records"))
    teller.answer(_table_of(plain), plain)
    return DONE


def _find_method(name: str) -> str:
    """Find a method by its name, however that is written."""
    by_folded = {method.casefold(): method for method in METHODS}
    if name.casefold() not in by_folded:
        hint = nearest(name, METHODS) or f"; the methods are {', '.join(map(repr, METHODS))}"
        raise CommandError(sentence(f"--methods: {name!r} is no method{hint}"))
    return by_folded[name.casefold()]


def _table_of(rows: list[dict[str, Any]]) -> Any:
    """Give a line a row; ``--out`` and ``--json`` have more columns than fit into a terminal."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    names = [
        name
        for name in rows[0]
        if name not in NOT_SHOWN
        and not (name in USUAL and all(row[name] == USUAL[name] for row in rows))
    ]
    for name in names:
        is_text = name in ("method", "setting")
        shown.add_column(
            Text(name.removeprefix("n_"), "bold"),
            justify="left" if is_text else "right",
            overflow="fold",
            no_wrap=name == "method",
        )
    for row in rows:
        cells = ("" if row[name] is None else short_text(row[name], 60) for name in names)
        shown.add_row(*map(Text, cells))
    return shown
