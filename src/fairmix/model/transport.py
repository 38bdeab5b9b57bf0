r"""The fair assignment of rows to clusters, as a linear program (Bera et al. 2019).

Given the cost :math:`c_{ik}` of row i in cluster k, find shares :math:`x_{ik} \ge 0` of rows,
:math:`\sum_k x_{ik} = 1`, with the least total cost such that every group b has in every
cluster a share between :math:`r_b (1 - \delta)` and :math:`r_b / (1 - \delta)`, where :math:`r_b`
is its share in all rows. With :math:`\delta = 0` that is an optimal transport of every group onto
the clusters, with the same shares for all groups, which are found along the way.

The program's dual has one price for each group and cluster. Given prices, a row goes where cost
minus price is least, so only rows near a border need to be looked at: the program
is solved for a sample first, then for all rows with the columns that the prices leave open. A
column that the new prices would rather have is added and the program solved again, so that the
end is the optimum for all rows and columns.

Rounding: the rows that are split are dealt out by another transport, such that the number of rows
of each group in each cluster, and of each cluster, is the program's own rounded up or down. Its
solutions are whole numbers by themselves, cost no more than the program's, and a count is off its
bounds by less than 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

#: Up to so many rows, the program is solved as it is; else for a sample of one in so many first.
MAX_ROWS, SAMPLED_PART = 1500, 5
#: About so many rows are looked at once prices are known.
OPEN_ROWS = 600
#: Shares and reduced costs closer to zero than this are zero.
TOLERANCE = 1e-7


@dataclass(frozen=True)
class Assignment:
    """A fair assignment.

    Attributes
    ----------
    labels : ndarray of shape (n_rows,)
        Cluster of each row.
    prices : ndarray of shape (n_groups, n_clusters)
        What a row of a group gains in a cluster, by the program's dual.
    least_cost : float
        The program's value: no fair assignment costs less in total.
    """

    labels: IntArray
    prices: FloatArray
    least_cost: float


def assign_fairly(
    costs: FloatArray, codes: IntArray, slack: float = 0.0, prices: FloatArray | None = None
) -> Assignment:
    """Assign rows to clusters at the least cost such that every cluster is fair.

    Parameters
    ----------
    costs : ndarray of shape (n_rows, n_clusters)
        Cost of each row in each cluster.
    codes : ndarray of shape (n_rows,)
        Group of each row, 0 to n_groups - 1.
    slack : float, default=0.0
        The delta above, from 0 (exact shares) to less than 1.
    prices : ndarray of shape (n_groups, n_clusters), optional
        Prices of a similar problem, to begin with.

    Returns
    -------
    Assignment
        Labels, prices and the program's value.
    """
    unit = _unit_of(costs)
    least = costs.min(axis=1, keepdims=True)
    found = _assign((costs - least) / unit, codes, slack, None if prices is None else prices / unit)
    return Assignment(found.labels, found.prices * unit, found.least_cost * unit + least.sum())


def _unit_of(costs: FloatArray) -> float:
    """Give a unit for costs: the solver's tolerances are absolute."""
    spread = float(np.mean(costs.max(axis=1) - costs.min(axis=1)))
    return spread if spread > 0 else 1.0


def _assign(
    costs: FloatArray, codes: IntArray, slack: float, prices: FloatArray | None
) -> Assignment:
    """Assign rows, with costs of the order of 1."""
    n_rows, n_clusters = costs.shape
    shares = np.bincount(codes) / n_rows
    bounds = shares * (1.0 - slack), np.minimum(shares / (1.0 - slack), 1.0)
    n_open = n_rows if n_rows <= MAX_ROWS else OPEN_ROWS
    if n_open == n_rows:
        prices = np.zeros((len(shares), n_clusters))
    is_fresh = prices is None
    if prices is None:
        prices = _prices_of_sample(costs, codes, slack)
    is_open = _open_columns(costs, codes, prices, n_open)
    while True:
        solved = _solve(costs, codes, bounds, is_open)
        if solved is None:  # columns that were closed are needed for fairness
            if is_open.all():
                raise RuntimeError("there is no fair assignment, which cannot be")
            if not is_fresh:
                prices, is_fresh = _prices_of_sample(costs, codes, slack), True
            else:
                n_open = min(4 * n_open, n_rows)
            is_open |= _open_columns(costs, codes, prices, n_open)
            continue
        assigned, prices, value = solved
        reduced = costs - prices[codes]
        best_open = np.where(is_open, reduced, np.inf).min(axis=1)
        wanted = reduced < best_open[:, None] - TOLERANCE * (1.0 + np.abs(best_open[:, None]))
        if not wanted.any():
            return Assignment(round_shares(costs, codes, assigned), prices, value)
        is_open |= wanted


