"""Figures of other software (BayesianMixtures.jl) and of exact enumeration, met by ``fit``."""

import numpy as np
import pytest
from scipy import stats

from fairmix.baselines import MixtureOfFiniteMixtures
from fairmix.datasets import load_galaxy
from tests.monte_carlo import FALSE_ALARM, N_BATCHES, share_of, standard_error


def assert_shares(posterior, expected, expected_error):
    """Compare shares of draws with t clusters; both sides have an error."""
    values = list(expected)
    draws = posterior.n_clusters.reshape(-1)
    indicators = (draws[:, None] == values).astype(float)
    error = np.sqrt(standard_error(indicators) ** 2 + expected_error**2)
    bound = stats.t.isf(FALSE_ALARM / len(values) / 2, N_BATCHES - 1)
    deviation = np.abs(indicators.mean(axis=0) - np.array(list(expected.values()))) / error
    assert np.all(deviation < bound), f"{indicators.mean(axis=0)}: {deviation} standard errors"
    assert indicators.sum() > 0.9 * len(draws)


@pytest.mark.slow
def test_galaxy():
    model = MixtureOfFiniteMixtures(
        n_warmup=500, n_draws=share_of(40_000), thin=5, n_jobs=2, random_state=0
    )
    model.fit(load_galaxy().data)
    expected = {2: 0.2986, 3: 0.3144, 4: 0.1931, 5: 0.1007, 6: 0.0493, 7: 0.0235, 8: 0.0108}
    assert_shares(model.posterior_, expected, expected_error=0.002)


@pytest.mark.slow
def test_eight_points():
    points = np.array([-2.1, -1.9, -2.0, 0.1, 0.0, 0.2, 1.9, 2.2])[:, None]
    model = MixtureOfFiniteMixtures(
        n_warmup=100,
        n_draws=share_of(50_000),
        standardize=False,
        init_partition="one",
        random_state=0,
    )
    model.fit(points)
    expected = [
        0.0689480348908,
        0.109276488287,
        0.151469472717,
        0.184386175185,
        0.192958453722,
        0.163247749794,
        0.0984325765958,
        0.0312810488087,
    ]
    assert_shares(model.posterior_, dict(enumerate(expected, start=1)), expected_error=0.0)


@pytest.mark.slow
def test_diabetes(diabetes):
    X, _ = diabetes
    model = MixtureOfFiniteMixtures(
        n_warmup=2000, n_draws=share_of(10_000), thin=5, n_jobs=2, random_state=0
    ).fit(X)
    # Two digits are known, and the other software's own error is of that order.
    expected = {10: 0.11, 11: 0.44, 12: 0.33, 13: 0.11}
    assert_shares(model.posterior_, expected, expected_error=0.005)
