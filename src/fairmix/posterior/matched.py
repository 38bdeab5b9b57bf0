r"""Which cluster of one partition is which cluster of another.

Numbers of clusters mean nothing from one draw to the next. Two partitions of the same rows, with
clusters :math:`A_i` and :math:`B_j`, are matched one to one so that as many rows as possible are
in the same cluster twice,

.. math::
   \max_\pi \sum_i |A_i \cap B_{\pi(i)}|,

which is an assignment problem. A cluster has no partner if the other partition has fewer clusters,
or if all that is left shares no row with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

IntArray = NDArray[np.int64]

#: So many rows are counted at a time, so that no copy of all labels is made.
BLOCK = 2**16


def match_clusters(labels: NDArray[Any], reference: NDArray[Any]) -> IntArray:
    """Find the cluster of a reference partition that each cluster of a partition is.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Labels 0, 1, ... of the partition.
    reference : ndarray of shape (n_rows,)
        Labels 0, 1, ... of the reference.

    Returns
    -------
    ndarray of shape (n_clusters,)
        For each cluster of ``labels`` its partner in ``reference``, -1 where there is none.
    """
    shared = count_shared(labels, reference)
    matched = np.full(len(shared), -1, dtype=np.int64)
    clusters, partners = linear_sum_assignment(shared, maximize=True)
    has_shared = shared[clusters, partners] > 0
    matched[clusters[has_shared]] = partners[has_shared]
    return matched


def count_shared(labels: NDArray[Any], reference: NDArray[Any]) -> IntArray:
    """Count the rows that each cluster of one partition shares with each of another.

    Parameters
    ----------
    labels, reference : ndarray of shape (n_rows,)
        Labels 0, 1, ... of two partitions.

    Returns
    -------
    ndarray of shape (n_clusters, n_clusters of reference)
        The contingency table.
    """
    shape = (int(labels.max()) + 1, int(reference.max()) + 1)
    counts = np.zeros(shape[0] * shape[1], dtype=np.int64)
    for begin in range(0, len(labels), BLOCK):
        part = slice(begin, begin + BLOCK)
        cells = labels[part].astype(np.int64) * shape[1] + reference[part]
        counts += np.bincount(cells, minlength=len(counts))
    return counts.reshape(shape)
