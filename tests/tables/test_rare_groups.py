"""Rare groups are put together until none is too small, and nothing else changes."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairmix.tables.groups import read_groups
from fairmix.tables.rare_groups import largest_min_size, merge_rare_groups, rare_groups


def read(counts):
    """Give groups a, b, ... of so many rows, in random order."""
    names = [chr(ord("a") + k) for k in range(len(counts))]
    values = np.random.default_rng(0).permutation(np.repeat(names, counts))
    return read_groups(values, len(values))


@pytest.mark.parametrize(
    ("counts", "min_size", "joined"),
    [
        ([30, 5, 20, 7], 6, [1, 3]),  # b has to be joined by the next smallest, d: 12 rows
        ([30, 5, 20, 7], 8, [1, 3]),
        ([30, 5, 20, 7], 12, [1, 3]),  # 12 rows are enough
        ([30, 5, 20, 7], 13, [1, 2, 3]),
        ([30, 5, 20, 7], 5, []),
        ([4, 4, 4, 9], 5, [0, 1, 2]),  # all that are rare, though two would be enough
        ([9, 4, 9, 9], 5, [0, 1]),  # of equally small ones the first
    ],
)
def test_which_are_put_together(counts, min_size, joined):
    assert rare_groups(np.array(counts), min_size).tolist() == joined


sizes = st.lists(st.integers(1, 30), min_size=2, max_size=7)


@given(counts=sizes, min_size=st.integers(2, 60))
def test_what_always_holds(counts, min_size):
    groups = read(counts)
    if min_size > max(min(counts), largest_min_size(groups.counts)):
        with pytest.raises(ValueError, match=f"min_group_size = {min_size} makes one group of all"):
            merge_rare_groups(groups, min_size)
        return
    after = merge_rare_groups(groups, min_size)
    assert len(after.names) >= 2
    assert after.counts.sum() == len(groups.codes)
    assert after.counts.min() >= min_size
    old = [groups.names[code] for code in groups.codes]
    assert [after.names[code] for code in after.codes] == [after.merged.get(n, n) for n in old]
    if min(counts) >= min_size:
        assert after is groups
        return
    # Nobody joined in vain: without the largest of them, the others were too small, or all rare.
    sizes_of_joined = sorted(counts[groups.names.index(name)] for name in after.merged)
    assert len(sizes_of_joined) >= 2
    largest = sizes_of_joined[-1]
    assert largest < min_size or sum(sizes_of_joined[:-1]) < min_size
    assert set(after.merged.values()) == {after.names[-1]}
    assert all(name in after.merged for name in groups.names if old.count(name) < min_size)


def test_the_largest_size_is_the_largest():
    counts = np.array([3, 8, 20, 9])
    largest = largest_min_size(counts)
    assert largest == 20
    assert len(rare_groups(counts, largest)) == 3
    assert len(rare_groups(counts, largest + 1)) == 4
    assert largest_min_size(np.array([5, 995])) == 5


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a", "b", "c"], "other"),
        (["a", "b", "other"], "other (merged)"),
        (["Other", "b", "c"], "other (merged)"),
        (["other", "other (merged)", "c"], "other (merged) (merged)"),
        ([1, 2, 3], "other"),
    ],
)
def test_the_new_name_is_nobodys(names, expected):
    values = pd.Series(names).repeat([2, 3, 9])
    after = merge_rare_groups(read_groups(values, 14), 4)
    kept, *rare = sorted(names, key=list(values).count, reverse=True)
    assert after.names == [kept, expected]
    assert after.counts.tolist() == [9, 5]
    assert after.merged == dict.fromkeys(rare, expected)


def test_crossed_groups_keep_their_attributes():
    frame = pd.DataFrame({"sex": list("ffmmmmmm"), "old": [True, False] + [True] * 3 + [False] * 3})
    groups = read_groups(frame, 8)
    after = merge_rare_groups(groups, 2)
    assert after.names == [("m", False), ("m", True), "other"]
    assert after.merged == {("f", False): "other", ("f", True): "other"}
    assert after.attributes is groups.attributes


def test_one_group_and_none_wanted_are_left_alone():
    assert merge_rare_groups(one := read_groups(None, 4), 10) is one
    assert merge_rare_groups(groups := read([1, 30]), None) is groups
