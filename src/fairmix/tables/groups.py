"""From what users have (frames, arrays, lists) to columns, sensitive groups and labels.

This is the only file that knows data frames; it does so through narwhals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from fairmix.values import encode, plain_values, refuse_missing

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Groups:
    """The sensitive groups: names in sorted order, and each row's place among them."""

    names: list[Any]
    codes: IntArray

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
        _refuse_other_order(X, sensitive_features)
        return X, sensitive_features
    assert frame is not None
    if len(named) == len(columns):
        raise ValueError(
            f"sensitive_features = {sensitive_features!r} names every column of X; "
            "at least one column must be left to cluster by."
        )
    return frame.drop(named).to_native(), frame.select(named).to_native()


def _are_names(values: Any, columns: list[str], n_rows: int) -> bool:
    """Tell whether a list names columns, rather than being one value a row."""
    if not columns or not isinstance(values, (list, tuple)) or not values:
        return False
    if not all(isinstance(value, str) for value in values) or len(set(values)) != len(values):
        return False
    return len(values) != n_rows or all(value in columns for value in values)


def _refuse_other_order(X: Any, sensitive_features: Any) -> None:
    """Refuse a pandas index that has the labels of X in another order: rows would be mixed up."""
    index: Any = getattr(X, "index", None)
    other: Any = getattr(sensitive_features, "index", None)
    if not hasattr(index, "equals") or not hasattr(other, "equals"):
        return
    same_labels = len(index) == len(other) and index.is_unique and index.isin(other).all()
    if same_labels and not index.equals(other):
        raise ValueError(
            "sensitive_features has the index of X in another order, so its values belong to "
            "other rows; pass sensitive_features.loc[X.index]."
        )


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
    if np.ndim(sensitive_features) == 0 and not hasattr(sensitive_features, "shape"):
        raise ValueError(
            f"sensitive_features must be one value for each row of {table}, got "
            f"{sensitive_features!r}; pass the column itself."
        )
    columns = [(name, plain_values(values)) for name, values in columns_of(sensitive_features)]
    if not columns:
        raise ValueError("sensitive_features has no column; pass one value a row.")
    for _, values in columns:
        if len(values) != n_rows:
            raise ValueError(
                f"sensitive_features has {len(values)} rows but {table} has {n_rows}; "
                f"pass one value for each row of {table}."
            )
    for name, values in columns:
        refuse_missing(values, "sensitive_features", name)
    encoded = [encode(values, "sensitive_features", name) for name, values in columns]
    crossed = np.stack([codes for _, codes in encoded], axis=1)
    combinations, group_codes = np.unique(crossed, axis=0, return_inverse=True)
    names: list[Any] = [
        tuple(levels[k] for (levels, _), k in zip(encoded, row, strict=True))
        for row in combinations
    ]
    if len(encoded) == 1:
        names = [name for (name,) in names]
    return Groups(names, group_codes.reshape(-1).astype(np.int64))


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
    values = np.asarray(labels)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"{name} must be one label a row, got an array of shape {values.shape}.")
    if n_rows is not None and len(values) != n_rows:
        raise ValueError(f"{name} has {len(values)} entries, but there are {n_rows} rows.")
    values = plain_values(values)
    refuse_missing(values, name, None)
    return encode(values, name, None)[1]


def as_frame(data: Any) -> Any:
    """Give a narwhals data frame, or None if it is not one.

    Parameters
    ----------
    data : object
        What was passed.

    Returns
    -------
    narwhals.DataFrame or None
        The frame.
    """
    if isinstance(data, (list, tuple, np.ndarray)) or data is None:
        return None
    native = nw.from_native(data, pass_through=True, allow_series=True)
    if isinstance(native, nw.Series):
        return None
    if isinstance(native, nw.LazyFrame):
        raise TypeError(f"a lazy frame was passed ({type(data).__name__}); collect it first.")
    return native if isinstance(native, nw.DataFrame) else None


def categorical_columns(data: Any) -> set[Any]:
    """Give the columns of a frame that are categorical by their type.

    Parameters
    ----------
    data : data frame or array-like
        The data.

    Returns
    -------
    set
        Their names; nothing for an array.
    """
    frame = as_frame(data)
    if frame is None:
        return set()
    return {
        name for name, kind in frame.schema.items() if isinstance(kind, (nw.Categorical, nw.Enum))
    }


def as_array(data: Any) -> Any:
    """Turn lists into an array; lists of unequal length are an error.

    Parameters
    ----------
    data : array-like
        The data.

    Returns
    -------
    ndarray
        The array; text beside numbers keeps both.
    """
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise ValueError(
            "X: its rows differ in length; pass a table with one value per row and column."
        ) from error
    if array.dtype.kind in "US" and not isinstance(data, np.ndarray):
        # NumPy turns numbers beside text into text; keep what was given.
        array = np.asarray(data, dtype=object)
    return array


def columns_of(data: Any, *, as_table: bool = False) -> list[tuple[Any, NDArray[Any]]]:
    """Give (name, values) of each column of a frame, array, series or list.

    Parameters
    ----------
    data : data frame, array-like or series
        The data.
    as_table : bool, default=False
        Whether it must have two dimensions.

    Returns
    -------
    list of tuple
        Names are positions if the data have none; missing values are None or NaN.
    """
    frame = as_frame(data)
    if frame is not None:
        return [(series.name, _series_values(series)) for series in frame.iter_columns()]
    if isinstance(data, (list, tuple, np.ndarray)):
        array = as_array(data)
    else:
        series = nw.from_native(data, pass_through=True, allow_series=True)
        if isinstance(series, nw.Series):
            return [(series.name or 0, _series_values(series))]
        array = as_array(data)
    if as_table and array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got an array of shape {array.shape} instead. Reshape your data: "
            "X has a row for each thing that is clustered and a column for each feature."
        )
    if array.ndim == 1:
        return [(0, array)]
    if array.ndim != 2:
        raise ValueError(f"expected one or two dimensions, got an array of shape {array.shape}.")
    return [(k, array[:, k]) for k in range(array.shape[1])]


def _series_values(series: Any) -> NDArray[Any]:
    """Give a series as a NumPy array, missing values as None or NaN."""
    if series.dtype.is_numeric() or isinstance(series.dtype, nw.Boolean):
        if series.null_count():
            series = series.cast(nw.Float64)
        return np.asarray(series.to_numpy())
    return np.array(series.to_list(), dtype=object)
