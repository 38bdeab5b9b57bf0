"""Means of clusters over draws: against the families' own likelihoods, scipy and brute force."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairmix.families import (
    Bernoulli,
    Categorical,
    Exponential,
    Gaussian,
    GaussianFull,
    GaussianSpherical,
    GaussianTied,
    Poisson,
    StudentT,
    prepare,
)
from fairmix.posterior import parameters
from fairmix.posterior.matched import match_clusters
from fairmix.posterior.parameters import bring_home, choose_draws, estimate_means
from tests.monte_carlo import FALSE_ALARM
from tests.posterior.hand_made import make_training, mixed_table

N_DRAWS = 4000
#: Monte Carlo errors that a right mean is off by at most.
BOUND = stats.norm.isf(FALSE_ALARM / 2)


@pytest.fixture(autouse=True)
def many_draws(monkeypatch):
    """Look at all draws: these tests are about the law of what is drawn."""
    monkeypatch.setattr(parameters, "MAX_DRAWS", N_DRAWS)


def estimate(training, labels):
    """Give the estimates of the same labels again and again."""
    labels = np.asarray(labels)
    draws = np.broadcast_to(labels, (2, N_DRAWS // 2, len(labels)))
    return estimate_means(training, draws, labels)[:2]


def check(found, law, scale=1.0, offset=0.0):
    """Compare an estimate with the exact law of the mean."""
    error = law.std() / np.sqrt(N_DRAWS)
    assert abs((found.mean - offset) / scale - law.mean()) < BOUND * error
    for value, q in ((found.low, 0.05), (found.high, 0.95)):
        exact = law.ppf(q)
        error = np.sqrt(q * (1 - q) / N_DRAWS) / law.pdf(exact)
        assert abs((value - offset) / scale - exact) < BOUND * error


def posterior_moments(family, rows, cells, grid, weight):
    """Give E[mean] and E[mean^2] from the family's likelihood: predictive laws of new cells."""
    prepared = prepare(family, rows[:, None])
    stats_of = np.zeros((len(grid), prepared.n_statistics(1)))
    prepared.write_statistics(grid[:, None], stats_of)
    known = np.zeros((len(cells), stats_of.shape[1]))
    prepared.write_statistics(cells[:, None], known)
    total, n_cells = known.sum(axis=0), len(cells)
    base = prepared.log_marginal(n_cells, total)
    first = [np.exp(prepared.log_marginal(n_cells + 1, total + s) - base) for s in stats_of]
    second = [
        [np.exp(prepared.log_marginal(n_cells + 2, total + s + t) - base) for t in stats_of]
        for s in stats_of
    ]
    pairs = np.outer(grid * weight, grid * weight)
    return np.sum(grid * weight * first), np.sum(pairs * second)


@pytest.mark.parametrize(
    ("family", "grid"),
    [
        (Gaussian(3.0, 0.7), np.linspace(-12, 12, 401)),
        (GaussianSpherical(3.0, 0.7), np.linspace(-12, 12, 401)),
        (GaussianFull(6.0, 0.7), np.linspace(-12, 12, 401)),
        (Poisson(1.5), np.arange(60.0)),
        (Poisson(1.5, 0.4), np.arange(60.0)),
    ],
    ids=lambda value: "" if isinstance(value, np.ndarray) else str(value),
)
def test_means_are_those_that_the_likelihood_predicts(family, grid):
    """New cells are independent given the mean, so E[x] = E[mean] and E[x y] = E[mean^2]."""
    rng = np.random.default_rng(3)
    values = rng.poisson(3.0, 40).astype(float)
    labels = np.repeat([0, 1], [30, 10])
    training = make_training(pd.DataFrame({"x": values}), family=family, standardize=False)
    estimates, shares = estimate(training, labels)
    assert shares.tolist() == [1.0, 1.0]
    weight = np.full(len(grid), grid[1] - grid[0])
    cells = values[labels == 1]
    mean, square = posterior_moments(family, values, cells, grid, weight)
    (found,) = estimates[0][1]
    sd = np.sqrt(square - mean**2)
    assert abs(found.mean - mean) < BOUND * sd / np.sqrt(N_DRAWS)
    # The law is near normal: its skewness, and Monte Carlo error, are within 7 % here.
    assert found.high - found.low == pytest.approx(2 * stats.norm.isf(0.05) * sd, rel=0.07)


def gaussian_law(shape, rate, count, deviations, mean):
    """Give the law of a mean under a Normal-Gamma posterior."""
    scale = np.sqrt((rate + deviations / 2) / ((shape + count / 2) * (count + 1)))
    return stats.t(2 * shape + count, loc=count * mean / (count + 1), scale=scale)


