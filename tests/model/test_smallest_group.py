"""Warnings of a small smallest group: when they come, when they do not, and that remedies work."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from fairmix import FairBayesianClustering
from fairmix.datasets import load_adult, load_bank, load_diabetes, load_toy
from fairmix.model.grouping import arrange_groups
from fairmix.model.smallest_group import (
    check_capped_groups,
    check_groups,
    remedies,
    warn_if_crowded,
)
from fairmix.tables.groups import read_groups
from fairmix.tables.rare_groups import merge_rare_groups

DEFAULTS = FairBayesianClustering().get_params()


def read(*sizes):
    """Give groups a, b, ... of these sizes."""
    names = [chr(ord("a") + k) for k in range(len(sizes))]
    return read_groups(np.repeat(names, sizes), sum(sizes))


def arranged(groups):
    return arrange_groups(groups.names, groups.codes)


@pytest.mark.parametrize(
    ("sizes", "match"),
    [
        ((9, 20), r"'a', has 9 rows of 29 .*no more clusters than 9, .* takes 2 others along"),
        ((400, 585, 10, 5), r"'d', has 5 rows of 1,000 .*than 5, .* takes 199 others along"),
        ((12, 988), "'a', has 12 rows of 1,000 .*than 12, .* takes 82 others along"),
    ],
)
def test_small_groups_are_a_warning_before_the_fit(sizes, match):
    with pytest.warns(UserWarning, match=match):
        check_groups(arranged(read(*sizes)))


def all_is_well(groups):
    """See that nothing is said before the fit, nor after it with ten clusters."""
    for given in (DEFAULTS, DEFAULTS | {"max_gap": 0.05}, DEFAULTS | {"min_balance": 0.1}):
        remedy = remedies(groups, given, "gap", 10.0)
        check_groups(arranged(groups), remedy)
        check_capped_groups([groups], given, remedy)
        warn_if_crowded(np.full((4, 100), 10), [groups], remedy)


def bank(groups, seed):
    return load_bank(n_rows="paper", groups=groups, random_state=seed).sensitive_features


@pytest.mark.parametrize(
    "load",
    [
        lambda: load_toy().sensitive_features,
        lambda: load_diabetes().sensitive_features,
        lambda: load_adult(n_rows="paper", random_state=0).sensitive_features,
        lambda: load_adult().sensitive_features,
        lambda: bank("married", 0),
        lambda: bank("marital", 0),
        lambda: bank("marital", 1),
    ],
)
def test_there_are_no_false_alarms_on_our_data(load):
    sensitive = load()
    all_is_well(read_groups(sensitive, len(sensitive)))


def test_many_groups_of_one_size_are_no_alarm():
    all_is_well(read(*[30] * 20))


@pytest.mark.parametrize(
    ("changes", "is_said"),
    [
        ({"max_gap": 0.05}, True),
        ({"max_gap": 0.05, "gap_kind": "worst"}, True),
        ({"max_gap": 0.05, "gap_kind": "mean"}, False),
        ({"max_gap": 0.05, "gap_kind": "mean", "min_balance": 0.01}, True),
    ],
)
def test_caps_that_a_small_group_makes_hard(changes, is_said):
    given = DEFAULTS | changes
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_capped_groups([read(5, 400, 595)], given, "wait.")
    assert [bool(re.search("Under this cap .* wait", str(w.message))) for w in caught] == [True] * (
        is_said
    )


@pytest.mark.parametrize(
    ("n_clusters", "is_said"),
    [(1, False), (5, False), (6, True), (12, True)],
)
def test_clusters_that_share_few_rows_are_a_warning_after_the_fit(n_clusters, is_said):
    draws = np.full((4, 50), n_clusters)
    draws[0] = 1  # of a quarter of the draws nothing follows
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_if_crowded(draws, [read(50, 60), read(12, 98)], "wait.")
    assert len(caught) == is_said
    if is_said:
        assert re.search("'a', has only 12 rows .* wait", str(caught[0].message))


def test_a_few_draws_with_many_clusters_are_no_alarm():
    warn_if_crowded(np.repeat([5, 6], [60, 40]), [read(12, 98)], "wait.")


def test_one_cluster_or_one_group_is_not_crowded():
    warn_if_crowded(np.ones((4, 50)), [read(2, 98)], "wait.")
    warn_if_crowded(np.full((4, 50), 60), [read(100)], "wait.")


def size_in(remedy):
    return int(re.search(r"min_group_size=(\d+)", remedy)[1])


@pytest.mark.parametrize(
    ("sizes", "n_clusters"),
    [((400, 585, 10, 5), 0), ((5, 7, 400, 588), 5), ((30, 31, 32, 3), 0), ((5, 6, 7, 2), 1)],
)
def test_the_size_that_is_named_helps(sizes, n_clusters):
    groups = read(*sizes)
    remedy = remedies(groups, DEFAULTS, "matching", n_clusters)
    after = merge_rare_groups(groups, size_in(remedy))
    assert after.counts.min() > groups.counts.min()
    shown = re.search(r"\(puts (.*) together: ([\d,]+) rows\)", remedy)
    assert shown[1] == ", ".join(map(repr, after.merged))
    assert int(shown[2].replace(",", "")) == after.counts[-1]
    if after.counts.min() >= 20:  # that is as much as is asked for
        check_groups(arranged(after))
        warn_if_crowded(np.full(50, max(n_clusters, 1)), [after], "wait.")


def test_two_groups_cannot_be_put_together():
    assert "min_group_size" not in remedies(read(5, 995), DEFAULTS, "matching")


@pytest.mark.parametrize(
    ("changes", "constraint", "cap"),
    [
        ({}, "matching", "max_gap=0.05 with gap_kind='mean'"),
        ({"max_gap": 0.1}, "gap", "gap_kind='mean'"),
        ({"min_balance": 0.1}, "gap", "max_gap=0.05 with gap_kind='mean'"),
    ],
)
def test_the_cap_that_is_named_is_another(changes, constraint, cap):
    remedy = remedies(read(5, 7, 400), DEFAULTS | changes, constraint)
    assert f", or {cap} (groups count by their rows" in remedy


def test_attributes_are_named_only_if_they_are_large():
    is_old = np.arange(200) % 2 == 0  # as many as men, and but for one the same rows
    frame = pd.DataFrame({"sex": np.where(is_old, "m", "f"), "age": np.where(is_old, "o", "y")})
    frame.loc[0, "sex"] = "f"
    by_attribute = "max_gap={'sex': 0.05, 'age': 0.05}"
    assert by_attribute in remedies(read_groups(frame, 200), DEFAULTS, "matching")
    given = DEFAULTS | {"max_gap": {"sex": 0.05}}
    capped = remedies(read_groups(frame, 200), given, "gap")
    assert by_attribute not in capped
    assert "min_group_size" not in capped
    frame["age"] = np.where(np.arange(200) < 3, "o", "y")
    assert by_attribute not in remedies(read_groups(frame, 200), DEFAULTS, "matching")


QUICK = {"n_warmup": 30, "n_draws": 100, "n_chains": 1, "random_state": 0}


@pytest.fixture(scope="module")
def table():
    """Four clumps that groups have the same shares of, and a group of three rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(203, 2))
    X[:, 0] += np.arange(203) // 2 % 2 * 9.0
    X[:, 1] += np.arange(203) % 2 * 9.0
    return X, np.repeat(["a", "b", "c", "d"], [3, 37, 100, 63])