def _prices_of_sample(costs: FloatArray, codes: IntArray, slack: float) -> FloatArray:
    """Give the prices of a sample of the rows."""
    sample = _sample_rows(codes)
    return _assign(costs[sample], codes[sample], slack, None).prices


def _sample_rows(codes: IntArray) -> IntArray:
    """Give evenly spaced rows of every group, in proportion."""
    order = np.argsort(codes, kind="stable")
    n_sampled = max(len(codes) // SAMPLED_PART, MAX_ROWS)
    return np.sort(order[np.linspace(0, len(codes) - 1, n_sampled).astype(np.int64)])


def _open_columns(costs: FloatArray, codes: IntArray, prices: FloatArray, n_open: int) -> BoolArray:
    """Open the best column of every row, and others of so many rows that are near a border.

    Every cluster is approached by rows of all others and left by its own, small ones too.
    """
    n_rows, n_clusters = costs.shape
    if n_open >= n_rows or n_clusters == 1:
        return np.ones(costs.shape, dtype=bool)
    reduced = costs - prices[codes]
    best = reduced.argmin(axis=1)
    reduced -= reduced.min(axis=1, keepdims=True)
    is_open = reduced <= 0.0
    second = np.partition(reduced, 1, axis=1)[:, 1]
    n_each = -(-n_open // n_clusters)
    for cluster in range(n_clusters):
        outside, inside = np.flatnonzero(best != cluster), np.flatnonzero(best == cluster)
        nearest = outside[_smallest(reduced[outside, cluster], n_each)]
        is_open[nearest, cluster] = True
        leaving = inside[_smallest(second[inside], n_each)]
        is_open[leaving] |= reduced[leaving] <= second[leaving, None]
    return is_open


def _smallest(values: FloatArray, n_wanted: int) -> IntArray:
    """Give the places of the smallest values."""
    if n_wanted >= len(values):
        return np.arange(len(values))
    return np.argpartition(values, n_wanted)[:n_wanted]


def _solve(
    costs: FloatArray, codes: IntArray, bounds: tuple[FloatArray, FloatArray], is_open: BoolArray
) -> tuple[FloatArray, FloatArray, float] | None:
    """Solve the program with these columns; None if they allow no fair assignment.

    Rows with one open column are no variables: they are counted.
    """
    n_rows, n_clusters = costs.shape
    n_groups = len(bounds[0])
    is_free = is_open.sum(axis=1) > 1
    settled = np.flatnonzero(~is_free)
    places = is_open[settled].argmax(axis=1)
    counted = np.zeros((n_groups, n_clusters))
    np.add.at(counted, (codes[settled], places), 1.0)
    rows, clusters = np.nonzero(is_open & is_free[:, None])
    n_shares = len(rows)
    # Variables: open shares, then the size of each cluster.
    free = np.flatnonzero(is_free)
    number_of_row = np.zeros(n_rows, dtype=np.int64)
    number_of_row[free] = np.arange(len(free))
    ones = np.ones(n_shares)
    whole = sparse.coo_array(
        (ones, (number_of_row[rows], np.arange(n_shares))), (len(free), n_shares + n_clusters)
    )
    size_of = np.concatenate([clusters, np.arange(n_clusters)])
    sizes = sparse.coo_array(
        (
            np.concatenate([-ones, np.ones(n_clusters)]),
            (size_of, np.arange(n_shares + n_clusters)),
        ),
        (n_clusters, n_shares + n_clusters),
    )
    # Share of group b in cluster k: at least and at most a part of the cluster's size.
    cells = codes[rows] * n_clusters + clusters
    of_cell = np.arange(n_groups * n_clusters)
    limits = []
    for sign, bound in ((-1.0, bounds[0]), (1.0, bounds[1])):
        values = np.concatenate([sign * ones, -sign * np.repeat(bound, n_clusters)])
        limits.append(
            sparse.coo_array(
                (
                    values,
                    (
                        np.concatenate([cells, of_cell]),
                        np.concatenate([np.arange(n_shares), n_shares + of_cell % n_clusters]),
                    ),
                ),
                (n_groups * n_clusters, n_shares + n_clusters),
            )
        )
    answer = linprog(
        np.concatenate([costs[rows, clusters], np.zeros(n_clusters)]),
        A_ub=sparse.vstack(limits).tocsc(),
        b_ub=np.concatenate([counted.ravel(), -counted.ravel()]),
        A_eq=sparse.vstack([whole, sizes]).tocsc(),
        b_eq=np.concatenate([np.ones(len(free)), counted.sum(axis=0)]),
        method="highs",
    )
    if answer.status == 2:
        return None
    if answer.status != 0:
        raise RuntimeError(f"the fair assignment could not be solved: {answer.message}")
    assigned = np.zeros(costs.shape)
    assigned[rows, clusters] = answer.x[:n_shares]
    assigned[settled, places] = 1.0
    low, high = answer.ineqlin.marginals.reshape(2, n_groups, n_clusters)
    prices = high - low - answer.eqlin.marginals[len(free) :]
    value = float(answer.fun + costs[settled, places].sum())
    return assigned, prices, value


def round_shares(
    costs: FloatArray, codes: IntArray, assigned: FloatArray, tolerance: float = TOLERANCE
) -> IntArray:
    """Deal rows that are split out, so that no count moves by one or more.

    Parameters
    ----------
    costs : ndarray of shape (n_rows, n_clusters)
        Cost of each row in each cluster.
    codes : ndarray of shape (n_rows,)
        Group of each row.
    assigned : ndarray of shape (n_rows, n_clusters)
        Shares of each row in the clusters.
    tolerance : float, default=1e-7
        A row is not split if it is in one cluster but for this share.

    Returns
    -------
    ndarray of shape (n_rows,)
        Cluster of each row.
    """
    labels = assigned.argmax(axis=1)
    split = np.flatnonzero(assigned.max(axis=1) < 1.0 - tolerance)
    if len(split) == 0:
        return labels
    n_clusters = costs.shape[1]
    part, group = assigned[split], codes[split]
    n_groups = int(codes.max()) + 1
    rows, clusters = np.nonzero(part > TOLERANCE)
    variables = np.arange(len(rows))
    cell = group[rows] * n_clusters + clusters
    whole = sparse.coo_array((np.ones(len(rows)), (rows, variables)), (len(split), len(rows)))
    by_cell = sparse.coo_array(
        (np.ones(len(rows)), (cell, variables)), (n_groups * n_clusters, len(rows))
    )
    by_cluster = sparse.coo_array(
        (np.ones(len(rows)), (clusters, variables)), (n_clusters, len(rows))
    )
    counts = sparse.vstack([by_cell, by_cluster]).tocsc()
    wanted = counts @ part[rows, clusters]
    up = np.ceil(wanted - TOLERANCE * len(split))
    down = np.floor(wanted + TOLERANCE * len(split))
    answer = linprog(
        costs[split[rows], clusters] / _unit_of(costs),
        A_ub=sparse.vstack([counts, -counts]).tocsc(),
        b_ub=np.concatenate([up, -down]),
        A_eq=whole.tocsc(),
        b_eq=np.ones(len(split)),
        method="highs-ds",  # a vertex, which has whole numbers
    )
    if answer.status != 0:
        raise RuntimeError(f"the split rows could not be dealt out: {answer.message}")
    shares = np.zeros((len(split), n_clusters))
    shares[rows, clusters] = answer.x
    labels[split] = shares.argmax(axis=1)
    return labels
