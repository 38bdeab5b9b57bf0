r"""The cheapest assignment of rows to clusters that have given numbers of places.

Given the cost :math:`c_{ik}` of row i in cluster k and numbers of places :math:`n_k` that add up to
the number of rows, find labels :math:`z` with the least :math:`\sum_i c_{i z_i}` such that cluster
k gets :math:`n_k` rows: an optimal transport. Its dual has a price :math:`u_k` for each cluster,

.. math::
   \max_u \; \sum_i \min_k (c_{ik} + u_k) - \sum_k n_k u_k ,

and with the best prices every row is in a cluster where cost plus price is least. There are few
clusters and many rows, so two steps find both:

*Prices.* The dual is concave in a few variables. With the minimum replaced by a soft one it is
smooth as well, and is climbed by Newton's steps while the softness shrinks. Then each row takes its
cheapest cluster, and all but a few clusters' counts are right.

*Corrections.* An assignment by prices costs the least for the counts that it has. Let the length of
the way from cluster a to b be the least increase in cost when a row of a goes to b. As long as some
clusters have too many rows, the shortest way from one of them to one that has too few is found
(Dijkstra, on the clusters), and a row moves along each of its steps. That keeps the assignment the
cheapest for its counts (successive shortest paths), so the end is the optimum, not a rounding.
Rows that are equally cheap move together, so that tables with many equal rows are no harder.

Among the best prices, those in the middle are given: for each cluster, between the lowest and the
highest that lead to these labels.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: The softness of the minimum, as shares of how much the second cheapest cluster costs more.
SOFTNESS = (1.0, 0.3, 0.1, 0.03, 0.01)
#: With more rows than this, all but the last of these are for a sample.
SAMPLED_ROWS = 5000
#: Newton's steps for each, at most, and the error of a count (in rows) that ends them.
MAX_STEPS, CLOSE_ENOUGH = 30, 0.5
#: Steps are at most and at least so long, in units of the softness; what is added to the curvature.
LONGEST_STEP, SHORTEST_STEP, RIDGE = 5.0, 1e-6, 1e-6


class Placement(NamedTuple):
    """Rows in their places.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Cluster of each row.
    prices : ndarray of shape (n_clusters,)
        What a place costs; their mean, weighted by the places, is zero.
    """

    labels: IntArray
    prices: FloatArray


def share_out(shares: FloatArray, n_rows: int) -> IntArray:
    """Share rows out by largest remainder.

    Parameters
    ----------
    shares : ndarray of shape (n_clusters,)
        Shares that add up to 1.
    n_rows : int
        Number of rows.

    Returns
    -------
    ndarray of shape (n_clusters,)
        Numbers that add up to ``n_rows``, each less than 1 off its share.
    """
    wanted = n_rows * shares
    n_places = np.floor(wanted).astype(np.int64)
    n_left = n_rows - int(n_places.sum())
    n_places[np.argsort(n_places - wanted, kind="stable")[:n_left]] += 1
    return n_places


def fill_places(costs: FloatArray, n_places: IntArray) -> Placement:
    """Assign rows to clusters at the least cost such that every place is taken.

    Parameters
    ----------
    costs : ndarray of shape (n_rows, n_clusters)
        Cost of each row in each cluster.
    n_places : ndarray of shape (n_clusters,)
        Number of places of each cluster; they add up to the number of rows.

    Returns
    -------
    Placement
        Labels and prices.
    """
    if n_places.sum() != len(costs):
        raise ValueError(f"n_places has {n_places.sum()} places for {len(costs)} rows.")
    costs = costs - costs.min(axis=1, keepdims=True)
    prices = _soft_prices(costs, n_places)
    labels = (costs + prices).argmin(axis=1)
    n_clusters = costs.shape[1]
    lengths = np.array([_lengths_from(cluster, costs, labels) for cluster in range(n_clusters)])
    while (surplus := np.bincount(labels, minlength=n_clusters) - n_places).any():
        reduced = np.maximum(lengths + prices - prices[:, None], 0.0)
        distances, before = _shortest_ways(reduced, surplus > 0)
        target = int(np.argmin(np.where(surplus < 0, distances, np.inf)))
        prices = prices - np.minimum(distances, distances[target])
        way = _way_to(target, before)
        _move_along(way, surplus, costs, lengths, labels)
        for cluster in way:
            lengths[cluster] = _lengths_from(cluster, costs, labels)
    prices = _in_the_middle(prices, lengths)
    return Placement(labels, prices - np.dot(prices, n_places) / len(costs))


def _soft_prices(costs: FloatArray, n_places: IntArray) -> FloatArray:
    """Climb the smooth dual."""
    n_clusters = costs.shape[1]
    prices = np.zeros(n_clusters)
    if n_clusters == 1:
        return prices
    second = np.partition(costs, 1, axis=1)[:, 1]
    unit = float(np.median(second)) or float(np.mean(second))
    if unit == 0.0:
        return prices
    shares = n_places / len(costs)
    few = costs[np.linspace(0, len(costs) - 1, min(len(costs), SAMPLED_ROWS)).astype(np.int64)]
    for softness in SOFTNESS:
        rows = costs if softness == SOFTNESS[-1] else few
        scale = softness * unit
        prices = scale * _climb(prices / scale, rows / scale, shares)
    return prices


def _climb(prices: FloatArray, costs: FloatArray, shares: FloatArray) -> FloatArray:
    """Climb the smooth dual whose minimum has softness 1, by Newton's steps."""
    loss, gradient, curvature = _soft_loss(prices, costs, shares)
    for _ in range(MAX_STEPS):
        if np.abs(gradient).max() * len(costs) < CLOSE_ENOUGH:
            break
        # The curvature knows nothing of prices that all rise together, and little of those of
        # clusters that hardly any row wants.
        step = -np.linalg.solve(curvature + RIDGE * np.eye(len(shares)), gradient)
        step *= min(1.0, LONGEST_STEP / np.abs(step).max())
        after = _soft_loss(prices + step, costs, shares)
        while after[0] > loss:
            step /= 2.0
            if np.abs(step).max() < SHORTEST_STEP:  # what is left to gain is rounding
                return prices
            after = _soft_loss(prices + step, costs, shares)
        prices, (loss, gradient, curvature) = prices + step, after
    return prices


