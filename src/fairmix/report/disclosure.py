"""What is not told because too few rows stand behind it.

A page that goes from hand to hand should not tell of single people. So what is said of *some* rows
(a cluster, a group, a level of a category) is said of at least :data:`LEAST_ROWS` of them, and a
bar of a histogram stands for none or for at least :data:`LEAST_CELL`. That keeps single rows from
being read off; it makes nothing anonymous. What is left out may be found from what is not,
and if all rows of a cluster have something, so has everybody who is known to be in it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Clusters, groups and levels of fewer rows are not described.
LEAST_ROWS = 10
#: Bars of fewer rows have no figure.
LEAST_CELL = 5


def tell_counts(counts: NDArray[np.int64]) -> list[int | None]:
    """Give counts, and None in the place of small ones.

    Parameters
    ----------
    counts : ndarray of shape (n_cells,)
        Numbers of rows.

    Returns
    -------
    list of int or None
        None for 1, 2, ..., ``LEAST_CELL - 1``; a count of 0 is told.
    """
    return [None if 0 < count < LEAST_CELL else int(count) for count in counts]
