r"""Student's t distribution in each column: Gaussian clusters that shrug off outliers.

In each column of a cluster there are a location :math:`\mu`, a scale :math:`\sigma` and degrees of
freedom :math:`\nu`, a priori independent with :math:`\mu \sim N(0, s^2)`,
:math:`1/\sigma^2 \sim \mathrm{Gamma}(a, b)` (shape, rate) and a normal :math:`\log \nu`. The
parameters are all :math:`\mu_j`, then all :math:`\log \sigma_j`, then all :math:`\log \nu_j`.
There is no conjugate prior: parameters are sampled (Algorithm 8).
"""

from __future__ import annotations

import math
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fairmix.families.protocol import check_positive

#: Prior of log degrees of freedom: from about 1 (Cauchy) to 60 (nearly Gaussian).
LOG_DEGREES_MEAN, LOG_DEGREES_SD = math.log(8.0), 1.0
#: Larger numbers are not exponentiated.
MAX_LOG = 300.0


class StudentT(NamedTuple):
    """Robust clusters: Student's t in each column, degrees of freedom inferred.

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
    """

    shape: float = 1.0
    rate: float = 1.0
    location_sd: float = 1.5

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
        check_positive("StudentT", **self._asdict())
        return self

    def n_parameters(self, n_columns: int) -> int:
        """Location, log scale and log degrees of freedom of each column."""
        return 3 * n_columns

    def log_density(self, params: NDArray[np.float64], row: NDArray[np.float64]) -> float:
        """Log density of a row."""
        n_columns = row.size
        total = 0.0
        for j in range(n_columns):
            if row[j] == row[j]:  # not missing
                log_scale = params[n_columns + j]
                degrees = math.exp(min(params[2 * n_columns + j], MAX_LOG))
                deviation = (row[j] - params[j]) * math.exp(min(-log_scale, MAX_LOG))
                total += math.lgamma(0.5 * (degrees + 1.0)) - math.lgamma(0.5 * degrees)
                total -= 0.5 * math.log(math.pi * degrees) + log_scale
                total -= 0.5 * (degrees + 1.0) * math.log1p(deviation * deviation / degrees)
        return total

    def log_prior(self, params: NDArray[np.float64]) -> float:
        """Log prior density of a cluster's parameters."""
        n_columns = params.size // 3
        log_constant = self.shape * math.log(self.rate) - math.lgamma(self.shape) + math.log(2.0)
        log_constant -= math.log(2.0 * math.pi * self.location_sd * LOG_DEGREES_SD)
        total = n_columns * log_constant
        for j in range(n_columns):
            location = params[j] / self.location_sd
            log_precision = -2.0 * params[n_columns + j]
            degrees = (params[2 * n_columns + j] - LOG_DEGREES_MEAN) / LOG_DEGREES_SD
            total += self.shape * log_precision - self.rate * math.exp(min(log_precision, MAX_LOG))
            total -= 0.5 * (location * location + degrees * degrees)
        return total

    def sample_prior(self, rng: np.random.Generator, params: NDArray[np.float64]) -> None:
        """Draw a cluster's parameters from their prior."""
        n_columns = params.size // 3
        for j in range(n_columns):
            precision = max(rng.standard_gamma(self.shape), 1e-300) / self.rate
            params[j] = self.location_sd * rng.standard_normal()
            params[n_columns + j] = -0.5 * math.log(precision)
            params[2 * n_columns + j] = LOG_DEGREES_MEAN + LOG_DEGREES_SD * rng.standard_normal()
