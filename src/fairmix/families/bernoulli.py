r"""Independent yes/no columns, conjugate Beta prior.

Each column has a probability of one from Beta(:math:`\alpha, \alpha`). For :math:`n` values
with :math:`s` ones, :math:`m = B(\alpha + s, \alpha + n - s) / B(\alpha, \alpha)`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

from fairmix.families.protocol import check_positive


class Bernoulli(NamedTuple):
    """Independent columns of zeros and ones.

    Parameters
    ----------
    alpha : float, default=1.0
        Both parameters of the Beta prior: 1 is uniform, smaller values favour
        clusters whose columns are nearly constant.
    """

    alpha: float = 1.0

    @property
    def kind(self) -> str:
        """Columns hold two different values."""
        return "binary"

    @property
    def allows_missing(self) -> bool:
        """Missing cells are left out."""
        return True

    def prepare(self, rows: NDArray[np.float64]) -> TabulatedBernoulli:
        """Check the hyperparameters and tabulate the gamma functions."""
        check_positive("Bernoulli", alpha=self.alpha)
        counts = np.arange(len(rows) + 1)
        log_constant = -gammaln(2 * self.alpha + counts) - betaln(self.alpha, self.alpha)
        has_missing = bool(np.isnan(rows).any())
        return TabulatedBernoulli(log_constant, gammaln(self.alpha + counts), has_missing)


class TabulatedBernoulli(NamedTuple):
    """The Bernoulli family as it is sampled, with its tables."""

    log_constant: NDArray[np.float64]
    log_gamma: NDArray[np.float64]
    has_missing: bool

    def n_statistics(self, n_columns: int) -> int:
        """Count the ones of each column, and its values if cells are missing."""
        return (2 if self.has_missing else 1) * n_columns

    def write_statistics(self, rows: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        """Write the zeros and ones themselves."""
        n_columns = rows.shape[1]
        out[:, :n_columns] = np.nan_to_num(rows, nan=0.0)
        if self.has_missing:
            out[:, n_columns:] = ~np.isnan(rows)

    def log_marginal(self, count: int, stats: NDArray[np.float64]) -> float:
        """Log marginal likelihood of ``count`` rows."""
        n_columns = stats.size // 2 if self.has_missing else stats.size
        total = 0.0
        for j in range(n_columns):
            ones = int(stats[j])
            n_present = int(stats[n_columns + j]) if self.has_missing else count
            total += self.log_constant[n_present]
            total += self.log_gamma[ones] + self.log_gamma[n_present - ones]
        return total
