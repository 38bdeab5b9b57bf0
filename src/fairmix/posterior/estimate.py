"""One partition out of many: the draw with the least expected variation of information.

The estimate is one of the draws, so it is as fair as every draw is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Losses are evaluated over at most this many draws, thinned evenly over all chains.
MAX_DRAWS = 1000
#: ... and fewer if the rows are many: about this many label comparisons.
MAX_COMPARISONS = 1e9


def least_expected_information(labels: NDArray[np.unsignedinteger]) -> tuple[int, int]:
    """Find the draw whose expected variation of information to all draws is least.

    Parameters
    ----------
    labels : ndarray of shape (n_chains, n_draws, n_rows)
        The draws.

    Returns
    -------
    tuple of int
        Chain and draw.
    """
    _, n_draws, n_rows = labels.shape
    flat = labels.reshape(-1, n_rows)
    n_used = int(min(len(flat), MAX_DRAWS, max(50, (MAX_COMPARISONS / n_rows) ** 0.5)))
    chosen = np.unique(np.linspace(0, len(flat) - 1, n_used).round().astype(int))
    losses = expected_information(np.ascontiguousarray(flat[chosen]))
    best = chosen[int(np.argmin(losses))]
    return int(best // n_draws), int(best % n_draws)


def expected_information(labels: NDArray[np.unsignedinteger]) -> NDArray[np.float64]:
    """Mean variation of information (in bits) of each partition to all of them.

    Parameters
    ----------
    labels : ndarray of shape (n_partitions, n_rows)
        Labels 0, 1, ... of each partition.

    Returns
    -------
    ndarray of shape (n_partitions,)
        The means, a partition's zero distance to itself included.
    """
    from fairmix.kernels.partition_loss import add_expected_information

    n_partitions, n_rows = labels.shape
    n_clusters = int(labels.max()) + 1
    sizes = np.arange(n_rows + 1)
    losses = np.zeros(n_partitions)
    add_expected_information(
        labels,
        sizes * np.log2(np.maximum(sizes, 1)),
        np.empty(n_rows, dtype=np.int64),
        np.empty(n_clusters + 1, dtype=np.int64),
        np.zeros(n_clusters, dtype=np.int64),
        losses,
    )
    return losses / (n_partitions * n_rows)
