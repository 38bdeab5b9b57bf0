"""Rows in given places: the optimum by enumeration and by scipy's solver, and prices that hold."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from fairmix.model.places import fill_places, share_out

#: Costs of random rows are compared to so many parts of the largest one.
CLOSE = 1e-9


def make_costs(n_rows, n_clusters, kind, seed):
    rng = np.random.default_rng(seed)
    costs = rng.normal(size=(n_rows, n_clusters)) * 10 ** rng.uniform(-3, 3)
    if kind == "few values":
        return rng.integers(0, 3, size=costs.shape).astype(float)
    if kind == "equal rows":
        return costs[rng.integers(0, min(n_rows, 3), n_rows)]
    if kind == "outliers":
        costs[rng.integers(n_rows)] *= 1e8
    return costs


KINDS = st.sampled_from(["random", "few values", "equal rows", "outliers"])


def total(costs, labels):
    return costs[np.arange(len(costs)), labels].sum()


def least_total(costs, n_places):
    """Let scipy solve the transport."""
    n_rows, n_clusters = costs.shape
    once = sparse.kron(sparse.eye(n_rows), np.ones((1, n_clusters)))
    filled = sparse.kron(np.ones((1, n_rows)), sparse.eye(n_clusters))
    unit = np.abs(costs).max() or 1.0
    answer = linprog(
        (costs / unit).ravel(),
        A_eq=sparse.vstack([once, filled]),
        b_eq=np.concatenate([np.ones(n_rows), n_places]),
        method="highs",
    )
    return answer.fun * unit


@given(st.integers(1, 7), st.integers(1, 3), KINDS, st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_the_optimum_is_that_of_all_assignments(n_rows, n_clusters, kind, seed):
    costs = make_costs(n_rows, n_clusters, kind, seed)
    shares = np.random.default_rng(seed).dirichlet(np.ones(n_clusters))
    n_places = share_out(shares, n_rows)
    best = min(
        total(costs, labels)
        for labels in map(np.array, itertools.product(range(n_clusters), repeat=n_rows))
        if np.array_equal(np.bincount(labels, minlength=n_clusters), n_places)
    )
    found = fill_places(costs, n_places).labels
    assert np.array_equal(np.bincount(found, minlength=n_clusters), n_places)
    assert total(costs, found) == pytest.approx(best, abs=CLOSE * np.abs(costs).max())


@given(st.integers(2, 80), st.integers(2, 8), KINDS, st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_labels_and_prices_are_optimal(n_rows, n_clusters, kind, seed):
    costs = make_costs(n_rows, n_clusters, kind, seed)
    shares = np.random.default_rng(seed).dirichlet(np.full(n_clusters, 0.5))
    n_places = share_out(shares, n_rows)
    labels, prices = fill_places(costs, n_places)
    close = CLOSE * np.abs(costs).max() * n_rows
    assert total(costs, labels) == pytest.approx(least_total(costs, n_places), abs=100 * close)
    with_prices = costs + prices
    least = with_prices.min(axis=1)
    assert (with_prices[np.arange(n_rows), labels] <= least + close).all()
    # The dual has the same value, so neither could be better.
    assert least.sum() - prices @ n_places == pytest.approx(total(costs, labels), abs=close)
    assert prices @ n_places == pytest.approx(0, abs=close)


def test_many_rows_and_clusters():
    rng = np.random.default_rng(0)
    rows, centres = rng.normal(size=(20_000, 4)), rng.normal(size=(12, 4))
    costs = ((rows[:, None] - centres) ** 2).sum(axis=2)
    n_places = share_out(rng.dirichlet(np.ones(12)), len(rows))
    labels, prices = fill_places(costs, n_places)
    assert np.array_equal(np.bincount(labels, minlength=12), n_places)
    dual = (costs + prices).min(axis=1).sum() - prices @ n_places
    assert dual == pytest.approx(total(costs, labels))


def test_prices_are_in_the_middle():
    """The rows of the two clusters differ by 1 to 3 and by -2 to -1: prices may differ by that."""
    costs = np.array([[0.0, 1.0], [0.0, 3.0], [2.0, 0.0], [1.0, 0.0]])
    _, prices = fill_places(costs, np.array([2, 2]))
    # Cluster 0 keeps its rows while it costs at most 1 more, cluster 1 likewise.
    assert prices == pytest.approx([0.0, 0.0])
    _, prices = fill_places(costs + np.array([0.0, 5.0]), np.array([2, 2]))
    assert prices == pytest.approx([2.5, -2.5])


def test_places_must_be_as_many_as_rows():
    with pytest.raises(ValueError, match="3 places for 2 rows"):
        fill_places(np.zeros((2, 2)), np.array([1, 2]))


@given(st.integers(0, 1000), st.integers(1, 12), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_sharing_out(n_rows, n_clusters, seed):
    shares = np.random.default_rng(seed).dirichlet(np.ones(n_clusters))
    n_places = share_out(shares, n_rows)
    assert n_places.sum() == n_rows
    assert (np.abs(n_places - n_rows * shares) < 1).all()
    # Whoever got more than its share had a larger remainder than whoever got less.
    remainders = n_rows * shares - np.floor(n_rows * shares)
    up = n_places > n_rows * shares
    if up.any() and not up.all():
        assert remainders[up].min() >= remainders[~up].max() - 1e-9
