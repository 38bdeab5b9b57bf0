"""Distances of all draws to a few of them: numbers that say where a chain is.

Clusters have no fixed numbers, so chains of labels cannot be compared. But how far a draw is from
one and the same draw can: chains that tell the same story are on average equally far from it. The
reference draws are the last ones of a few chains, so that they follow from the draws.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.posterior.overlap import distances_to
from fairmix.posterior.thinning import choose_step

FloatArray = NDArray[np.float64]

#: At most so many draws are referred to.
MAX_REFERENCES = 4


def distance_series(labels: NDArray[Any]) -> FloatArray:
    """Give the variation of information of each draw to each reference draw.

    Parameters
    ----------
    labels : ndarray of shape (n_chains, n_draws, n_rows)
        The draws.

    Returns
    -------
    ndarray of shape (n_references, n_chains, n_looked_at)
        The distances in bits; if there is much to compare, of every so many draws.
    """
    n_chains = len(labels)
    chosen = np.linspace(0, n_chains - 1, min(n_chains, MAX_REFERENCES)).round().astype(int)
    draws = labels[:, :: choose_step(labels.shape, len(chosen))]
    return np.stack([distances_to(draws, labels[chain, -1]) for chain in chosen])
