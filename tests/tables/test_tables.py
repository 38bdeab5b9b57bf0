"""Mixed tables and missing cells: from a data frame to clusters."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fairmix import FairBayesianClustering, metrics
from fairmix.families import (
    Bernoulli,
    Categorical,
    Exponential,
    Gaussian,
    GaussianFull,
    Poisson,
    Product,
    StudentT,
)
from fairmix.families.choice import choose_family, family_of_values
from fairmix.model.cost import category_cost, squared_distance_cost
from fairmix.model.distances import gower
from fairmix.plots import plot_clustering
from fairmix.tables.units import standardise

QUICK = {"n_warmup": 30, "n_draws": 30, "n_chains": 2, "random_state": 0}


def make_customers(n_rows=60, missing=0.0, seed=0):
    """Two kinds of customers, in every column; groups of equal size."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n_rows) // 2 % 2
    frame = pd.DataFrame(
        {
            "income": 20.0 + 30.0 * kind + rng.normal(size=n_rows),
            "visits": rng.poisson(1.0 + 9.0 * kind),
            "job": np.where(rng.random(n_rows) < 0.9, np.array(["a", "b"])[kind], "c"),
            "owner": np.where(rng.random(n_rows) < 0.9, kind == 1, kind == 0),
        }
    )
    frame = frame.mask(rng.random(frame.shape) < missing) if missing else frame
    return frame, np.arange(n_rows) % 2, kind


@pytest.mark.parametrize(
    ("values", "family"),
    [
        ([0.5, 1.2, -3.0], Gaussian()),
        ([1, 2, 5, 0], Poisson()),
        ([1.0, 2.0, np.nan, 0.0, 3.0], Poisson()),
        ([17, 90, 33, 45], Gaussian()),  # a mean of more than 20
        ([-1, 2, 3], Gaussian()),
        ([3, 3, 7], Bernoulli()),
        ([True, False, True], Bernoulli()),
        (["yes", "no", None], Bernoulli()),
        (["a", "b", "c"], Categorical()),
        (["a", "a"], Categorical()),
        ([np.nan, np.nan], Gaussian()),
    ],
)
def test_families_are_chosen_from_values(values, family):
    kind = object if any(isinstance(v, str) for v in values) else None
    chosen = family_of_values(np.array(values, dtype=kind))
    assert type(chosen) is type(family)


def test_families_that_are_equal_as_tuples_are_told_apart():
    """As tuples, Bernoulli() equals Categorical(), and Gaussian() equals GaussianFull()."""
    rows = np.array([[0.0, 3.0, 0.1, 0.2], [1.0, 0.0, 1.0, 0.5], [1.0, 2.0, 0.3, 2.0]])
    families = (Bernoulli(), Categorical(), Gaussian(), GaussianFull())
    prepared = Product(families).prepare(rows)
    row_stats = np.empty((3, prepared.n_statistics(4)))
    prepared.write_statistics(rows, row_stats)
    expected = 0.0
    for j, family in enumerate(families):
        single = family.prepare(rows[:, [j]])
        single_stats = np.empty((3, single.n_statistics(1)))
        single.write_statistics(rows[:, [j]], single_stats)
        expected += single.log_marginal(3, single_stats.sum(axis=0))
    assert prepared.log_marginal(3, row_stats.sum(axis=0)) == pytest.approx(expected)


def test_a_categorical_type_decides():
    frame = pd.DataFrame(
        {"code": pd.Categorical([1, 2, 3, 1]), "two": pd.Categorical([5, 6, 5, 5])}
    )
    chosen = choose_family("auto", frame).families
    assert [type(family) for family in chosen] == [Categorical, Bernoulli]
    polars = pl.DataFrame({"code": ["1", "2", "3"], "two": ["5", "6", "5"]})
    chosen = choose_family("auto", polars.cast(pl.Categorical)).families
    assert [type(family) for family in chosen] == [Categorical, Bernoulli]


@pytest.mark.parametrize("cell", [[1, 2], {"a": 1}, {1}], ids=repr)
def test_cells_that_are_neither_text_nor_numbers_are_refused(cell):
    frame = pd.DataFrame({"odd": [cell] * 20, "x": np.arange(20.0)})
    with pytest.raises(TypeError, match=r"X: column 'odd' holds .*must be a string or a real"):
        FairBayesianClustering("auto", **QUICK).fit(frame, sensitive_features=["a", "b"] * 10)


