"""Units that columns can be compared in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairmix.tables.checks import warn

FloatArray = NDArray[np.float64]

#: Unscaled values beyond these lose digits, or overflow, in sums of squares.
LARGE, LARGEST = 1e6, 1e70


class Units(NamedTuple):
    """Standard units of a column (or, as arrays, of several): mean 0 and variance 1.

    A value becomes :math:`(2^{-e} x - c - c') / s`.

    Parameters
    ----------
    exponent : int
        The power of two that all values are divided by first; that is exact, and neither the mean
        nor the squares overflow.
    centre, correction : float
        The mean, and what rounding left of it.
    scale : float
        The (population) standard deviation, or 1 if values differ in the last digit only.
    """

    exponent: int
    centre: float
    correction: float
    scale: float

    def apply(self, values: FloatArray) -> FloatArray:
        """Bring values into these units; missing cells stay NaN."""
        centred = np.ldexp(np.ascontiguousarray(values), -self.exponent)
        return np.asarray(((centred - self.centre) - self.correction) / self.scale)

    def undo(self, values: FloatArray) -> FloatArray:
        """Bring values out of these units again, but for rounding."""
        own = values * self.scale + self.correction + self.centre
        return np.asarray(np.ldexp(own, self.exponent))


def fit_units(rows: FloatArray) -> list[Units]:
    """Find standard units of columns, safely for large offsets.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        Columns that are not constant; missing cells are NaN.

    Returns
    -------
    list of Units
        Those of each column.
    """
    exponent = np.frexp(np.nanmax(np.abs(rows), axis=0, initial=0.0))[1]
    centred = np.ldexp(np.ascontiguousarray(rows), -exponent)  # one order of summation
    mean = np.nanmean if np.isnan(rows).any() else np.mean
    centre = mean(centred, axis=0)
    centred = centred - centre
    correction = mean(centred, axis=0)
    centred -= correction
    spread = np.sqrt(mean(centred**2, axis=0))
    scale = np.where(spread > 0, spread, 1.0)
    return [
        Units(int(e), float(c), float(more), float(s))
        for e, c, more, s in zip(exponent, centre, correction, scale, strict=True)
    ]


def standardise(rows: FloatArray) -> FloatArray:
    """Scale columns to mean 0 and (population) variance 1.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        Columns that are not constant; missing cells are NaN and stay so.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        The scaled columns.
    """
    return apply_units(rows, fit_units(rows))


def apply_units(rows: FloatArray, units: list[Units]) -> FloatArray:
    """Bring columns into units.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        The columns.
    units : list of Units
        Units of each column.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        The columns in these units.
    """
    if not units:
        return rows
    return np.stack([each.apply(rows[:, k]) for k, each in enumerate(units)], axis=1)


def check_size(rows: FloatArray) -> None:
    """Refuse numbers whose squares overflow, and warn about those that lose digits.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        Columns that are not scaled.
    """
    largest = np.nanmax(np.abs(rows), initial=0.0)
    if largest > LARGEST:
        raise ValueError(
            f"X: its largest value is {largest:.3g}, whose square overflows; "
            "pass standardize=True or rescale the data."
        )
    if largest > LARGE:
        warn(
            f"X: its largest value is {largest:.3g}; sums of squares lose the digits of values "
            "of order 1. Pass standardize=True or rescale the data.",
        )
