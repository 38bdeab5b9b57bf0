r"""Gaussian with a spherical covariance, conjugate Normal-Gamma prior.

One precision for all :math:`d` columns: :math:`\lambda \sim \mathrm{Gamma}(a, b)` (shape, rate) and
:math:`\mu \mid \lambda \sim N(0, I/\lambda)`. For :math:`n` rows with sums :math:`s_j` and total
square :math:`q`,

.. math::
   m = (2\pi)^{-nd/2} (n+1)^{-d/2} \frac{\Gamma(a + nd/2)}{\Gamma(a)}
       \frac{b^a}{\left(b + \frac12 (q - \frac{\sum_j s_j^2}{n+1})\right)^{a + nd/2}}.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from fairmix.families.protocol import check_positive


class GaussianSpherical(NamedTuple):
    """Gaussian rows with the same variance in every column; clusters differ in it.

    Parameters
    ----------
    shape : float, default=1.0
        Shape of the Gamma prior of a cluster's precision.
    rate : float, default=1.0
        Rate of that prior. With standardised columns, 1 says that the variance in a cluster is
        of the order of the columns' own; smaller values favour tighter clusters.
    """

    shape: float = 1.0
    rate: float = 1.0

    @property
    def is_location_scale(self) -> bool:
        """Columns are put into standard units."""
        return True

    def prepare(self, rows: NDArray[np.float64]) -> TabulatedSpherical:
        """Check the hyperparameters and tabulate the terms of the counts."""
        check_positive("GaussianSpherical", shape=self.shape, rate=self.rate)
        n_rows, n_columns = rows.shape
        counts = np.arange(n_rows + 1)
        log_constant = (
            gammaln(self.shape + counts * n_columns / 2)
            - gammaln(self.shape)
            + self.shape * np.log(self.rate)
            - n_columns / 2 * (np.log(counts + 1) + counts * np.log(2 * np.pi))
        )
        return TabulatedSpherical(float(self.shape), float(self.rate), log_constant)


class TabulatedSpherical(NamedTuple):
    """The spherical family as it is sampled, with its table."""

    shape: float
    rate: float
    log_constant: NDArray[np.float64]

    def n_statistics(self, n_columns: int) -> int:
        """Sum of each column, and the total square."""
        return n_columns + 1

    def write_statistics(self, rows: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        """Write the values of each row, and their total square."""
        out[:, :-1] = rows
        out[:, -1] = np.sum(rows**2, axis=1)

    def log_marginal(self, count: int, stats: NDArray[np.float64]) -> float:
        """Log marginal likelihood of ``count`` rows."""
        n_columns = stats.size - 1
        square_of_sums = 0.0
        for j in range(n_columns):
            square_of_sums += stats[j] * stats[j]
        spread = max(stats[n_columns] - square_of_sums / (count + 1.0), 0.0)
        exponent = self.shape + 0.5 * count * n_columns
        return self.log_constant[count] - exponent * math.log(self.rate + 0.5 * spread)
