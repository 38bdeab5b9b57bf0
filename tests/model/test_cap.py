"""Caps: what is possible, what is refused, and that every draw obeys."""

import math
import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairmix import FairBayesianClustering
from fairmix.metrics import fairness_gap
from fairmix.model.cap import make_cap
from fairmix.model.fairness import GAP_KINDS, balance_of_counts, gap_of_counts
from fairmix.model.feasible import (
    certain_gap,
    largest_balance,
    largest_balance_of_two,
    smallest_gap,
    smallest_matched_gap,
)
from fairmix.model.grouping import arrange_groups
from fairmix.tables.groups import Groups


def groups_of(*sizes):
    return arrange_groups(list(range(len(sizes))), np.repeat(np.arange(len(sizes)), sizes))


def two_clusters(sizes, least_anchors=1):
    """Give the counts of all ways to make two clusters, none without so many anchors."""
    anchors = range(least_anchors, sizes[0] + 1 - least_anchors)
    for first in product(anchors, *(range(size + 1) for size in sizes[1:])):
        if 0 < sum(first) < sum(sizes):
            yield np.array([first, np.array(sizes) - first])


sizes = st.lists(st.integers(2, 8), min_size=2, max_size=3).map(sorted)


@given(sizes)
def test_smallest_gap_of_two_matched_clusters_is_found_by_search(sizes):
    best = min(gap_of_counts(counts) for counts in two_clusters(sizes))
    assert smallest_matched_gap(groups_of(*sizes)) == pytest.approx(best, abs=1e-12)


@given(st.integers(2, 60), st.integers(0, 200))
def test_smallest_matched_gap_of_two_groups_has_a_formula(small, more):
    large = small + more
    expected = 0.0 if math.gcd(small, large) > 1 else 1 / (small * large)
    assert smallest_matched_gap(groups_of(small, large)) == pytest.approx(expected, abs=1e-15)


@given(sizes, st.sampled_from(GAP_KINDS))
def test_smallest_gap_of_two_clusters_is_found_by_search(sizes, kind):
    best = min(gap_of_counts(counts, kind) for counts in two_clusters(sizes, least_anchors=0))
    bound = smallest_gap(np.array(sizes), kind)
    assert bound <= best + 1e-12
    if kind != "worst":
        assert bound == pytest.approx(best, abs=1e-12)


@given(sizes)
def test_largest_balance_of_two_clusters_is_found_by_search(sizes):
    best = max(balance_of_counts(counts) for counts in two_clusters(sizes))
    bound = largest_balance_of_two(np.array(sizes))
    if len(sizes) == 2:
        assert bound == pytest.approx(best)
    assert best <= bound + 1e-12
    assert bound <= largest_balance(np.array(sizes)) + 1e-12


def gap_in_fractions(labels, codes, kind):
    """Give the gap as a fraction, from the definition."""
    every = range(max(codes) + 1)
    n = [Fraction(sum(c == b for c in codes)) for b in every]
    shares = {
        b: [
            sum(c == b and z == k for c, z in zip(codes, labels, strict=True)) / n[b]
            for k in set(labels)
        ]
        for b in every
    }
    total = [Fraction(sum(z == k for z in labels), len(labels)) for k in set(labels)]

    def distance(first, second):
        return sum(abs(p - q) for p, q in zip(first, second, strict=True)) / 2

    if kind == "paper":
        return sum(distance(shares[b], shares[0]) for b in every[1:]) / len(every[1:])
    distances = [distance(shares[b], total) for b in every]
    if kind == "worst":
        return max(distances)
    return sum(size * far for size, far in zip(n, distances, strict=True)) / len(labels)


