"""The columns of X as numbers: what a family wants, checked cell by cell."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from fairmix.inputs import as_array, as_frame, columns_of
from fairmix.values import (
    describe,
    encode,
    find_missing,
    first,
    plain_values,
    refuse_missing,
    shorten,
)

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: What a family's columns may hold.
NUMBER_KINDS, CATEGORY_KINDS = ("numbers", "counts", "amounts"), ("categories", "binary")
#: A categorical column with more categories than this is refused.
MAX_LEVELS = 1000
REMEDY = "or pass missing='ignore', which leaves missing cells out"


@dataclass(frozen=True)
class Features:
    """The columns of X as numbers.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        Numbers, or codes of categories; NaN where a cell is missing.
    names : list or None
        Names of the columns, if X has some.
    is_category : ndarray of bool, shape (n_columns,)
        Which columns hold codes.
    """

    rows: FloatArray
    names: list[str] | None
    is_category: NDArray[np.bool_]

    def describe(self, column: int) -> str:
        """Name a column for a message."""
        return describe(column if self.names is None else self.names[column])

    def select(self, kept: IntArray) -> Features:
        """Give some of the columns."""
        names = None if self.names is None else [self.names[k] for k in kept]
        return Features(np.ascontiguousarray(self.rows[:, kept]), names, self.is_category[kept])

    def note_on(self, estimator: Any) -> None:
        """Set what scikit-learn expects of a fitted estimator to know of its features."""
        estimator.n_features_in_ = self.rows.shape[1]
        if self.names is not None and all(isinstance(name, str) for name in self.names):
            estimator.feature_names_in_ = np.array(self.names, dtype=object)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_


def read_features(X: Any, kinds: str | Sequence[str], *, allow_missing: bool = False) -> Features:
    """Read X as a family wants it.

    Parameters
    ----------
    X : data frame or array-like of shape (n_rows, n_columns)
        The data.
    kinds : str or sequence of str
        What all columns hold, or each of them: "numbers", "counts", "amounts", "categories" or
        "binary".
    allow_missing : bool, default=False
        Whether cells may be missing.

    Returns
    -------
    Features
        Numbers and codes.
    """
    every = [kinds] if isinstance(kinds, str) else list(kinds)
    unknown = [kind for kind in every if kind not in (*NUMBER_KINDS, *CATEGORY_KINDS)]
    if unknown:
        raise ValueError(
            f"family: its values = {unknown[0]!r} must be one of "
            f"{', '.join(map(repr, (*NUMBER_KINDS, *CATEGORY_KINDS)))}."
        )
    if all(kind in NUMBER_KINDS for kind in every):
        rows, names = _read_numbers(X)
    else:
        rows, names = _read_columns(X, kinds, allow_missing)
    if isinstance(kinds, str):
        every = every * rows.shape[1]
    is_category = np.array([kind not in NUMBER_KINDS for kind in every], dtype=bool)
    features = Features(np.array(rows, order="C"), names, is_category)
    _refuse_not_finite(features, allow_missing)
    _refuse_one_row(features.rows)
    for column, kind in enumerate(every):
        _check_range(features, column, kind)
    if allow_missing:
        refuse_empty_rows(features)
    return features


def refuse_holes(features: Features, family: Any, given: Any) -> None:
    """Raise an error if cells are missing that a family cannot leave out.

    Parameters
    ----------
    features : Features
        The data, with missing cells.
    family : family
        The family.
    given : object
        What the user passed as family.
    """
    refused = np.isnan(features.rows).any(axis=0)
    refused &= ~np.asarray(getattr(family, "allows_missing", False))
    if refused.any():
        raise ValueError(
            f"missing = 'ignore', but the family of {features.describe(int(refused.argmax()))} "
            f"cannot leave missing cells out (family = {given!r}); fill or drop them, or "
            "use a family whose columns are independent, such as 'gaussian' or 'auto'."
        )


def _read_numbers(X: Any) -> tuple[FloatArray, list[str] | None]:
    """Read X as numbers (booleans are 0 and 1), with scikit-learn's checks of arrays."""
    frame = as_frame(X)
    if frame is None:
        array = X if hasattr(X, "dtype") or hasattr(X, "tocsr") else as_array(X)
        kind = getattr(getattr(array, "dtype", None), "kind", "")
        if kind in ("U", "S", "O") and array.ndim == 2:
            for column in range(array.shape[1]):
                _refuse_text(column, array[:, column], "text")
        rows = check_array(array, dtype=np.float64, ensure_all_finite=False, input_name="X")
        return rows, None
    parts = [_read_column_of_numbers(name, values) for name, values in columns_of(X)]
    rows = np.stack(parts, axis=1) if parts else np.empty((len(frame), 0))
    rows = check_array(rows, dtype=np.float64, ensure_all_finite=False, input_name="X")
    return rows, list(frame.columns)


