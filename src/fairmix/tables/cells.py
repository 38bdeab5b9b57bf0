"""One column of values: numbers or strings, missing entries, codes."""

from __future__ import annotations

import contextlib
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]


def plain_values(values: NDArray[Any]) -> NDArray[Any]:
    """Turn an object array of numbers (or Nones among them) into a numeric one, if that is exact.

    Integers that a numeric array would merge stay what they are.
    """
    if values.dtype.kind != "O":
        return values
    missing = np.array([is_missing(v) for v in values], dtype=bool)
    present = values[~missing]
    if not all(is_number(v) for v in present):
        return values
    if not missing.any():
        if all(isinstance(v, (bool, np.bool_)) for v in present):
            return values.astype(bool)
        if all(isinstance(v, numbers.Integral) for v in present):
            return _plain_integers(values)
    as_floats = floats_of(values)
    is_exact = all(
        not isinstance(v, numbers.Integral) or int(v) == number
        for v, number in zip(present, as_floats[~missing].tolist(), strict=True)
    )
    return as_floats if is_exact and len(present) else values


def _plain_integers(values: NDArray[Any]) -> NDArray[Any]:
    """Give integers as the first type that holds them."""
    for kind in (np.int64, np.uint64):
        with contextlib.suppress(OverflowError):
            return values.astype(kind)
    return values


def floats_of(values: NDArray[Any]) -> NDArray[np.float64]:
    """Give numbers among objects as floats: NaN where missing, infinite beyond all floats."""
    found = np.full(len(values), np.nan)
    for k, value in enumerate(values):
        if not is_missing(value):
            try:
                found[k] = float(value)
            except OverflowError:
                found[k] = np.inf if value > 0 else -np.inf
    return found


def is_number(value: Any) -> bool:
    """Tell whether a value is a real number (booleans and decimals are)."""
    return isinstance(value, (numbers.Real, np.bool_)) or type(value).__name__ == "Decimal"


def is_missing(value: Any) -> bool:
    """Tell whether a value is None, NaN, NA or NaT."""
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, (float, np.floating)) and bool(np.isnan(value)))
    )


def encode(values: NDArray[Any], argument: str, name: Any) -> tuple[list[Any], IntArray]:
    """Give the sorted different values and each entry's place among them."""
    if values.dtype.kind in "cV":
        what = "complex numbers" if values.dtype.kind == "c" else "records"
        raise ValueError(f"{argument}: {describe(name)} holds {what}; pass numbers or text.")
    if values.dtype.kind == "O" and not all(isinstance(v, str) for v in values):
        if all(is_number(v) for v in values):  # integers too large for an array
            found = sorted({v.item() if isinstance(v, np.generic) else v for v in values})
            place = {level: k for k, level in enumerate(found)}
            return found, np.array([place[v] for v in values], dtype=np.int64)
        kinds = sorted({type(v).__name__ for v in values})
        raise TypeError(
            f"{argument}: {describe(name)} holds neither only numbers nor only strings "
            f"(types: {', '.join(kinds)}); convert it to one of them."
        )
    levels, codes = np.unique(values, return_inverse=True)
    return levels.tolist(), codes.reshape(-1).astype(np.int64)


def find_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which values are missing."""
    if values.dtype.kind == "O":
        return np.array([is_missing(v) for v in values], dtype=bool)
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    return np.zeros(len(values), dtype=bool)


def refuse_missing(
    values: NDArray[Any], argument: str, name: Any, remedy: str | None = None
) -> None:
    """Raise an error that names the rows with missing values."""
    rows = np.flatnonzero(find_missing(values))
    if len(rows):
        raise ValueError(
            f"{argument}: {describe(name)} has {len(rows)} missing value(s) (NaN or null), "
            f"in rows {shorten(rows.tolist())}; fill them or drop these rows"
            + (f", {remedy}." if remedy else ".")
        )


def describe(name: Any) -> str:
    """Name a column for a message."""
    if name is None:
        return "the array"
    return f"column {name}" if isinstance(name, int) else f"column {name!r}"


def first(values: NDArray[Any]) -> Any:
    """Give the first value that is not missing, as messages show it."""
    found: Any = next((value for value in values if not is_missing(value)), None)
    is_plain = isinstance(found, np.generic) and found.dtype.kind in "biufcUS"
    return found.item() if is_plain else found


def shorten(items: Sequence[Any], most: int = 10) -> str:
    """List items for a message, and how many more there are."""
    shown = ", ".join(str(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown}, ... ({len(items) - most} more)"
