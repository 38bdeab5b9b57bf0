r"""Skew-normal distribution in each column (Azzalini 1985): clusters with a longer side.

.. math::
   f(x) = \frac{2}{\omega} \varphi(z)\, \Phi(\alpha z), \qquad z = \frac{x - \xi}{\omega},

in each column, where :math:`\alpha = 0` is a Gaussian. A priori the three are independent with
:math:`\xi \sim N(0, s^2)`, :math:`1/\omega^2 \sim \mathrm{Gamma}(a, b)` (shape, rate) and
:math:`\alpha \sim N(0, k^2)`. The parameters are all :math:`\xi_j`, then all :math:`\log \omega_j`,
then all :math:`\alpha_j`. There is no conjugate prior: parameters are sampled (Algorithm 8).
"""

from __future__ import annotations

import math
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fairmix.families.protocol import check_positive

#: Below this, the normal distribution function is taken from its asymptotic series.
FAR_LEFT = -35.0
#: Larger numbers are not exponentiated.
MAX_LOG = 300.0


class SkewNormal(NamedTuple):
    """Skewed clusters: skew-normal in each column.

    Parameters
    ----------
    shape : float, default=1.0
        Shape of the Gamma prior of a column's precision, one over its squared scale.
    rate : float, default=1.0
        Rate of that prior. With standardised columns, 1 says that the scale in a cluster is of
        the order of the column's own; smaller values favour tighter clusters.
    location_sd : float, default=1.5
        Prior standard deviation of a cluster's location, around 0. With standardised columns, 1
        is the columns' own.
    skewness_sd : float, default=3.0
        Prior standard deviation of alpha, around 0 (no skewness); beyond 5 or so a cluster is
        nearly half a Gaussian.
    """

    shape: float = 1.0
    rate: float = 1.0
    location_sd: float = 1.5
    skewness_sd: float = 3.0

    @property
    def is_location_scale(self) -> bool:
        """Columns are put into standard units."""
        return True

    @property
    def allows_missing(self) -> bool:
        """Missing cells are left out."""
        return True

    @property
    def columns_are_independent(self) -> bool:
        """Every column has its own parameters."""
        return True

    def prepare(self, rows: NDArray[np.float64]) -> Self:
        """Check the hyperparameters."""
        check_positive("SkewNormal", **self._asdict())
        return self

    def n_parameters(self, n_columns: int) -> int:
        """Location, log scale and alpha of each column."""
        return 3 * n_columns

    def log_density(self, params: NDArray[np.float64], row: NDArray[np.float64]) -> float:
        """Log density of a row."""
        n_columns = row.size
        total = 0.0
        for j in range(n_columns):
            if row[j] == row[j]:  # not missing
                log_scale = params[n_columns + j]
                deviation = (row[j] - params[j]) * math.exp(min(-log_scale, MAX_LOG))
                skewed = params[2 * n_columns + j] * deviation
                if skewed > FAR_LEFT:
                    log_tail = math.log(math.erfc(-skewed / math.sqrt(2.0)))
                else:
                    log_tail = -0.5 * skewed * skewed - math.log(-skewed)
                    log_tail += 0.5 * math.log(2.0 / math.pi)
                    log_tail -= math.log1p(1.0 / (skewed * skewed))
                total += log_tail - log_scale - 0.5 * deviation * deviation
                total -= 0.5 * math.log(2.0 * math.pi)
        return total

    def log_prior(self, params: NDArray[np.float64]) -> float:
        """Log prior density of a cluster's parameters."""
        n_columns = params.size // 3
        log_constant = self.shape * math.log(self.rate) - math.lgamma(self.shape) + math.log(2.0)
        log_constant -= math.log(2.0 * math.pi * self.location_sd * self.skewness_sd)
        total = n_columns * log_constant
        for j in range(n_columns):
            location = params[j] / self.location_sd
            log_precision = -2.0 * params[n_columns + j]
            skewness = params[2 * n_columns + j] / self.skewness_sd
            total += self.shape * log_precision - self.rate * math.exp(min(log_precision, MAX_LOG))
            total -= 0.5 * (location * location + skewness * skewness)
        return total

    def sample_prior(self, rng: np.random.Generator, params: NDArray[np.float64]) -> None:
        """Draw a cluster's parameters from their prior."""
        n_columns = params.size // 3
        for j in range(n_columns):
            precision = max(rng.standard_gamma(self.shape), 1e-300) / self.rate
            params[j] = self.location_sd * rng.standard_normal()
            params[n_columns + j] = -0.5 * math.log(precision)
            params[2 * n_columns + j] = self.skewness_sd * rng.standard_normal()
