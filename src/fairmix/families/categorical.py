r"""Independent categories, conjugate Dirichlet prior.

Column :math:`j` has categories :math:`0, \dots, L_j - 1` with probabilities from a
symmetric Dirichlet(:math:`\alpha`). For :math:`n` values, :math:`n_l` of them in category
:math:`l`,

.. math::
   m = \frac{\Gamma(\alpha L_j)}{\Gamma(\alpha L_j + n)}
       \prod_l \frac{\Gamma(\alpha + n_l)}{\Gamma(\alpha)}.

The statistics are the counts of all categories of all columns, one after the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from fairmix.families.protocol import check_positive


class Categorical(NamedTuple):
    """Independent categorical columns.

    Parameters
    ----------
    alpha : float, default=1.0
        Dirichlet weight of each category: 1 is uniform over all probability
        vectors, smaller values favour clusters with few categories.
    """

    alpha: float = 1.0

    @property
    def kind(self) -> str:
        """Columns hold categories."""
        return "categories"

    @property
    def allows_missing(self) -> bool:
        """Missing cells are left out."""
        return True

    def prepare(self, rows: NDArray[np.float64]) -> TabulatedCategorical:
        """Check the hyperparameters and tabulate the gamma functions."""
        check_positive("Categorical", alpha=self.alpha)
        n_levels = np.nanmax(rows, axis=0).astype(np.int64) + 1
        counts = np.arange(len(rows) + 1)
        totals = self.alpha * n_levels[:, None]
        log_constant = gammaln(totals) - gammaln(totals + counts)
        log_factor = gammaln(self.alpha + counts) - gammaln(self.alpha)
        first_level = np.concatenate([[0], np.cumsum(n_levels)])
        return TabulatedCategorical(first_level, log_constant, log_factor)


class TabulatedCategorical(NamedTuple):
    """The categorical family as it is sampled, with its tables."""

    first_level: NDArray[np.int64]
    log_constant: NDArray[np.float64]  # (column, count)
    log_factor: NDArray[np.float64]

    def n_statistics(self, n_columns: int) -> int:
        """Give the number of categories of all columns together."""
        return int(self.first_level[n_columns])

    def write_statistics(self, rows: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        """Write a one for the category of each column."""
        out[:] = 0.0
        present = ~np.isnan(rows)
        places = np.where(present, rows, 0.0).astype(np.int64) + self.first_level[:-1]
        np.put_along_axis(out, places, present.astype(np.float64), axis=1)

    def log_marginal(self, count: int, stats: NDArray[np.float64]) -> float:
        """Log marginal likelihood of ``count`` rows."""
        total = 0.0
        for j in range(self.log_constant.shape[0]):
            n_present = 0  # fewer than count if cells are missing
            for k in range(self.first_level[j], self.first_level[j + 1]):
                n_in_level = int(stats[k])
                n_present += n_in_level
                total += self.log_factor[n_in_level]
            total += self.log_constant[j, n_present]
        return total
