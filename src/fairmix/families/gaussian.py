r"""Gaussian with a diagonal covariance, conjugate Normal-Gamma prior.

In each column :math:`\lambda \sim \mathrm{Gamma}(a, b)` (shape, rate) and
:math:`\mu \mid \lambda \sim N(0, 1/\lambda)`. For :math:`n` values with sum :math:`s`
and sum of squares :math:`q`,

.. math::
   m = (2\pi)^{-n/2} (n+1)^{-1/2} \frac{\Gamma(a + n/2)}{\Gamma(a)}
       \frac{b^a}{\left(b + \frac12 (q - \frac{s^2}{n+1})\right)^{a + n/2}}.

Everything but the last factor depends on the count alone and is a table; the
last factors of all columns are multiplied and cost one logarithm. With missing cells, every
column has a count of its own, which is one more statistic.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from fairmix.families.protocol import check_positive


class Gaussian(NamedTuple):
    """Gaussian rows with a diagonal covariance.

    Parameters
    ----------
    shape : float, default=1.0
        Shape of the Gamma prior of a column's precision (the paper's a).
    rate : float, default=1.0
        Rate of that prior (the paper's b). With standardised columns, 1 says that the
        variance in a cluster is of the order of the column's own; smaller values
        favour tighter clusters.
    """

    shape: float = 1.0
    rate: float = 1.0

    @property
    def is_location_scale(self) -> bool:
        """Columns are put into standard units."""
        return True

    @property
    def allows_missing(self) -> bool:
        """Missing cells are left out."""
        return True

    def prepare(self, rows: NDArray[np.float64]) -> TabulatedGaussian:
        """Check the hyperparameters and tabulate the terms of the counts."""
        check_positive("Gaussian", shape=self.shape, rate=self.rate)
        counts = np.arange(len(rows) + 1)
        log_constant = (
            gammaln(self.shape + counts / 2)
            - gammaln(self.shape)
            + self.shape * np.log(self.rate)
            - np.log(counts + 1) / 2
            - counts / 2 * np.log(2 * np.pi)
        )
        has_missing = bool(np.isnan(rows).any())
        return TabulatedGaussian(float(self.shape), float(self.rate), log_constant, has_missing)


class TabulatedGaussian(NamedTuple):
    """The Gaussian family as it is sampled, with its table."""

    shape: float
    rate: float
    log_constant: NDArray[np.float64]
    has_missing: bool

    def n_statistics(self, n_columns: int) -> int:
        """Sum and sum of squares of each column, and its count if cells are missing."""
        return (3 if self.has_missing else 2) * n_columns

    def write_statistics(self, rows: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        """Write values and squares of each row."""
        n_columns = rows.shape[1]
        present = np.nan_to_num(rows, nan=0.0)
        out[:, :n_columns] = present
        out[:, n_columns : 2 * n_columns] = present**2
        if self.has_missing:
            out[:, 2 * n_columns :] = ~np.isnan(rows)

    def log_marginal(self, count: int, stats: NDArray[np.float64]) -> float:
        """Log marginal likelihood of ``count`` rows."""
        if self.has_missing:
            n_columns = stats.size // 3
            log_total = 0.0
            for j in range(n_columns):
                n_present = stats[2 * n_columns + j]
                total = stats[j]
                spread = stats[n_columns + j] - total * total / (n_present + 1.0)
                log_total += self.log_constant[int(n_present)]
                log_total -= (self.shape + 0.5 * n_present) * math.log(
                    self.rate + 0.5 * max(spread, 0.0)
                )
            return log_total
        n_columns = stats.size // 2
        shrinkage = 1.0 / (count + 1.0)
        log_product = 0.0
        product = 1.0
        for j in range(n_columns):
            total = stats[j]
            product *= self.rate + 0.5 * max(stats[n_columns + j] - total * total * shrinkage, 0.0)
            if not 1e-150 < product < 1e150:
                log_product += math.log(product)
                product = 1.0
        log_product += math.log(product)
        return n_columns * self.log_constant[count] - (self.shape + 0.5 * count) * log_product
