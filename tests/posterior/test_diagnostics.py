import numpy as np
import pytest

from fairmix.posterior.diagnostics import bulk_ess, r_hat


def ar1(rng, n_chains, n_draws, rho):
    noise = rng.normal(size=(n_chains, n_draws)) * np.sqrt(1 - rho**2)
    values = np.empty_like(noise)
    values[:, 0] = rng.normal(size=n_chains)
    for t in range(1, n_draws):
        values[:, t] = rho * values[:, t - 1] + noise[:, t]
    return values


def test_independent_draws():
    values = np.random.default_rng(0).normal(size=(4, 5000))
    assert r_hat(values) < 1.002
    assert bulk_ess(values) == pytest.approx(20_000, rel=0.1)


@pytest.mark.parametrize("rho", [0.5, 0.9])
def test_ess_of_an_autoregressive_process(rho):
    values = ar1(np.random.default_rng(1), 4, 50_000, rho)
    assert bulk_ess(values) == pytest.approx(200_000 * (1 - rho) / (1 + rho), rel=0.1)


def test_chains_that_disagree_in_location_or_spread():
    values = np.random.default_rng(2).normal(size=(4, 1000))
    assert r_hat(values + np.array([[0.0], [0.0], [0.0], [2.0]])) > 1.2
    assert r_hat(values * np.array([[1.0], [1.0], [1.0], [5.0]])) > 1.1


def test_a_trend_within_chains_is_seen():
    values = np.random.default_rng(3).normal(size=(4, 1000)) + np.linspace(0, 3, 1000)
    assert r_hat(values) > 1.2


def test_rank_normalisation_stands_heavy_tails():
    values = np.random.default_rng(4).standard_cauchy(size=(4, 5000))
    assert r_hat(values) < 1.01


def test_values_that_do_not_vary():
    assert r_hat(np.full((4, 100), 3)) == 1.0
    assert bulk_ess(np.full((4, 100), 3)) == 400
    assert r_hat(np.repeat([[1], [1], [1], [2]], 100, axis=1)) == np.inf


def test_rounding_errors_are_not_a_difference():
    values = -1234.5678 + np.random.default_rng(0).integers(4, size=(4, 1)) * 1e-12 * np.ones(100)
    assert r_hat(values) == 1.0


def test_too_few_draws():
    assert np.isnan(r_hat(np.zeros((2, 3))))
    assert np.isnan(bulk_ess(np.zeros((2, 3))))
