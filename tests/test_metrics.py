import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fairmix.metrics import (
    balance,
    cost,
    fairness_by_attribute,
    fairness_gap,
    group_counts,
    group_shares,
    shares_by_attribute,
)
from fairmix.tables.units import standardise


def test_gap_by_hand():
    labels = [0, 0, 1, 1, 0, 1, 1, 1, 1]
    groups = ["a"] * 4 + ["b"] * 5
    # a: 2/4 and 2/4, b: 1/5 and 4/5.
    assert fairness_gap(labels, groups) == pytest.approx(0.3)
    assert balance(labels, groups) == pytest.approx(0.5)


def test_gap_of_three_groups_is_relative_to_the_smallest():
    labels = np.array([0, 1, 0, 0, 1, 0, 1, 1, 1])
    groups = np.array(["s"] * 2 + ["m"] * 3 + ["l"] * 4)
    expected = (abs(1 / 2 - 2 / 3) + abs(1 / 2 - 1 / 4)) / 2
    assert fairness_gap(labels, groups) == pytest.approx(expected)
    assert balance(labels, groups) == pytest.approx(1 / 3)


def test_several_sensitive_columns_are_crossed():
    sensitive = pd.DataFrame({"sex": ["f", "f", "m", "m"], "old": [True, False, True, False]})
    table = group_counts([0, 0, 0, 1], sensitive)
    assert list(table.columns) == [("f", False), ("f", True), ("m", False), ("m", True)]
    assert table.to_numpy().tolist() == [[1, 1, 0, 1], [0, 0, 1, 0]]
    assert balance([0, 0, 0, 1], sensitive) == 0.0


PEOPLE = pd.DataFrame({"sex": list("ffmmmmmm"), "age": list("oyooyyyy")})
OF_PEOPLE = [0, 1, 0, 0, 0, 1, 1, 1]


def test_attributes_by_hand():
    table = fairness_by_attribute(OF_PEOPLE, PEOPLE)
    assert table.index.tolist() == ["sex", "age", "crossed"]
    assert table["n_groups"].tolist() == [2, 2, 4]
    assert table["smallest_group"].tolist() == [2, 3, 1]
    # Half of both sexes are in cluster 0; all three o, but one y of five.
    assert table.loc["sex", "gap"] == 0.0
    assert table.loc["age", "gap"] == pytest.approx(4 / 5)
    assert table.loc["sex", "balance"] == pytest.approx(1 / 3)
    assert table.loc["age", "balance"] == 0.0
    # (f, o) is in 0 as both (m, o) are, as one of four (m, y) is, and as (f, y) is not.
    assert table.loc["crossed", "gap"] == pytest.approx((0 + 3 / 4 + 1) / 3)
    # Among all 8 rows, 4 are in 0: sexes fit, an o is at a distance of 1 / 2, a y of 3 / 10.
    mean = fairness_by_attribute(OF_PEOPLE, PEOPLE, kind="mean")["gap"]
    assert mean["age"] == pytest.approx((3 * 1 / 2 + 5 * 3 / 10) / 8)


def test_shares_by_attribute_by_hand():
    shares = shares_by_attribute(OF_PEOPLE, PEOPLE)
    assert shares.columns.tolist() == [("sex", "f"), ("sex", "m"), ("age", "o"), ("age", "y")]
    assert shares.loc[0].tolist() == [1 / 4, 3 / 4, 3 / 4, 1 / 4]
    assert shares.loc[1].tolist() == [1 / 4, 3 / 4, 0.0, 1.0]
    assert shares.index.name == "cluster"


def test_one_attribute_is_not_crossed():
    for sexes in (PEOPLE["sex"], PEOPLE[["sex"]]):
        table = fairness_by_attribute(OF_PEOPLE, sexes, kind="worst")
        assert table.index.tolist() == ["sex"]
        assert table.loc["sex", "gap"] == fairness_gap(OF_PEOPLE, PEOPLE["sex"], kind="worst")
    plain = fairness_by_attribute(OF_PEOPLE, PEOPLE.to_numpy())
    assert plain.index.tolist() == [0, 1, "crossed"]


def test_shares_of_a_cluster_sum_to_one():
    shares = group_shares(["x", "x", "y", "y", "y"], [1, 2, 1, 2, 2])
    assert shares.loc["x"].tolist() == [0.5, 0.5]
    assert shares.loc["y"].tolist() == pytest.approx([1 / 3, 2 / 3])
    assert shares.index.name == "cluster"


def test_one_group_has_no_gap():
    assert fairness_gap([0, 1, 1], ["a", "a", "a"]) == 0.0
    assert balance([0, 1, 1], ["a", "a", "a"]) == 1.0


def test_cost_of_numbers_by_hand():
    X = np.array([[0.0, 0.0], [2.0, 0.0], [5.0, 5.0]])
    assert cost(X, [0, 0, 1]) == pytest.approx(2 / 3)
    assert cost(X + 1e8, [0, 0, 1]) == pytest.approx(2 / 3, rel=1e-6)


def test_cost_of_clusters_that_are_far_apart():
    X = np.random.default_rng(0).normal(size=(200, 1))
    labels = np.repeat([0, 1], 100)
    expected = np.mean([X[labels == c].var() for c in (0, 1)])
    assert cost(X + 1e6 * labels[:, None], labels) == pytest.approx(expected, rel=1e-6)


