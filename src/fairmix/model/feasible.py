"""Which gaps and balances are possible, and what is certain without a cap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairmix.model.grouping import Grouping

IntArray = NDArray[np.int64]


def smallest_gap(sizes: IntArray, kind: str = "paper") -> float:
    r"""Give the smallest gap that two clusters can have, whoever their rows are.

    The paper's gap is least if one cluster has a rows of the smallest group and next to
    :math:`a n_b / n_0` of group b, or no row of it and a single one of the largest group. Compared
    with all rows, it is least if a cluster of k rows has next to :math:`k n_b / n` of group b; for
    the worst group's gap this is a bound.

    Parameters
    ----------
    sizes : ndarray of shape (n_groups,)
        Number of rows of each group, the smallest first.
    kind : {"paper", "mean", "worst"}, default="paper"
        Kind of the gap.

    Returns
    -------
    float
        The gap.
    """
    sizes = np.asarray(sizes, dtype=np.int64)
    if kind == "paper":
        of_total, sizes = int(sizes[0]), sizes[1:]
        totals = np.arange(1, of_total)
    else:
        of_total = int(sizes.sum())
        totals = np.arange(1, of_total // 2 + 1)
    left = totals[:, None] * sizes % of_total
    off = np.minimum(left, of_total - left) / of_total  # from whole numbers of rows
    if kind == "paper":
        alone = 1.0 / (int(sizes.max()) * len(sizes))
        return float((off / sizes).mean(axis=1).min(initial=alone))
    if kind == "worst":
        return float((off / sizes).max(axis=1).min())
    # Rows of all groups must add up to k: the largest remainders are rounded up.
    remainders = np.sort(left, axis=1)[:, ::-1] / of_total
    n_up = np.rint(remainders.sum(axis=1))
    goes_up = np.arange(len(sizes)) < n_up[:, None]
    return float(np.where(goes_up, 1.0 - remainders, remainders).sum(axis=1).min() / of_total)


def smallest_matched_gap(grouping: Grouping) -> float:
    r"""Give the smallest gap that two clusters of anchors and their followers can have.

    It is :math:`\min_{1 \le a < n_0} \mathrm{mean}_b\, d(a r_b / n_0) / n_b`, where d is the
    distance to the nearest integer; for two groups 0 if their sizes have a common divisor, else
    :math:`1 / (n_0 n_1)`.

    Parameters
    ----------
    grouping : Grouping
        The groups.

    Returns
    -------
    float
        The gap.
    """
    n_anchors = grouping.n_anchors
    anchors = np.arange(1, n_anchors)
    gaps = np.zeros(len(anchors))
    for remainder, size in zip(grouping.remainder[1:], grouping.sizes[1:], strict=True):
        left = anchors * int(remainder) % n_anchors
        gaps += np.minimum(left, n_anchors - left) / (n_anchors * size)
    return float(gaps.min() / (grouping.n_groups - 1))


def largest_balance(sizes: IntArray) -> float:
    """Give the largest balance of any clustering: that of all rows in one cluster.

    Parameters
    ----------
    sizes : ndarray of shape (n_groups,)
        Number of rows of each group.

    Returns
    -------
    float
        Size of the smallest group over that of the largest.
    """
    return float(sizes.min() / sizes.max())


def largest_balance_of_two(sizes: IntArray) -> float:
    """Give a bound on the balance that two clusters can have, from two of the groups.

    With a anchors and k rows of the largest group in one of the clusters, the worse of the two
    ratios is best if k is next to its proportional value. For two groups this is exact.

    Parameters
    ----------
    sizes : ndarray of shape (n_groups,)
        Number of rows of each group.

    Returns
    -------
    float
        The bound.
    """
    small, large = int(sizes.min()), int(sizes.max())
    anchors = np.arange(1, small)
    best = np.zeros(len(anchors))
    for rounded in (anchors * large // small, -(-anchors * large // small)):
        best = np.maximum(
            best, np.minimum(anchors / rounded, (small - anchors) / (large - rounded))
        )
    return float(best.max(initial=0.0))


def certain_gap(grouping: Grouping, n_masked: IntArray) -> float:
    r"""Give a bound on the gap of every draw without a cap.

    It is :math:`\mathrm{mean}_b [m_b / n_b + r_b (n_0 - r_b) / (n_0 n_b)]`.

    Parameters
    ----------
    grouping : Grouping
        The groups.
    n_masked : ndarray of shape (n_groups,)
        Masked rows of each group.

    Returns
    -------
    float
        The bound, 0 with one group.
    """
    if grouping.n_groups == 1:
        return 0.0
    n_anchors, sizes = grouping.n_anchors, grouping.sizes[1:]
    remainder = grouping.remainder[1:]
    by_group = n_masked[1:] / sizes + remainder * (n_anchors - remainder) / (n_anchors * sizes)
    return float(np.mean(by_group))
