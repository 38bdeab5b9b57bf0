"""New rows as users give them: read by the schema of a fit, with what a family cannot take."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.posterior.prediction import Prediction
from fairmix.tables.cells import describe, plain_values, shorten
from fairmix.tables.checks import warn
from fairmix.tables.column_schema import ColumnSchema
from fairmix.tables.columns import ColumnError, refuse_columns, refuse_empty_rows
from fairmix.tables.frames import Columns, open_columns
from fairmix.tables.groups import read_groups
from fairmix.tables.schema import Schema, Table

IntArray = NDArray[np.int64]


def read_new_rows(prediction: Prediction, X: Any, owner: str) -> Table:
    """Read new rows.

    Columns are found by name where both tables have names, others are left out. A category that the
    fit did not know is an error, or a missing cell if cells may be missing; a missing cell is an
    error unless the fit allowed it and the column's family can leave it out.

    Parameters
    ----------
    prediction : Prediction
        What the fit learned.
    X : data frame or array-like
        The rows.
    owner : str
        Name of the estimator's class, for messages.

    Returns
    -------
    Table
        The rows as numbers.
    """
    schema, opened = prediction.schema, open_columns(X)
    has_names = schema.has_names and opened.has_names
    n_found, n_wanted = len(opened.columns), len(schema.columns)
    if not has_names and n_found != n_wanted:
        raise ValueError(
            f"X has {n_found} features, but {owner} is expecting {n_wanted} features as input: "
            f"{shorten(schema.names)}. Pass the columns of the table that was fitted."
        )
    table = schema.read(opened, unseen="code")
    problems = []
    for k, known in enumerate(schema.kept):
        try:
            _leave_out(table, k, known, opened, schema)
            _refuse_missing(table, k, known, bool(prediction.can_miss[k]))
        except ColumnError as problem:
            problems.append(problem)
    refuse_columns(problems)
    refuse_empty_rows(table.rows)
    return table


def read_new_groups(schema: Schema, sensitive_features: Any, n_rows: int) -> IntArray:
    """Read the groups of new rows.

    Parameters
    ----------
    schema : Schema
        What the fit learned.
    sensitive_features : array-like or data frame
        Group of each row.
    n_rows : int
        Number of rows.

    Returns
    -------
    ndarray of shape (n_rows,)
        Each row's place among the schema's groups.
    """
    groups = read_groups(sensitive_features, n_rows)
    return schema.read_groups(groups.names, groups.codes)


def _leave_out(table: Table, k: int, known: ColumnSchema, opened: Columns, schema: Schema) -> None:
    """Leave categories out that the fit did not know, if cells may be missing."""
    if known.levels is None:
        return
    is_new = table.rows[:, k] == len(known.levels)
    if not is_new.any():
        return
    place = opened.names.index(known.name) if opened.has_names and schema.has_names else None
    column = opened.columns[schema.names.index(known.name) if place is None else place]
    values = plain_values(column.values)[is_new].tolist()
    new = shorten(list(dict.fromkeys(map(repr, values))))
    rows = shorten(np.flatnonzero(is_new).tolist())
    if not schema.allows_missing:
        raise ColumnError(
            f"{describe(known.name)} holds {new} (in rows {rows}), which the table that was fitted "
            f"did not; it knows {shorten(list(map(repr, known.levels)))}. Drop these rows, or fit "
            "with missing='ignore', where such a cell says nothing."
        )
    table.rows[is_new, k] = np.nan
    table.points[is_new, k] = np.nan
    warn(
        f"X: {describe(known.name)} holds {new} (in rows {rows}), which the table that was fitted "
        "did not; these cells are left out, as if they were missing."
    )


def _refuse_missing(table: Table, k: int, known: ColumnSchema, can_miss: bool) -> None:
    """Raise an error if cells are missing that the column's family cannot leave out."""
    missing = np.flatnonzero(np.isnan(table.rows[:, k])).tolist()
    if missing and not can_miss:
        raise ColumnError(
            f"{describe(known.name)} has missing cells (NaN) in rows {shorten(missing)}, which its "
            "family cannot leave out; fill or drop them."
        )
