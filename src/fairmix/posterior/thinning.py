"""Which draws are looked at: all of them, or so many that the work stays bounded.

What is computed of each draw alone takes a pass over its labels; what is computed of each pair of
draws takes a pass for every pair. Draws that are left out are left out evenly over all chains.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]

#: Of pairs, at most those of so many draws are looked at.
MAX_DRAWS = 1000
#: ... and fewer if the rows are many: about so many labels are compared, but those of some draws.
MAX_COMPARISONS = 1e9
FEWEST_DRAWS = 50


def choose_for_pairs(shape: tuple[int, ...]) -> tuple[IntArray, IntArray]:
    """Choose draws of which each pair can be compared.

    Parameters
    ----------
    shape : tuple of int
        Numbers of chains, of draws of each and of rows.

    Returns
    -------
    chains, draws : ndarray of shape (n_chosen,)
        Where they are.
    """
    n_chains, n_draws, n_rows = shape
    n_total = n_chains * n_draws
    n_most = min(MAX_DRAWS, max(FEWEST_DRAWS, (MAX_COMPARISONS / n_rows) ** 0.5))
    chosen = np.linspace(0, n_total - 1, int(min(n_total, n_most))).round().astype(int)
    chains, draws = np.divmod(np.unique(chosen), n_draws)
    return chains, draws


def choose_step(shape: tuple[int, ...], comparisons: float = 1.0) -> int:
    """Choose one in how many draws of each chain is looked at by itself.

    Parameters
    ----------
    shape : tuple of int
        Numbers of chains, of draws of each and of rows.
    comparisons : float, default=1.0
        How often each label is compared.

    Returns
    -------
    int
        1 for every draw.
    """
    n_chains, n_draws, n_rows = shape
    n_most = max(FEWEST_DRAWS, MAX_COMPARISONS / (n_rows * comparisons))
    return math.ceil(n_draws / max(n_most // n_chains, 1))
