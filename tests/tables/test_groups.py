"""Sensitive groups and labels are read exactly, or refused in words."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from fairmix.tables.groups import read_groups, read_labels, refuse_groups_as_y, refuse_other_order

HUGE = [2**63, 2**63 + 1]


@pytest.mark.parametrize(
    "values",
    [
        HUGE,
        np.array(HUGE, dtype=object),
        np.array(HUGE, dtype=np.uint64),
        pd.Series(HUGE, dtype="UInt64"),
        pl.Series(HUGE),
        [-1, *HUGE],
        [10**30, 10**30 + 1],
        [2**53, 2**53 + 1, 0.5],
        pd.Series([2**53, 2**53 + 1], dtype="Int64"),
    ],
    ids=repr,
)
def test_large_integers_stay_apart(values):
    n_rows = len(values)
    groups = read_groups(values, n_rows)
    assert groups.names == sorted(int(v) if v != 0.5 else v for v in values)
    assert [groups.names[code] for code in groups.codes] == [*values]
    assert len(np.unique(read_labels(values))) == n_rows


@pytest.mark.parametrize(
    ("labels", "error", "match"),
    [
        (["a", float("nan"), "b"], ValueError, r"1 missing value\(s\).*rows 1"),
        (["a", None, "b"], ValueError, r"1 missing value\(s\).*rows 1"),
        (["a", pd.NA, "b"], ValueError, r"1 missing value\(s\).*rows 1"),
        ([1, pd.NA, 2], ValueError, r"1 missing value\(s\).*rows 1"),
        (np.ma.array([1, 2, 3], mask=[0, 0, 1]), ValueError, r"1 missing value\(s\).*rows 2"),
        (["1", 1, 2], TypeError, r"neither only numbers nor only strings \(types: int, str\)"),
        ([0.5, "x", "y"], TypeError, "neither only numbers nor only strings .*float, str"),
        ([[1, 2], [3]], ValueError, "its rows differ in length"),
        ((k for k in range(3)), TypeError, "is a generator, which can be read once only"),
    ],
)
@pytest.mark.parametrize("argument", ["labels", "sensitive_features"])
def test_what_is_no_label(labels, error, match, argument):
    with pytest.raises(error, match=match):
        read_labels(labels) if argument == "labels" else read_groups(labels, 3)


DAYS = pd.Series(pd.date_range("2020", periods=30))


@pytest.mark.parametrize(
    ("values", "error", "match"),
    [
        (DAYS, ValueError, "holds dates or durations such as 2020-01-01"),
        (DAYS.to_numpy(), ValueError, "holds dates or durations"),
        ([datetime.date(2020, 1, 1)] * 30, ValueError, "holds dates or durations"),
        (DAYS - DAYS[0], ValueError, "holds dates or durations"),
        (np.linspace(0, 1, 30), ValueError, "30 different numbers such as 0, .* pandas.cut"),
        (np.arange(30) * 1j, ValueError, "holds complex numbers"),
        (
            pd.DataFrame({"s": [1, "a"] * 15, "t": [None, "b"] * 15, "u": "c"}),
            ValueError,
            r"(?s)sensitive_features has 2 columns .*:\n- column 's' .*\n- column 't' has 15 miss",
        ),
        (csr_array(np.eye(30)), TypeError, r"sparse; pass it as an array \(sensitive_features"),
        (pd.DataFrame(np.eye(30)[:, :2], columns=["s", "s"]), ValueError, r"same name \(s\)"),
    ],
)
def test_what_is_no_group(values, error, match):
    with pytest.raises(error, match=match):
        read_groups(values, 30)


def test_numbers_that_are_groups():
    assert read_groups(np.arange(30.0), 30).names == list(range(30))
    assert read_groups([0.5, 1.5] * 15, 30).names == [0.5, 1.5]


@pytest.mark.parametrize("kind", ["array", "series"])
def test_what_pandas_cut_gives_are_groups(kind):
    """It is what we say to do about a continuous column; JSON knows no intervals."""
    cut = pd.cut([25, 9, 30, 15, 5, 10], [0, 10, 20, 30])
    groups = read_groups(cut if kind == "array" else pd.Series(cut), 6)
    assert groups.names == ["(0, 10]", "(10, 20]", "(20, 30]"]
    assert groups.codes.tolist() == [2, 0, 2, 1, 0, 0]


def test_another_order_is_seen_if_labels_of_an_index_occur_twice():
    table, other = pd.Series([0, 1, 2], index=[1, 1, 2]), pd.Series([0, 1, 2], index=[2, 1, 1])
    with pytest.raises(ValueError, match=r"another order.*call reset_index\(drop=True\) on both"):
        refuse_other_order(table, other, "X", "labels")
    refuse_other_order(table, other[::-1], "X", "labels")
    refuse_other_order(table, other.set_axis([2, 2, 1]), "X", "labels")


@pytest.mark.parametrize("y", [["f", "m"], "sex", [True, False], pd.Series(["f", "m"])])
def test_groups_as_y_are_refused(y):
    with pytest.raises(TypeError, match="pass the sensitive groups as sensitive_features="):
        refuse_groups_as_y(y, None)
    refuse_groups_as_y(y, [0, 1])


def test_numbers_as_y_are_a_warning():
    with pytest.warns(UserWarning, match="pass the sensitive groups as sensitive_features="):
        refuse_groups_as_y(np.array([0, 1], dtype=object), None)
    refuse_groups_as_y([0, 1], [0, 1])
    refuse_groups_as_y(None, None)
