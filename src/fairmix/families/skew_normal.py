r"""Skew-normal distribution in each column (Azzalini 1985): clusters with a longer side.

.. math::
   f(x) = \frac{2}{\omega} \varphi(z)\, \Phi(\alpha z), \qquad z = \frac{x - \xi}{\omega},

with parameters :math:`(\xi_j, \log \omega_j, \alpha_j)` for each column, independent and normal a
priori; :math:`\alpha = 0` is a Gaussian. There is no conjugate prior: parameters are
sampled (Algorithm 8).
"""

from __future__ import annotations

import math
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fairmix.families._protocol import check_positive

#: Below this, the normal distribution function is taken from its asymptotic series.
FAR_LEFT = -12.0


class SkewNormal(NamedTuple):
    """Skewed clusters: skew-normal in each column.

    Parameters
    ----------
    location_sd : float, default=1.5
        Prior standard deviation of a cluster's location, around 0. With standardised columns, 1
        is the columns' own.
    typical_scale : float, default=0.6
        Prior median of a cluster's scale; with standardised columns, 1 is the columns' own.
    log_scale_sd : float, default=0.75
        Prior standard deviation of the log of a cluster's scale.
    skewness_sd : float, default=3.0
        Prior standard deviation of the shape alpha, around 0 (no skewness); beyond 5 or so a
        cluster is nearly half a Gaussian.
    """

    location_sd: float = 1.5
    typical_scale: float = 0.6
    log_scale_sd: float = 0.75
    skewness_sd: float = 3.0

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
        check_positive("SkewNormal", **self._asdict())
        return self

    def n_parameters(self, n_columns: int) -> int:
        """Location, log scale and shape of each column."""
        return 3 * n_columns

    def log_density(self, params: NDArray[np.float64], row: NDArray[np.float64]) -> float:
        """Log density of a row."""
        n_columns = row.size
        total = 0.0
        for j in range(n_columns):
            if row[j] == row[j]:  # not missing
                log_scale = params[n_columns + j]
                deviation = (row[j] - params[j]) * math.exp(-log_scale)
                skewed = params[2 * n_columns + j] * deviation
                if skewed > FAR_LEFT:
                    log_tail = math.log(math.erfc(-skewed / math.sqrt(2.0)))
                else:
                    log_tail = -0.5 * skewed * skewed - math.log(-skewed)
                    log_tail += 0.5 * math.log(2.0 / math.pi) - math.log1p(1.0 / (skewed * skewed))
                total += log_tail - log_scale - 0.5 * deviation * deviation
                total -= 0.5 * math.log(2.0 * math.pi)
        return total

    def log_prior(self, params: NDArray[np.float64]) -> float:
        """Log prior density of a cluster's parameters."""
        n_columns = params.size // 3
        log_typical = math.log(self.typical_scale)
        total = -0.5 * params.size * math.log(2.0 * math.pi)
        total -= n_columns * math.log(self.location_sd * self.log_scale_sd * self.skewness_sd)
        for j in range(n_columns):
            location = params[j] / self.location_sd
            log_scale = (params[n_columns + j] - log_typical) / self.log_scale_sd
            skewness = params[2 * n_columns + j] / self.skewness_sd
            total -= 0.5 * (location**2 + log_scale**2 + skewness**2)
        return total

    def sample_prior(self, rng: np.random.Generator, params: NDArray[np.float64]) -> None:
        """Draw a cluster's parameters from their prior."""
        n_columns = params.size // 3
        log_typical = math.log(self.typical_scale)
        for j in range(n_columns):
            params[j] = self.location_sd * rng.standard_normal()
            params[n_columns + j] = log_typical + self.log_scale_sd * rng.standard_normal()
            params[2 * n_columns + j] = self.skewness_sd * rng.standard_normal()
