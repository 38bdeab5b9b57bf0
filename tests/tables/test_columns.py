"""Columns that cannot be used are named in one message; those that look odd are a warning."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from fairmix.tables.columns import read_features

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_all_columns_that_cannot_be_used_are_named(library):
    days = [datetime.datetime(2020, 1, 1) + datetime.timedelta(k) for k in range(30)]
    table = library.DataFrame(
        {
            "fine": X[:, 0],
            "day": days,
            "wait": [day - days[0] for day in days],
            "text": ["a", "b"] * 15,
            "number": ["1.5", "2"] * 15,
            "hole": [1.0, None, 2.0] * 10,
            "limit": [1.0, np.inf] * 15,
        }
    )
    with pytest.raises(ValueError, match="X has 6 columns that cannot be used:") as caught:
        read_features(table, "numbers")
    lines = str(caught.value).split("\n- ")[1:]
    wanted = [
        "'day' holds dates or times such as 2020-01-01",
        "'wait' holds durations such as 0",
        "'text' holds text such as 'a'",
        "'number' holds text that looks like numbers, such as '1.5'; convert it (astype(float))",
        "NaN (a missing value) in column 'hole', row 1 (missing in all: 10",
        "infinity (inf) in column 'limit', row 1",
    ]
    assert len(lines) == len(wanted)
    for line, words in zip(lines, wanted, strict=True):
        assert words in line


@pytest.mark.parametrize(
    ("table", "kind", "error", "match"),
    [
        (X * 1j, "numbers", ValueError, "Complex data not supported"),
        (pd.DataFrame({"c": X[:, 0] * 1j}), "numbers", ValueError, "'c' holds complex numbers"),
        (csr_array(X), "numbers", TypeError, "Sparse data"),
        ((row for row in X), "numbers", TypeError, "X is a generator"),
        ([[1, 2], [3]], "numbers", ValueError, "its rows differ in length"),
        (pd.DataFrame(X, columns=["a", "a"]), "numbers", ValueError, r"same name \(a\)"),
        (pl.LazyFrame({"a": [1, 2]}), "numbers", TypeError, "X is a lazy frame"),
        ([[{"a": 1}], [{}]], "numbers", TypeError, r"column 0 holds \{'a': 1\} \(of type dict\)"),
        (np.array([["1.5"], ["2"]]), "numbers", ValueError, "such as '1.5'; convert"),
        ([[b"a"], [b"b"]], "categories", ValueError, "column 0 holds bytes such as b'a'"),
        (np.array([["2020"], ["2021"]], dtype="M8[D]"), "categories", ValueError, "dates"),
    ],
)
def test_tables_that_cannot_be_used(table, kind, error, match):
    with pytest.raises(error, match=match):
        read_features(table, kind)


def test_na_in_lists_is_missing():
    rows = [[1.0, pd.NA], [2.0, 1.0], [None, 3.0]]
    with pytest.raises(ValueError, match=r"(?s)NaN .* column 0, row 2 .*NaN .* column 1, row 0"):
        read_features(rows, "numbers")
    found = read_features(rows, "numbers", allow_missing=True).rows
    assert np.isnan(found).tolist() == [[False, True], [False, False], [True, False]]


@pytest.mark.parametrize("kind", ["numbers", "categories"])
@pytest.mark.parametrize("dtype", [float, int])
def test_masks_of_arrays_are_missing_cells(kind, dtype):
    values = np.array([[1, 2], [3, 4], [5, 99]], dtype=dtype)
    masked = np.ma.array(values, mask=values == 99)
    with pytest.raises(ValueError, match=r"column 1.*row"):
        read_features(masked, kind)
    features = read_features(masked, kind, allow_missing=True)
    assert np.isnan(features.rows).tolist() == [[False, False], [False, False], [False, True]]
    assert features.levels[1] in (None, (2, 4))
    plain = read_features(np.ma.array(values), kind)
    assert np.array_equal(plain.rows, read_features(values, kind).rows)


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_large_integers_with_holes_stay_apart(library):
    values = [2**53, 2**53 + 1, None, 7] * 5
    series = pd.Series(values, dtype="Int64") if library is pd else pl.Series(values)
    table = library.DataFrame({"code": series, "x": [1, 5] * 10})
    features = read_features(table, ["categories", "counts"], allow_missing=True)
    assert features.levels[0] == (7, 2**53, 2**53 + 1)
    assert features.rows[:4, 0].tolist()[:2] == [1.0, 2.0]
    assert np.isnan(features.rows[2, 0])


def test_numbers_of_all_kinds():
    table = pd.DataFrame(
        {
            "decimal": [decimal.Decimal("0.5"), decimal.Decimal(2), None],
            "huge": [10**30, None, 1],
            "flag": [True, None, False],
        },
        dtype=object,
    )
    found = read_features(table, "numbers", allow_missing=True).rows
    assert found[:, 0].tolist()[:2] == [0.5, 2.0]
    assert found[[0, 2], 1].tolist() == [1e30, 1.0]
    assert found[[0, 2], 2].tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match="infinity"):
        read_features([[10**400], [1]], "numbers")


@pytest.mark.parametrize(
    ("values", "kind", "match"),
    [
        ([f"customer {k}" for k in range(12)], "categories", "12 categories for 12 rows.*identif"),
        (np.arange(1, 31), "numbers", "holds the numbers 1 to 30, each once; if it is an ident"),
        (RNG.permutation(30) + 1000, "counts", "holds the numbers 1000 to 1029, each once"),
        (np.arange(24).astype(str), "categories", "holds numbers as text, such as '0', taken"),
    ],
)
def test_identifiers_are_a_warning(values, kind, match):
    table = pd.DataFrame({"column": values})
    with pytest.warns(UserWarning, match=match):
        read_features(table, kind)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", "b", "c"], "categories"),
        (np.arange(9), "numbers"),
        (np.arange(30) * 2, "numbers"),
        (np.arange(30) // 2, "numbers"),
        (["1", "2", "3"] * 10, "categories"),
    ],
)
def test_other_columns_are_not(values, kind):
    read_features(pd.DataFrame({"column": values}), kind)
