"""From what users have (frames, arrays, lists) to arrays of numbers and group codes.

This is the only file that knows data frames; it does so through narwhals.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from fairmix.values import describe, encode, first, plain_values, refuse_missing, shorten

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: A categorical column with more categories than this is refused.
MAX_LEVELS = 1000


@dataclass(frozen=True)
class Features:
    """The columns of X as numbers.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        Numbers, or codes of categories.
    names : list or None
        Names of the columns, if X has some.
    """

    rows: FloatArray
    names: list[str] | None

    def describe(self, column: int) -> str:
        """Name a column for a message."""
        return f"column {column}" if self.names is None else f"column {self.names[column]!r}"


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
    frame = _as_frame(X)
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
    columns = [(name, plain_values(values)) for name, values in _columns_of(sensitive_features)]
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


def read_features(X: Any, family: Any) -> Features:
    """Read X as a family wants it.

    Parameters
    ----------
    X : data frame or array-like of shape (n_rows, n_columns)
        The data.
    family : family
        Its ``values`` say what the columns hold; numbers by default.

    Returns
    -------
    Features
        Numbers or codes.
    """
    values = getattr(family, "values", "numbers")
    if values == "numbers":
        return read_numbers(X)
    return read_categories(X, binary=values == "binary")


def read_numbers(X: Any) -> Features:
    """Read X as numbers (booleans are 0 and 1).

    Parameters
    ----------
    X : data frame or array-like of shape (n_rows, n_columns)
        The data.

    Returns
    -------
    Features
        The numbers, all finite.
    """
    frame = _as_frame(X)
    if frame is None:
        array = X if hasattr(X, "dtype") or hasattr(X, "tocsr") else _as_array(X)
        _refuse_text(array)
        rows = check_array(array, dtype=np.float64, ensure_all_finite=False, input_name="X")
        names = None
    else:
        names = list(frame.columns)
        parts = [_numeric_column(series) for series in frame.iter_columns()]
        rows = np.stack(parts, axis=1) if parts else np.empty((len(frame), 0))
        rows = check_array(rows, dtype=np.float64, ensure_all_finite=False, input_name="X")
    features = Features(np.array(rows, order="C"), names)
    _refuse_not_finite(features)
    _refuse_one_row(features.rows)
    return features


def read_categories(X: Any, *, binary: bool) -> Features:
    """Read X as categories, coded 0, 1, ... in sorted order within each column.

    Parameters
    ----------
    X : data frame or array-like of shape (n_rows, n_columns)
        The data; a column holds only numbers or only strings.
    binary : bool
        Refuse columns with more than two values.

    Returns
    -------
    Features
        The codes.
    """
    columns = _columns_of(X, as_table=True)
    if not columns:
        raise ValueError("X has 0 feature(s) while a minimum of 1 is required.")
    n_rows = len(columns[0][1])
    if n_rows == 0:
        raise ValueError("X has 0 sample(s) while a minimum of 2 is required.")
    coded = []
    for name, values in columns:
        values = plain_values(values)
        refuse_missing(values, "X", name)
        levels, codes = encode(values, "X", name)
        if binary and len(levels) > 2:
            raise ValueError(
                f"X: {describe(name)} holds {len(levels)} different values "
                f"({shorten(levels)}), but family='bernoulli' takes two; "
                "use family='categorical'."
            )
        if len(levels) > MAX_LEVELS:
            raise ValueError(
                f"X: {describe(name)} has {len(levels):,} categories, more than {MAX_LEVELS:,}; "
                "drop it if it is an identifier, or group rare categories into one."
            )
        if len(levels) > max(n_rows / 2, 20):
            warnings.warn(
                f"X: {describe(name)} has {len(levels)} categories for {n_rows} rows; if it is an "
                "identifier, drop it.",
                UserWarning,
                stacklevel=4,
            )
        coded.append(codes.astype(float))
    rows = np.ascontiguousarray(np.stack(coded, axis=1))
    _refuse_one_row(rows)
    names = [name for name, _ in columns]
    return Features(rows, None if isinstance(names[0], int) else names)


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


def _as_frame(data: Any) -> Any:
    """Give a narwhals data frame, or None if it is not one."""
    if isinstance(data, (list, tuple, np.ndarray)) or data is None:
        return None
    native = nw.from_native(data, pass_through=True, allow_series=True)
    if isinstance(native, nw.Series):
        return None
    if isinstance(native, nw.LazyFrame):
        raise TypeError(f"a lazy frame was passed ({type(data).__name__}); collect it first.")
    return native if isinstance(native, nw.DataFrame) else None


def _as_array(data: Any) -> Any:
    """Turn lists into an array; lists of unequal length are an error."""
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


def _columns_of(data: Any, *, as_table: bool = False) -> list[tuple[Any, NDArray[Any]]]:
    """Give (name, values) of each column of a frame, array, series or list."""
    frame = _as_frame(data)
    if frame is not None:
        return [(series.name, _series_values(series)) for series in frame.iter_columns()]
    if isinstance(data, (list, tuple, np.ndarray)):
        array = _as_array(data)
    else:
        series = nw.from_native(data, pass_through=True, allow_series=True)
        if isinstance(series, nw.Series):
            return [(series.name or 0, _series_values(series))]
        array = _as_array(data)
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


def _numeric_column(series: Any) -> FloatArray:
    """Read one column of a frame as numbers."""
    if series.dtype.is_numeric() or isinstance(series.dtype, nw.Boolean):
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    values = plain_values(np.array(series.to_list(), dtype=object))
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    raise ValueError(
        f"X: {describe(series.name)} holds {series.dtype} values such as {first(values)!r}, but "
        "family='gaussian' takes numbers; use family='categorical', or drop or encode the column."
    )


def _refuse_text(array: Any) -> None:
    """Raise an error if an array that must hold numbers holds text."""
    kind = getattr(getattr(array, "dtype", None), "kind", "")
    if kind not in "USO" or kind == "" or array.ndim != 2:
        return
    for column in range(array.shape[1]):
        text = [v for v in array[:, column] if isinstance(v, str)]
        if text:
            raise ValueError(
                f"X: column {column} holds text such as {text[0]!r}, but family='gaussian' takes "
                "numbers; use family='categorical', or drop or encode the column."
            )


def _refuse_not_finite(features: Features) -> None:
    """Raise an error that names the first cell that is not a finite number."""
    bad = np.argwhere(~np.isfinite(features.rows))
    if not len(bad):
        return
    row, column = bad[0]
    value = "NaN (a missing value)" if np.isnan(features.rows[row, column]) else "infinity (inf)"
    raise ValueError(
        f"Input X contains {value}: {features.describe(int(column))}, row {row} (bad cells in all: "
        f"{len(bad)}). Fill or drop missing cells, and cap infinite ones."
    )


def _refuse_one_row(rows: FloatArray) -> None:
    if len(rows) < 2:
        raise ValueError(
            f"X has 1 sample (shape={rows.shape}), but clustering needs a minimum of 2."
        )
