r"""How far partitions are from each other, by the rows that their clusters share.

Two partitions of :math:`n` rows have clusters of :math:`n_i` and of :math:`m_j` rows that share
:math:`n_{ij}`. Both distances that there are have the form

.. math::
   d(a, b) = \frac1N \Big( \sum_i f(n_i) + \sum_j f(m_j) - 2 \sum_{ij} f(n_{ij}) \Big),

the *variation of information* (in bits) with :math:`f(k) = k \log_2 k` and :math:`N = n`; and
*Binder's loss*, the share of pairs of rows that are together in one and apart in the other, with
:math:`f(k) = k^2` and :math:`N = n (n - 1)`: one minus the Rand index.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.posterior.matched import count_shared

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
Labels = NDArray[Any]

#: So many labels are looked at at a time: they fit in a cache.
BLOCK = 2**15
#: Shared rows are counted in a table unless it has more cells than so many times the rows.
MAX_CELLS_PER_ROW = 4


def distances_between(labels: Labels, loss: str = "vi") -> FloatArray:
    """Give the distance between any two partitions.

    Parameters
    ----------
    labels : ndarray of shape (n_partitions, n_rows)
        Labels 0, 1, ... of each partition.
    loss : {"vi", "binder"}, default="vi"
        The distance.

    Returns
    -------
    ndarray of shape (n_partitions, n_partitions)
        The distances, symmetric.
    """
    n_partitions, n_rows = labels.shape
    weights, scale = _weights(loss, n_rows)
    n_clusters = labels.max(axis=1).astype(np.int64) + 1
    own = np.array([weights[np.bincount(partition)].sum() for partition in labels])
    joint = np.zeros((n_partitions, n_partitions))
    n_together = max(BLOCK // n_rows, 1)
    for first in range(0, n_partitions, n_together):
        block = labels[first : first + n_together].astype(np.int64)
        width = int(n_clusters[first : first + n_together].max())
        block += np.arange(len(block))[:, None] * width  # numbers of clusters in all the block
        for other in range(first + 1, n_partitions):
            n_before = min(other - first, len(block))  # each pair once
            cells_of_one = labels[other].astype(np.int64) * (len(block) * width)
            shape = (int(n_clusters[other]), len(block), width)
            if math.prod(shape) <= MAX_CELLS_PER_ROW * block.size:
                counted = _add_up_table(block[:n_before], cells_of_one, shape, weights)
                joint[first : first + n_before, other] = counted[:n_before]
            else:
                counted = _add_up_runs(block[:n_before], cells_of_one, weights)
                joint[first : first + n_before, other] = counted
    joint += joint.T
    distances = np.maximum(own[:, None] + own - 2 * joint, 0.0) / scale
    np.fill_diagonal(distances, 0.0)
    return np.asarray(distances)


def distances_to(labels: Labels, reference: Labels, loss: str = "vi") -> FloatArray:
    """Give the distance of each of some partitions to one.

    Parameters
    ----------
    labels : ndarray of shape (..., n_rows)
        Labels 0, 1, ... of each partition.
    reference : ndarray of shape (n_rows,)
        Labels 0, 1, ... of the one.
    loss : {"vi", "binder"}, default="vi"
        The distance.

    Returns
    -------
    ndarray of shape (...)
        The distances.
    """
    weights, scale = _weights(loss, len(reference))
    own = weights[np.bincount(reference)].sum()
    distances = np.empty(labels.shape[:-1])
    for place in np.ndindex(distances.shape):
        shared = count_shared(labels[place], reference)
        joint = weights[shared].sum()
        distances[place] = weights[shared.sum(axis=1)].sum() + own - 2 * joint
    return np.asarray(np.maximum(distances, 0.0) / scale)


def _weights(loss: str, n_rows: int) -> tuple[FloatArray, float]:
    """Give f of 0 to the number of rows, and what sums of it are divided by."""
    sizes = np.arange(n_rows + 1, dtype=np.float64)
    if loss == "vi":
        return sizes * np.log2(np.maximum(sizes, 1)), float(n_rows)
    return sizes**2, float(max(n_rows * (n_rows - 1), 1))


def _add_up_table(
    block: IntArray, cells_of_one: IntArray, shape: tuple[int, int, int], weights: FloatArray
) -> FloatArray:
    """Add up f(shared rows) of one partition and each of a block, from a table of counts."""
    n_cells = math.prod(shape)
    counts = np.zeros(n_cells, dtype=np.int64)
    for begin in range(0, len(cells_of_one), BLOCK):
        part = slice(begin, begin + BLOCK)
        cells = block[:, part] + cells_of_one[part]
        counts += np.bincount(cells.ravel(), minlength=n_cells)
    return np.asarray(weights[counts].reshape(shape).sum(axis=(0, 2)))


def _add_up_runs(block: IntArray, cells_of_one: IntArray, weights: FloatArray) -> FloatArray:
    """Do the same when most cells of the table would be empty: sort rows by their cell."""
    cells = np.sort(block + cells_of_one, axis=1)
    is_last = np.ones(cells.shape, dtype=bool)
    is_last[:, :-1] = cells[:, 1:] != cells[:, :-1]
    ends = np.flatnonzero(is_last)
    of_run = weights[np.diff(ends, prepend=-1)]
    by_partition = np.bincount(ends // block.shape[1], weights=of_run, minlength=len(block))
    return np.asarray(by_partition, dtype=np.float64)
