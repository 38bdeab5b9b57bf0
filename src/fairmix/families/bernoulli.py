r"""Independent yes/no columns, conjugate Beta prior.

Each column has a probability of one from Beta(:math:`\alpha, \alpha`). For :math:`n` values
with :math:`s` ones, :math:`m = B(\alpha + s, \alpha + n - s) / B(\alpha, \alpha)`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

from fairmix.families._protocol import check_positive


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
    def values(self) -> str:
        """Columns hold two different values."""
        return "binary"

    def prepare(self, rows: NDArray[np.float64]) -> TabulatedBernoulli:
        """Check the hyperparameters and tabulate the gamma functions."""
        check_positive("Bernoulli", alpha=self.alpha)
        n_rows, n_columns = rows.shape
        counts = np.arange(n_rows + 1)
        log_constant = -gammaln(2 * self.alpha + counts) - betaln(self.alpha, self.alpha)
        return TabulatedBernoulli(n_columns * log_constant, gammaln(self.alpha + counts))


class TabulatedBernoulli(NamedTuple):
    """The Bernoulli family as it is sampled, with its tables."""

    log_constant: NDArray[np.float64]
    log_gamma: NDArray[np.float64]

    def n_statistics(self, n_columns: int) -> int:
        """Count of ones of each column."""
        return n_columns

    def write_statistics(self, rows: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        """Write the zeros and ones themselves."""
        out[:] = rows

    def log_marginal(self, count: int, stats: NDArray[np.float64]) -> float:
        """Log marginal likelihood of ``count`` rows."""
        total = self.log_constant[count]
        for j in range(stats.size):
            ones = int(stats[j])
            total += self.log_gamma[ones] + self.log_gamma[count - ones]
        return total
