"""The fair assignment: its bounds, its optimum, its rounding, and k-means made of it."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairmix.baselines import FairAssignment, FairKMeans
from fairmix.metrics import cost
from fairmix.model import transport
from fairmix.model.transport import assign_fairly


def make_problem(sizes, n_clusters, seed):
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    return rng.random((len(codes), n_clusters)), codes


def count(labels, codes, n_clusters):
    counts = np.zeros((codes.max() + 1, n_clusters), dtype=int)
    np.add.at(counts, (codes, labels), 1)
    return counts


@given(
    st.lists(st.integers(2, 25), min_size=1, max_size=4),
    st.integers(1, 5),
    st.sampled_from([0.0, 0.05, 0.3]),
    st.integers(0, 10**6),
)
@settings(max_examples=80, deadline=None)
def test_bounds_hold_but_for_rounding(sizes, n_clusters, slack, seed):
    costs, codes = make_problem(sizes, n_clusters, seed)
    assignment = assign_fairly(costs, codes, slack)
    counts = count(assignment.labels, codes, n_clusters)
    shares = np.array(sizes) / len(codes)
    size = counts.sum(axis=0)
    assert (counts - shares[:, None] / (1 - slack) * size < 2).all()
    assert (shares[:, None] * (1 - slack) * size - counts < 2).all()
    total = costs[np.arange(len(codes)), assignment.labels].sum()
    # The program's own solution keeps the rounded counts, too, so rounding never costs more.
    assert total <= assignment.least_cost + 1e-6


def is_fair(counts):
    """Tell whether every cluster has the groups in exactly their shares."""
    sizes = counts.sum(axis=1)
    return (counts * sizes.sum() == sizes[:, None] * counts.sum(axis=0)).all()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("sizes", [(3, 3), (2, 4), (2, 2, 4)])
def test_the_program_is_no_dearer_than_any_fair_assignment(sizes, seed):
    costs, codes = make_problem(sizes, 2, seed)
    best = min(
        costs[np.arange(len(codes)), labels].sum()
        for labels in map(np.array, itertools.product(range(2), repeat=len(codes)))
        if is_fair(count(labels, codes, 2))
    )
    assignment = assign_fairly(costs, codes)
    assert assignment.least_cost <= best + 1e-9
    total = costs[np.arange(len(codes)), assignment.labels].sum()
    if is_fair(count(assignment.labels, codes, 2)):
        assert total == pytest.approx(best)


def test_prices_say_where_rows_go():
    costs, codes = make_problem((40, 70), 4, 0)
    assignment = assign_fairly(costs, codes)
    reduced = costs - assignment.prices[codes]
    chosen = reduced[np.arange(len(codes)), assignment.labels]
    assert np.sum(chosen > reduced.min(axis=1) + 1e-6) <= 8  # rows that were split
    # Strong duality, with sizes of clusters free.
    assert reduced.min(axis=1).sum() == pytest.approx(assignment.least_cost)


@pytest.mark.parametrize("slack", [0.0, 0.1])
def test_many_rows_by_samples_are_the_same_program(slack, monkeypatch):
    costs, codes = make_problem((300, 500), 4, 1)
    whole = assign_fairly(costs, codes, slack)
    monkeypatch.setattr(transport, "MAX_ROWS", 60)
    monkeypatch.setattr(transport, "OPEN_ROWS", 20)
    parts = assign_fairly(costs, codes, slack)
    assert parts.least_cost == pytest.approx(whole.least_cost, rel=1e-9)
    again = assign_fairly(costs, codes, slack, prices=parts.prices)
    assert again.least_cost == pytest.approx(whole.least_cost, rel=1e-9)


def test_unhelpful_prices_do_no_harm(monkeypatch):
    costs, codes = make_problem((80, 120), 3, 2)
    whole = assign_fairly(costs, codes)
    monkeypatch.setattr(transport, "MAX_ROWS", 10)
    monkeypatch.setattr(transport, "OPEN_ROWS", 5)
    wrong = assign_fairly(costs, codes, prices=np.array([[9.0, 0, 0], [0, 0, 9.0]]))
    assert wrong.least_cost == pytest.approx(whole.least_cost, rel=1e-9)


def test_assignment_to_the_centres(diabetes):
    X, groups = diabetes
    strict = FairAssignment(4, random_state=0).fit(X, sensitive_features=groups)
    loose = FairAssignment(4, slack=0.2, random_state=0).fit(X, sensitive_features=groups)
    assert loose.least_cost_ < strict.least_cost_


def test_fair_kmeans_improves_on_the_assignment(diabetes):
    X, groups = diabetes
    scaled = (X - X.mean()) / X.std(ddof=0)
    moved = FairKMeans(4, n_init=3, random_state=0).fit(X, sensitive_features=groups)
    assert moved.cost_ == pytest.approx(cost(scaled, moved.labels_))
    fixed = FairAssignment(4, random_state=0).fit(X, sensitive_features=groups)
    assert moved.cost_ < cost(scaled, fixed.labels_)


@pytest.mark.parametrize("slack", [-0.1, 1.0, "a", True])
def test_bad_slack(slack):
    with pytest.raises(ValueError, match="slack must be a number from 0 to below 1"):
        FairAssignment(2, slack=slack).fit(np.arange(20.0)[:, None])
