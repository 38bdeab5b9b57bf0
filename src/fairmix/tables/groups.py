"""Sensitive groups and cluster labels, as users give them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.tables.cells import describe, encode, first, plain_values, refuse_missing
from fairmix.tables.checks import warn
from fairmix.tables.columns import ColumnError, refuse_columns
from fairmix.tables.frames import as_array, as_frame, columns_of, split_frame

IntArray = NDArray[np.int64]

#: A sensitive column of more different numbers that are not whole is taken for continuous.
MAX_FRACTIONS = 10


@dataclass(frozen=True)
class Groups:
    """The sensitive groups: names in sorted order, and each row's place among them.

    ``attributes`` has the groups of each attribute, all of them crossed are the groups. If rare
    groups were put together, ``merged`` maps their names to the new one, which is the last.
    """

    names: list[Any]
    codes: IntArray
    attributes: dict[Any, Groups] = field(default_factory=dict)
    merged: dict[Any, str] = field(default_factory=dict)

    @property
    def counts(self) -> IntArray:
        """Number of rows of each group."""
        return np.bincount(self.codes, minlength=len(self.names))


def split_sensitive(X: Any, sensitive_features: Any) -> tuple[Any, Any]:
    """Take sensitive columns out of X, if they are given by name.

    Parameters
    ----------
    X : data frame or array-like
        The data.
    sensitive_features : None, str, list of str, array-like or data frame
        A string, or a list of strings that are all columns of X, names columns.

    Returns
    -------
    X : data frame or array-like
        X without those columns.
    sensitive_features : None, array-like or data frame
        The columns, or the argument as it was.
    """
    frame = as_frame(X)
    columns = [] if frame is None else frame.columns
    if isinstance(sensitive_features, str):
        if sensitive_features not in columns:
            raise ValueError(
                f"sensitive_features = {sensitive_features!r} is not a column of X; "
                + (f"its columns are {columns}." if columns else "pass one value a row instead.")
            )
        named = [sensitive_features]
    elif _are_names(sensitive_features, columns, 0 if frame is None else len(frame)):
        named = list(sensitive_features)
        unknown = [name for name in named if name not in columns]
        if unknown:
            raise ValueError(
                f"sensitive_features names {unknown[0]!r}, which is not a column of X; "
                f"its columns are {columns}."
            )
    else:
        refuse_other_order(X, sensitive_features, "X", "sensitive_features")
        return X, sensitive_features
    assert frame is not None
    if len(named) == len(columns):
        raise ValueError(
            f"sensitive_features = {sensitive_features!r} names every column of X; "
            "at least one column must be left to cluster by."
        )
    return split_frame(frame, named)


def _are_names(values: Any, columns: list[str], n_rows: int) -> bool:
    """Tell whether a list names columns, rather than being one value a row."""
    if not columns or not isinstance(values, (list, tuple)) or not values:
        return False
    if not all(isinstance(value, str) for value in values) or len(set(values)) != len(values):
        return False
    return len(values) != n_rows or all(value in columns for value in values)


def refuse_other_order(data: Any, other: Any, table: str, argument: str) -> None:
    """Refuse a pandas index in another order than that of the table: rows would be mixed up.

    Parameters
    ----------
    data, other : object
        The table, and what has one entry for each of its rows.
    table, argument : str
        Their names, for messages.
    """
    index: Any = getattr(data, "index", None)
    other_index: Any = getattr(other, "index", None)
    if not hasattr(index, "equals") or not hasattr(other_index, "equals"):
        return
    if index.equals(other_index) or len(index) != len(other_index):
        return
    counts, other_counts = index.value_counts(), other_index.value_counts()
    if len(counts) == len(other_counts) and counts.reindex(other_counts.index).equals(other_counts):
        remedy = (
            f"pass {argument}.loc[{table}.index]"
            if index.is_unique
            else "bring both into one order, and call reset_index(drop=True) on both"
        )
        raise ValueError(
            f"{argument} has the index of {table} in another order, so its values belong to "
            f"other rows; {remedy}."
        )


def refuse_groups_as_y(y: Any, sensitive_features: Any) -> None:
    """Say so if the sensitive groups seem to have been passed as ``y``, which is not used.

    Text, booleans and categories are refused. Numbers give a warning only, since scikit-learn's
    tools hand a numeric target to every estimator.

    Parameters
    ----------
    y : object
        What was passed as y.
    sensitive_features : object
        What was passed as sensitive_features.
    """
    if y is None or sensitive_features is not None:
        return
    remedy = "y is not used; pass the sensitive groups as sensitive_features=..."
    columns = [(0, np.array([y]))] if np.isscalar(y) else columns_of(y, "y")
    if any(plain_values(values).dtype.kind in "bOUS" for _, values in columns):
        raise TypeError(
            f"y holds no numbers, and there are no sensitive_features, so nothing would be made "
            f"fair: {remedy}"
        )
    warn(f"y was passed, but no sensitive_features, so nothing is made fair: {remedy}")


def read_groups(sensitive_features: Any, n_rows: int, table: str = "X") -> Groups:
    """Read the sensitive groups; several columns are crossed.

    Parameters
    ----------
    sensitive_features : None, array-like or data frame
        One value a row, or several columns. None is one group.
    n_rows : int
        Number of rows of the table.
    table : str, default="X"
        What has so many rows, for messages.

    Returns
    -------
    Groups
        Names (tuples for several columns) and codes.
    """
    if sensitive_features is None:
        return Groups(["all"], np.zeros(n_rows, dtype=np.int64))
    if np.isscalar(sensitive_features):
        raise ValueError(
            f"sensitive_features must be one value for each row of {table}, got "
            f"{sensitive_features!r}; pass the column itself."
        )
    columns = [
        (name, plain_values(values))
        for name, values in columns_of(sensitive_features, "sensitive_features")
    ]
    if not columns:
        raise ValueError("sensitive_features has no column; pass one value a row.")
    for _, values in columns:
        if len(values) != n_rows:
            raise ValueError(
                f"sensitive_features has {len(values)} rows but {table} has {n_rows}; "
                f"pass one value for each row of {table}."
            )
    encoded, problems = [], []
    for name, values in columns:
        try:
            encoded.append(_encode_group(name, values))
        except (ValueError, TypeError) as error:
            message = str(error).removeprefix("sensitive_features: ")
            problems.append(ColumnError(message, type(error)))
    refuse_columns(problems, "sensitive_features")
    crossed = np.stack([codes for _, codes in encoded], axis=1)
    combinations, group_codes = np.unique(crossed, axis=0, return_inverse=True)
    names: list[Any] = [
        tuple(levels[k] for (levels, _), k in zip(encoded, row, strict=True))
        for row in combinations
    ]
    if len(encoded) == 1:
        names = [name for (name,) in names]
    attributes = {
        name: Groups(levels, codes)
        for (name, _), (levels, codes) in zip(columns, encoded, strict=True)
    }
    return Groups(names, group_codes.reshape(-1).astype(np.int64), attributes)


def _encode_group(name: Any, values: NDArray[Any]) -> tuple[list[Any], IntArray]:
    """Give the groups of one column, and each row's place among them."""
    refuse_missing(values, "sensitive_features", name)
    if values.dtype.kind in "mM" or hasattr(first(values), "isoformat"):
        raise ValueError(
            f"sensitive_features: {describe(name)} holds dates or durations such as "
            f"{first(values)}; cut them into a few groups, such as years."
        )
    if all(type(value).__name__ == "Interval" for value in values):  # what pandas.cut gives
        intervals, codes = np.unique(values, return_inverse=True)
        return [str(interval) for interval in intervals], codes.reshape(-1).astype(np.int64)
    levels, codes = encode(values, "sensitive_features", name)
    is_continuous = values.dtype.kind == "f" and not all(level.is_integer() for level in levels)
    if is_continuous and len(levels) > MAX_FRACTIONS:
        raise ValueError(
            f"sensitive_features: {describe(name)} holds {len(levels)} different numbers such as "
            f"{levels[0]:g}, so it looks continuous; cut it into a few groups, for example by "
            "pandas.cut."
        )
    return levels, codes