def _soft_loss(
    prices: FloatArray, costs: FloatArray, shares: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Give minus the smooth dual a row, its gradient and its curvature."""
    logs = -(costs + prices)
    largest = logs.max(axis=1, keepdims=True)
    weights = np.exp(logs - largest)
    totals = weights.sum(axis=1, keepdims=True)
    loss = float(np.mean(largest + np.log(totals)) + np.dot(shares, prices))
    weights /= totals
    present = weights.mean(axis=0)
    # Not by BLAS, whose threads wait for each other wherever cores are busy.
    together = np.einsum("ij,ik->jk", weights, weights)
    curvature = np.diag(present) - together / len(costs)
    return loss, shares - present, curvature


def _lengths_from(cluster: int, costs: FloatArray, labels: IntArray) -> FloatArray:
    """Give the least increase in cost when a row of a cluster goes to each of the others."""
    rows = costs[labels == cluster]
    if len(rows) == 0:
        return np.full(costs.shape[1], np.inf)
    return np.asarray((rows - rows[:, [cluster]]).min(axis=0))


def _shortest_ways(
    lengths: FloatArray, is_source: NDArray[np.bool_]
) -> tuple[FloatArray, IntArray]:
    """Give each cluster's distance from the sources, and the cluster before it on the way."""
    distances = np.where(is_source, 0.0, np.inf)
    before = np.full(len(lengths), -1)
    is_open = np.ones(len(lengths), dtype=bool)
    for _ in range(len(lengths)):
        nearest = int(np.argmin(np.where(is_open, distances, np.inf)))
        is_open[nearest] = False
        through = distances[nearest] + lengths[nearest]
        is_shorter = is_open & (through < distances)
        distances[is_shorter] = through[is_shorter]
        before[is_shorter] = nearest
    return distances, before


def _way_to(target: int, before: IntArray) -> list[int]:
    """Give the clusters on the way from a source to the target."""
    way = [target]
    while before[way[0]] >= 0:
        way.insert(0, int(before[way[0]]))
    return way


def _move_along(
    way: list[int], surplus: IntArray, costs: FloatArray, lengths: FloatArray, labels: IntArray
) -> None:
    """Move one row along each step of a way, or several that are equally cheap."""
    n_moved = int(min(surplus[way[0]], -surplus[way[-1]]))
    moving = []
    for here, there in pairwise(way):
        rows = np.flatnonzero(labels == here)
        increases = costs[rows, there] - costs[rows, here]
        cheapest = rows[increases <= lengths[here, there]]
        n_moved = min(n_moved, len(cheapest))
        moving.append((cheapest, there))
    for rows, there in moving:
        labels[rows[:n_moved]] = there


def _in_the_middle(prices: FloatArray, lengths: FloatArray) -> FloatArray:
    """Give the prices in the middle of those that lead to the same labels."""
    reduced = np.maximum(lengths + prices - prices[:, None], 0.0)
    np.fill_diagonal(reduced, 0.0)
    is_way = np.isfinite(reduced)
    # A cluster without rows may have any higher price; it gets one that is high enough.
    reduced = np.where(is_way, reduced, reduced[is_way].max())
    for through in range(len(prices)):
        reduced = np.minimum(reduced, reduced[:, [through]] + reduced[through])
    # Both are best prices, and so is what lies between any two of these.
    lower, upper = prices - reduced.mean(axis=0), prices + reduced.mean(axis=1)
    return np.asarray((lower + upper) / 2.0)