def test_a_fit_with_a_rare_group_and_the_remedy(table):
    X, groups = table
    with pytest.warns(UserWarning, match="pass min_group_size=21") as caught:
        before = FairBayesianClustering(**QUICK).fit(X, sensitive_features=groups)
    first, second = (str(warning.message) for warning in caught)
    assert {warning.filename for warning in caught} == {__file__}
    assert "no more clusters than 3" in first
    assert before.n_clusters_ <= 3
    assert "'a', has only 3 rows for all of them" in second
    assert size_in(first) == size_in(second) == 21
    after = FairBayesianClustering(**QUICK, min_group_size=21).fit(X, sensitive_features=groups)
    assert after.groups_ == {"other": 40, "c": 100, "d": 63}
    assert after.merged_groups_ == {"a": "other", "b": "other"}
    assert after.schema_.group_names == ("c", "d", "other")
    assert after.posterior_.group_names == ("c", "d")
    assert after.n_clusters_ > 3
    codes = after.schema_.read_groups(["a", "c"], np.array([0, 1, 0]))
    assert codes.tolist() == [2, 0, 2]
    assert before.merged_groups_ == {}


def test_the_mean_gap_is_not_bounded_by_a_rare_group(table):
    X, groups = table
    model = FairBayesianClustering(**QUICK, max_gap=0.1, gap_kind="mean")
    assert model.fit(X, sensitive_features=groups).n_clusters_ > 3
    with pytest.warns(UserWarning, match="Under this cap every large cluster needs a row"):
        model.set_params(n_draws=1, gap_kind="worst").fit(X, sensitive_features=groups)


def test_caps_on_attributes_look_at_their_own_groups(table):
    X, groups = table
    people = pd.DataFrame({"group": groups, "half": np.arange(len(X)) % 2})
    model = FairBayesianClustering(**QUICK | {"n_draws": 1}, max_gap={"half": 0.1})
    model.fit(X, sensitive_features=people)  # no warning: "half" is all that is capped
    with pytest.warns(UserWarning, match=r"'a', has 3 rows of 203 .*, pass gap_kind='mean' "):
        model.set_params(max_gap={"group": 0.5, "half": 0.1}).fit(X, sensitive_features=people)


def test_a_single_row_of_crossed_groups_is_an_error_with_three_ways_out(table):
    X, _ = table
    people = pd.DataFrame({"sex": ["f", "m"] * 101 + ["f"], "old": [False, True] * 101 + [True]})
    match = (
        r"\('f', True\), has a single row of 203 .* only one cluster; pass min_group_size=21 "
        r"\(puts .*'f', False\), \('f', True\) together: 102 rows\), or max_gap=0.05 .*, or "
        r"max_gap=\{'sex': 0.05, 'old': 0.05\}"
    )
    model = FairBayesianClustering(**QUICK | {"n_draws": 1})
    with pytest.raises(ValueError, match=match):
        model.fit(X, sensitive_features=people)
    for way_out in (
        {"min_group_size": 21},
        {"max_gap": 0.05, "gap_kind": "mean"},
        {"max_gap": {"sex": 0.05, "old": 0.05}},
    ):
        clone(model).set_params(**way_out).fit(X, sensitive_features=people)
