"""What columns bring is what direct computation says."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairmix import FairBayesianClustering
from fairmix.families import Gaussian, GaussianFull, GaussianTied, Product, prepare
from fairmix.posterior.importance import gain_of, gains_of_columns
from tests.posterior.hand_made import make_training, mixed_table, posterior_of


def log_marginal(family, rows):
    """Give the log marginal likelihood of a table, by the family's verbs."""
    prepared = prepare(family, rows)
    out = np.zeros((len(rows), prepared.n_statistics(rows.shape[1])))
    prepared.write_statistics(rows, out)
    return prepared.log_marginal(len(rows), out.sum(axis=0))


def test_shares_add_up_to_one():
    X, groups, labels = mixed_table()
    training = make_training(X, groups, {"fare": "exponential"})
    found = posterior_of(training, [labels]).feature_importance(labels)
    assert found["share"].sum() == pytest.approx(1.0)
    assert (np.diff(found["gain"]) <= 0).all()
    assert found.index[0] == "age"
    assert set(found.index) == set(X.columns)
    assert found["gain"].sum() == pytest.approx(
        gain_of(training.family, training.table.rows, labels)
    )


def test_gains_of_categories_by_hand():
    values, labels = ["a", "a", "b", "a", "b", "b"], np.array([0, 0, 0, 1, 1, 1])
    training = make_training(pd.DataFrame({"x": values}), family="bernoulli")
    found = gains_of_columns(training, labels)
    # A uniform prior: the chance of k ones of n, in order, is 1 / ((n + 1) binom(n, k)).
    assert found.loc["x", "gain"] == pytest.approx(2 * np.log(1 / 12) - np.log(1 / (7 * 20)))


def test_gains_of_numbers_by_quadrature():
    rows, labels = np.array([[0.1], [0.3], [2.0], [2.5]]), np.array([0, 0, 1, 1])

    def brute(values):
        means, precisions = np.linspace(-6, 6, 601)[:, None], np.linspace(1e-3, 60, 6000)
        density = stats.gamma.pdf(precisions, 2.0, scale=1 / 0.5)
        density = density * stats.norm.pdf(means, 0, 1 / np.sqrt(precisions))
        for value in values:
            density = density * stats.norm.pdf(value, means, 1 / np.sqrt(precisions))
        return np.log(density.sum() * 0.02 * (precisions[1] - precisions[0]))

    expected = brute(rows[:2, 0]) + brute(rows[2:, 0]) - brute(rows[:, 0])
    assert gain_of(Gaussian(2.0, 0.5), rows, labels) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    "family", [GaussianFull(), GaussianTied(0.3), "gaussian-spherical"], ids=str
)
def test_columns_that_depend_are_left_out_one_by_one(family):
    rng = np.random.default_rng(0)
    labels = np.arange(30) % 3
    rows = rng.normal(size=(30, 3)) + labels[:, None] * [3.0, 1.0, 0.0]
    training = make_training(rows, family=family)
    found = gains_of_columns(training, labels)
    known = training.table.rows

    def gain(columns):
        part = np.ascontiguousarray(known[:, columns])
        clusters = [log_marginal(training.family, part[labels == c]) for c in range(3)]
        return sum(clusters) - log_marginal(training.family, part)

    whole = gain([0, 1, 2])
    for k in range(3):
        others = [j for j in range(3) if j != k]
        assert found.loc[k, "gain"] == pytest.approx(whole - gain(others))
        assert found.loc[k, "share"] == pytest.approx((whole - gain(others)) / whole)


def test_leaving_out_agrees_with_single_columns():
    X, _, labels = mixed_table()
    training = make_training(X, family={"fare": "gaussian"})
    by_column = gains_of_columns(training, labels)
    rows = training.table.rows
    whole = gain_of(training.family, rows, labels)
    for k, name in enumerate(X.columns):
        others = [j for j in range(rows.shape[1]) if j != k]
        without = gain_of(training.family.select(others), rows[:, others], labels)
        assert by_column.loc[name, "gain"] == pytest.approx(whole - without)


def test_a_product_with_columns_that_depend():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(30, 2)), columns=["a", "b"]).assign(c=rng.poisson(3, 30))
    labels = np.arange(30) % 2
    training = make_training(X, family={"a": "gaussian-full", "b": "gaussian-full"})
    assert isinstance(training.family, Product)
    found = gains_of_columns(training, labels)
    counts = training.table.rows[:, [2]]
    assert found.loc["c", "gain"] == pytest.approx(
        gain_of(training.family.families[2], counts, labels)
    )


def test_one_column_and_one_cluster():
    training = make_training(np.arange(10.0)[:, None], family=GaussianFull())
    one = gains_of_columns(training, np.arange(10) // 5)
    assert one["share"].tolist() == pytest.approx([1.0])
    none = gains_of_columns(training, np.zeros(10, dtype=int))
    assert none["gain"].tolist() == [0.0]
    assert none["share"].isna().all()


@pytest.mark.parametrize("family", ["student-t", "skew-normal", "gaussian-tied"])
def test_sampled_parameters_are_refused(family):
    training = make_training(np.random.default_rng(0).normal(size=(10, 2)), family=family)
    with pytest.raises(ValueError, match=r"parameters integrated out.*'gaussian'.*profile\(\)"):
        gains_of_columns(training, np.arange(10) % 2)


def test_it_is_the_likelihood_of_the_sampler():
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(40, 2)), columns=["x", "y"])
    groups = np.where(np.arange(40) % 2, "a", "b")
    model = FairBayesianClustering(n_chains=1, n_warmup=0, n_draws=4, random_state=0)
    posterior = model.fit(X, sensitive_features=groups).posterior_
    rows = posterior.training.table.rows
    for draw in range(4):
        gains = posterior.feature_importance(posterior.labels[0, draw])["gain"]
        together = log_marginal(Gaussian(), rows)
        assert gains.sum() == pytest.approx(posterior.log_likelihood[0, draw] - together)
