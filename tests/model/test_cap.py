"""Caps: what is possible, what is refused, and that every draw obeys."""

import math
import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairmix import FairBayesianClustering
from fairmix.baselines import MixtureOfFiniteMixtures
from fairmix.cap import (
    Cap,
    certain_gap,
    largest_balance,
    largest_balance_of_two,
    smallest_gap_of_two,
)
from fairmix.matching import arrange_groups
from fairmix.metrics import balance_of_counts, gap_of_counts


def groups_of(*sizes):
    return arrange_groups(list(range(len(sizes))), np.repeat(np.arange(len(sizes)), sizes))


def two_clusters(sizes):
    """Give the counts of all ways to make two clusters, none without an anchor."""
    for first in product(range(1, sizes[0]), *(range(size + 1) for size in sizes[1:])):
        yield np.array([first, np.array(sizes) - first])


sizes = st.lists(st.integers(2, 8), min_size=2, max_size=3).map(sorted)


@given(sizes)
def test_smallest_gap_of_two_clusters_is_found_by_search(sizes):
    best = min(gap_of_counts(counts) for counts in two_clusters(sizes))
    assert smallest_gap_of_two(groups_of(*sizes)) == pytest.approx(best, abs=1e-12)


@given(st.integers(2, 60), st.integers(0, 200))
def test_smallest_gap_of_two_groups_has_a_formula(small, more):
    large = small + more
    expected = 0.0 if math.gcd(small, large) > 1 else 1 / (small * large)
    assert smallest_gap_of_two(groups_of(small, large)) == pytest.approx(expected, abs=1e-15)


@given(sizes)
def test_largest_balance_of_two_clusters_is_found_by_search(sizes):
    best = max(balance_of_counts(counts) for counts in two_clusters(sizes))
    bound = largest_balance_of_two(groups_of(*sizes))
    if len(sizes) == 2:
        assert bound == pytest.approx(best)
    assert best <= bound + 1e-12
    assert bound <= largest_balance(groups_of(*sizes)) + 1e-12


def test_certain_gap_holds_for_all_ways_to_place_extra_followers():
    # 3 + 5 rows, R = two anchors: the worst partition puts them together.
    assert certain_gap(groups_of(3, 5), np.array([0, 0])) == pytest.approx(2 * 1 / (3 * 5))
    worst = gap_of_counts(np.array([[2, 4], [1, 1]]))
    assert worst == pytest.approx(2 / 15)
    assert certain_gap(groups_of(4, 8, 4), np.array([0, 2, 1])) == pytest.approx(
        (2 / 8 + 1 / 4) / 2
    )
    assert certain_gap(groups_of(4), np.array([0])) == 0.0


def make_data(sizes, seed=0):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    centres = rng.integers(3, size=len(groups)) * 4.0
    X = rng.normal(size=(len(groups), 2)) + centres[:, None] + groups[:, None]
    return X, groups


def fit(sizes, seed=0, **parameters):
    X, groups = make_data(sizes, seed)
    defaults = {"n_chains": 4, "n_warmup": 20, "n_draws": 60, "random_state": seed}
    model = FairBayesianClustering(**(defaults | parameters))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X, sensitive_features=groups)


@pytest.mark.parametrize(
    ("sizes", "parameters"),
    [
        ((20, 31), {"max_gap": 0.02}),
        ((20, 31), {"max_gap": 1 / 620}),
        ((20, 31), {"max_gap": 0.05, "n_masked": 6}),
        ((15, 22, 40), {"max_gap": 0.03}),
        ((15, 22, 40), {"max_gap": 0.05, "n_masked": {1: 4}, "matching_step": "joint"}),
        ((12, 30), {"max_gap": 0.0}),
        ((20, 31), {"min_balance": 0.6}),
        ((15, 22, 40), {"min_balance": 0.33, "max_gap": 0.1, "n_masked": 3}),
        ((30, 31), {"max_gap": 0.01, "family": "categorical"}),
    ],
)
def test_every_draw_obeys(sizes, parameters):
    model = fit(sizes, **parameters)
    posterior = model.posterior_
    cap = Cap(parameters.get("max_gap", np.inf), parameters.get("min_balance", 0.0))
    assert cap.allows(posterior.fairness_gap, posterior.balance).all()
    assert posterior.group_gaps.mean(axis=-1) == pytest.approx(posterior.fairness_gap)
    assert (posterior.fairness_gap <= model.gap_bound_ + 1e-12).all()
    assert posterior.n_clusters.max() > 1


