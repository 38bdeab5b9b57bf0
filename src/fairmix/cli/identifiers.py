"""Columns that say which row it is, or when, rather than what it is like."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from fairmix.cli.cells import FileColumn
from fairmix.tables.columns import FEW_ROWS, MAX_LEVELS

#: Words in the name of a column that names rows.
WORDS = {"id", "ids", "uid", "uuid", "guid", "key", "index", "identifier", "rowid"}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def find_id(columns: Sequence[FileColumn]) -> str | None:
    """Find the column that names the rows: its name says so, and no two rows share a value.

    Parameters
    ----------
    columns : sequence of FileColumn
        Columns that may be that.

    Returns
    -------
    str or None
        The first such column.
    """
    found = (c.name for c in columns if _is_called_id(c.name) and _is_different_everywhere(c))
    return next(found, None)


def why_left_out(column: FileColumn, n_rows: int) -> str | None:
    """Say why a column is not clustered by.

    Parameters
    ----------
    column : FileColumn
        The column.
    n_rows : int
        Number of rows.

    Returns
    -------
    str or None
        The reason; None if it is clustered by.
    """
    present = column.present
    if len(present) == 0:
        return "empty"
    if column.holds_dates:
        return "dates"
    n_values = len(set(present.tolist())) if column.is_text else len(np.unique(present))
    if n_values == 1:
        return f"constant ({present[0]!s:.40})"
    if column.mistakes:
        return None  # numbers with mistakes: a problem, not a reason
    if column.is_text:
        is_name = n_values > max(n_rows / 2, 20) or n_values == len(present) >= FEW_ROWS
        if is_name or n_values > MAX_LEVELS:
            all_different = n_values == len(present)
            return "text, all different" if all_different else f"text of {n_values:,} values"
    elif column.values.dtype.kind == "i" and n_values == n_rows >= FEW_ROWS:
        if int(present.max()) - int(present.min()) == n_rows - 1:
            return "numbers the rows"
        if _is_called_id(column.name):
            return "names the rows, too"
    return None


def _is_called_id(name: str) -> bool:
    return bool(WORDS & {word.lower() for word in _WORD.findall(name)})


def _is_different_everywhere(column: FileColumn) -> bool:
    values = column.values
    if column.n_missing or values.dtype.kind == "f" or column.holds_dates:
        return False
    return len(set(values.tolist())) == len(values)