def deviations_of(values):
    """Give the sum of squares about the prior mean, that of a cell included."""
    return np.sum(values**2) - np.sum(values) ** 2 / (len(values) + 1)


def test_gaussian_in_the_users_units_with_holes():
    rng = np.random.default_rng(0)
    values, labels = rng.normal(1000, 50, 60), np.arange(60) % 3
    values[rng.random(60) < 0.3] = np.nan
    frame = pd.DataFrame({"x": values, "other": rng.normal(size=60)})
    training = make_training(frame, family="gaussian")
    estimates, _ = estimate(training, labels)
    scaled = (values - np.nanmean(values)) / np.nanstd(values)
    for cluster in range(3):
        cells = scaled[(labels == cluster) & ~np.isnan(scaled)]
        law = gaussian_law(1.0, 1.0, len(cells), deviations_of(cells), cells.mean())
        check(estimates[0][cluster][0], law, np.nanstd(values), np.nanmean(values))


def test_a_spherical_precision_is_that_of_all_columns():
    rng = np.random.default_rng(1)
    rows, labels = rng.normal(size=(24, 3)), np.arange(24) % 2
    training = make_training(rows, family=GaussianSpherical(2.0, 0.5), standardize=False)
    estimates, _ = estimate(training, labels)
    cells = rows[labels == 1]
    total = sum(deviations_of(column) for column in cells.T)
    for k in range(3):
        # The precision has seen three times as many cells.
        law = stats.t(
            4.0 + 36,
            loc=12 * cells[:, k].mean() / 13,
            scale=np.sqrt((0.5 + total / 2) / ((2.0 + 18) * 13)),
        )
        check(estimates[k][1][0], law)


def test_a_full_covariance_has_these_margins():
    rng = np.random.default_rng(2)
    rows, labels = rng.normal(size=(12, 2)) @ [[1.0, 0.8], [0.0, 0.5]], np.arange(12) % 2
    shape, rate, n_columns, count = 1.5, 0.6, 2, 6
    training = make_training(rows, family=GaussianFull(shape, rate), standardize=False)
    estimates, _ = estimate(training, labels)
    cells = rows[labels == 0]
    total = cells.sum(axis=0)
    scale = rate * np.eye(n_columns) + cells.T @ cells - np.outer(total, total) / (count + 1)
    # As in the family's docstring; brute force by scipy's inverse Wishart distribution.
    law = stats.invwishart(n_columns + 1 + shape + count, scale)
    covariances = law.rvs(20_000, random_state=1)
    normal = np.random.default_rng(4).standard_normal(20_000)
    for k in range(n_columns):
        means = total[k] / (count + 1) + normal * np.sqrt(covariances[:, k, k] / (count + 1))
        found = estimates[k][0][0]
        error = means.std() * np.sqrt(1 / N_DRAWS + 1 / 20_000)
        assert abs(found.mean - means.mean()) < BOUND * error
        width = np.subtract(*np.quantile(means, [0.95, 0.05]))
        assert found.high - found.low == pytest.approx(width, rel=0.07)


def test_exponential():
    rng = np.random.default_rng(5)
    values, labels = rng.exponential(7.0, 30), np.arange(30) % 2
    training = make_training(pd.DataFrame({"x": values}), family=Exponential(2.0, 9.0))
    estimates, _ = estimate(training, labels)
    cells = values[labels == 0]
    check(estimates[0][0][0], stats.invgamma(2.0 + 15, scale=9.0 + cells.sum()))


@pytest.mark.parametrize("family", [Bernoulli(0.5), Categorical(0.5)], ids=str)
def test_shares(family):
    values = pd.DataFrame({"x": ["a", "b", None, "b", "a", "b", "b", None, "b", "b"] * 2})
    values["full"] = ["c", "d"] * 10
    labels = np.repeat([0, 1], 10)
    estimates, _ = estimate(make_training(values, family=family), labels)
    check(estimates[0][0][0], stats.beta(2.5, 6.5))
    check(estimates[0][0][1], stats.beta(6.5, 2.5))


@pytest.mark.parametrize("family", [StudentT(), GaussianTied()], ids=str)
def test_other_families_are_near_normal(family):
    rng = np.random.default_rng(6)
    rows, labels = rng.normal(size=(40, 2)), np.arange(40) % 2
    estimates, _ = estimate(make_training(rows, family=family, standardize=False), labels)
    cells = rows[labels == 1, 0]
    check(estimates[0][1][0], stats.norm(cells.mean(), cells.std() / np.sqrt(21)))