def test_gaps_of_several_groups_are_in_the_summary():
    summary = fit((15, 22, 40), extra="free").posterior_.summary()
    assert list(summary.index[-2:]) == ["gap of 1", "gap of 2"]
    gap = summary.loc["fairness_gap", "mean"]
    assert summary["mean"].iloc[-2:].mean() == pytest.approx(gap, abs=1e-4)
    assert "gap of 1" not in fit((20, 31)).posterior_.summary().index


def test_gap_stays_below_the_certain_bound_without_a_cap():
    for extra in ("random", "free"):
        model = fit((20, 31), extra=extra, n_masked=2)
        assert model.gap_bound_ == pytest.approx(2 / 31 + 11 * 9 / (20 * 31))
        assert model.posterior_.fairness_gap.max() <= model.gap_bound_ + 1e-12


def test_free_extra_seats_move():
    assert np.nanmean(fit((20, 31), extra="free").posterior_.acceptance["extra"]) > 0.05
    assert "extra" not in fit((20, 31), extra="random").posterior_.acceptance


@pytest.mark.parametrize("start", ["one", "singletons", "kmeans", 20])
def test_every_start_is_repaired(start):
    model = fit((20, 31), max_gap=0.003, init_partition=start, n_warmup=0, n_draws=1)
    assert model.posterior_.fairness_gap.max() <= 0.003 * (1 + 1e-9)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"max_gap": 0.001}, ValueError, "at least 0.0016129.*max_gap=0.001613"),
        ({"max_gap": -0.1}, ValueError, "max_gap must be None or a number from 0 to 1, got -0.1"),
        ({"max_gap": math.nan}, ValueError, "max_gap must be"),
        ({"max_gap": "tight"}, TypeError, "max_gap must be None or a number"),
        ({"max_gap": True}, TypeError, "max_gap must be None or a number"),
        ({"max_gap": 0.1, "extra": "random"}, ValueError, "extra = 'random' together with max_gap"),
        ({"min_balance": 0.1, "extra": [0, 1]}, ValueError, "together with min_balance = 0.1"),
        ({"max_gap": 0.1, "split_merge_moves": 0}, ValueError, "split_merge_moves = 0 together"),
        ({"min_balance": 0.7}, ValueError, "largest possible balance is 0.645161"),
        ({"min_balance": 0.645}, ValueError, "allows one cluster only.*at most 0.64"),
        ({"min_balance": 1.5}, ValueError, "min_balance must be"),
        ({"extra": "nearest"}, ValueError, "'free' or rows of X"),
    ],
)
def test_bad_caps_are_refused(parameters, error, message):
    with pytest.raises(error, match=message):
        fit((20, 31), **parameters)


def test_a_cap_is_no_matter_for_one_group():
    X, _ = make_data((20, 31))
    model = FairBayesianClustering(max_gap=0.1, n_chains=1, n_warmup=2, n_draws=2)
    with pytest.warns(UserWarning, match="one group only"):
        model.fit(X)
    assert model.gap_bound_ == 0.0


def test_the_papers_preset():
    model = FairBayesianClustering.paper(n_chains=2, random_state=3)
    assert (model.matching_step, model.matching_moves, model.split_merge_moves) == ("joint", 10, 0)
    assert (model.n_warmup, model.n_draws, model.n_chains) == (1000, 200, 2)
    X, groups = make_data((20, 31))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(X, sensitive_features=groups)
    assert set(model.posterior_.acceptance) == {"joint", "gibbs"}


def test_the_papers_preset_of_the_plain_mixture():
    model = MixtureOfFiniteMixtures.paper(n_draws=5)
    assert (model.init_partition, model.split_merge_moves, model.n_draws) == ("one", 0, 5)
