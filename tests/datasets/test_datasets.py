"""Loaders: what they give."""

import numpy as np
import pandas as pd
import pytest

from fairmix.datasets import (
    load_adult,
    load_bank,
    load_diabetes,
    load_galaxy,
    load_toy,
)


def test_adult_is_packaged(monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRMIX_DATA", str(tmp_path))
    adult = load_adult()
    assert adult.data.shape == (32561, 5)
    assert adult.sensitive_features.value_counts().to_dict() == {"Male": 21790, "Female": 10771}
    assert list(adult.data.columns) == adult.feature_names
    assert "CC BY 4.0" in adult.DESCR


def test_adult_is_the_public_file(data_folder):
    public = pd.read_csv(data_folder / "adult.csv")
    adult = load_adult(groups=["sex", "race"])
    pd.testing.assert_frame_equal(adult.data, public[adult.feature_names])
    pd.testing.assert_frame_equal(adult.sensitive_features, public[["sex", "race"]])


def test_what_was_loaded_is_ones_own():
    load_adult(n_rows=10).feature_names.append("another")
    assert len(load_adult(n_rows=10).feature_names) == 5


def test_draws_of_adult():
    drawn = load_adult(n_rows="paper", random_state=3)
    assert drawn.sensitive_features.value_counts().to_dict() == {"Male": 694, "Female": 306}
    again = load_adult(n_rows="paper", random_state=3)
    pd.testing.assert_frame_equal(drawn.data, again.data)
    other = load_adult(n_rows="paper", random_state=4)
    assert not np.array_equal(drawn.row_numbers, other.row_numbers)
    whole = load_adult()
    picked = whole.data.iloc[drawn.row_numbers].reset_index(drop=True)
    pd.testing.assert_frame_equal(drawn.data, picked)
    assert len(load_adult(n_rows=50, groups="race").data) == 50


@pytest.mark.parametrize(
    ("groups", "sizes"),
    [
        ("married", {"married": 606, "not married": 394}),
        ("single", {"married": 606, "single": 394}),
        ("marital", {"married": 586, "single": 305, "divorced": 109}),
    ],
)
def test_bank(data_folder, groups, sizes):
    drawn = load_bank(n_rows="paper", groups=groups)
    assert drawn.sensitive_features.value_counts().to_dict() == sizes
    assert drawn.data.shape == (1000, 6)
    public = pd.read_csv(data_folder / "bank.csv").iloc[drawn.row_numbers]
    assert (public["duration"].to_numpy() == drawn.data["duration"].to_numpy()).all()
    assert len(load_bank(groups=groups).data) == (36496 if groups == "single" else 41108)


def test_categorised_bank(data_folder):
    drawn = load_bank(n_rows=501, categorised=True).data
    assert set(np.unique(drawn)) == {0, 1}
    assert (drawn.mean() <= 0.5).all()  # above the median


def test_diabetes(data_folder):
    diabetes = load_diabetes()
    sizes = diabetes.sensitive_features.value_counts().to_dict()
    assert sizes == {"up to 29": 396, "above 29": 372}
    assert diabetes.data.shape == (768, 7)
    three = load_diabetes(groups=(24, 40)).sensitive_features
    assert set(three) == {"up to 24", "above 24 up to 40", "above 40"}
    assert len(load_diabetes(n_rows=100).data) == 100


def test_toy_and_galaxy():
    toy = load_toy(n_rows=60)
    assert toy.data.shape == (60, 2)
    literal = load_toy(n_rows=60, literal=True).data
    assert literal["x"].max() < 0 < toy.data["x"].max()
    toy = load_toy(n_rows=90, groups=3)
    assert toy.sensitive_features.value_counts().to_dict() == {0: 30, 1: 30, 2: 30}
    assert toy.data["x"][toy.sensitive_features == 2].mean() == pytest.approx(15, abs=1)
    galaxy = load_galaxy().data
    assert galaxy["velocity"].agg(["count", "min", "max"]).tolist() == [82, 9.172, 34.279]


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (lambda: load_adult(n_rows=0), "n_rows = 0 must be from 1 to 32,561"),
        (lambda: load_adult(n_rows="all"), "n_rows must be None, 'paper' or"),
        (lambda: load_adult(n_rows="paper", groups="race"), "n_rows must be None or a number"),
        (lambda: load_adult(groups="age"), "groups must be 'sex'"),
        (lambda: load_bank(groups="divorced"), "groups must be one of 'married'"),
        (lambda: load_diabetes(groups=(40, 24)), "growing order"),
        (lambda: load_diabetes(groups="age"), "growing order"),
        (lambda: load_toy(n_rows=100), "multiple of 6"),
        (lambda: load_toy(groups=0), "groups must be a number"),
    ],
)
def test_bad_arguments(load, message):
    with pytest.raises(ValueError, match=message):
        load()


def test_rows_must_be_a_number():
    with pytest.raises(
        TypeError, match=r"n_rows must be None, 'paper' or a number of rows, got 2\.5"
    ):
        load_adult(n_rows=2.5)
