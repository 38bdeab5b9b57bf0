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

EUCLIDEAN, HAMMING, GOWER = 0, 1, 2


class Distance(NamedTuple):
    r"""Distance between rows: one of three kinds, so that the sampler is compiled once for all.

    *Euclidean*, for numbers. *Hamming*, for categories: the number of columns that differ. *Gower*,
    for mixed tables and missing cells: the mean over columns of how much two rows differ. In a
    column of numbers, that is :math:`|x - y|` over the column's range; in a column of categories, 0
    or 1. Columns in which a cell is missing do not count; rows with no column in common are at
    distance 1, the largest there is.

    Parameters
    ----------
    kind : int
        Which of them.
    points : ndarray of shape (n_rows, n_columns)
        Numbers and codes of categories.
    is_category : ndarray of bool, shape (n_columns,)
        Which columns hold codes.
    spans : ndarray of shape (n_columns,)
        Range of each column.
    """

    kind: int
    points: NDArray[np.float64]
    is_category: NDArray[np.bool_]
    spans: NDArray[np.float64]

    def between(self, row: int, other: int) -> float:
        """Distance of two rows; compiled into the sampler."""
        total = 0.0
        if self.kind == EUCLIDEAN:
            for k in range(self.points.shape[1]):
                difference = self.points[row, k] - self.points[other, k]
                total += difference * difference
            return math.sqrt(total)
        if self.kind == HAMMING:
            for k in range(self.points.shape[1]):
                if self.points[row, k] != self.points[other, k]:
                    total += 1.0
            return total
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
        if self.kind == EUCLIDEAN:
            return cdist(self.points[rows], self.points[others])
        if self.kind == HAMMING:
            shares = cdist(self.points[rows], self.points[others], "hamming")
            return np.asarray(self.points.shape[1] * shares)
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
        if not np.isnan(coordinates).any():
            return coordinates
        means = np.nanmean(coordinates, axis=0)
        return np.where(np.isnan(coordinates), means, coordinates)


def euclidean(points: NDArray[np.float64]) -> Distance:
    """Give the Euclidean distance between these points."""
    n_columns = points.shape[1]
    return Distance(EUCLIDEAN, points, np.zeros(n_columns, dtype=bool), np.ones(n_columns))


def hamming(points: NDArray[np.float64]) -> Distance:
    """Give the number of columns in which these codes differ."""
    n_columns = points.shape[1]
    return Distance(HAMMING, points, np.ones(n_columns, dtype=bool), np.ones(n_columns))


def gower(
    points: NDArray[np.float64], is_category: NDArray[np.bool_], spans: NDArray[np.float64]
) -> Distance:
    """Give Gower's distance between rows of numbers and codes."""
    return Distance(GOWER, points, is_category, spans)


def distance_of_points(points: NDArray[np.float64], is_category: NDArray[np.bool_]) -> Distance:
    """Give the distance that suits these points.

    Parameters
    ----------
    points : ndarray of shape (n_rows, n_columns)
        Numbers and codes; missing cells are NaN.
    is_category : ndarray of bool, shape (n_columns,)
        Which columns hold codes.

    Returns
    -------
    Distance
        Euclidean, Hamming, or Gower's for mixed tables and missing cells.
    """
    points = np.ascontiguousarray(points)
    if np.isnan(points).any() or len(np.unique(is_category)) == 2:
        spans = np.nanmax(points, axis=0) - np.nanmin(points, axis=0)
        return gower(points, is_category, spans)
    return hamming(points) if is_category.all() else euclidean(points)


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