@given(sizes, st.sampled_from(GAP_KINDS), st.integers(0, 2**32 - 1))
def test_caps_are_met_exactly(sizes, kind, seed):
    """A cap that is the gap of a clustering allows it, the next smaller number does not."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    labels = np.unique(rng.integers(3, size=len(codes)), return_inverse=True)[1]
    gap = gap_in_fractions(labels.tolist(), codes.tolist(), kind)
    groups = Groups(list(range(len(sizes))), codes)
    counts = np.stack([np.bincount(codes[labels == k], minlength=len(sizes)) for k in set(labels)])
    assert float(gap_of_counts(counts, kind)) == pytest.approx(float(gap), abs=1e-15)

    def is_allowed(max_gap, min_balance=0.0):
        cap = make_cap([groups], max_gap, min_balance, kind)
        return cap.allows(cap.counts_of(labels))

    assert is_allowed(float(gap))
    if gap > 0:
        assert not is_allowed(math.nextafter(float(gap), 0.0))
    balance = float(balance_of_counts(counts))
    assert is_allowed(1.0, balance)
    if balance < 1:
        assert not is_allowed(1.0, math.nextafter(balance, 1.0))


def test_a_cap_holds_even_if_group_sizes_have_no_common_multiple_that_fits():
    sizes = [9973, 10007, 10009, 10037, 10039, 10061, 10067]
    codes = np.repeat(np.arange(len(sizes)), sizes)
    labels = np.random.default_rng(0).integers(3, size=len(codes))
    cap = make_cap([Groups(sizes, codes)], 0.01, 0.0, "paper")
    counts = cap.counts_of(labels)
    gap = float(gap_of_counts(counts[:, :-1]))
    for share in (0.99999, 1.00001):
        cap = make_cap([Groups(sizes, codes)], share * gap, 0.0, "paper")
        assert cap.allows(counts) == (share > 1)


def test_certain_gap_holds_for_all_ways_to_place_extra_followers():
    # 3 + 5 rows, R = two anchors: the worst partition puts them together.
    assert certain_gap(groups_of(3, 5), np.array([0, 0])) == pytest.approx(2 * 1 / (3 * 5))
    worst = gap_of_counts(np.array([[2, 4], [1, 1]]))
    assert worst == pytest.approx(2 / 15)
    assert certain_gap(groups_of(4, 8, 4), np.array([0, 2, 1])) == pytest.approx(
        (2 / 8 + 1 / 4) / 2
    )
    assert certain_gap(groups_of(4), np.array([0])) == 0.0


MATCHED = {"constraint": "matching"}


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
        ((20, 31), MATCHED | {"max_gap": 0.02}),
        ((20, 31), MATCHED | {"max_gap": 1 / 620}),
        ((20, 31), MATCHED | {"max_gap": 0.05, "n_masked": 6}),
        ((15, 22, 40), {"max_gap": 0.03}),
        ((15, 22, 40), MATCHED | {"max_gap": 0.03}),
        ((15, 22, 40), MATCHED | {"max_gap": 0.05, "n_masked": {1: 4}, "matching_step": "joint"}),
        ((15, 22, 40), {"max_gap": 0.03, "gap_kind": "mean"}),
        ((15, 22, 40), {"max_gap": 0.05, "gap_kind": "worst"}),
        ((12, 30), {"max_gap": 0.0}),
        ((12, 30), MATCHED | {"max_gap": 0.0}),
        ((20, 31), {"min_balance": 0.6}),
        ((20, 31), MATCHED | {"min_balance": 0.6}),
        ((15, 22, 40), {"min_balance": 0.33, "max_gap": 0.1}),
        ((15, 22, 40), MATCHED | {"min_balance": 0.33, "max_gap": 0.1, "n_masked": 3}),
        ((30, 31), {"max_gap": 0.01, "family": "categorical"}),
        ((30, 31), MATCHED | {"max_gap": 0.01, "family": "categorical"}),
    ],
)
def test_every_draw_obeys(sizes, parameters):
    model = fit(sizes, **parameters)
    posterior = model.posterior_
    kind = parameters.get("gap_kind", "paper")
    codes = make_data(sizes)[1].tolist()
    largest = max(
        gap_in_fractions(z, codes, kind)
        for z in posterior.labels[:, ::5].reshape(-1, len(codes)).tolist()
    )
    assert float(largest) <= parameters.get("max_gap", 1.0)
    assert (posterior.fairness_gap <= parameters.get("max_gap", 1.0) + 1e-15).all()
    assert (posterior.balance >= parameters.get("min_balance", 0.0)).all()
    if kind == "paper":
        assert posterior.group_gaps.mean(axis=-1) == pytest.approx(posterior.fairness_gap)
    assert (posterior.fairness_gap <= model.gap_bound_ + 1e-12).all()
    assert posterior.n_clusters.max() > 1


def test_attributes_have_caps_of_their_own():
    rng = np.random.default_rng(1)
    X, sex = make_data((30, 40))
    table = pd.DataFrame(
        {"sex": sex, "age": rng.choice(["old", "young", "none"], 70, p=[0.5, 0.4, 0.1])}
    )
    X[:, 0] += 3.0 * (table["age"] == "old")
    model = FairBayesianClustering(
        max_gap={"sex": 0.05, "age": 0.1}, n_chains=2, n_warmup=40, n_draws=50, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        posterior = model.fit(X, sensitive_features=table).posterior_
    assert posterior.n_clusters.max() > 1
    for labels in posterior.labels.reshape(-1, 70):
        assert fairness_gap(labels, table["sex"]) <= 0.05
        assert fairness_gap(labels, table["age"]) <= 0.1
    assert posterior.fairness_gap.max() > 0.1  # of the crossed groups


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
    for constraint in ("matching", "gap"):
        settings = {"constraint": constraint, "max_gap": 0.003, "init_partition": start}
        model = fit((20, 31), n_warmup=0, n_draws=1, **settings)
        assert model.posterior_.fairness_gap.max() <= 0.003


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
        (
            MATCHED | {"max_gap": 0.1, "extra": "random"},
            ValueError,
            "a cap needs anchors with an extra follower to be free",
        ),
        ({"max_gap": 0.1, "n_masked": 3}, ValueError, "n_masked = 3 together with max_gap = 0.1"),
        ({"max_gap": 0.1, "matching_moves": 3}, ValueError, "or pass constraint='matching'"),
        ({"constraint": "gap"}, ValueError, "needs to know how unfair"),
        ({"constraint": "cap"}, ValueError, "constraint must be one of 'auto', 'matching', 'gap'"),
        ({"max_gap": 0.1, "gap_kind": "last"}, ValueError, "gap_kind must be one of 'paper'"),
        (MATCHED | {"max_gap": 0.1, "gap_kind": "mean"}, ValueError, "a cap is on the paper's gap"),
        (MATCHED | {"max_gap": {"sex": 0.1}}, ValueError, "a cap for each attribute"),
        ({"max_gap": {"sex": 0.1}}, ValueError, "max_gap names 'sex', which is not a sensitive"),
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
