"""Fairlets: balance of each, closeness to the optimum found by enumeration, k-medoids."""

import itertools
from functools import cache
from math import gcd

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairmix.baselines import FairletClustering
from fairmix.baselines.fairlets import (
    choose_ratio,
    decompose,
    fairlet_sizes,
    fewest_heavy,
    is_balanced,
)
from fairmix.model.medoids import k_medoids


@given(
    st.integers(1, 40),
    st.integers(1, 40),
    st.integers(1, 12),
    st.integers(1, 12),
    st.integers(1, 4),
    st.integers(0, 10**6),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_every_fairlet_is_balanced(n_red, n_blue, p, q, n_columns, seed, is_coarse):
    p, q = sorted((p, q))
    if not is_balanced(n_red, n_blue, p, q):
        p, q = choose_ratio(*sorted((n_red, n_blue)))
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n_red + n_blue, n_columns))
    if is_coarse:
        points = points.round()  # many equal rows
    is_red = rng.permutation(np.arange(n_red + n_blue) < n_red)
    fairlets = decompose(points, is_red, p, q, rng)
    assert set(fairlets) == set(range(fairlets.max() + 1))
    for number in range(fairlets.max() + 1):
        members = fairlets == number
        red = int(is_red[members].sum())
        blue = int(members.sum()) - red
        assert is_balanced(red, blue, p, q)
        assert 0 < red + blue <= (p + q) // gcd(p, q)


@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 12), st.integers(1, 12))
def test_sizes_of_fairlets_use_all_rows(n_few, n_many, p, q):
    n_few, n_many = sorted((n_few, n_many))
    p, q = sorted((p, q))
    p, q = p // gcd(p, q), q // gcd(p, q)
    if not is_balanced(n_few, n_many, p, q):
        return
    sizes = fairlet_sizes(n_few, n_many, p, q)
    assert np.sum(sizes, axis=0).tolist() == [n_few, n_many]
    assert all(is_balanced(*size, p, q) and sum(size) <= p + q for size in sizes)


def most_kept(red, blue, p, q):
    """Find the largest number of rows that children can keep, by trying everything."""
    best = -1
    options = [
        [(r, b) for r in range(n_red + 1) for b in range(n_blue + 1) if is_balanced(r, b, p, q)]
        for n_red, n_blue in zip(red, blue, strict=True)
    ]
    for kept in itertools.product(*options):
        kept_red, kept_blue = np.sum(kept, axis=0)
        if is_balanced(sum(red) - kept_red, sum(blue) - kept_blue, p, q):
            best = max(best, kept_red + kept_blue)
    return best


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=3),
    st.sampled_from([(1, 1), (1, 2), (2, 3), (3, 4), (3, 5)]),
)
@settings(max_examples=200, deadline=None)
def test_children_give_up_few_rows(children, ratio):
    red, blue = np.array(children).T
    p, q = ratio
    if red.sum() + blue.sum() == 0 or not is_balanced(red.sum(), blue.sum(), p, q):
        return
    kept_red, kept_blue = fewest_heavy(red, blue, p, q)
    assert (kept_red <= red).all()
    assert (kept_blue <= blue).all()
    given_up = (red - kept_red).sum(), (blue - kept_blue).sum()
    assert is_balanced(*given_up, p, q)
    assert all(is_balanced(*kept, p, q) for kept in zip(kept_red, kept_blue, strict=True))
    # The paper's stages give up at most a constant times as many as are needed.
    needed = red.sum() + blue.sum() - most_kept(red.tolist(), blue.tolist(), p, q)
    assert sum(given_up) <= (1 + q) * needed


def least_cost(distances, is_red, p, q):
    """Find the cheapest decomposition (each row to its fairlet's medoid), by trying everything."""
    n_rows = len(distances)

    @cache
    def cost_of(members):
        rows = list(members)
        red = int(is_red[rows].sum())
        if not is_balanced(red, len(rows) - red, p, q) or len(rows) > p + q:
            return np.inf
        return distances[np.ix_(rows, rows)].sum(axis=0).min()

    @cache
    def best(left):
        if not left:
            return 0.0
        first, *others = left
        return (
            min(
                cost_of((first, *chosen)) + best(tuple(k for k in others if k not in chosen))
                for size in range(1, min(p + q, len(left)))
                for chosen in itertools.combinations(others, size)
            )
            if others
            else np.inf
        )

    return best(tuple(range(n_rows)))


def cost_of_fairlets(distances, fairlets):
    groups = [np.flatnonzero(fairlets == k) for k in range(fairlets.max() + 1)]
    return sum(distances[np.ix_(rows, rows)].sum(axis=0).min() for rows in groups)


