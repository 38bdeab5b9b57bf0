"""How far draws are from each other, pair by pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.posterior.overlap import distances_between
from fairmix.posterior.thinning import choose_for_pairs

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Pairs:
    """Draws that were compared with each other: all of them, or evenly thinned ones.

    Attributes
    ----------
    chains, draws : ndarray of shape (n_compared,)
        Where they are.
    distances : ndarray of shape (n_compared, n_compared)
        Distance between any two.
    """

    chains: IntArray
    draws: IntArray
    distances: FloatArray

    def by_chain(self) -> FloatArray:
        """Give the mean distance between different draws of any two chains.

        Returns
        -------
        ndarray of shape (n_chains, n_chains)
            On the diagonal, of draws of the same chain; NaN if it has one draw only.
        """
        n_chains = int(self.chains.max()) + 1
        member = np.eye(n_chains)[self.chains]
        sums = member.T @ self.distances @ member
        sizes = member.sum(axis=0)
        n_pairs = np.outer(sizes, sizes) - np.diag(sizes)
        return np.divide(sums, n_pairs, out=np.full_like(sums, np.nan), where=n_pairs > 0)


def compare_pairs(labels: NDArray[Any], loss: str = "vi") -> Pairs:
    """Compare draws with each other, so many that the work stays bounded.

    Parameters
    ----------
    labels : ndarray of shape (n_chains, n_draws, n_rows)
        The draws.
    loss : {"vi", "binder"}, default="vi"
        The distance.

    Returns
    -------
    Pairs
        Their distances.
    """
    n_chains, n_draws, n_rows = labels.shape
    chains, draws = choose_for_pairs(labels.shape)
    # If all draws are used, they need not be copied.
    is_whole = len(chains) == n_chains * n_draws
    used = labels.reshape(-1, n_rows) if is_whole else labels[chains, draws]
    return Pairs(chains, draws, distances_between(used, loss))
