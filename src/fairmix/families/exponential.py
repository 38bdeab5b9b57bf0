r"""Independent durations, conjugate Gamma prior.

In each column the rate of an exponential distribution is :math:`\theta \sim \mathrm{Gamma}(a, b)`
(shape, rate). For :math:`n` durations with sum :math:`s`,

.. math::
   m = \frac{b^a}{\Gamma(a)} \frac{\Gamma(a + n)}{(b + s)^{a + n}}.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from fairmix.families.protocol import check_positive


class Exponential(NamedTuple):
    """Independent columns of durations, or other amounts from 0 on with a long tail.

    Parameters
    ----------
    shape : float, default=2.0
        Shape of the Gamma prior of a column's rate in a cluster: larger values keep clusters'
        means closer to that of the prior.
    rate : float or None, default=None
        Rate of that prior; a cluster's mean duration is rate / shape or so. None chooses it for
        each column so that this is the mean of the column.
    """

    shape: float = 2.0
    rate: float | None = None

    @property
    def kind(self) -> str:
        """Columns hold numbers from 0 on."""
        return "amounts"

    @property
    def allows_missing(self) -> bool:
        """Missing cells are left out."""
        return True

    def prepare(self, rows: NDArray[np.float64]) -> TabulatedExponential:
        """Check the hyperparameters and tabulate the terms of the counts."""
        check_positive("Exponential", shape=self.shape)
        if self.rate is not None:
            check_positive("Exponential", rate=self.rate)
        means = np.nanmean(rows, axis=0)
        rate = self.shape * np.where(means > 0, means, 1.0) if self.rate is None else self.rate
        rates = np.broadcast_to(np.asarray(rate, dtype=np.float64), means.shape).copy()
        log_gamma = gammaln(self.shape + np.arange(len(rows) + 1)) - gammaln(self.shape)
        log_constant = float(np.sum(self.shape * np.log(rates)))
        has_missing = bool(np.isnan(rows).any())
        return TabulatedExponential(
            float(self.shape), rates, log_constant, np.asarray(log_gamma), has_missing
        )


class TabulatedExponential(NamedTuple):
    """The exponential family as it is sampled, with its table."""

    shape: float
    rates: NDArray[np.float64]
    log_constant: float
    log_gamma: NDArray[np.float64]
    has_missing: bool

    def n_statistics(self, n_columns: int) -> int:
        """Sum of each column, and its count if cells are missing."""
        return (2 if self.has_missing else 1) * n_columns

    def write_statistics(self, rows: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        """Write the durations of each row."""
        n_columns = rows.shape[1]
        out[:, :n_columns] = np.nan_to_num(rows, nan=0.0)
        if self.has_missing:
            out[:, n_columns:] = ~np.isnan(rows)

    def log_marginal(self, count: int, stats: NDArray[np.float64]) -> float:
        """Log marginal likelihood of ``count`` rows."""
        n_columns = self.rates.size
        total = self.log_constant
        for j in range(n_columns):
            n_present = int(stats[n_columns + j]) if self.has_missing else count
            total += self.log_gamma[n_present]
            total -= (self.shape + n_present) * math.log(self.rates[j] + max(stats[j], 0.0))
        return total
