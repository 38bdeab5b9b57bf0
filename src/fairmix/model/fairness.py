r"""Gap and balance of counts: how fair clusterings are.

There are three kinds of *gap*, all of them 0 for a fair clustering. With :math:`d(b, c)` the total
variation distance between the shares that two groups have of the clusters:

* ``"paper"``, the mean of :math:`d(b, 0)` over the groups but the smallest one, 0;
* ``"mean"``, the mean over all rows of :math:`d(b, \text{all rows})`, where b is the row's group;
* ``"worst"``, the largest :math:`d(b, \text{all rows})` of any group.

The paper's is unstable if the smallest group has a few rows only, since all others are compared
with it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairmix.model.tabulation import tabulate

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

GAP_KINDS = ("paper", "mean", "worst")


def count_groups(labels: IntArray, group_codes: IntArray, n_groups: int) -> IntArray:
    """Count rows by cluster and group, for one labelling or many.

    Parameters
    ----------
    labels : ndarray of shape (..., n_rows)
        Codes of clusters.
    group_codes : ndarray of shape (n_rows,)
        Codes of groups.
    n_groups : int
        Number of groups.

    Returns
    -------
    ndarray of shape (..., n_clusters, n_groups)
        The counts; a labelling with fewer clusters than the largest has rows of zeros.
    """
    return tabulate(labels, group_codes, n_groups)


def gap_of_counts(counts: IntArray, kind: str = "paper") -> FloatArray:
    """Fairness gap of tables (..., cluster, group), the smallest group first."""
    if counts.shape[-1] == 1:
        return np.zeros(counts.shape[:-2])
    gaps = gaps_of_counts(counts, kind)
    if kind == "worst":
        return np.asarray(gaps.max(axis=-1))
    if kind == "paper":
        return np.asarray(gaps.mean(axis=-1))
    sizes = counts.sum(axis=-2)
    return np.asarray((gaps * sizes).sum(axis=-1) / sizes.sum(axis=-1))


def gaps_of_counts(counts: IntArray, kind: str = "paper") -> FloatArray:
    """Gap of each group that is compared, of tables (..., cluster, group).

    The paper compares all but the first with the first, the other kinds all groups with all rows.
    """
    # In whole numbers, as the sampler counts them: a gap of 0 is 0, and none is above 1.
    counts = counts.astype(np.int64)
    if kind == "paper":
        counts, others = counts[..., 1:], counts[..., :1]
    else:
        others = counts.sum(axis=-1, keepdims=True)
    sizes, other_sizes = counts.sum(axis=-2), others.sum(axis=-2)
    crossed = other_sizes[..., None, :] * counts - sizes[..., None, :] * others
    return np.asarray(np.abs(crossed).sum(axis=-2) / (2 * other_sizes * sizes))


def balance_of_counts(counts: IntArray) -> FloatArray:
    """Balance of tables (..., cluster, group); empty clusters do not count."""
    smallest, largest = counts.min(axis=-1), counts.max(axis=-1)
    ratios = np.where(largest > 0, smallest / np.maximum(largest, 1), 1.0)
    return np.asarray(ratios.min(axis=-1))
