"""The columns of a table as numbers: what a family wants, checked cell by cell."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.tables.cells import (
    describe,
    encode,
    find_missing,
    first,
    floats_of,
    is_missing,
    is_number,
    plain_values,
    shorten,
)
from fairmix.tables.checks import warn
from fairmix.tables.frames import Column, Columns, open_columns

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: What a family's columns may hold.
NUMBER_KINDS, CATEGORY_KINDS = ("numbers", "counts", "amounts"), ("categories", "binary")
#: A categorical column with more categories than this is refused.
MAX_LEVELS = 1000
#: With fewer rows than this, nothing is taken for an identifier.
FEW_ROWS = 10
REMEDY = "or pass missing='ignore', which leaves missing cells out"


class ColumnError(Exception):
    """A column cannot be used; the message says why, without the name of the table."""

    def __init__(self, message: str, kind: type[Exception] = ValueError) -> None:
        super().__init__(message)
        self.kind = kind


def refuse_columns(problems: Sequence[ColumnError], table: str = "X") -> None:
    """Raise one error about all columns that cannot be used.

    Parameters
    ----------
    problems : sequence of ColumnError
        What is wrong; nothing is raised if it is empty.
    table : str, default="X"
        Name of the table.
    """
    if not problems:
        return
    kinds = {problem.kind for problem in problems}
    kind = kinds.pop() if len(kinds) == 1 else ValueError
    if len(problems) == 1:
        raise kind(f"{table}: {problems[0]}")
    lines = "".join(f"\n- {problem}" for problem in problems)
    raise kind(f"{table} has {len(problems)} columns that cannot be used:{lines}")


@dataclass(frozen=True)
class Features:
    """The columns of a table as numbers.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        Numbers, or codes of categories; NaN where a cell is missing.
    names : list or None
        Names of the columns, if the table has some.
    is_category : ndarray of bool, shape (n_columns,)
        Which columns hold codes.
    levels : list of tuple or None
        The values that codes stand for, in each column; None where it holds numbers.
    """

    rows: FloatArray
    names: list[Any] | None
    is_category: NDArray[np.bool_]
    levels: list[tuple[Any, ...] | None]

    def describe(self, column: int) -> str:
        """Name a column for a message."""
        return describe(column if self.names is None else self.names[column])


def read_features(X: Any, kinds: str | Sequence[str], *, allow_missing: bool = False) -> Features:
    """Read a table as a family wants it.

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
    opened = open_columns(X)
    every = [kinds] * len(opened.columns) if isinstance(kinds, str) else list(kinds)
    unknown = [kind for kind in every if kind not in (*NUMBER_KINDS, *CATEGORY_KINDS)]
    if unknown:
        raise ValueError(
            f"family: its kind = {unknown[0]!r} must be one of "
            f"{', '.join(map(repr, (*NUMBER_KINDS, *CATEGORY_KINDS)))}."
        )
    if opened.n_rows < 2:
        raise ValueError(
            f"X has 1 sample (shape={(1, len(every))}), but clustering needs a minimum of 2."
        )
    rows = np.empty((opened.n_rows, len(every)))
    levels: list[tuple[Any, ...] | None] = []
    problems = []
    for k, (column, kind) in enumerate(zip(opened.columns, every, strict=True)):
        try:
            rows[:, k], found = read_column(column, kind, allow_missing=allow_missing)
            levels.append(found)
        except ColumnError as problem:
            problems.append(problem)
    refuse_columns(problems)
    is_category = np.array([kind in CATEGORY_KINDS for kind in every], dtype=bool)
    features = Features(rows, opened.names if opened.has_names else None, is_category, levels)
    refuse_empty_rows(rows)
    _warn_about_identifiers(opened, features)
    return features