def test_cost_of_categories_by_hand():
    X = [["a", "x"], ["b", "x"], ["a", "y"], ["a", "y"]]
    assert cost(X, [0, 0, 1, 1], family="categorical") == pytest.approx(2 * np.log(2))
    assert cost(X, [0, 0, 1, 1], family="bernoulli") == pytest.approx(2 * np.log(2))


@st.composite
def clusterings(draw):
    n_rows = draw(st.integers(4, 40))
    labels = draw(st.lists(st.integers(0, 4), min_size=n_rows, max_size=n_rows))
    groups = draw(st.lists(st.integers(0, 1), min_size=n_rows, max_size=n_rows))
    return np.array(labels), np.array(groups)


@settings(max_examples=200, deadline=None)
@given(clusterings())
@example(
    (
        np.array([0, 1, 2, 2, 3, 1, 0, 0, 0, 2, 1, 0, 2, 2, 1, 0, 2]),
        np.eye(17, dtype=int)[[1, 5, 10, 14]].sum(axis=0),
    )
)
def test_identities_that_always_hold(clustering):
    labels, groups = clustering
    gap, ratio = fairness_gap(labels, groups), balance(labels, groups)
    assert 0 <= gap <= 1
    if len(np.unique(groups)) == 2:
        small, large = np.sort(np.bincount(groups))
        assert gap <= 1 - ratio * large / small + 1e-12
        assert ratio <= small / large + 1e-12
    X = np.random.default_rng(len(labels)).normal(size=(len(labels), 3))
    assert cost(standardise(X), labels) <= 3 + 1e-12


columns = st.lists(st.integers(0, 2), min_size=30, max_size=30)


@settings(max_examples=100, deadline=None)
@given(st.lists(columns, min_size=1, max_size=3), columns)
def test_attributes_are_measured_as_each_alone(attributes, labels):
    frame = pd.DataFrame({f"a{k}": values for k, values in enumerate(attributes)})
    table = fairness_by_attribute(labels, frame, kind="mean")
    shares = shares_by_attribute(labels, frame)
    for name in frame:
        assert table.loc[name, "gap"] == fairness_gap(labels, frame[name], kind="mean")
        assert table.loc[name, "balance"] == balance(labels, frame[name])
        pd.testing.assert_frame_equal(
            shares[name], group_shares(labels, frame[name]), check_names=False
        )
    if len(attributes) > 1:
        assert table.loc["crossed", "gap"] == fairness_gap(labels, frame, kind="mean")
        # Groups of an attribute are mixtures of crossed ones, so they are no farther from all rows.
        assert table["gap"].max() <= table.loc["crossed", "gap"] + 1e-12


LABELS = pd.Series([0, 1, 1], index=[3, 1, 2])
SEXES = pd.Series(["f", "m", "f"], index=[3, 1, 2])


def test_labels_of_any_kind():
    assert fairness_gap(LABELS, SEXES.set_axis([7, 8, 9])) == fairness_gap([0, 1, 1], list("fmf"))
    assert group_counts([2**63, 2**63 + 1], [1, 1]).index.tolist() == [2**63, 2**63 + 1]
    with pytest.raises(TypeError, match="neither only numbers nor only strings"):
        fairness_gap([1, "1"], ["a", "b"])


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: fairness_gap([0, 1], ["a"]), "1 rows but labels has 2"),
        (lambda: fairness_gap([0, 1], None), "sensitive_features is None"),
        (lambda: fairness_gap([0, 1], "sex"), "'sex'; pass the column itself"),
        (lambda: fairness_gap([[0, 1]], ["a"]), "labels"),
        (lambda: fairness_gap([0, 1], ["a", None]), r"rows 1"),
        (lambda: fairness_gap([0, np.nan], ["a", "b"]), "labels"),
        (lambda: fairness_gap(["a", np.nan], ["a", "b"]), "labels: .*rows 1"),
        (lambda: fairness_gap(LABELS, SEXES[::-1]), r"pass sensitive_features.loc\[labels.index\]"),
        (lambda: fairness_by_attribute([0, 1], ["a", "b"], kind="all"), "kind .* got 'all'"),
        (lambda: shares_by_attribute([0, 1], None), "sensitive_features is None"),
        (lambda: balance(LABELS, SEXES[::-1]), r"pass sensitive_features.loc\[labels.index\]"),
        (lambda: group_counts(LABELS, SEXES[::-1]), "index of labels in another order"),
        (lambda: group_shares(LABELS, SEXES.to_frame()[::-1]), "index of labels in another order"),
        (lambda: cost(LABELS.to_frame(), LABELS[::-1]), r"pass labels.loc\[X.index\]"),
        (lambda: fairness_gap([0, 1], np.array([1j, 2j])), "complex"),
        (lambda: fairness_gap(np.array([1j, 2j]), ["a", "b"]), "labels: .*complex numbers"),
        (lambda: cost([[1.0], [2.0]], [0, 1, 1]), "labels has 3"),
        (lambda: cost([["a"], ["b"]], [0, 1]), "categorical"),
        (lambda: cost([[1.0], [2.0]], [0, 1], family="normal"), "'normal'"),
        (lambda: cost([[1], [2], [3]], [0, 1, 1], family="bernoulli"), "categorical"),
    ],
)
def test_bad_input(call, match):
    with pytest.raises(ValueError, match=match):
        call()
