r"""Student's t distribution in each column: Gaussian clusters that shrug off outliers.

Each cluster has locations :math:`\mu_j`, scales :math:`\sigma_j` and degrees of freedom
:math:`\nu`, which all columns share; the parameters are
:math:`(\mu_1, \dots, \mu_d, \log \sigma_1, \dots, \log \sigma_d, \log \nu)`, independent and normal
a priori. There is no conjugate prior: parameters are sampled (Algorithm 8).
"""

from __future__ import annotations

import math
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fairmix.families._protocol import check_positive

#: Prior of log degrees of freedom: from about 1 (Cauchy) to 60 (nearly Gaussian).
LOG_DEGREES_MEAN, LOG_DEGREES_SD = math.log(8.0), 1.0


class StudentT(NamedTuple):
    """Robust clusters: Student's t in each column, degrees of freedom inferred.

    Parameters
    ----------
    location_sd : float, default=1.5
        Prior standard deviation of a cluster's location, around 0. With standardised columns, 1
        is the columns' own.
    typical_scale : float, default=0.6
        Prior median of a cluster's scale; with standardised columns, 1 is the columns' own.
    log_scale_sd : float, default=0.75
        Prior standard deviation of the log of a cluster's scale: 0.75 says that scales of a fifth
        to five times the typical one are plausible.
    """

    location_sd: float = 1.5
    typical_scale: float = 0.6
    log_scale_sd: float = 0.75

    @property
    def is_location_scale(self) -> bool:
        """Columns are put into standard units."""
        return True

    @property
    def allows_missing(self) -> bool:
        """Missing cells are left out."""
        return True

    def prepare(self, rows: NDArray[np.float64]) -> Self:
        """Check the hyperparameters."""
        check_positive("StudentT", **self._asdict())
        return self

    def n_parameters(self, n_columns: int) -> int:
        """Location and log scale of each column, log degrees of freedom."""
        return 2 * n_columns + 1

    def log_density(self, params: NDArray[np.float64], row: NDArray[np.float64]) -> float:
        """Log density of a row."""
        n_columns = row.size
        degrees = math.exp(params[2 * n_columns])
        log_constant = math.lgamma(0.5 * (degrees + 1.0)) - math.lgamma(0.5 * degrees)
        log_constant -= 0.5 * math.log(math.pi * degrees)
        total = 0.0
        for j in range(n_columns):
            if row[j] == row[j]:  # not missing
                log_scale = params[n_columns + j]
                deviation = (row[j] - params[j]) * math.exp(-log_scale)
                total += log_constant - log_scale
                total -= 0.5 * (degrees + 1.0) * math.log1p(deviation * deviation / degrees)
        return total

    def log_prior(self, params: NDArray[np.float64]) -> float:
        """Log prior density of a cluster's parameters."""
        n_columns = params.size // 2
        log_typical = math.log(self.typical_scale)
        total = -0.5 * params.size * math.log(2.0 * math.pi)
        total -= n_columns * math.log(self.location_sd * self.log_scale_sd)
        for j in range(n_columns):
            location = params[j] / self.location_sd
            log_scale = (params[n_columns + j] - log_typical) / self.log_scale_sd
            total -= 0.5 * (location * location + log_scale * log_scale)
        log_degrees = (params[2 * n_columns] - LOG_DEGREES_MEAN) / LOG_DEGREES_SD
        return total - 0.5 * log_degrees * log_degrees - math.log(LOG_DEGREES_SD)

    def sample_prior(self, rng: np.random.Generator, params: NDArray[np.float64]) -> None:
        """Draw a cluster's parameters from their prior."""
        n_columns = params.size // 2
        log_typical = math.log(self.typical_scale)
        for j in range(n_columns):
            params[j] = self.location_sd * rng.standard_normal()
            params[n_columns + j] = log_typical + self.log_scale_sd * rng.standard_normal()
        params[2 * n_columns] = LOG_DEGREES_MEAN + LOG_DEGREES_SD * rng.standard_normal()
