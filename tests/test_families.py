import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import integrate

from fairmix.families import Bernoulli, Categorical, Gaussian
from tests.exact.enumeration import gaussian_log_marginal, urn_log_marginal

FAMILIES = ["gaussian", "bernoulli", "categorical"]


@st.composite
def tables(draw, family):
    n_rows = draw(st.integers(2, 12))
    n_columns = draw(st.integers(1, 4))
    if family == "gaussian":
        return draw(arrays(float, (n_rows, n_columns), elements=st.floats(-50, 50)))
    most = 1 if family == "bernoulli" else 4
    values = draw(arrays(int, (n_rows, n_columns), elements=st.integers(0, most)))
    return values.astype(float)


def prepare(family, rows):
    spec = {"gaussian": Gaussian(), "bernoulli": Bernoulli(), "categorical": Categorical()}[family]
    prepared = spec.prepare(rows)
    stats = np.empty((len(rows), prepared.n_statistics(rows.shape[1])))
    prepared.write_statistics(rows, stats)
    return prepared, stats


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_log_marginal_equals_the_chain_rule(family, data):
    rows = data.draw(tables(family))
    prepared, stats = prepare(family, rows)
    expected = 0.0
    for column in rows.T:
        if family == "gaussian":
            expected += gaussian_log_marginal(column)
        else:
            n_levels = 2 if family == "bernoulli" else int(column.max()) + 1
            expected += urn_log_marginal(column, n_levels)
    assert prepared.log_marginal(len(rows), stats.sum(axis=0)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_order_does_not_matter_and_rows_come_off_again(family, data):
    rows = data.draw(tables(family))
    prepared, stats = prepare(family, rows)
    order = np.array(data.draw(st.permutations(range(len(rows)))))
    one, other = stats.sum(axis=0), stats[order].sum(axis=0)
    value = prepared.log_marginal(len(rows), one)
    assert prepared.log_marginal(len(rows), other) == pytest.approx(value, rel=1e-9)
    taken = one - stats[0] + stats[0]
    assert prepared.log_marginal(len(rows), taken) == pytest.approx(value, rel=1e-9)
    left = prepared.log_marginal(len(rows) - 1, one - stats[0])
    expected = prepared.log_marginal(len(rows) - 1, stats[1:].sum(axis=0))
    assert left == pytest.approx(expected, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_empty_set_has_marginal_one(family):
    rows = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    prepared, stats = prepare(family, rows)
    assert prepared.log_marginal(0, 0 * stats[0]) == pytest.approx(0.0, abs=1e-12)


def test_gaussian_predictive_integrates_to_one():
    rows = np.array([[0.3], [1.1], [-0.4], [0.0]])
    prepared = Gaussian(shape=1.7, rate=0.6).prepare(rows)

    def predictive(x):
        stats = np.empty((4, 2))
        prepared.write_statistics(np.array([[0.3], [1.1], [-0.4], [x]]), stats)
        joint = prepared.log_marginal(4, stats.sum(axis=0))
        return math.exp(joint - prepared.log_marginal(3, stats[:3].sum(axis=0)))

    total, _ = integrate.quad(predictive, -np.inf, np.inf)
    assert total == pytest.approx(1.0, rel=1e-7)


@pytest.mark.parametrize("spec", [Bernoulli(0.3), Categorical(0.3)])
def test_predictives_of_categories_sum_to_one(spec):
    rows = np.array([[0.0], [1.0], [1.0], [0.0]])
    prepared = spec.prepare(rows)
    stats = np.empty((4, prepared.n_statistics(1)))
    prepared.write_statistics(rows, stats)
    base = prepared.log_marginal(2, stats[0] + stats[1])
    total = sum(
        math.exp(prepared.log_marginal(3, stats[0] + stats[1] + extra) - base)
        for extra in (stats[0], stats[1])
    )
    assert total == pytest.approx(1.0)


def test_gaussian_does_not_overflow_with_many_columns():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3000)) * 1e3
    prepared, stats = prepare("gaussian", rows)
    whole = prepared.log_marginal(200, stats.sum(axis=0))
    by_column = 0.0
    for j in range(rows.shape[1]):
        single, column_stats = prepare("gaussian", rows[:, [j]])
        by_column += single.log_marginal(200, column_stats.sum(axis=0))
    assert whole == pytest.approx(by_column, rel=1e-12)


@pytest.mark.parametrize(
    ("family", "name"),
    [
        (Gaussian(shape=-1.0), "shape"),
        (Gaussian(rate=0.0), "rate"),
        (Bernoulli(-1), "alpha"),
        (Categorical(float("nan")), "alpha"),
        (Gaussian(rate="a"), "rate"),
    ],
)
def test_bad_hyperparameters(family, name):
    with pytest.raises(ValueError, match=name):
        family.prepare(np.zeros((3, 1)))