@pytest.mark.parametrize(("n_red", "n_blue", "p", "q"), [(4, 4, 1, 1), (3, 6, 1, 2), (4, 6, 2, 3)])
def test_fairlets_against_the_optimum(n_red, n_blue, p, q):
    ratios = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        points = rng.normal(size=(n_red + n_blue, 2))
        is_red = np.arange(n_red + n_blue) < n_red
        distances = np.linalg.norm(points[:, None] - points, axis=2)
        best = least_cost(distances, is_red, p, q)
        # The guarantee is O(d q^7 log n) in expectation over the shift.
        found = [
            cost_of_fairlets(distances, decompose(points, is_red, p, q, rng)) for _ in range(5)
        ]
        assert min(found) >= best - 1e-9
        ratios.append(np.mean(found) / best)
    n_rows = n_red + n_blue
    assert max(ratios) <= 2 * q**7 * np.log(n_rows)  # which is loose, so also:
    assert np.mean(ratios) <= 3.0


def test_near_rows_of_both_groups_are_put_together():
    clumps = np.repeat(np.arange(6) * 100.0, 4)[:, None]
    points = clumps + np.random.default_rng(0).normal(size=clumps.shape)
    fairlets = decompose(points, np.tile([True, False], 12), 1, 1, np.random.default_rng(1))
    clump = np.repeat(np.arange(6), 4)
    assert all(len(set(clump[fairlets == k])) == 1 for k in range(12))


def test_choice_of_p_and_q():
    assert choose_ratio(372, 396) == (15, 16)
    assert choose_ratio(306, 694) == (7, 16)
    assert choose_ratio(394, 606) == (13, 20)
    assert choose_ratio(10, 10) == (1, 1)
    assert choose_ratio(3, 100) == (1, 34)
    assert choose_ratio(10, 11, n_fairlets=4) == (1, 2)


def test_rows_that_are_not_balanced_are_refused():
    with pytest.raises(ValueError, match=r"not \(1, 1\)-balanced"):
        decompose(np.zeros((3, 1)), np.array([True, False, False]), 1, 1, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"p": 2}, "pass both, or neither"),
        ({"p": 3, "q": 2}, "larger than q = 2"),
        ({"p": 1, "q": 1}, "allow at most 0.5"),
        ({"n_clusters": 12, "p": 2, "q": 5}, "at most 15 fairlets"),
    ],
)
def test_bad_arguments(arguments, message):
    X = np.random.default_rng(0).normal(size=(45, 2))
    groups = np.arange(45) % 3 == 0
    model = FairletClustering(**({"n_clusters": 2} | arguments), random_state=0)
    with pytest.raises(ValueError, match=message):
        model.fit(X, sensitive_features=groups)


def test_three_groups_are_refused():
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(ValueError, match=r"has 3 groups .* fairlets are made of two"):
        FairletClustering(2).fit(X, sensitive_features=np.arange(60) % 3)


# --- k-medoids -----------------------------------------------------------------------------------


def medoid_loss(distances, medoids, weights):
    return weights @ distances[:, list(medoids)].min(axis=1)


@given(st.integers(3, 9), st.integers(1, 3), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_no_single_swap_improves_medoids(n_points, n_medoids, seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n_points, 2))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    weights = rng.integers(1, 5, n_points).astype(float)
    medoids = k_medoids(distances, n_medoids, rng, weights)
    assert len(set(medoids)) == n_medoids
    loss = medoid_loss(distances, medoids, weights)
    for gone, new in itertools.product(medoids, range(n_points)):
        changed = (set(medoids) - {gone}) | {new}
        assert medoid_loss(distances, changed, weights) >= loss - 1e-9


def test_medoids_are_often_the_best_of_all():
    n_best = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        points = rng.normal(size=(12, 2))
        distances = np.linalg.norm(points[:, None] - points, axis=2)
        best = min(
            medoid_loss(distances, some, np.ones(12))
            for some in itertools.combinations(range(12), 3)
        )
        found = medoid_loss(distances, k_medoids(distances, 3, rng), np.ones(12))
        n_best += found <= best + 1e-9
    assert n_best >= 12


def test_medoids_of_equal_points():
    assert len(set(k_medoids(np.zeros((5, 5)), 3, np.random.default_rng(0)))) == 3
    assert k_medoids(np.zeros((5, 5)), 5, np.random.default_rng(0)).tolist() == [0, 1, 2, 3, 4]
    assert len(k_medoids(np.zeros((5, 5)), 0, np.random.default_rng(0))) == 0
