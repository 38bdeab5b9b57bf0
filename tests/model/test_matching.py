import itertools

import numpy as np
import pytest

from fairmix.model.distances import euclidean, hamming
from fairmix.model.grouping import arrange_groups
from fairmix.model.matching import choose_extra, initial_match


def make_grouping(*sizes):
    return arrange_groups(
        [f"g{b}" for b in range(len(sizes))], np.repeat(np.arange(len(sizes)), sizes)
    )


def test_smallest_group_is_the_anchor_and_ties_go_to_the_first_name():
    codes = np.array([2, 0, 1, 2, 0, 1, 2])
    grouping = arrange_groups(["a", "b", "c"], codes)
    assert grouping.names == ("a", "b", "c")
    assert grouping.order.tolist() == [1, 4, 2, 5, 0, 3, 6]
    grouping = arrange_groups(["a", "b", "c"], np.array([0, 0, 1, 1, 2]))
    assert grouping.names == ("c", "a", "b")
    assert grouping.sizes.tolist() == [1, 2, 2]


def test_multiplicity_and_remainder():
    grouping = make_grouping(3, 3, 8, 6)
    assert grouping.multiplicity.tolist() == [0, 1, 2, 2]
    assert grouping.remainder.tolist() == [0, 0, 2, 0]


@pytest.mark.parametrize("extra", ["random", "medoids"])
def test_extra_has_the_right_size(extra):
    grouping = make_grouping(7, 11, 14, 20)
    points = np.random.default_rng(0).normal(size=(grouping.n_rows, 2))
    chosen = choose_extra(extra, grouping, euclidean(points), np.random.default_rng(1))
    assert chosen.sum(axis=1).tolist() == [0, 4, 0, 6]


def test_medoids_represent_clumps():
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0]])
    anchors = np.concatenate([c + rng.normal(size=(10, 2)) for c in centres])
    points = np.concatenate([anchors, rng.normal(size=(33, 2))])
    grouping = make_grouping(30, 33)
    for seed in range(5):
        chosen = choose_extra("medoids", grouping, euclidean(points), np.random.default_rng(seed))
        clumps = np.flatnonzero(chosen[1]) // 10
        if sorted(clumps.tolist()) == [0, 1, 2]:
            break
    else:
        pytest.fail("no seed put one medoid into each clump")


@pytest.mark.parametrize("remainder", [1, 5, 10, 11])
def test_medoids_in_blocks(remainder, monkeypatch):
    monkeypatch.setattr("fairmix.model.matching.BLOCK_SIZE", 5)
    grouping = make_grouping(12, 12 + remainder)
    distance = euclidean(np.random.default_rng(0).normal(size=(grouping.n_rows, 2)))
    chosen = choose_extra("medoids", grouping, distance, np.random.default_rng(1))
    assert chosen[1].sum() == remainder


def test_shuffling_keeps_groups_together():
    codes = np.array([2, 0, 1, 2, 0, 1, 2, 0, 0, 1] * 10)
    grouping = arrange_groups(["a", "b", "c"], codes, np.random.default_rng(0))
    assert np.array_equal(np.array([1, 0, 2])[grouping.group_of], codes[grouping.order])
    assert not np.array_equal(grouping.order, arrange_groups(["a", "b", "c"], codes).order)
    assert np.array_equal(np.sort(grouping.order), np.arange(100))


def test_medoids_with_duplicates():
    points = np.zeros((25, 2))
    chosen = choose_extra(
        "medoids", make_grouping(10, 15), euclidean(points), np.random.default_rng(0)
    )
    assert chosen[1].sum() == 5


def test_extra_by_rows():
    codes = np.array([1, 0, 1, 0, 1, 0, 1, 1])
    grouping = arrange_groups(["few", "many"], codes)
    chosen = choose_extra([5, 1], grouping, None, None)
    assert chosen[1].tolist() == [True, False, True]
    by_name = choose_extra({"many": [5, 1]}, grouping, None, None)
    assert np.array_equal(chosen, by_name)


@pytest.mark.parametrize(
    ("extra", "error", "match"),
    [
        ("nearest", ValueError, "'random', 'medoids'"),
        ([1], ValueError, "2 different rows"),
        ([1, 1], ValueError, "2 different rows"),
        ([1, 2], ValueError, "row 2 is not in the smallest group"),
        ([1, 99], ValueError, "row 99 is not in the smallest group"),
        ([1, -3], ValueError, "row -3"),
        ([0.5, 1.0], TypeError, "row numbers"),
        ({"few": [1, 3]}, ValueError, "'few'"),
        ({"nobody": [1, 3]}, ValueError, "'nobody'"),
    ],
)
def test_bad_extra(extra, error, match):
    grouping = arrange_groups(["few", "many"], np.array([1, 0, 1, 0, 1, 0, 1, 1]))
    with pytest.raises(error, match=match):
        choose_extra(extra, grouping, None, np.random.default_rng(0))


def test_extra_rows_need_a_dict_with_several_groups():
    with pytest.raises(ValueError, match="dict"):
        choose_extra([0], make_grouping(2, 3, 3), None, None)


@pytest.mark.parametrize("method", ["transport", "random"])
@pytest.mark.parametrize("sizes", [(4, 4), (4, 8), (4, 11), (3, 4, 9), (5,)])
def test_first_match_keeps_capacities(method, sizes):
    grouping = make_grouping(*sizes)
    distance = euclidean(np.random.default_rng(0).normal(size=(grouping.n_rows, 2)))
    extra = choose_extra("random", grouping, distance, np.random.default_rng(1))
    match = initial_match(method, grouping, extra, distance, np.random.default_rng(2))
    assert match[: sizes[0]].tolist() == list(range(sizes[0]))
    for group in range(1, len(sizes)):
        counts = np.bincount(match[grouping.rows_of(group)], minlength=sizes[0])
        assert np.array_equal(counts, grouping.multiplicity[group] + extra[group])


def test_transport_has_the_least_total_distance():
    grouping = make_grouping(4, 4)
    distance = euclidean(np.random.default_rng(3).normal(size=(8, 2)))
    match = initial_match(
        "transport", grouping, np.zeros((2, 4), dtype=bool), distance, np.random.default_rng(0)
    )
    total = sum(distance.between(match[j], j) for j in range(4, 8))
    best = min(
        sum(distance.between(i, j) for i, j in zip(anchors, range(4, 8), strict=True))
        for anchors in itertools.permutations(range(4))
    )
    assert total == pytest.approx(best)


def test_transport_in_blocks(monkeypatch):
    monkeypatch.setattr("fairmix.model.matching.BLOCK_SIZE", 5)
    grouping = make_grouping(6, 17)
    distance = euclidean(np.random.default_rng(0).normal(size=(23, 2)))
    extra = choose_extra("medoids", grouping, distance, np.random.default_rng(1))
    match = initial_match("transport", grouping, extra, distance, np.random.default_rng(2))
    counts = np.bincount(match[6:], minlength=6)
    assert np.array_equal(counts, 2 + extra[1])


@pytest.mark.parametrize("distance_type", [euclidean, hamming])
def test_distance_matrix_equals_pairs(distance_type):
    points = np.random.default_rng(0).integers(3, size=(6, 4)).astype(float)
    distance = distance_type(points)
    matrix = distance.matrix(np.arange(6), np.arange(6))
    pairs = [[distance.between(i, j) for j in range(6)] for i in range(6)]
    assert matrix == pytest.approx(np.array(pairs))
    if distance_type is hamming:
        assert distance.between(0, 1) == np.sum(points[0] != points[1])
