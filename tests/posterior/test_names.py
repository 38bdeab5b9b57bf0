"""A name is plain, short and true."""

import numpy as np
import pandas as pd
import pytest

from tests.posterior.hand_made import make_training, posterior_of


def names_of(table, labels, family="auto"):
    """Give the names of the clusters of a table."""
    posterior = posterior_of(make_training(pd.DataFrame(table), family=family), [labels])
    return [cluster.name for cluster in posterior.profile(labels).clusters]


LABELS = np.repeat([0, 1], 10)
RAMP = np.arange(20.0)


@pytest.mark.parametrize(
    ("values", "family", "expected"),
    [
        (RAMP, "gaussian", ["low x", "high x"]),
        (RAMP % 10, "gaussian", ["no feature stands out"] * 2),
        # In the middle, and all around it.
        ([4.5] * 10 + [0.0, 9.0] * 5, "gaussian", ["x 4.5", "no feature stands out"]),
        ([4.0, 5.0] * 5 + [0.0, 9.0] * 5, "gaussian", ["medium x", "no feature stands out"]),
        # Two rows far away make a high mean, but not a high column.
        ([0.0, 1.0] * 9 + [90.0, 91.0], "gaussian", ["no feature stands out"] * 2),
        ([0] * 10 + [1, 2] * 5, "poisson", ["no x", "high x"]),
        ([3] * 10 + [5, 7] * 5, "poisson", ["x 3", "high x"]),
        ([0] * 10 + [1.5, 2.5] * 5, "exponential", ["no x", "high x"]),
        ([0] * 10 + [1.5, 2.5] * 5, "gaussian", ["x 0", "high x"]),
        (["a"] * 10 + ["b"] * 10, "categorical", ["x a", "x b"]),
        (["a"] * 10 + ["b"] * 7 + ["a"] * 3, "bernoulli", ["x a", "mostly x b"]),
        # Half is not most.
        (["a"] * 10 + ["b"] * 5 + ["a"] * 5, "bernoulli", ["x a", "no feature stands out"]),
        ([False] * 10 + [True] * 8 + [False] * 2, "bernoulli", ["not x", "x"]),
        (["a"] * 8 + ["b"] * 2 + ["a"] * 7 + ["b"] * 3, "bernoulli", ["no feature stands out"] * 2),
        # A level that every fifth row has is not absent.
        (["c"] * 2 + ["a", "b"] * 4 + ["c"] * 10, "categorical", ["no feature stands out", "x c"]),
        (["a", "b"] * 5 + ["a", "c"] * 5, "categorical", ["x not c", "x not b"]),
    ],
)
def test_names(values, family, expected):
    names = names_of({"x": values}, LABELS, family)
    assert names == expected


@pytest.mark.parametrize(("n_wide", "expected"), [(5, "scattered x"), (4, "no feature stands out")])
def test_a_scattered_cluster(n_wide, expected):
    labels = np.repeat([0, 1], [40, n_wide])
    values = np.append(np.arange(40) % 2 + 4.0, [0.0, 9.0, 0.0, 9.0, 4.5][:n_wide])
    assert names_of({"x": values}, labels, "gaussian")[1] == expected


def test_a_cluster_that_nearly_always_has_one_number():
    labels = np.repeat([0, 1], 40)
    values = np.append([4.0, 5.0] + [4.5] * 38, [0.0, 9.0] * 20)
    assert names_of({"x": values}, labels, "gaussian") == ["mostly x 4.5", "no feature stands out"]
    values[2:4] = 4.0, 5.0  # two of forty at either side
    assert names_of({"x": values}, labels, "gaussian")[0] == "medium x"


def test_the_strongest_two_make_the_name():
    rng = np.random.default_rng(0)
    table = {
        "weak": rng.normal(size=20) + 1.5 * LABELS,
        "strong": rng.normal(size=20) + 50 * LABELS,
        "word": np.where(np.arange(20) % 10 < 8, np.where(LABELS, "b", "a"), "a"),
        "nothing": RAMP % 10,
    }
    assert names_of(table, LABELS)[1] == "high strong, word b"


def test_clusters_of_the_same_name_get_a_third_phrase():
    labels = np.repeat([0, 1, 2], 20)
    noise = np.arange(60.0) % 5 / 10
    table = {
        "x": noise + 100 * (labels > 0),
        "y": noise - 100 * (labels > 0),
        "z": 10 * noise + 1.0 * (labels == 2) - 1.0 * (labels == 1),
    }
    names = names_of(table, labels, "gaussian")
    assert [set(name.split(", ")) for name in names] == [
        {"low x", "high y"},
        {"high x", "low y", "low z"},
        {"high x", "low y", "high z"},
    ]


def test_names_are_short_and_on_one_line():
    table = {"a very long name of a column\n" * 20: RAMP, "w": ["v" * 300] * 10 + ["u" * 300] * 10}
    for name in names_of(table, LABELS):
        assert len(name) < 90
        assert name.isprintable()
