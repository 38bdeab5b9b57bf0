r"""Independent counts, conjugate Gamma prior: clusters of counts are negative binomial.

In each column :math:`\lambda \sim \mathrm{Gamma}(a, b)` (shape, rate). For :math:`n` counts with
sum :math:`s`,

.. math::
   m = \frac{b^a}{\Gamma(a)} \frac{\Gamma(a + s)}{(b + n)^{a + s}} \prod_i \frac{1}{x_i!}.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from fairmix.families.protocol import check_positive


class Poisson(NamedTuple):
    """Independent columns of counts 0, 1, 2, ...

    Parameters
    ----------
    shape : float, default=1.0
        Shape of the Gamma prior of a column's mean in a cluster: 1 is an exponential
        distribution, larger values keep clusters' means closer to the prior mean.
    rate : float or None, default=None
        Rate of that prior, whose mean is shape / rate. None chooses it for each column so that
        the prior mean is the mean of the column.
    """

    shape: float = 1.0
    rate: float | None = None

    @property
    def kind(self) -> str:
        """Columns hold whole numbers from 0 on."""
        return "counts"

    @property
    def allows_missing(self) -> bool:
        """Missing cells are left out."""
        return True

    def prepare(self, rows: NDArray[np.float64]) -> PreparedPoisson:
        """Check the hyperparameters and fill in those that the columns give."""
        check_positive("Poisson", shape=self.shape)
        if self.rate is not None:
            check_positive("Poisson", rate=self.rate)
        means = np.nanmean(rows, axis=0)
        rate = self.shape / np.where(means > 0, means, 1.0) if self.rate is None else self.rate
        rates = np.broadcast_to(np.asarray(rate, dtype=np.float64), means.shape).copy()
        log_constant = float(np.sum(self.shape * np.log(rates) - gammaln(self.shape)))
        return PreparedPoisson(float(self.shape), rates, log_constant, bool(np.isnan(rows).any()))


class PreparedPoisson(NamedTuple):
    """The Poisson family as it is sampled."""

    shape: float
    rates: NDArray[np.float64]
    log_constant: float
    has_missing: bool

    def n_statistics(self, n_columns: int) -> int:
        """Sum of each column, the log factorials, and counts of values if cells are missing."""
        return (2 if self.has_missing else 1) * n_columns + 1

    def write_statistics(self, rows: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        """Write the counts of each row and the sum of their log factorials."""
        n_columns = rows.shape[1]
        present = np.nan_to_num(rows, nan=0.0)
        out[:, :n_columns] = present
        out[:, n_columns] = gammaln(present + 1).sum(axis=1)
        if self.has_missing:
            out[:, n_columns + 1 :] = ~np.isnan(rows)

    def log_marginal(self, count: int, stats: NDArray[np.float64]) -> float:
        """Log marginal likelihood of ``count`` rows."""
        n_columns = self.rates.size
        total = self.log_constant - stats[n_columns]
        for j in range(n_columns):
            n_present = stats[n_columns + 1 + j] if self.has_missing else float(count)
            shape = self.shape + stats[j]
            total += math.lgamma(shape) - shape * math.log(self.rates[j] + n_present)
        return total