def test_infinity_is_no_category():
    frame = pd.DataFrame({"x": np.arange(20.0), "limit": [np.inf, 1.0] * 10})
    with pytest.raises(ValueError, match=r"infinity .* in column 'limit', row 0"):
        FairBayesianClustering("auto", **QUICK).fit(frame, sensitive_features=["a", "b"] * 10)


def test_families_by_column():
    frame, _, _ = make_customers()
    chosen = choose_family({"visits": "exponential", 0: StudentT(), "job": "auto"}, frame)
    assert chosen == Product((StudentT(), Exponential(), Categorical(), Bernoulli()))
    assert choose_family("auto", frame.to_numpy()) == choose_family("auto", frame)
    assert choose_family("poisson", None) == Poisson()


class HasNoMarginal(NamedTuple):
    rate: float = 1.0

    def log_density(self, params, row):
        return 0.0


@pytest.mark.parametrize(
    ("family", "error", "match"),
    [
        ({"wages": "gaussian"}, ValueError, "'wages', which is not a column.*income"),
        ({7: "gaussian"}, ValueError, "7, which is not a column"),
        ({"income": "normal"}, ValueError, r"family\['income'\].*'normal'"),
        ({"income": 3}, TypeError, r"family\['income'\]"),
        ({"income": "student-t"}, ValueError, "StudentT has no conjugate prior.*mixed"),
        (HasNoMarginal(), TypeError, "HasNoMarginal is not conjugate.*lacks n_parameters"),
        ("poisson", ValueError, "column 'income' holds .* whole numbers from 0 on"),
        (Product((Gaussian(),)), ValueError, "Product of 1 families, but X has 2 columns"),
    ],
)
def test_bad_families(family, error, match):
    frame, groups, _ = make_customers()
    if not isinstance(family, dict):
        frame = frame[["income", "visits"]]
    with pytest.raises(error, match=match):
        FairBayesianClustering(family, **QUICK).fit(frame, sensitive_features=groups)


def test_negative_durations_are_refused():
    frame = pd.DataFrame({"months": [1.0, -2.0, 3.0, 4.0]})
    with pytest.raises(ValueError, match=r"column 'months' holds -2 in row 1.*exponential"):
        FairBayesianClustering("exponential", **QUICK).fit(frame, sensitive_features=[0, 1, 0, 1])


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_a_mixed_table(library):
    frame, groups, kind = make_customers()
    table = library.DataFrame({name: frame[name].tolist() for name in frame})
    model = FairBayesianClustering("auto", **QUICK)
    model.fit(table, sensitive_features=groups)
    assert {name: type(family) for name, family in model.families_.items()} == {
        "income": Gaussian,
        "visits": Poisson,
        "job": Categorical,
        "owner": Bernoulli,
    }
    assert model.n_clusters_ == 2
    assert metrics.fairness_gap(model.labels_, groups) == 0.0
    agreement = np.mean(model.labels_ == kind)
    assert max(agreement, 1 - agreement) > 0.9
    assert np.isfinite(model.posterior_.log_posterior).all()
    panels = plot_clustering(model, frame, groups)
    assert panels[0].get_xlabel().startswith("principal component 1")


def test_missing_cells_are_left_out():
    frame, groups, kind = make_customers(missing=0.2)
    assert frame.isna().to_numpy().mean() > 0.1
    with pytest.raises(ValueError, match=r"missing.*missing='ignore'"):
        FairBayesianClustering("auto", **QUICK).fit(frame, sensitive_features=groups)
    # Missing cells may turn whole numbers into others; the families are named.
    families = {"visits": "poisson", "owner": "bernoulli"}
    model = FairBayesianClustering(families, missing="ignore", **QUICK)
    model.fit(frame, sensitive_features=groups)
    agreement = np.mean(model.labels_ == kind)
    assert max(agreement, 1 - agreement) > 0.8
    assert np.isfinite(model.posterior_.cost).all()
    plot_clustering(model, frame, groups)


class Misspelt(NamedTuple):
    rate: float = 1.0

    @property
    def kind(self):
        return "count"

    def n_statistics(self, n_columns):
        return n_columns

    def write_statistics(self, rows, out):
        out[:] = rows

    def log_marginal(self, count, stats):
        return 0.0


