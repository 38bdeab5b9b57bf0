"""Small distributions: how many rows of a number are in each bin, with edges that read well."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fairmix.report.disclosure import LEAST_CELL, tell_counts

FloatArray = NDArray[np.float64]

#: About so many bins; what is told of a step is one of these, times a power of ten.
N_BINS = 14
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
#: The first and the last bin have what is farther out than all but this share of the rows.
FAR_OUT = 0.01


def choose_edges(values: FloatArray, kind: str) -> list[float] | None:
    """Choose edges of bins for a number.

    The smallest and the largest value are rows of single people, so edges are round numbers, and
    what lies beyond the outer ones is counted in the outer bins.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        The cells; NaN where missing.
    kind : str
        What the column holds; bins of counts are not narrower than 1.

    Returns
    -------
    list of float or None
        Edges in growing order, or None if there are too few cells.
    """
    present = np.sort(values[~np.isnan(values)])
    if len(present) < 2 * LEAST_CELL:
        return None
    n_beyond = max(int(FAR_OUT * len(present)), LEAST_CELL - 1)
    low, high = float(present[n_beyond]), float(present[-1 - n_beyond])
    if not high > low:  # nearly all cells are the same
        sd = float(present.std())
        if not sd > 0:
            return None
        low, high = low - 2 * sd, high + 2 * sd
    if not math.isfinite(high - low):
        return None
    step = _round_step((high - low) / N_BINS)
    if kind == "counts":
        step = max(math.ceil(step), 1.0)
    first, last = math.floor(low / step), math.floor(high / step) + 1
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def count_in_bins(values: FloatArray, edges: list[float]) -> list[int | None]:
    """Count rows in bins; None stands for a few.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        The cells; NaN where missing.
    edges : list of float
        Edges; a bin has its lower one, and the outer bins have all that lies beyond.

    Returns
    -------
    list of int or None
        A count for each bin.
    """
    present = values[~np.isnan(values)]
    places = np.searchsorted(np.array(edges[1:-1]), present, side="right")
    return tell_counts(np.bincount(places, minlength=len(edges) - 1))


def _round_step(width: float) -> float:
    """Give the next larger width that reads well."""
    scale = 10.0 ** math.floor(math.log10(width))
    return next(step * scale for step in STEPS if step * scale >= width * (1 - 1e-9))