def read_column(
    column: Column, kind: str, *, allow_missing: bool
) -> tuple[FloatArray, tuple[Any, ...] | None]:
    """Read one column.

    Parameters
    ----------
    column : Column
        The column as it was given.
    kind : str
        What it must hold.
    allow_missing : bool
        Whether cells may be missing.

    Returns
    -------
    numbers : ndarray of shape (n_rows,)
        Numbers or codes, NaN where missing.
    levels : tuple or None
        The values that codes stand for.
    """
    values = plain_values(column.values)
    refuse_unusable(column.name, values)
    missing = find_missing(values)
    if kind in NUMBER_KINDS:
        numbers = read_numbers(column.name, values)
        levels = None
    else:
        levels, codes = _read_levels(column.name, values[~missing], kind == "binary")
        numbers = np.full(len(values), np.nan)
        numbers[~missing] = codes
    _refuse_not_finite(column.name, numbers, allow_missing)
    _check_range(column.name, numbers, kind)
    return numbers, levels


def refuse_unusable(name: Any, values: NDArray[Any]) -> None:
    """Raise an error if a column holds what no family can read.

    Parameters
    ----------
    name : object
        The column's name.
    values : ndarray
        Its values.
    """
    shown = first(values)
    if values.dtype.kind == "M" or isinstance(shown, (datetime.date, datetime.time)):
        raise ColumnError(
            f"{describe(name)} holds dates or times such as {shown}; turn them into numbers, such "
            "as days since the first, or drop the column."
        )
    if values.dtype.kind == "m" or isinstance(shown, datetime.timedelta):
        raise ColumnError(
            f"{describe(name)} holds durations such as {shown}; turn them into numbers of "
            "seconds, or drop the column."
        )
    if isinstance(shown, (complex, np.complexfloating, bytes)):
        kind, remedy = (
            ("bytes", "decode them to text")
            if isinstance(shown, bytes)
            else ("complex numbers", "pass real and imaginary parts as columns")
        )
        raise ColumnError(f"{describe(name)} holds {kind} such as {shown!r}; {remedy}.")
    if values.dtype.kind == "O":
        odd = [v for v in values if not (isinstance(v, str) or is_number(v) or is_missing(v))]
        if odd:
            raise ColumnError(
                f"{describe(name)} holds {odd[0]!r} (of type {type(odd[0]).__name__}); the "
                "argument must be a string or a real number in every cell. Convert the column, for "
                "example by astype(str), or drop it.",
                TypeError,
            )


def read_numbers(name: Any, values: NDArray[Any]) -> FloatArray:
    """Read values as numbers (booleans are 0 and 1).

    Parameters
    ----------
    name : object
        The column's name.
    values : ndarray
        The values.

    Returns
    -------
    ndarray of shape (n_rows,)
        The numbers, NaN where missing.
    """
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    texts = [str(v) for v in values if isinstance(v, str)]
    if not texts:
        return floats_of(values)
    if _are_numbers(texts):
        raise ColumnError(
            f"{describe(name)} holds text that looks like numbers, such as {texts[0]!r}; convert "
            "it (astype(float)), or use family='auto' or 'categorical' if it holds categories."
        )
    raise ColumnError(
        f"{describe(name)} holds text such as {texts[0]!r}, but its family takes numbers; "
        "use family='auto' or 'categorical', or drop or encode the column."
    )


def _are_numbers(texts: Sequence[Any]) -> bool:
    """Tell whether texts can all be read as numbers."""
    try:
        for text in texts:
            float(text)
    except ValueError:
        return False
    return True


def _read_levels(
    name: Any, present: NDArray[Any], is_binary: bool
) -> tuple[tuple[Any, ...], IntArray]:
    """Give the different values in sorted order, and each one's place among them."""
    if present.dtype.kind == "O":
        present = plain_values(present)
    try:
        levels, codes = encode(present, "X", name)
    except TypeError as error:
        raise ColumnError(str(error).removeprefix("X: "), TypeError) from None
    if is_binary and len(levels) > 2:
        raise ColumnError(
            f"{describe(name)} holds {len(levels)} different values ({shorten(levels)}), but "
            "family='bernoulli' takes two; use family='categorical'."
        )
    if len(levels) > MAX_LEVELS:
        raise ColumnError(
            f"{describe(name)} has {len(levels):,} categories, more than {MAX_LEVELS:,}; "
            "drop it if it is an identifier, or group rare categories into one."
        )
    return tuple(levels), codes


