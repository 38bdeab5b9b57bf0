"""One column of values: numbers or strings, missing entries, codes."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]


def plain_values(values: NDArray[Any]) -> NDArray[Any]:
    """Turn an object array of numbers (or Nones among them) into a numeric one."""
    if values.dtype.kind != "O":
        return values
    missing = np.array([is_missing(v) for v in values], dtype=bool)
    present = values[~missing]
    if all(isinstance(v, (bool, np.bool_)) for v in present) and not missing.any():
        return values.astype(bool)
    if not missing.any() and all(isinstance(v, numbers.Integral) for v in present):
        try:
            return values.astype(np.int64)
        except OverflowError:
            pass
    if len(present) and all(
        isinstance(v, (numbers.Real, np.bool_)) or type(v).__name__ == "Decimal" for v in present
    ):
        return np.array([np.nan if m else float(v) for v, m in zip(values, missing, strict=True)])
    return values


def is_missing(value: Any) -> bool:
    """Tell whether a value is None, NaN, NA or NaT."""
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, (float, np.floating)) and bool(np.isnan(value)))
    )


def encode(values: NDArray[Any], argument: str, name: Any) -> tuple[list[Any], IntArray]:
    """Give the sorted different values and each entry's place among them."""
    if values.dtype.kind == "O" and not all(isinstance(v, str) for v in values):
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
    """Give the first value that is not missing."""
    present = [v for v in values if not is_missing(v)]
    return present[0] if present else None


def shorten(items: Sequence[Any], most: int = 10) -> str:
    """List items for a message, and how many more there are."""
    shown = ", ".join(str(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown}, ... ({len(items) - most} more)"
