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
        indicators = [column[:, None] == np.unique(column) for column in self.points.T]
        return np.concatenate(indicators, axis=1).astype(np.float64)