def _warn_about_identifiers(opened: Columns, features: Features) -> None:
    """Warn about columns that say which row it is rather than what it is like."""
    n_rows = opened.n_rows
    for k, (column, levels) in enumerate(zip(opened.columns, features.levels, strict=True)):
        if levels is not None:
            n_present = int(np.sum(~np.isnan(features.rows[:, k])))
            is_text = bool(levels) and isinstance(levels[0], str)
            all_differ = is_text and n_present >= FEW_ROWS and len(levels) == n_present
            if is_text and len(levels) > FEW_ROWS and _are_numbers(levels):
                warn(
                    f"X: {features.describe(k)} holds numbers as text, such as {levels[0]!r}, "
                    "taken for categories; convert it (astype(float)) if they measure something."
                )
            elif len(levels) > max(n_rows / 2, 20) or all_differ:
                warn(
                    f"X: {features.describe(k)} has {len(levels)} categories for {n_rows} rows; "
                    "if it is an identifier, drop it."
                )
        elif column.values.dtype.kind in "iu" and n_rows >= FEW_ROWS:
            ordered = np.sort(column.values)
            if np.all(ordered[1:] - ordered[:-1] == 1):
                warn(
                    f"X: {features.describe(k)} holds the numbers {ordered[0]} to {ordered[-1]}, "
                    "each once; if it is an identifier, drop it."
                )


def _refuse_not_finite(name: Any, numbers: FloatArray, allow_missing: bool) -> None:
    """Raise an error that names the first cell that is not a finite number."""
    bad = np.isinf(numbers) if allow_missing else ~np.isfinite(numbers)
    if not bad.any():
        return
    rows = np.flatnonzero(bad)
    if np.isnan(numbers[rows[0]]):
        raise ColumnError(
            f"NaN (a missing value) in {describe(name)}, row {rows[0]} (missing in all: "
            f"{len(rows)}, in rows {shorten(rows.tolist())}); fill or drop missing cells, {REMEDY}."
        )
    raise ColumnError(
        f"infinity (inf) in {describe(name)}, row {rows[0]} (bad cells in all: {len(rows)}); "
        "cap infinite values."
    )


def _check_range(name: Any, values: FloatArray, kind: str) -> None:
    """Raise an error if counts are no counts, or amounts are negative."""
    if kind == "counts":
        is_bad, wanted = (values < 0) | (values % 1 > 0), "counts: whole numbers from 0 on"
        family = "poisson"
    elif kind == "amounts":
        is_bad, wanted, family = values < 0, "numbers from 0 on", "exponential"
    else:
        return
    if is_bad.any():
        row = int(np.flatnonzero(is_bad)[0])
        raise ColumnError(
            f"{describe(name)} holds {values[row]:g} in row {row}, but "
            f"family='{family}' takes {wanted}; use family='gaussian' for this column."
        )


def refuse_empty_rows(rows: FloatArray) -> None:
    """Raise an error if rows have no value at all.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        The columns.
    """
    empty = np.flatnonzero(np.isnan(rows).all(axis=1))
    if len(empty):
        raise ValueError(
            f"X: {len(empty)} row(s) have no value at all (rows {shorten(empty.tolist())}), so "
            "nothing says where they belong; drop them."
        )


def varying_columns(features: Features) -> IntArray:
    """Give the columns that vary, and warn about the others.

    Parameters
    ----------
    features : Features
        The columns of X.

    Returns
    -------
    ndarray
        Their positions.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # columns without any value
        varies = np.nanmax(features.rows, axis=0) > np.nanmin(features.rows, axis=0)
    if not varies.any():
        raise ValueError(
            "X: every column is constant, so there is nothing to cluster by; "
            "pass at least one column that varies."
        )
    if not varies.all():
        dropped = ", ".join(features.describe(int(k)) for k in np.flatnonzero(~varies))
        warn(f"X: {dropped} is constant (or empty) and was dropped.")
    return np.flatnonzero(varies)
