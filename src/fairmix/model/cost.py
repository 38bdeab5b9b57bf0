"""Cost of a clustering: how far rows are from their cluster, for many labellings at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairmix.model.tabulation import tabulate

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


def squared_distance_cost(rows: FloatArray, labels: IntArray) -> FloatArray:
    """Mean squared distance to the cluster mean, for labellings of shape (n, n_rows).

    Missing cells (NaN) are left out.
    """
    nothing = np.zeros(len(rows), dtype=np.int64)
    every_size = tabulate(labels, nothing, 1)[..., 0]
    costs = np.zeros(len(labels))
    for column in (rows - np.nanmean(rows, axis=0)).T:
        present = ~np.isnan(column)
        column = np.where(present, column, 0.0)
        sizes = every_size
        if not present.all():
            sizes = tabulate(labels, nothing, 1, weights=present.astype(np.float64))[..., 0]
        means = tabulate(labels, nothing, 1, weights=column)[..., 0] / np.maximum(sizes, 1)
        # Two passes: the difference of large sums of squares would lose all digits.
        residuals = column - np.take_along_axis(means, labels.astype(np.int64), axis=1)
        costs += np.mean(residuals**2, axis=1, where=present) * present.mean()
    return costs


def category_cost(rows: FloatArray, labels: IntArray) -> FloatArray:
    """Negative log likelihood at the maximum likelihood, for labellings (n, n_rows)."""
    costs = np.zeros(len(labels))
    for column in rows.T:
        present = ~np.isnan(column)  # missing cells are left out
        codes = column[present].astype(np.int64)
        counts = tabulate(labels[:, present], codes, int(codes.max()) + 1)
        sizes = counts.sum(axis=-1, keepdims=True)
        shares = counts / np.maximum(sizes, 1)
        costs -= np.sum(counts * np.log(np.where(counts > 0, shares, 1.0)), axis=(-2, -1))
    return costs
