"""Distances between rows, for the energy of a matching.

A distance holds the points it measures between, so that the sampler takes it as an
argument and the energy need not be tied to the data (Geweke's test needs that).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist


class Euclidean(NamedTuple):
    """Euclidean distance, for numbers."""

    points: NDArray[np.float64]

    def between(self, row: int, other: int) -> float:
        """Distance of two rows; compiled into the sampler."""
        total = 0.0
        for k in range(self.points.shape[1]):
            difference = self.points[row, k] - self.points[other, k]
            total += difference * difference
        return math.sqrt(total)

    def matrix(self, rows: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.float64]:
        """Distances of all pairs."""
        return cdist(self.points[rows], self.points[others])

    def coordinates(self) -> NDArray[np.float64]:
        """Points whose squared Euclidean distance grows with this distance, for k-means."""
        return self.points


class Hamming(NamedTuple):
    """Number of columns that differ, for categories."""

    points: NDArray[np.float64]

    def between(self, row: int, other: int) -> float:
        """Distance of two rows; compiled into the sampler."""
        n_different = 0.0
        for k in range(self.points.shape[1]):
            if self.points[row, k] != self.points[other, k]:
                n_different += 1.0
        return n_different

    def matrix(self, rows: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.float64]:
        """Distances of all pairs."""
        n_columns = self.points.shape[1]
        return n_columns * cdist(self.points[rows], self.points[others], "hamming")

    def coordinates(self) -> NDArray[np.float64]:
        """Points whose squared Euclidean distance grows with this distance, for k-means."""
        return code_indicators(self.points, np.ones(self.points.shape[1], dtype=bool))


class Gower(NamedTuple):
    r"""Mean over columns of how much two rows differ, for mixed tables and missing cells.

    In a column of numbers, :math:`|x - y|` over the column's range; in a column of categories, 0
    or 1. Columns in which a cell is missing do not count; rows with no column in common are at
    distance 1, the largest there is.
    """

    points: NDArray[np.float64]
    is_category: NDArray[np.bool_]
    spans: NDArray[np.float64]

    def between(self, row: int, other: int) -> float:
        """Distance of two rows; compiled into the sampler."""
        total = 0.0
        n_common = 0
        for k in range(self.spans.size):
            difference = abs(self.points[row, k] - self.points[other, k])
            if difference == difference:  # neither is missing
                n_common += 1
                if not self.is_category[k]:
                    total += difference / self.spans[k]
                elif difference > 0.0:
                    total += 1.0
        return total / n_common if n_common > 0 else 1.0

    def matrix(self, rows: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.float64]:
        """Distances of all pairs."""
        total = np.zeros((len(rows), len(others)))
        n_common = np.zeros((len(rows), len(others)))
        for k, span in enumerate(self.spans):
            difference = np.abs(self.points[rows, k, None] - self.points[others, k])
            scaled = difference > 0 if self.is_category[k] else difference / span
            is_common = ~np.isnan(difference)
            total += np.where(is_common, scaled, 0.0)
            n_common += is_common
        return np.where(n_common > 0, total / np.maximum(n_common, 1), 1.0)

    def coordinates(self) -> NDArray[np.float64]:
        """Points whose squared Euclidean distance grows with this distance, for k-means."""
        coordinates = code_indicators(self.points, self.is_category)
        means = np.nanmean(coordinates, axis=0)
        return np.where(np.isnan(coordinates), means, coordinates)


def code_indicators(
    points: NDArray[np.float64], is_category: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Replace columns of categories by one indicator a category; missing cells stay NaN.

    Parameters
    ----------
    points : ndarray of shape (n_rows, n_columns)
        Numbers and codes.
    is_category : ndarray of bool, shape (n_columns,)
        Which columns hold codes.

    Returns
    -------
    ndarray of shape (n_rows, n_indicators_and_numbers)
        Numbers as they are, and zeros and ones.
    """
    if not is_category.any():
        return points
    parts = []
    for column, is_code in zip(points.T, is_category, strict=True):
        if is_code:
            missing = np.isnan(column)
            indicators = (column[:, None] == np.unique(column[~missing])).astype(np.float64)
            indicators[missing] = np.nan
            parts.append(indicators)
        else:
            parts.append(column[:, None])
    return np.concatenate(parts, axis=1)
