"""``predict``: labels of new rows by the model of a run."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from fairmix.cli.fitting import rows_of_labels
from fairmix.cli.inspection import tell_mistakes
from fairmix.cli.reading import FileTable, read_table
from fairmix.cli.run_folder import RunFolder, refusal_to_write
from fairmix.cli.safe_csv import csv_of
from fairmix.cli.settings import Settings, nearest
from fairmix.cli.telling import DONE, CommandError, Teller, sentence
from fairmix.files import write_whole
from fairmix.loading import load
from fairmix.posterior.labelling import METHODS
from fairmix.posterior.wording import percent
from fairmix.tables.cells import shorten

#: The paper's rule needs the rows that were fitted, which a run does not keep.
OFFERED = tuple(method for method in METHODS if method != "match")


def predict(
    folder: RunFolder, settings: Settings, out: Path | None, method: str, teller: Teller
) -> int:
    """Label the rows of another table.

    Parameters
    ----------
    folder : RunFolder
        The run.
    settings : Settings
        The other table.
    out : Path or None
        The file of labels; None is standard output.
    method : str
        How labels are chosen.
    teller : Teller
        Tells the user.

    Returns
    -------
    int
        The exit code.
    """
    if method not in OFFERED:
        raise CommandError(f"--method is one of {', '.join(OFFERED)}, got {method!r}.")
    if out is not None and out.exists():
        raise CommandError(f"--out {out} is there already; name another file, or remove it.")
    if not folder.model.is_file() or not folder.config.is_file():
        raise CommandError(
            f"{folder.path} is no folder of a run that has ended; fairmix fit makes one."
        )
    fitted = Settings.of_file(folder.config)
    model = load(folder.model)
    table = read_table(settings, kinds_of(model, fitted))
    frame, groups = _take_columns(table, model, fitted, teller)
    with warnings.catch_warnings():
        if groups is None:  # which was said
            warnings.filterwarnings("ignore", "sensitive_features was not passed")
        labels = model.predict(frame, sensitive_features=groups, method=method)
        probabilities = model.predict_proba(frame, sensitive_features=groups, method=method)
    id_column = settings.id or (fitted.id if fitted.id in table.names else None)
    if id_column is not None and id_column not in table.names:
        hint = nearest(id_column, table.names)
        raise CommandError(sentence(f"--id: {id_column!r} is no column of the table{hint}"))
    names, told = rows_of_labels(table, id_column, model, labels, probabilities)
    rows = list(told)
    written = csv_of(names, rows)
    numbers, counts = np.unique(labels, return_counts=True)
    sizes = dict(zip(numbers.tolist(), counts.tolist(), strict=True))
    if out is None and not teller.as_json:
        print(written.decode(), end="", flush=True)
        return DONE
    try:
        if out is not None:
            out.parent.mkdir(parents=True, exist_ok=True)
            write_whole(out, written)
    except OSError as error:
        assert out is not None
        raise refusal_to_write(out, error) from None
    shares = ", ".join(f"{k} {n:,} ({percent(n / len(labels))})" for k, n in sizes.items())
    plain: dict[str, Any] = {
        "out": None if out is None else str(out),
        "n_rows": len(labels),
        "sizes": {str(k): n for k, n in sizes.items()},
    }
    if out is None:  # they are nowhere else
        plain["labels"] = [
            {**dict(zip(names, row, strict=True)), "probability": float(row[-1])} for row in rows
        ]
    teller.answer(f"{len(labels):,} rows in {out}; rows by cluster: {shares}.", plain)
    return DONE


def kinds_of(model: Any, fitted: Settings) -> dict[str, str]:
    """Say how columns are read, so that they are what they were when the model was fitted.

    Parameters
    ----------
    model : estimator
        The model.
    fitted : Settings
        The settings of its run.

    Returns
    -------
    dict
        "text" or "numbers" by name.
    """
    kinds = {}
    for column in model.schema_.columns:
        is_text = any(isinstance(level, str) for level in column.levels or ())
        kinds[column.name] = "text" if is_text else "numbers"
    merged = dict(model.schema_.merged_groups)
    known = [*model.schema_.group_names, *merged]
    own = [name for name in known if name not in merged.values()] or known
    for k, name in enumerate(fitted.sensitive):
        levels = [level if len(fitted.sensitive) == 1 else level[k] for level in own]
        kinds[name] = "text" if any(isinstance(level, str) for level in levels) else "numbers"
    return kinds


def _take_columns(table: FileTable, model: Any, fitted: Settings, teller: Teller) -> Any:
    """Take what the model needs out of a table."""
    import pandas as pd

    wanted = [column.name for column in model.schema_.kept]
    lacking = [name for name in wanted if name not in table.names]
    missing_groups = [name for name in fitted.sensitive if name not in table.names]
    if missing_groups and len(missing_groups) < len(fitted.sensitive):
        lacking += missing_groups
    if lacking:
        hints = [f"{name!r} is missing{nearest(name, table.names)}" for name in lacking]
        raise CommandError(
            f"{table.path}: {sentence(shorten(hints, 3))} The run needs every column that it was "
            "fitted to; cells may be empty."
        )
    mistaken = [table.column(name) for name in wanted if table.column(name).mistakes]
    if mistaken:
        told = "; ".join(tell_mistakes(column).partition("; ")[0] for column in mistaken)
        raise CommandError(
            f"{table.path}: {told}; mend that, or pass --na if it is a missing cell."
        )
    frame = pd.DataFrame({name: table.column(name).values for name in wanted})
    if missing_groups:
        teller.warn(
            f"{table.path.name} has no column {missing_groups[0]!r}, so rows are labelled by the "
            "model alone and nothing is made fair."
        )
        return frame, None
    groups = {name: table.column(name).values for name in fitted.sensitive}
    return frame, pd.DataFrame(groups)
