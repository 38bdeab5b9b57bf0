"""Data frames, arrays and lists as columns; the only file that knows narwhals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from fairmix.tables.cells import shorten

#: Whole numbers up to here are the same as floating point numbers.
LARGEST_EXACT = 2**53


@dataclass(frozen=True)
class Column:
    """A column as it was given.

    Attributes
    ----------
    name : object
        Its name, or its position.
    values : ndarray of shape (n_rows,)
        Its cells; missing ones are None, NaN or NA.
    is_coded : bool
        Whether its type says that it holds categories, whatever its values look like.
    """

    name: Any
    values: NDArray[Any]
    is_coded: bool = False


@dataclass(frozen=True)
class Columns:
    """A table, opened once: what all who read it look at.

    Attributes
    ----------
    columns : list of Column
        Its columns.
    n_rows : int
        Number of rows.
    has_names : bool
        Whether columns have names, as in a data frame.
    """

    columns: list[Column]
    n_rows: int
    has_names: bool

    @property
    def names(self) -> list[Any]:
        """Names of the columns, or positions."""
        return [column.name for column in self.columns]


def open_columns(X: Any) -> Columns:
    """Open a table: a data frame, an array or lists of rows.

    Parameters
    ----------
    X : data frame, array-like or Columns
        The table; one that is open stays as it is.

    Returns
    -------
    Columns
        Its columns.
    """
    if isinstance(X, Columns):
        return X
    frame = as_frame(X)
    if frame is None:
        if hasattr(X, "tocsr"):
            check_array(X, input_name="X")  # which refuses sparse tables
        array = as_array(X)
        _check_shape(array)
        columns = [Column(k, array[:, k]) for k in range(array.shape[1])]
        return Columns(columns, len(array), has_names=False)
    _check_shape(np.empty(frame.shape))
    columns = [
        Column(
            series.name,
            _series_values(series),
            isinstance(series.dtype, (nw.Categorical, nw.Enum)),
        )
        for series in frame.iter_columns()
    ]
    return Columns(columns, len(frame), has_names=True)


def _check_shape(array: NDArray[Any]) -> None:
    """Let scikit-learn refuse tables that have no rows, no columns or no two dimensions."""
    if array.ndim < 2:
        raise ValueError(
            f"Expected 2D array, got an array of shape {array.shape} instead. Reshape your data: "
            "X has a row for each thing that is clustered and a column for each feature."
        )
    if array.dtype.kind == "c":
        raise ValueError(
            "Complex data not supported: pass real and imaginary parts of X as columns."
        )
    check_array(array, dtype=None, ensure_all_finite=False, input_name="X")


def as_frame(data: Any, argument: str = "X") -> Any:
    """Give a narwhals data frame, or None if it is not one.

    Parameters
    ----------
    data : object
        What was passed.
    argument : str, default="X"
        Name of the argument, for messages.

    Returns
    -------
    narwhals.DataFrame or None
        The frame.
    """
    if isinstance(data, (list, tuple, np.ndarray)) or data is None:
        return None
    _refuse_same_names(data, argument)
    native = nw.from_native(data, pass_through=True, allow_series=True)
    if isinstance(native, nw.Series):
        return None
    if isinstance(native, nw.LazyFrame):
        raise TypeError(f"{argument} is a lazy frame ({type(data).__name__}); collect it first.")
    return native if isinstance(native, nw.DataFrame) else None


def _refuse_same_names(data: Any, argument: str) -> None:
    """Raise an error if columns of a frame share a name, as pandas allows."""
    index: Any = getattr(data, "columns", None) if hasattr(data, "iloc") else None
    twice = [] if index is None else list(dict.fromkeys(index[index.duplicated()]))
    if twice:
        raise ValueError(
            f"{argument} has several columns of the same name ({shorten(twice)}); rename them."
        )


def as_array(data: Any, argument: str = "X") -> Any:
    """Turn lists and other array-likes into an array.

    Parameters
    ----------
    data : array-like
        The data; lists of unequal length are an error.
    argument : str, default="X"
        Name of the argument, for messages.

    Returns
    -------
    ndarray
        The array; text beside numbers keeps both, masked entries are None.
    """
    if isinstance(data, Iterator):
        raise TypeError(
            f"{argument} is a {type(data).__name__}, which can be read once only; "
            "pass a list or an array."
        )
    if isinstance(data, np.ma.MaskedArray):
        array = np.array(data.data, dtype=object)
        array[np.ma.getmaskarray(data)] = None
        return array
    if isinstance(data, np.ndarray):
        return np.asarray(data) if not isinstance(data, np.matrix) else data
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise ValueError(
            f"{argument}: its rows differ in length; pass a table with one value per row and "
            "column."
        ) from error
    if array.dtype.kind in "USf" and isinstance(data, (list, tuple)):
        # NumPy turns numbers beside text into text, and integers beyond 2**63 into others.
        exact = np.asarray(data, dtype=object)
        if array.dtype.kind != "f" or _has_large_integers(exact):
            return exact
    return array


def _has_large_integers(values: NDArray[Any]) -> bool:
    """Tell whether floating point numbers would merge some integers."""
    return any(isinstance(v, int) and abs(v) > LARGEST_EXACT for v in values.ravel())


def columns_of(data: Any, argument: str = "X") -> list[tuple[Any, NDArray[Any]]]:
    """Give (name, values) of each column of a frame, array, series or list.

    Parameters
    ----------
    data : data frame, array-like or series
        The data.
    argument : str, default="X"
        Name of the argument, for messages.

    Returns
    -------
    list of tuple
        Names are positions if the data have none; missing values are None or NaN.
    """
    if hasattr(data, "tocsr"):
        raise TypeError(f"{argument} is sparse; pass it as an array ({argument}.toarray()).")
    frame = as_frame(data, argument)
    if frame is not None:
        return [(series.name, _series_values(series)) for series in frame.iter_columns()]
    if not isinstance(data, (list, tuple, np.ndarray)):
        series = nw.from_native(data, pass_through=True, allow_series=True)
        if isinstance(series, nw.Series):
            return [(series.name or 0, _series_values(series))]
    array = as_array(data, argument)
    if array.ndim == 1:
        return [(0, array)]
    if array.ndim != 2:
        raise ValueError(
            f"{argument} must have one or two dimensions, got an array of shape {array.shape}."
        )
    return [(k, array[:, k]) for k in range(array.shape[1])]


def split_frame(frame: Any, names: list[str]) -> tuple[Any, Any]:
    """Take columns out of a frame.

    Parameters
    ----------
    frame : narwhals.DataFrame
        The frame.
    names : list of str
        The columns.

    Returns
    -------
    left : data frame
        The other columns, as the kind of frame that the user has.
    taken : data frame
        These columns.
    """
    return frame.drop(names).to_native(), frame.select(names).to_native()


def _series_values(series: Any) -> NDArray[Any]:
    """Give a series as a NumPy array, missing values as None or NaN."""
    if series.dtype.is_numeric() or isinstance(series.dtype, nw.Boolean):
        if series.null_count():
            if series.dtype.is_integer() and not _fits_floats(series):
                return np.array(series.to_list(), dtype=object)
            series = series.cast(nw.Float64)
        return np.asarray(series.to_numpy())
    return np.array(series.to_list(), dtype=object)


def _fits_floats(series: Any) -> bool:
    """Tell whether floating point numbers hold all integers of a series exactly."""
    if series.null_count() == len(series):
        return True
    return bool(series.min() >= -LARGEST_EXACT and series.max() <= LARGEST_EXACT)
