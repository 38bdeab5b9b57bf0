r"""k-medoids by eager swaps.

The loss is :math:`\sum_i w_i \min_{m \in M} d(i, m)`. With the distance of every point to its
nearest and second nearest medoid at hand, the gain of replacing *any* medoid by one candidate
costs one pass over the points (Schubert & Rousseeuw 2021); a swap that lowers the loss is made at
once. The result is a local minimum: no single swap improves it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: A swap must lower the loss by more than this share of it; less is rounding.
LEAST_GAIN = 1e-12


def k_medoids(
    distances: FloatArray,
    n_medoids: int,
    rng: np.random.Generator,
    weights: FloatArray | None = None,
) -> IntArray:
    """Choose medoids.

    Parameters
    ----------
    distances : ndarray of shape (n_points, n_points)
        Distance between any two points.
    n_medoids : int
        How many to choose.
    rng : numpy.random.Generator
        Source of randomness.
    weights : ndarray of shape (n_points,), optional
        Weight of each point, 1 by default.

    Returns
    -------
    ndarray of shape (n_medoids,)
        The medoids, in growing order.
    """
    n_points = len(distances)
    if n_medoids in (0, n_points):
        return np.arange(n_medoids)
    weights = np.ones(n_points) if weights is None else weights
    medoids = _spread_out(distances, n_medoids, rng, weights)
    search = _Search(distances, medoids, weights)
    candidates = rng.permutation(n_points)
    n_failed = turn = 0
    while n_failed < n_points:  # everybody in turn since the last swap
        n_failed = 0 if search.try_swap(int(candidates[turn % n_points])) else n_failed + 1
        turn += 1
    return np.sort(medoids)


def _spread_out(
    distances: FloatArray, n_medoids: int, rng: np.random.Generator, weights: FloatArray
) -> IntArray:
    """Choose first medoids, each with probability proportional to its distance to the others."""
    chosen = [int(rng.choice(len(distances), p=weights / weights.sum()))]
    nearest = distances[chosen[0]].copy()
    while len(chosen) < n_medoids:
        odds = nearest * weights
        odds[chosen] = 0.0
        if not odds.sum() > 0:  # copies of the chosen ones are left
            odds = np.ones(len(distances))
            odds[chosen] = 0.0
        chosen.append(int(rng.choice(len(distances), p=odds / odds.sum())))
        nearest = np.minimum(nearest, distances[chosen[-1]])
    return np.array(chosen)


class _Search:
    """Medoids (changed in place), and the nearest two of every point."""

    def __init__(self, distances: FloatArray, medoids: IntArray, weights: FloatArray) -> None:
        self.distances = distances
        self.medoids = medoids
        self.weights = weights
        self._find_nearest()

    def _find_nearest(self) -> None:
        to_medoids = self.distances[:, self.medoids]
        every = np.arange(len(to_medoids))
        self.nearest = np.argmin(to_medoids, axis=1)
        self.distance = to_medoids[every, self.nearest]
        if len(self.medoids) == 1:
            self.second = np.full(len(every), np.inf)
        else:
            to_medoids[every, self.nearest] = np.inf
            self.second = to_medoids.min(axis=1)

    def try_swap(self, candidate: int) -> bool:
        """Replace the medoid whose exchange for the candidate gains most, if that gains."""
        if candidate in self.medoids:
            return False
        to_candidate = self.distances[candidate]
        closer = np.minimum(to_candidate - self.distance, 0.0)
        # Points of a medoid that goes away: to the candidate or to their second nearest.
        gone = np.minimum(to_candidate, self.second) - self.distance - closer
        changes = np.bincount(
            self.nearest, weights=self.weights * gone, minlength=len(self.medoids)
        )
        place = int(np.argmin(changes))
        change = changes[place] + float(self.weights @ closer)
        if not change < -LEAST_GAIN * float(self.weights @ self.distance):
            return False
        self.medoids[place] = candidate
        self._find_nearest()
        return True
