r"""How sure the place of each row is: probabilities of clusters, and of being together.

The probability that row :math:`i` is in cluster :math:`k` of a partition is the share of draws in
which it is, where the clusters of each draw are matched to those of the partition by overlap
(``matched.py``). The similarity of rows :math:`i` and :math:`j` is the share of draws in which
they are in the same cluster,

.. math::
   S_{ij} = \frac1M \sum_m 1[c_m(i) = c_m(j)],

which needs no matching.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairmix.posterior.estimate import read_partition
from fairmix.posterior.matched import match_clusters
from fairmix.posterior.thinning import choose_step

if TYPE_CHECKING:  # it has these as methods
    from fairmix.posterior.posterior import Posterior

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: The similarity of so many rows fits in memory: 200 MB.
MAX_ROWS = 5000
#: So many indicators of rows and clusters are made at a time.
MAX_INDICATORS = 2**24


def cluster_probabilities(posterior: Posterior, labels: Any = None) -> FloatArray:
    """Give the posterior probability that each row is in each cluster of a partition.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    labels : None, Estimate or array-like of shape (n_rows,), default=None
        The partition; None is the estimate of least expected variation of information.

    Returns
    -------
    ndarray of shape (n_rows, n_clusters)
        The probabilities.
    """
    reference = read_partition(posterior, labels, "labels")
    draws = posterior.labels[:, :: choose_step(posterior.labels.shape)]
    every_draw = (draws[place] for place in np.ndindex(draws.shape[:2]))
    return count_places(every_draw, reference) / (draws.shape[0] * draws.shape[1])


def count_places(draws: Iterable[NDArray[Any]], reference: IntArray) -> FloatArray:
    """Count in how many draws each row is in each cluster of a partition.

    Parameters
    ----------
    draws : iterable of ndarray of shape (n_rows,)
        Labels 0, 1, ... of each draw.
    reference : ndarray of shape (n_rows,)
        Labels 0, 1, ... of the partition.

    Returns
    -------
    ndarray of shape (n_rows, n_clusters)
        The counts; clusters without partner count to none.
    """
    counts = np.zeros((len(reference), int(reference.max()) + 1))
    every_row = np.arange(len(reference))
    for draw in draws:
        cluster = match_clusters(draw, reference)[draw]
        has_partner = cluster >= 0
        counts[every_row[has_partner], cluster[has_partner]] += 1.0
    return counts


def row_similarity(posterior: Posterior, rows: Any = None) -> FloatArray:
    """Give the share of draws in which rows are in the same cluster.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    rows : None or array-like of int, default=None
        Which rows; None are all of them.

    Returns
    -------
    ndarray of shape (n_rows, n_rows)
        The shares.
    """
    chosen = _read_rows(rows, posterior.labels.shape[2])
    n_rows = len(chosen)
    shape = (*posterior.labels.shape[:2], n_rows)
    draws = posterior.labels[:, :: choose_step(shape, comparisons=n_rows), chosen]
    draws = draws.reshape(-1, n_rows)
    n_clusters = draws.max(axis=1).astype(np.int64) + 1
    together = np.zeros((n_rows, n_rows), dtype=np.float32)  # counts, exact up to 2**24
    n_at_a_time = max(MAX_INDICATORS // (n_rows * int(n_clusters.max())), 1)
    for begin in range(0, len(draws), n_at_a_time):
        part = slice(begin, begin + n_at_a_time)
        first = np.cumsum(n_clusters[part]) - n_clusters[part]
        columns = draws[part] + first[:, None]
        indicators = np.zeros((n_rows, int(n_clusters[part].sum())), dtype=np.float32)
        indicators[np.arange(n_rows), columns] = 1.0
        together += indicators @ indicators.T
    return np.asarray(together, dtype=np.float64) / len(draws)


def _read_rows(rows: Any, n_rows: int) -> IntArray:
    """Read which rows a user asks about."""
    if rows is None:
        if n_rows > MAX_ROWS:
            raise ValueError(
                f"rows = None asks for the similarity of all {n_rows:,} rows, which takes "
                f"{8e-9 * n_rows**2:,.1f} GB; pass rows=, at most {MAX_ROWS:,} of them, such as "
                f"rows=numpy.random.default_rng(0).choice({n_rows}, 1000, replace=False)."
            )
        return np.arange(n_rows)
    chosen = np.asarray(rows)
    if chosen.ndim != 1 or chosen.size == 0 or not np.issubdtype(chosen.dtype, np.integer):
        raise ValueError(
            f"rows must be a list of rows, integers from 0 to {n_rows - 1}, got {rows!r}."
        )
    outside = chosen[(chosen < 0) | (chosen >= n_rows)]
    if outside.size:
        raise ValueError(f"rows has {outside[0]}, but rows are numbered from 0 to {n_rows - 1}.")
    if len(chosen) > MAX_ROWS:
        raise ValueError(f"rows has {len(chosen):,} rows; pass at most {MAX_ROWS:,}.")
    return chosen.astype(np.int64)