def test_numbers_do_not_switch_and_absent_clusters_are_said():
    """Over draws with other numbers, a merged pair and moved rows."""
    X = pd.DataFrame({"x": np.repeat([0.0, 10.0, 20.0], 20) + np.tile([-1.0, 1.0], 30)})
    reference = np.repeat([0, 1, 2], 20)
    switched = np.array([2, 0, 1])[reference]
    merged = np.array([0, 0, 1])[reference]
    moved = reference.copy()
    moved[:3] = 1
    draws = np.array([reference, switched, merged, moved] * 250)
    training = make_training(X, family="gaussian")
    estimates, shares, n_used = estimate_means(training, draws[None], reference)
    assert n_used == 1000
    for cluster, centre in enumerate([0.0, 10.0, 20.0]):
        (found,) = estimates[0][cluster]
        assert found.low < centre < found.high or abs(found.mean - centre) < 1.5
        assert found.high - found.low < 4
    # Half of the rows of the pair is not more than half.
    assert shares.tolist() == [0.75, 0.75, 1.0]


def test_draws_without_a_cell_are_left_out():
    """The one cell of a cluster is in another cluster in half of the draws."""
    values = np.array([0.0, 1.0, -1.0, 0.0, np.nan, np.nan, np.nan, 10.0])
    X = pd.DataFrame({"x": values, "y": np.arange(8) % 3})
    reference = np.repeat([0, 1], 4)
    other = np.repeat([0, 1, 0], [4, 3, 1])
    training = make_training(X, family=Gaussian(5.0, 0.5), standardize=False)
    draws = np.array([reference, other] * (N_DRAWS // 2))[None]
    estimates, shares, _ = estimate_means(training, draws, reference)
    assert shares.tolist() == [1.0, 1.0]
    law = gaussian_law(5.0, 0.5, 1, 50.0, 10.0)
    error = law.std() / np.sqrt(N_DRAWS / 2)
    assert abs(estimates[0][1][0].mean - 5.0) < BOUND * error


def test_bring_home_by_brute_force():
    rng = np.random.default_rng(7)
    for _ in range(200):
        n_rows = rng.integers(2, 30)
        labels, reference = rng.integers(0, rng.integers(1, 6, 2)[:, None], (2, n_rows))
        labels = np.unique(labels, return_inverse=True)[1]
        reference = np.unique(reference, return_inverse=True)[1]
        home, has_cluster = bring_home(labels, reference)
        partner = match_clusters(labels, reference)
        assert home.tolist() == [partner[label] for label in labels]
        for cluster, has in enumerate(has_cluster):
            here = set(np.flatnonzero(reference == cluster))
            there = set(np.flatnonzero(home == cluster))
            assert has == (len(here & there) > len(here | there) / 2)


def test_draws_of_all_chains_are_thinned(monkeypatch):
    monkeypatch.setattr(parameters, "MAX_DRAWS", 500)
    assert choose_draws(7, 100) == list(range(7))
    chosen = choose_draws(4000, 1000)
    assert len(chosen) == 500
    assert (chosen[0], chosen[-1]) == (0, 3999)
    assert set(np.diff(chosen)) <= {8, 9}
    assert len(choose_draws(4000, 10**9)) == parameters.MIN_DRAWS


def test_many_clusters_of_many_levels_take_few_draws():
    """What is kept of all draws must not fill the memory."""
    rng = np.random.default_rng(9)
    X = pd.DataFrame(
        {"x": "v" + pd.Series(rng.integers(0, 400, 900)).astype(str), "y": rng.normal(size=900)}
    )
    labels = np.arange(900) // 3
    training = make_training(X, family={"x": "categorical"})
    draws = np.broadcast_to(labels.astype(np.uint16), (1, 2000, 900))
    assert estimate_means(training, draws, labels)[2] < 200


def test_a_mixed_table_by_brute_force():
    """Of draws that differ: the mean over draws of the posterior means given each one's rows."""
    X, _, labels = mixed_table()
    rng = np.random.default_rng(8)
    draws = []
    for _ in range(400):
        draw = labels.copy()
        draw[rng.integers(0, len(labels), 3)] = rng.integers(0, 3, 3)
        draws.append(draw)
    training = make_training(X, family={"fare": "gaussian"})
    estimates, *_ = estimate_means(training, np.array(draws)[None], labels)
    counts = np.array([[np.sum(X["children"][d == c]) for c in range(3)] for d in draws])
    sizes = np.array([[np.sum(d == c) for c in range(3)] for d in draws])
    expected = (1.0 + counts) / (1.0 / X["children"].mean() + sizes)
    for c in range(3):
        (found,) = estimates[1][c]
        sd = np.sqrt(np.mean((1.0 + counts[:, c]) / (1 / X["children"].mean() + sizes[:, c]) ** 2))
        sd = np.hypot(sd, expected[:, c].std())
        assert abs(found.mean - expected[:, c].mean()) < BOUND * sd / np.sqrt(400)
        shares = estimates[2][c]
        assert sum(share.mean for share in shares) == pytest.approx(1.0)