def _read_columns(
    X: Any, kinds: str | Sequence[str], allow_missing: bool
) -> tuple[FloatArray, list[str] | None]:
    """Read X column by column, some or all of them as codes of categories."""
    columns = columns_of(X, as_table=True)
    if not columns:
        raise ValueError("X has 0 feature(s) while a minimum of 1 is required.")
    if len(columns[0][1]) == 0:
        raise ValueError("X has 0 sample(s) while a minimum of 2 is required.")
    parts = []
    for k, (name, values) in enumerate(columns):
        kind = kinds if isinstance(kinds, str) else kinds[k]
        if kind in NUMBER_KINDS:
            parts.append(_read_column_of_numbers(name, values))
        else:
            parts.append(_read_codes(name, plain_values(values), kind == "binary", allow_missing))
    names = [name for name, _ in columns]
    return np.stack(parts, axis=1), None if isinstance(names[0], int) else names


def _read_column_of_numbers(name: Any, values: NDArray[Any]) -> FloatArray:
    """Read one column as numbers."""
    values = plain_values(values)
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    if values.dtype.kind == "O" and find_missing(values).all():
        return np.full(len(values), np.nan)
    shown = first(values)
    kind = "Datetime" if values.dtype.kind == "M" or hasattr(shown, "year") else "text"
    _refuse_text(name, values, kind)
    raise ValueError(
        f"X: {describe(name)} holds {kind} values such as {shown!r}, but its family takes numbers; "
        "use family='auto' or 'categorical', or drop or encode the column."
    )


def _refuse_text(name: Any, values: NDArray[Any], kind: str) -> None:
    """Raise an error if a column that must hold numbers holds text."""
    text = [v for v in values if isinstance(v, str)]
    if text:
        raise ValueError(
            f"X: {describe(name)} holds {kind} such as {text[0]!r}, but its family takes numbers; "
            "use family='auto' or 'categorical', or drop or encode the column."
        )


def _read_codes(name: Any, values: NDArray[Any], binary: bool, allow_missing: bool) -> FloatArray:
    """Read one column as categories, coded 0, 1, ... in sorted order, NaN where missing."""
    if not allow_missing:
        refuse_missing(values, "X", name, REMEDY)
    missing = find_missing(values)
    present = values[~missing]
    if present.dtype.kind == "O":
        present = plain_values(present)
    levels, codes = encode(present, "X", name)
    if binary and len(levels) > 2:
        raise ValueError(
            f"X: {describe(name)} holds {len(levels)} different values ({shorten(levels)}), but "
            "family='bernoulli' takes two; use family='categorical'."
        )
    if len(levels) > MAX_LEVELS:
        raise ValueError(
            f"X: {describe(name)} has {len(levels):,} categories, more than {MAX_LEVELS:,}; "
            "drop it if it is an identifier, or group rare categories into one."
        )
    if len(levels) > max(len(values) / 2, 20):
        warnings.warn(
            f"X: {describe(name)} has {len(levels)} categories for {len(values)} rows; if it is an "
            "identifier, drop it.",
            UserWarning,
            stacklevel=5,
        )
    column = np.full(len(values), np.nan)
    column[~missing] = codes
    return column


def _refuse_not_finite(features: Features, allow_missing: bool) -> None:
    """Raise an error that names the first cell that is not a finite number."""
    is_bad = np.isinf(features.rows) if allow_missing else ~np.isfinite(features.rows)
    bad = np.argwhere(is_bad)
    if not len(bad):
        return
    row, column = bad[0]
    value = "NaN (a missing value)" if np.isnan(features.rows[row, column]) else "infinity (inf)"
    raise ValueError(
        f"Input X contains {value}: {features.describe(int(column))}, row {row} (bad cells in all: "
        f"{len(bad)}). Fill or drop missing cells, {REMEDY}; cap infinite ones."
    )


def _refuse_one_row(rows: FloatArray) -> None:
    if len(rows) < 2:
        raise ValueError(
            f"X has 1 sample (shape={rows.shape}), but clustering needs a minimum of 2."
        )


def _check_range(features: Features, column: int, kind: str) -> None:
    """Raise an error if counts are no counts, or amounts are negative."""
    values = features.rows[:, column]
    if kind == "counts":
        is_bad, wanted = (values < 0) | (values % 1 > 0), "counts: whole numbers from 0 on"
        family = "poisson"
    elif kind == "amounts":
        is_bad, wanted, family = values < 0, "numbers from 0 on", "exponential"
    else:
        return
    if is_bad.any():
        row = int(np.flatnonzero(is_bad)[0])
        raise ValueError(
            f"X: {features.describe(column)} holds {values[row]:g} in row {row}, but "
            f"family='{family}' takes {wanted}; use family='gaussian' for this column."
        )


def refuse_empty_rows(features: Features) -> None:
    """Raise an error if rows have no value at all.

    Parameters
    ----------
    features : Features
        The columns.
    """
    empty = np.flatnonzero(np.isnan(features.rows).all(axis=1))
    if len(empty):
        raise ValueError(
            f"X: {len(empty)} row(s) have no value at all (rows {shorten(empty.tolist())}), so "
            "nothing says where they belong; drop them."
        )