def test_unknown_kinds_are_refused():
    frame, groups, _ = make_customers()
    with pytest.raises(ValueError, match="kind = 'count' must be one of 'numbers', 'counts'"):
        FairBayesianClustering(Misspelt(), **QUICK).fit(
            frame[["visits"]], sensitive_features=groups
        )


def test_rows_whose_only_value_is_in_a_constant_column_are_refused():
    X = np.random.default_rng(0).normal(size=(20, 2))
    X[:, 1] = 1.0
    X[4, 0] = np.nan
    with (
        pytest.raises(ValueError, match=r"no value at all \(rows 4\)"),
        pytest.warns(UserWarning, match="column 1 is constant"),
    ):
        FairBayesianClustering(missing="ignore", **QUICK).fit(
            X, sensitive_features=np.arange(20) % 2
        )


def test_rows_without_any_value_are_refused():
    frame, groups, _ = make_customers(missing=0.2)
    frame.loc[5] = None
    with pytest.raises(ValueError, match=r"1 row\(s\) have no value at all \(rows 5\)"):
        FairBayesianClustering("auto", missing="ignore", **QUICK).fit(
            frame, sensitive_features=groups
        )


def test_infinite_cells_stay_an_error():
    frame, groups, _ = make_customers()
    frame.loc[3, "income"] = np.inf
    with pytest.raises(ValueError, match=r"infinity.*column 'income', row 3"):
        FairBayesianClustering("auto", missing="ignore", **QUICK).fit(
            frame, sensitive_features=groups
        )


def test_families_that_need_every_cell_say_so():
    X = np.random.default_rng(0).normal(size=(20, 2))
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="column 1 has missing cells, which its family cannot"):
        FairBayesianClustering(GaussianFull(), missing="ignore", **QUICK).fit(
            X, sensitive_features=np.arange(20) % 2
        )


def test_scikit_learn_is_told_about_missing_cells():
    assert FairBayesianClustering(missing="ignore").__sklearn_tags__().input_tags.allow_nan
    assert not FairBayesianClustering().__sklearn_tags__().input_tags.allow_nan


def test_gower_by_hand():
    points = np.array([[0.0, 1.0], [4.0, 0.0], [1.0, np.nan], [np.nan, np.nan]])
    distance = gower(points, np.array([False, True]), np.array([4.0, 1.0]))
    expected = np.array(
        [
            [0.0, 1.0, 0.25, 1.0],
            [1.0, 0.0, 0.75, 1.0],
            [0.25, 0.75, 0.0, 1.0],
            [1.0, 1.0, 1.0, 1.0],
        ]
    )
    rows = np.arange(4)
    assert distance.matrix(rows, rows) == pytest.approx(expected)
    assert [[distance.between(i, j) for j in rows] for i in rows] == pytest.approx(expected)
    coordinates = distance.coordinates()
    assert coordinates.shape == (4, 3)
    assert np.isfinite(coordinates).all()


def test_costs_leave_missing_cells_out():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 3))
    codes = rng.integers(3, size=(30, 3)).astype(float)
    holes = rng.random((30, 3)) < 0.3
    rows[holes], codes[holes] = np.nan, np.nan
    labels = rng.integers(4, size=(2, 30))
    for k, row_labels in enumerate(labels):
        square, surprise = 0.0, 0.0
        for cluster in range(4):
            for j in range(3):
                values = rows[row_labels == cluster, j]
                values = values[~np.isnan(values)]
                square += np.sum((values - values.mean()) ** 2)
                members = codes[row_labels == cluster, j]
                _, counts = np.unique(members[~np.isnan(members)], return_counts=True)
                surprise -= np.sum(counts * np.log(counts / counts.sum()))
        assert squared_distance_cost(rows, labels)[k] == pytest.approx(square / 30)
        assert category_cost(codes, labels)[k] == pytest.approx(surprise)


def test_standard_units_leave_missing_cells_out():
    rows = np.array([[1.0, np.nan], [3.0, 10.0], [np.nan, 20.0], [5.0, 30.0]])
    scaled = standardise(rows)
    assert np.array_equal(np.isnan(scaled), np.isnan(rows))
    assert np.nanmean(scaled, axis=0) == pytest.approx([0.0, 0.0])
    assert np.nanstd(scaled, axis=0) == pytest.approx([1.0, 1.0])
