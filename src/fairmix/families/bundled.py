"""Ready-made bundles of rows as if they were rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairmix.families.protocol import is_conjugate, prepare

FloatArray = NDArray[np.float64]


class Bundled(NamedTuple):
    """A conjugate family of bundles: a "row" is a bundle's number of rows and their statistics.

    Statistics add up, so a bundle's density is that of its rows together, and a sampler that knows
    nothing of it clusters bundles.

    Parameters
    ----------
    base : family
        The prepared family of the rows themselves.
    """

    base: Any

    def n_statistics(self, n_columns: int) -> int:
        """Give the number of statistics: what the bundles come with."""
        return n_columns

    def write_statistics(self, rows: FloatArray, out: FloatArray) -> None:
        """Write the statistics of bundles, which are all that is known of them."""
        out[:] = rows

    def log_marginal(self, count: int, stats: FloatArray) -> float:
        """Log marginal likelihood of all rows of ``count`` bundles."""
        return self.base.log_marginal(int(stats[0] + 0.5), stats[1:])


def make_bundled(family: Any, rows: FloatArray) -> Bundled:
    """Prepare a family for bundles of rows.

    Parameters
    ----------
    family : family
        The family of the rows; it must be conjugate, without parameters that clusters share.
    rows : ndarray of shape (n_rows, n_columns)
        All rows.

    Returns
    -------
    Bundled
        The family of bundles.
    """
    base = prepare(family, rows)
    if not is_conjugate(base) or hasattr(base, "update_shared"):
        raise ValueError(
            f"family: {type(family).__name__} cannot be used for fairlets, which are clustered "
            "through their sufficient statistics alone; use a conjugate family without parameters "
            "that all clusters share, such as 'gaussian', or FairBayesianClustering."
        )
    return Bundled(base)


def bundle_statistics(base: Any, rows: FloatArray, bundle_of: NDArray[np.int64]) -> FloatArray:
    """Add up the statistics of bundles.

    Parameters
    ----------
    base : family
        The prepared family of the rows.
    rows : ndarray of shape (n_rows, n_columns)
        The rows.
    bundle_of : ndarray of shape (n_rows,)
        Bundle of each row, numbered from 0.

    Returns
    -------
    ndarray of shape (n_bundles, 1 + n_statistics)
        Number of rows and statistics of each bundle: the rows of a ``Bundled`` family.
    """
    stats = np.ones((len(rows), 1 + base.n_statistics(rows.shape[1])))
    base.write_statistics(rows, stats[:, 1:])
    sums = np.zeros((int(bundle_of.max()) + 1, stats.shape[1]))
    np.add.at(sums, bundle_of, stats)
    return sums