def read_labels(labels: Any, n_rows: int | None = None, name: str = "labels") -> IntArray:
    """Read cluster labels of any kind as codes 0, 1, ...

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        One label a row.
    n_rows : int, optional
        How many there must be.
    name : str, default="labels"
        Name of the argument, for messages.

    Returns
    -------
    ndarray of shape (n_rows,)
        Codes in sorted order of the labels.
    """
    return read_clusters(labels, n_rows, name)[1]


def read_clusters(
    labels: Any, n_rows: int | None = None, name: str = "labels"
) -> tuple[list[Any], IntArray]:
    """Read cluster labels of any kind: the different ones, and codes.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        One label a row.
    n_rows : int, optional
        How many there must be.
    name : str, default="labels"
        Name of the argument, for messages.

    Returns
    -------
    levels : list
        The different labels in sorted order.
    codes : ndarray of shape (n_rows,)
        Each row's place among them.
    """
    if not hasattr(labels, "shape"):
        labels = as_array(labels, name)
    if len(labels.shape) != 1 or labels.shape[0] == 0:
        raise ValueError(f"{name} must be one label a row, got an array of shape {labels.shape}.")
    [(_, values)] = columns_of(labels, name)
    if n_rows is not None and len(values) != n_rows:
        raise ValueError(f"{name} has {len(values)} entries, but there are {n_rows} rows.")
    values = plain_values(values)
    refuse_missing(values, name, None)
    return encode(values, name, None)


def warn_about_copies(rows: NDArray[np.float64], names: list[Any], groups: Groups) -> None:
    """Warn if a feature is the sensitive attribute under another name.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        The columns of X.
    names : list
        Their names.
    groups : Groups
        The sensitive groups.
    """
    n_groups = len(groups.names)
    if n_groups < 2:
        return
    for name, column in zip(names, rows.T, strict=True):
        values, codes = np.unique(column, return_inverse=True)
        if len(values) == n_groups and len(np.unique(codes * n_groups + groups.codes)) == n_groups:
            warn(
                f"X: {describe(name)} repeats sensitive_features: it pulls every cluster towards "
                "one group. Drop it unless that is wanted."
            )
