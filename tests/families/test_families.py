"""Families: marginals and densities against independent ones."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import integrate, stats
from scipy.special import logsumexp

from fairmix.families import (
    Bernoulli,
    Categorical,
    Exponential,
    Gaussian,
    GaussianFull,
    GaussianSpherical,
    GaussianTied,
    Poisson,
    Product,
    SkewNormal,
    StudentT,
    check_family,
)
from tests.exact.marginals import MIXED_COLUMNS, make_log_marginal, tied_log_marginal
from tests.monte_carlo import assert_mean
from tests.tiny import FAMILIES

INSTANTIATED = ("student-t", "skew-normal")
CONJUGATE = [name for name in FAMILIES if name not in INSTANTIATED]
BY_COLUMN = [name for name in CONJUGATE if "-" not in name]


def cells(kind):
    if kind == "bernoulli":
        return st.integers(0, 1).map(float)
    if kind == "categorical":
        return st.integers(0, 4).map(float)
    if kind == "poisson":
        return st.integers(0, 60).map(float)
    if kind == "exponential":
        return st.floats(0, 100)
    return st.floats(-50, 50)


@st.composite
def tables(draw, name, missing=False):
    n_rows = draw(st.integers(2, 10))
    n_columns = len(MIXED_COLUMNS) if name == "mixed" else draw(st.integers(1, 4))
    kinds = MIXED_COLUMNS if name == "mixed" else [name] * n_columns
    columns = [draw(arrays(float, n_rows, elements=cells(kind))) for kind in kinds]
    rows = np.stack(columns, axis=1)
    if missing:
        holes = draw(arrays(bool, rows.shape))
        holes[0] = False
        rows[holes] = np.nan
    rows[0] += np.nansum(rows, axis=0) == 0  # counts and amounts have a mean
    return rows


def prepare(name, rows):
    prepared = FAMILIES[name].prepare(rows)
    row_stats = np.empty((len(rows), prepared.n_statistics(rows.shape[1])))
    prepared.write_statistics(rows, row_stats)
    return prepared, row_stats


def check_marginals(name, rows):
    prepared, row_stats = prepare(name, rows)
    if name == "gaussian-tied":
        prepared.shared[0] = 0.7
        expected = tied_log_marginal(rows, 0.7)
    else:
        log_marginal, _ = make_log_marginal(name, rows)
        expected = log_marginal(tuple(range(len(rows))))
    value = prepared.log_marginal(len(rows), row_stats.sum(axis=0))
    assert value == pytest.approx(expected, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("name", CONJUGATE)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_log_marginal_equals_an_independent_one(name, data):
    check_marginals(name, data.draw(tables(name)))


@pytest.mark.parametrize("name", BY_COLUMN)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_missing_cells_are_left_out(name, data):
    check_marginals(name, data.draw(tables(name, missing=True)))


@pytest.mark.parametrize("name", CONJUGATE)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_order_does_not_matter_and_rows_come_off_again(name, data):
    rows = data.draw(tables(name, missing=name in BY_COLUMN))
    prepared, row_stats = prepare(name, rows)
    order = np.array(data.draw(st.permutations(range(len(rows)))))
    one, other = row_stats.sum(axis=0), row_stats[order].sum(axis=0)
    value = prepared.log_marginal(len(rows), one)
    assert prepared.log_marginal(len(rows), other) == pytest.approx(value, rel=1e-9)
    taken = one - row_stats[0] + row_stats[0]
    assert prepared.log_marginal(len(rows), taken) == pytest.approx(value, rel=1e-9)
    left = prepared.log_marginal(len(rows) - 1, one - row_stats[0])
    expected = prepared.log_marginal(len(rows) - 1, row_stats[1:].sum(axis=0))
    assert left == pytest.approx(expected, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize(
    "name", ["gaussian", "gaussian-spherical", "gaussian-full", "poisson", "exponential"]
)
def test_hyperparameters_enter_as_documented(name):
    """Marginals with other hyperparameters still integrate to one, given some rows."""
    rng = np.random.default_rng(0)
    rows = rng.poisson(3.0, (6, 2)) if name == "poisson" else rng.exponential(size=(6, 2))
    for spec in (FAMILIES[name]._replace(shape=2.3), FAMILIES[name]._replace(rate=0.4)):
        check_family(spec, rows)


def test_the_tied_variance_follows_its_posterior():
    """Given clusters, the update of the shared variance has the law of quadrature."""
    rng = np.random.default_rng(1)
    clusters = [rng.normal(size=(4, 2)), 1.0 + 0.5 * rng.normal(size=(3, 2)), np.zeros((1, 2))]
    prepared = GaussianTied(shape=1.5, rate=0.7, mean_variance=1.0).prepare(clusters[0])
    sums = []
    for rows in clusters:
        row_stats = np.empty((len(rows), 3))
        prepared.write_statistics(rows, row_stats)
        sums.append(row_stats.sum(axis=0))
    counts, cluster_stats = np.array([4.0, 3.0, 1.0]), np.array(sums)
    draws = np.empty(40_000)
    log_priors = np.empty(len(draws))
    for k in range(len(draws)):
        log_priors[k] = prepared.update_shared(rng, counts, cluster_stats)
        draws[k] = prepared.shared[0]
    assert log_priors == pytest.approx(stats.invgamma.logpdf(draws, 1.5, scale=0.7), rel=1e-9)

    log_precision = np.linspace(-5, 6, 2000)
    variance = np.exp(-log_precision)
    log_weights = stats.gamma.logpdf(1 / variance, 1.5, scale=1 / 0.7) + log_precision
    log_weights += [sum(tied_log_marginal(rows, v) for rows in clusters) for v in variance]
    weights = np.exp(log_weights - logsumexp(log_weights))
    thresholds = np.array([0.3, 0.5, 0.8, 1.3])
    expected = [weights[variance < threshold].sum() for threshold in thresholds]
    assert_mean(draws[:, None] < thresholds, np.array(expected))
    assert_mean(np.log(draws), weights @ np.log(variance))


def test_a_given_variance_stays():
    rows = np.random.default_rng(0).normal(size=(5, 2))
    prepared, row_stats = prepare("gaussian-tied, given", rows)
    before = float(prepared.shared[0])
    assert prepared.update_shared(np.random.default_rng(0), np.array([5.0]), row_stats[:1]) == 0.0
    assert prepared.shared[0] == before


@settings(max_examples=60, deadline=None)
@given(
    params=arrays(float, 3, elements=st.floats(-4, 4)),
    row=arrays(float, 1, elements=st.floats(-60, 60)),
)
def test_densities_equal_those_of_scipy(params, row):
    location, log_scale, third = params
    scale = math.exp(log_scale)
    expected = stats.t.logpdf(row[0], math.exp(third), loc=location, scale=scale)
    assert StudentT().log_density(params, row) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    expected = stats.norm.logpdf(row[0], location, scale) + math.log(2)
    expected += stats.norm.logcdf(third * (row[0] - location) / scale)
    # In the far left tail the series is good to one part in 10,000 of what it adds.
    assert SkewNormal().log_density(params, row) == pytest.approx(expected, rel=1e-6, abs=1e-3)


@pytest.mark.parametrize("spec", [StudentT(1.2, 0.5, 0.6), SkewNormal(1.2, 0.5, 0.6, 2.0)])
def test_columns_are_independent_and_missing_cells_left_out(spec):
    params = np.random.default_rng(3).normal(size=spec.n_parameters(3))
    row = np.array([0.3, np.nan, 1.0])
    by_column = [spec.log_density(params[j::3], row[j : j + 1]) for j in (0, 2)]
    assert spec.log_density(params, row) == pytest.approx(sum(by_column))
    assert spec.log_density(params[1::3], row[1:2]) == 0.0
    by_column = [spec.log_prior(params[j::3]) for j in range(3)]
    assert spec.log_prior(params) == pytest.approx(sum(by_column))


def test_predictive_integrates_to_one_without_the_check():
    """The check itself is checked, once, by hand."""
    rows = np.array([[0.3], [1.1], [-0.4], [0.0]])
    prepared = Gaussian(shape=1.7, rate=0.6).prepare(rows)

    def predictive(x):
        row_stats = np.empty((4, 2))
        prepared.write_statistics(np.array([[0.3], [1.1], [-0.4], [x]]), row_stats)
        joint = prepared.log_marginal(4, row_stats.sum(axis=0))
        return math.exp(joint - prepared.log_marginal(3, row_stats[:3].sum(axis=0)))

    total, _ = integrate.quad(predictive, -np.inf, np.inf)
    assert total == pytest.approx(1.0, rel=1e-7)


def test_gaussian_does_not_overflow_with_many_columns():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3000)) * 1e3
    prepared, row_stats = prepare("gaussian", rows)
    whole = prepared.log_marginal(200, row_stats.sum(axis=0))
    by_column = 0.0
    for j in range(rows.shape[1]):
        single, column_stats = prepare("gaussian", rows[:, [j]])
        by_column += single.log_marginal(200, column_stats.sum(axis=0))
    assert whole == pytest.approx(by_column, rel=1e-12)


def test_full_covariance_of_duplicated_rows_and_collinear_columns():
    rng = np.random.default_rng(0)
    column = rng.normal(size=(50, 1))
    rows = np.concatenate([column, 3.0 * column, column, np.ones((50, 1))], axis=1)
    rows = np.repeat(rows, 2, axis=0)
    prepared, row_stats = prepare("gaussian-full", rows)
    total = row_stats.sum(axis=0)
    _, determinant = np.linalg.slogdet(
        np.eye(4) + rows.T @ rows - np.outer(rows.sum(0), rows.sum(0)) / 101
    )
    expected = prepared.log_constant[100] - 0.5 * (prepared.degrees + 100) * determinant
    assert prepared.log_marginal(100, total) == pytest.approx(expected, rel=1e-9)
    # Errors of rounding that make the matrix indefinite do no harm.
    total[4:] -= 1e-3
    assert math.isfinite(prepared.log_marginal(100, total))


def test_products_refuse_what_they_cannot_mix():
    rows = np.random.default_rng(5).normal(size=(12, 2))
    with pytest.raises(ValueError, match="StudentT has no conjugate prior"):
        Product((StudentT(), Gaussian())).prepare(rows)
    with pytest.raises(ValueError, match="share parameters"):
        Product((GaussianTied(), GaussianTied(0.1))).prepare(rows)
    assert Product((StudentT(), StudentT())).prepare(rows) == StudentT()


@pytest.mark.parametrize(
    ("family", "name"),
    [
        (Gaussian(shape=-1.0), "shape"),
        (Gaussian(rate=0.0), "rate"),
        (Gaussian(rate="a"), "rate"),
        (GaussianSpherical(shape=0), "shape"),
        (GaussianTied(variance=-1.0), "variance"),
        (GaussianTied(mean_variance=0.0), "mean_variance"),
        (GaussianFull(rate=-1), "rate"),
        (Bernoulli(-1), "alpha"),
        (Categorical(float("nan")), "alpha"),
        (Poisson(rate=-1), "rate"),
        (Exponential(shape=0), "shape"),
        (StudentT(location_sd=0), "location_sd"),
        (SkewNormal(skewness_sd=-1), "skewness_sd"),
        (Gaussian(rate=True), "rate"),
        (Gaussian(rate=10**30), "rate"),
        (Gaussian(shape=1e-320), "shape"),
        (Categorical(10**400), "alpha"),
        (Categorical(1e300), "alpha"),
    ],
)
def test_bad_hyperparameters(family, name):
    with pytest.raises(ValueError, match=name):
        family.prepare(np.ones((3, 1)))
