"""Families written in other ways, with the same law as shipped ones, and a user's own."""

import math
from typing import NamedTuple


class InstantiatedGaussian(NamedTuple):
    """The Gaussian family, its parameters not integrated out: means and log precisions."""

    shape: float = 1.0
    rate: float = 1.0

    def prepare(self, rows):
        return self

    @property
    def columns_are_independent(self):
        return True

    def n_parameters(self, n_columns):
        return 2 * n_columns

    def log_density(self, params, row):
        total = 0.0
        for j in range(row.size):
            log_precision = params[row.size + j]
            deviation = row[j] - params[j]
            total += 0.5 * log_precision - 0.5 * math.log(2.0 * math.pi)
            total -= 0.5 * math.exp(log_precision) * deviation * deviation
        return total

    def log_prior(self, params):
        total = 0.0
        n_columns = params.size // 2
        for j in range(n_columns):
            log_precision = params[n_columns + j]
            precision = math.exp(log_precision)
            total += self.shape * math.log(self.rate) - math.lgamma(self.shape)
            total += self.shape * log_precision - self.rate * precision
            total += 0.5 * log_precision - 0.5 * math.log(2.0 * math.pi)
            total -= 0.5 * precision * params[j] * params[j]
        return total

    def sample_prior(self, rng, params):
        n_columns = params.size // 2
        for j in range(n_columns):
            precision = rng.standard_gamma(self.shape) / self.rate
            params[n_columns + j] = math.log(precision)
            params[j] = rng.standard_normal() / math.sqrt(precision)
