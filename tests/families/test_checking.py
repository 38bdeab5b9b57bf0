"""The check of families: shipped ones pass it, and it says what is wrong with broken ones."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from fairmix.families import (
    Bernoulli,
    Categorical,
    Exponential,
    Gaussian,
    GaussianFull,
    GaussianSpherical,
    GaussianTied,
    Poisson,
    SkewNormal,
    StudentT,
    check_family,
)
from tests.twins import InstantiatedGaussian

ROWS = np.random.default_rng(5).normal(size=(12, 3))
CODES = np.random.default_rng(5).integers(4, size=(12, 3))
SOUND = [
    (Gaussian(0.7, 2.0), ROWS),
    (GaussianSpherical(), ROWS),
    (GaussianTied(), ROWS),
    (GaussianTied(0.1), ROWS),
    (GaussianFull(), ROWS),
    (StudentT(), ROWS),
    (SkewNormal(), ROWS),
    (InstantiatedGaussian(2.0), ROWS),
    (Bernoulli(0.3), CODES % 2),
    (Categorical(0.3), CODES),
    (Poisson(), CODES),
    (Exponential(), np.abs(ROWS)),
]


@pytest.mark.parametrize(("family", "rows"), SOUND, ids=lambda x: type(x).__name__)
def test_shipped_families_pass_the_check(family, rows):
    check_family(family, rows)


class Waiting(NamedTuple):
    """The protocol's example."""

    shape: float = 1.0
    rate: float = 1.0

    @property
    def kind(self):
        return "amounts"

    def n_statistics(self, n_columns):
        return n_columns

    def write_statistics(self, rows, out):
        out[:] = rows

    def log_marginal(self, count, stats):
        total = 0.0
        for j in range(stats.size):
            total += self.shape * math.log(self.rate) - math.lgamma(self.shape)
            total += math.lgamma(self.shape + count)
            total -= (self.shape + count) * math.log(self.rate + stats[j])
        return total


class NoConstant(Waiting):
    def log_marginal(self, count, stats):
        return -(self.shape + count) * math.log(self.rate + stats[0])


class NoGamma(Waiting):
    def log_marginal(self, count, stats):
        total = self.shape * math.log(self.rate)
        return total - (self.shape + count) * math.log(self.rate + stats[0])


class Centred(Waiting):
    def write_statistics(self, rows, out):
        out[:] = rows - rows.mean(axis=0)


class TooFew(Waiting):
    def n_statistics(self, n_columns):
        return n_columns + 1

    def write_statistics(self, rows, out):
        out[:, :-1] = rows


class MakesArrays(Waiting):
    def log_marginal(self, count, stats):
        return -float(np.sum(np.zeros(3) + stats[0])) * 0.0


class Meddles(Waiting):
    def log_marginal(self, count, stats):
        stats[0] += 1.0
        return 0.0


class NotFinite(Waiting):
    def log_marginal(self, count, stats):
        return -math.inf if count else 0.0


class Misnamed(NamedTuple):
    log_marginal: float = 1.0


class Incomplete(NamedTuple):
    rate: float = 1.0

    def log_marginal(self, count, stats):
        return 0.0


class WrongPrior(InstantiatedGaussian):
    def sample_prior(self, rng, params):
        for k in range(params.size):
            params[k] = rng.standard_normal()


class NoPriorConstant(InstantiatedGaussian):
    def log_prior(self, params):
        precision = math.exp(params[1])
        return 1.5 * params[1] - precision - 0.5 * precision * params[0] ** 2


class NoDensityConstant(InstantiatedGaussian):
    def log_density(self, params, row):
        total = 0.0
        for j in range(row.size):
            total -= 0.5 * math.exp(params[row.size + j]) * (row[j] - params[j]) ** 2
        return total


class Leftover(InstantiatedGaussian):
    def n_parameters(self, n_columns):
        return 2 * n_columns + 1


BROKEN = [
    (NoConstant(), "log_marginal of no rows is|adds up to"),
    (NoGamma(shape=2.0), "the predictive density of the next one adds up to 0.5"),
    (Centred(), "other statistics when it is alone"),
    (TooFew(), "leaves statistic 3 of 4 unwritten"),
    (MakesArrays(), "log_marginal cannot be compiled"),
    (Meddles(), "changes the statistics"),
    (NotFinite(), "must be finite"),
    (Misnamed(), "a field named 'log_marginal'"),
    (Incomplete(), "lacks n_statistics, write_statistics"),
    (WrongPrior(), "log_prior is not the density of what sample_prior draws"),
    (NoDensityConstant(), "the density adds up to"),
    (Leftover(), "leaves parameter 6 of 7 unwritten"),
]


@pytest.mark.parametrize(("family", "words"), BROKEN, ids=lambda x: type(x).__name__)
def test_the_check_says_what_is_wrong(family, words):
    rows = np.abs(ROWS) if isinstance(family, Waiting) else ROWS
    with pytest.raises(ValueError, match=words):
        check_family(family, rows)


def test_the_check_sees_a_prior_without_its_constant():
    with pytest.raises(ValueError, match="normalising constant"):
        check_family(NoPriorConstant(), ROWS[:, :1])


def test_the_example_of_the_protocol_is_right():
    check_family(Waiting(1.5, 0.5), np.abs(ROWS))


def test_things_that_are_no_families():
    with pytest.raises(TypeError, match="the class Gaussian"):
        check_family(Gaussian, ROWS)
    with pytest.raises(TypeError, match="not a NamedTuple"):
        check_family(3, ROWS)
    with pytest.raises(ValueError, match="rows and columns"):
        check_family(Gaussian(), ROWS[0])
