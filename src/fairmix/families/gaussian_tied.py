r"""Spherical Gaussian with one variance for all clusters, given or inferred.

:math:`x \mid \mu_c \sim N(\mu_c, \sigma^2 I)` with :math:`\mu_c \sim N(0, v I)`. For :math:`n` rows
in :math:`d` columns with sums :math:`s_j` and total square :math:`q`,

.. math::
   \log m = -\frac{nd}{2} \log 2\pi\sigma^2 - \frac d2 \log \frac{\sigma^2 + nv}{\sigma^2}
           - \frac{1}{2\sigma^2} \Big(q - \frac{v \sum_j s_j^2}{\sigma^2 + nv}\Big).

As :math:`\sigma^2 \to 0` this is k-means: the log posterior is dominated by the cost. If
:math:`\sigma^2` is inferred, :math:`1/\sigma^2 \sim \mathrm{Gamma}(a, b)`; once a sweep the means
are drawn given the clusters, :math:`\sigma^2` given the means, and the means are dropped again.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairmix.families.protocol import check_positive

#: Where an inferred variance starts, as a share of the columns' own.
FIRST_VARIANCE = 0.5


class GaussianTied(NamedTuple):
    """Gaussian rows with one variance for all columns and all clusters.

    Parameters
    ----------
    variance : float or None, default=None
        The variance. With standardised columns, 1 is the columns' own; small values (0.05, say)
        make clusters as tight as k-means would. None is inferred.
    mean_variance : float, default=1.0
        Variance of the clusters' means around 0, the mean of all rows in standard units.
    shape, rate : float, default=1.0
        Of the Gamma prior of the precision, if the variance is inferred.
    """

    variance: float | None = None
    mean_variance: float = 1.0
    shape: float = 1.0
    rate: float = 1.0

    @property
    def is_location_scale(self) -> bool:
        """Columns are put into standard units."""
        return True

    def prepare(self, rows: NDArray[np.float64]) -> TiedGaussian:
        """Check the hyperparameters."""
        check_positive(
            "GaussianTied", mean_variance=self.mean_variance, shape=self.shape, rate=self.rate
        )
        if self.variance is not None:
            check_positive("GaussianTied", variance=self.variance)
        is_inferred = self.variance is None
        first = FIRST_VARIANCE if self.variance is None else float(self.variance)
        return TiedGaussian(
            np.array([first]),
            is_inferred,
            float(self.mean_variance),
            float(self.shape),
            float(self.rate),
        )


class TiedGaussian(NamedTuple):
    """The tied family as it is sampled."""

    shared: NDArray[np.float64]  # the variance, part of a chain's state
    is_inferred: bool
    mean_variance: float
    shape: float
    rate: float

    def n_statistics(self, n_columns: int) -> int:
        """Sum of each column, and the total square."""
        return n_columns + 1

    def write_statistics(self, rows: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        """Write the values of each row, and their total square."""
        out[:, :-1] = rows
        out[:, -1] = np.sum(rows**2, axis=1)

    def log_marginal(self, count: int, stats: NDArray[np.float64]) -> float:
        """Log marginal likelihood of ``count`` rows, given the variance."""
        n_columns = stats.size - 1
        variance = self.shared[0]
        square_of_sums = 0.0
        for j in range(n_columns):
            square_of_sums += stats[j] * stats[j]
        total_variance = variance + count * self.mean_variance
        spread = stats[n_columns] - self.mean_variance * square_of_sums / total_variance
        log_determinant = count * math.log(2.0 * math.pi * variance)
        log_determinant += math.log(total_variance / variance)
        return -0.5 * (n_columns * log_determinant + spread / variance)

    def update_shared(
        self, rng: np.random.Generator, counts: NDArray[np.float64], stats: NDArray[np.float64]
    ) -> float:
        """Redraw the variance, if it is inferred; give its log prior density."""
        if not self.is_inferred:
            return 0.0
        n_columns = stats.shape[1] - 1
        variance = self.shared[0]
        n_cells = 0.0
        square = 0.0
        for c in range(counts.size):
            total_variance = variance + counts[c] * self.mean_variance
            shrinkage = self.mean_variance / total_variance
            spread = math.sqrt(variance * shrinkage)
            square += stats[c, n_columns]
            for j in range(n_columns):
                mean = shrinkage * stats[c, j] + spread * rng.standard_normal()
                square += mean * (counts[c] * mean - 2.0 * stats[c, j])
            n_cells += counts[c] * n_columns
        precision = rng.standard_gamma(self.shape + 0.5 * n_cells)
        precision /= self.rate + 0.5 * max(square, 0.0)
        self.shared[0] = 1.0 / precision
        log_prior = self.shape * math.log(self.rate) - math.lgamma(self.shape)
        return log_prior + (self.shape + 1.0) * math.log(precision) - self.rate * precision
