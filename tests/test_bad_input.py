"""Every error names the argument, its value and the remedy."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairmix import FairBayesianClustering, Fixed
from fairmix.baselines import FairKMeans, MixtureOfFiniteMixtures
from fairmix.families import Gaussian

QUICK = {"n_warmup": 3, "n_draws": 4, "n_chains": 1, "random_state": 0}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
GROUPS = np.repeat(["a", "b"], [10, 20])


def with_cell(value):
    table = X.copy()
    table[4, 1] = value
    return table


PARAMETERS = [
    ({"family": "normal"}, ValueError, "family.*'normal'"),
    ({"family": 3}, TypeError, "family"),
    ({"family": Gaussian}, TypeError, "family"),
    ({"family": Gaussian(rate=-1)}, ValueError, "rate.*-1"),
    ({"temperature": 0}, ValueError, "temperature"),
    ({"temperature": -1.0}, ValueError, "temperature.*-1"),
    ({"temperature": float("nan")}, ValueError, "temperature"),
    ({"temperature": "hot"}, TypeError, "temperature.*'hot'"),
    ({"concentration": -1}, ValueError, "concentration"),
    ({"concentration": float("inf")}, ValueError, "concentration"),
    ({"components_prior": 3}, TypeError, r"components_prior.*Fixed\(3\)"),
    ({"matching_step": "both"}, ValueError, "matching_step.*'both'"),
    ({"matching_moves": -1}, ValueError, "matching_moves"),
    ({"matching_moves": "many"}, TypeError, "matching_moves"),
    ({"split_merge_moves": -1}, ValueError, "split_merge_moves"),
    ({"split_merge_moves": 0.5}, TypeError, "split_merge_moves"),
    ({"init_match": "best"}, ValueError, "init_match.*'best'"),
    ({"init_partition": "two"}, ValueError, "init_partition.*'two'"),
    ({"init_partition": 0}, ValueError, "init_partition"),
    ({"init_partition": 11}, ValueError, "init_partition = 11.*10"),
    ({"init_partition": 2.5}, TypeError, "init_partition"),
    ({"init_partition": [0, 1]}, ValueError, "init_partition has 2 entries"),
    ({"init_partition": "singletons", "components_prior": Fixed(3)}, ValueError, "at most 3"),
    ({"init_partition": np.arange(30), "components_prior": Fixed(3)}, ValueError, "at most 3"),
    ({"n_chains": 0}, ValueError, "n_chains"),
    ({"n_chains": True}, TypeError, "n_chains"),
    ({"n_warmup": -1}, ValueError, "n_warmup"),
    ({"n_draws": 0}, ValueError, "n_draws"),
    ({"n_draws": 2.5}, TypeError, "n_draws"),
    ({"thin": 0}, ValueError, "thin"),
    ({"thin": 5}, ValueError, "thin = 5.*n_draws = 4"),
    ({"extra": "all"}, ValueError, "extra.*'all'"),
    ({"n_masked": -1}, ValueError, "n_masked"),
    ({"n_masked": 21}, ValueError, "n_masked = 21.*20 rows of group 'b'"),
    ({"n_masked": {"a": 1}}, ValueError, "'a', the smallest group"),
    ({"n_masked": {"c": 1}}, ValueError, "'c', which is not a group"),
    ({"n_masked": {"b": -1}}, ValueError, "n_masked"),
    ({"n_masked": 1.5}, TypeError, "n_masked"),
    ({"n_draws": 10**12}, ValueError, "GB.*thin"),
    ({"n_draws": 10**30}, ValueError, "n_draws must be .* at most"),
    ({"n_warmup": 10**30}, ValueError, "n_warmup must be .* at most"),
    ({"n_chains": 10**9}, ValueError, "n_chains must be .* at most 10,000"),
    ({"n_chains": float("inf")}, TypeError, "n_chains must be an integer"),
    ({"matching_moves": 10**30}, ValueError, "matching_moves .* at most"),
    ({"split_merge_moves": 10**30}, ValueError, "split_merge_moves .* at most"),
    ({"n_masked": 10**30}, ValueError, "n_masked = 10{30} is more than the 20 rows"),
    ({"concentration": 1e-320}, ValueError, "concentration = 1e-320 is out of all proportion"),
    ({"concentration": 10**400}, ValueError, "concentration must be a positive number"),
    ({"temperature": 1e-320}, ValueError, "temperature = 1e-320 is out of all proportion"),
    ({"temperature": 1e300}, ValueError, "temperature = 1e.300 is out of all proportion"),
    ({"max_gap": 10**400}, ValueError, "max_gap must be None or a number from 0 to 1"),
    ({"random_state": -1}, ValueError, r"random_state must be .* from 0 to 2\*\*32 - 1.*got -1"),
    ({"random_state": 2**32}, ValueError, "random_state must be"),
    ({"random_state": "one"}, ValueError, "random_state must be .* got 'one'"),
    ({"n_jobs": 0}, ValueError, "n_jobs = 0"),
    ({"n_jobs": 10**12}, ValueError, "n_jobs .* at most"),
    ({"n_jobs": "all"}, TypeError, "n_jobs"),
    ({"annealing": "no"}, TypeError, "annealing must be True or False, got 'no'"),
    ({"standardize": "x"}, TypeError, "standardize must be True or False, got 'x'"),
    ({"verbose": "x"}, TypeError, r"verbose \(or 'auto'\) must be an integer"),
    ({"verbose": -1}, ValueError, r"verbose \(or 'auto'\) must be an integer"),
    ({"min_group_size": 1}, ValueError, r"min_group_size \(or None\) .* at least 2, got 1"),
    ({"min_group_size": 0.1}, TypeError, r"min_group_size \(or None\) must be an integer"),
    ({"min_group_size": 11}, ValueError, "min_group_size = 11 makes one group.*pass at most 10,"),
    ({"min_group_size": 5, "max_gap": {0: 0.1}}, ValueError, "min_group_size = 5 together with"),
    ({"missing": "drop"}, ValueError, "missing must be one of 'error', 'ignore'"),
]


@pytest.mark.parametrize(("params", "error", "match"), PARAMETERS, ids=lambda p: str(p)[:50])
def test_bad_parameters(params, error, match):
    with pytest.raises(error, match=match):
        FairBayesianClustering(**QUICK | params).fit(X, sensitive_features=GROUPS)


DATA = [
    (with_cell(np.nan), ValueError, "NaN.*column 1, row 4.*drop missing"),
    (with_cell(np.inf), ValueError, "inf.*column 1, row 4"),
    (np.empty((0, 2)), ValueError, r"0 sample\(s\)"),
    (X[:1], ValueError, "1 sample"),
    (X[:, 0], ValueError, "Expected 2D array"),
    (X[:, :0], ValueError, r"0 feature\(s\)"),
    (np.ones((30, 2)), ValueError, "every column is constant"),
    ([[1, 2], [3]], ValueError, "differ in length"),
    (X.astype(str), ValueError, "column 0 holds text.*categorical"),
    (pd.DataFrame({"x": X[:, 0], "s": ["u"] * 30}), ValueError, "column 's'.*categorical"),
    (pd.DataFrame({"x": [1, "a"] * 15}), ValueError, "column 'x'.*categorical"),
    (pd.DataFrame({"x": [1.0, None] * 15}), ValueError, "NaN.*column 'x', row 1"),
    (
        pd.DataFrame({"d": pd.date_range("2020", periods=30)}),
        ValueError,
        "column 'd' holds dates or times such as 2020",
    ),
    (X * 1e200, None, None),
]


@pytest.mark.parametrize(("data", "error", "match"), DATA)
def test_bad_data(data, error, match):
    model = FairBayesianClustering(**QUICK)
    groups = GROUPS[: len(data)] if len(data) > 1 else ["a"] * len(data)
    if error is None:
        model.fit(data, sensitive_features=groups)
        return
    with pytest.raises(error, match=match):
        model.fit(data, sensitive_features=groups)


def test_large_values_without_standardisation_are_a_warning():
    with pytest.warns(UserWarning, match="largest value is .*standardize=True"):
        FairBayesianClustering(**QUICK, standardize=False).fit(X * 1e8, sensitive_features=GROUPS)


def test_values_whose_squares_overflow():
    with pytest.raises(ValueError, match="standardize=True"):
        FairBayesianClustering(**QUICK, standardize=False).fit(X * 1e200, sensitive_features=GROUPS)


SENSITIVE = [
    (GROUPS[:29], ValueError, "29 rows but X has 30"),
    ("sex", ValueError, "'sex' is not a column of X"),
    ([["a", "b"]], ValueError, "1 rows but X has 30"),
    (np.where(np.arange(30) == 7, None, GROUPS.astype(object)), ValueError, "missing.*rows 7"),
    (np.where(np.arange(30) < 15, np.nan, 1.0), ValueError, r"rows 0, 1.*\(5 more\)"),
    ([1, "a"] * 15, TypeError, "neither only numbers nor only strings"),
    (np.repeat(["a", "b"], [1, 29]), ValueError, "single row.*'a': 1, 'b': 29.*'mean'"),
    (np.arange(30), ValueError, "single row.*and 10 more groups"),
    (np.zeros((30, 2, 2)), ValueError, "dimensions"),
    (0, ValueError, "one value for each row of X, got 0"),
]


@pytest.mark.parametrize(("sensitive", "error", "match"), SENSITIVE)
def test_bad_sensitive_features(sensitive, error, match):
    with pytest.raises(error, match=match):
        FairBayesianClustering(**QUICK).fit(X, sensitive_features=sensitive)


def test_sensitive_columns_must_leave_a_feature():
    frame = pd.DataFrame({"s": GROUPS})
    with pytest.raises(ValueError, match="every column"):
        FairBayesianClustering(**QUICK).fit(frame, sensitive_features="s")


@pytest.mark.parametrize("names", ["sex", ["s", "sex"], ("sex", "s")])
def test_missing_names_are_listed(names):
    frame = pd.DataFrame({"x": X[:, 0], "s": GROUPS})
    with pytest.raises(ValueError, match=r"'sex'.* not a column of X.*\['x', 's'\]"):
        FairBayesianClustering(**QUICK).fit(frame, sensitive_features=names)


def test_an_index_in_another_order_is_refused():
    frame, groups = pd.DataFrame(X), pd.Series(GROUPS)
    with pytest.raises(ValueError, match=r"another order.*loc\[X.index\]"):
        FairBayesianClustering(**QUICK).fit(frame, sensitive_features=groups[::-1])
    FairBayesianClustering(**QUICK).fit(frame, sensitive_features=groups.set_axis(range(5, 35)))


@pytest.mark.parametrize(
    ("family", "values", "error", "match"),
    [
        ("bernoulli", [0, 1, 2] * 10, ValueError, "3 different values.*categorical"),
        ("categorical", [1, "a"] * 15, TypeError, "neither only numbers nor only strings"),
        ("categorical", ["a", None] * 15, ValueError, "missing.*rows 1, 3"),
        ("categorical", np.arange(10_000), ValueError, "10,000 categories.*identifier"),
    ],
)
def test_bad_categories(family, values, error, match):
    groups = np.arange(len(values)) % 2
    table = np.array(values, dtype=object)[:, None]
    with pytest.raises(error, match=match):
        FairBayesianClustering(family, **QUICK).fit(table, sensitive_features=groups)


@pytest.mark.parametrize("fit", ["fit", "fit_predict"])
def test_groups_that_are_passed_as_y(fit):
    model = FairBayesianClustering(**QUICK)
    with pytest.raises(TypeError, match="sensitive_features="):
        getattr(model, fit)(X, GROUPS)
    with (
        pytest.warns(UserWarning, match="one group only"),
        pytest.warns(UserWarning, match="y was passed.*sensitive_features="),
    ):
        getattr(model, fit)(X, np.arange(30) % 2)
    getattr(model, fit)(X, GROUPS, sensitive_features=GROUPS)
    with pytest.raises(TypeError, match="sensitive_features="):
        getattr(FairKMeans(2), fit)(X, GROUPS)
    MixtureOfFiniteMixtures(**QUICK).fit(X, GROUPS)  # where there is nothing to be made fair


def test_all_columns_that_cannot_be_used_are_in_one_message():
    frame = pd.DataFrame(X, columns=["u", "v"]).assign(s="a", t=pd.Timestamp("2020"), z=np.inf)
    with pytest.raises(ValueError, match=r"X has 3 columns that cannot be used:(\n- .*){3}$"):
        FairBayesianClustering(**QUICK).fit(frame, sensitive_features=GROUPS)


def test_no_sensitive_features_is_a_warning():
    with pytest.warns(UserWarning, match="nothing was made fair"):
        FairBayesianClustering(**QUICK).fit(X)
    with pytest.warns(UserWarning, match="one group only"):
        FairBayesianClustering(**QUICK).fit(X, sensitive_features=["a"] * 30)


def test_nothing_to_mask_with_one_group():
    with (
        pytest.raises(ValueError, match=r"n_masked = 2.*nothing to mask"),
        pytest.warns(UserWarning, match="one group only"),
    ):
        FairBayesianClustering(**QUICK, n_masked=2).fit(X)


def test_a_small_group_is_a_warning():
    groups = np.repeat(["rare", "b"], [5, 25])
    with pytest.warns(UserWarning, match="'rare', has 5 rows.*'b': 25.*no more clusters"):
        FairBayesianClustering(**QUICK).fit(X, sensitive_features=groups)


def test_many_numbers_as_groups_are_a_warning():
    table, ages = RNG.normal(size=(252, 2)), np.tile(np.arange(18, 39), 12)
    with pytest.warns(UserWarning, match=r"21 different numbers.*such as an age.*pandas\.cut"):
        FairBayesianClustering(**QUICK).fit(table, sensitive_features=ages)
    towns = [f"town {age}" for age in ages]
    FairBayesianClustering(**QUICK).fit(table, sensitive_features=towns)


def test_a_constant_column_is_dropped():
    frame = pd.DataFrame({"x": X[:, 0], "one": 1.0, "y": X[:, 1]})
    with pytest.warns(UserWarning, match="column 'one' is constant"):
        model = FairBayesianClustering(**QUICK).fit(frame, sensitive_features=GROUPS)
    assert model.n_features_in_ == 3
    plain = FairBayesianClustering(**QUICK).fit(X, sensitive_features=GROUPS)
    assert np.array_equal(model.posterior_.labels, plain.posterior_.labels)


def test_a_copy_of_the_sensitive_column_is_a_warning():
    frame = pd.DataFrame({"x": X[:, 0], "code": (GROUPS == "a").astype(int)})
    with pytest.warns(UserWarning, match="column 'code' repeats sensitive_features"):
        FairBayesianClustering(**QUICK).fit(frame, sensitive_features=GROUPS)


def test_an_identifier_among_categories_is_a_warning():
    frame = pd.DataFrame({"id": [f"id{k}" for k in range(30)], "c": ["u", "v"] * 15})
    with pytest.warns(UserWarning, match="column 'id' has 30 categories.*identifier"):
        FairBayesianClustering("categorical", **QUICK).fit(frame, sensitive_features=GROUPS)


cells = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True, width=64),
    st.integers(-5, 5),
    st.booleans(),
    st.none(),
    st.sampled_from(["", "a", "b", "1.5"]),
)


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=150, deadline=None)
@given(
    family=st.sampled_from(["gaussian", "bernoulli", "categorical"]),
    rows=st.lists(st.tuples(cells, cells), min_size=0, max_size=9),
    sensitive=st.lists(cells, min_size=0, max_size=9),
    n_masked=st.integers(-1, 4),
    use_frame=st.booleans(),
)
def test_anything_fits_or_gives_a_clear_error(family, rows, sensitive, n_masked, use_frame):
    data = pd.DataFrame(rows, columns=["u", "v"]) if use_frame else [list(row) for row in rows]
    model = FairBayesianClustering(family, n_masked=n_masked, **QUICK)
    try:
        model.fit(data, sensitive_features=sensitive[: len(rows)])
    except (ValueError, TypeError):
        return
    assert np.isfinite(model.posterior_.log_posterior).all()


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.integers(2, 9), min_size=1, max_size=4),
    scale=st.sampled_from([1e-300, 1e-8, 1.0, 1e8, 1e300]),
    family=st.sampled_from(["gaussian", "bernoulli", "categorical"]),
    step=st.sampled_from(["separate", "joint"]),
    temperature=st.sampled_from([1e-12, 0.1, 1.0, float("inf")]),
    concentration=st.sampled_from([1e-6, 1.0, 1e6]),
    ties=st.booleans(),
)
def test_extreme_settings_never_crash(
    seed, sizes, scale, family, step, temperature, concentration, ties
):
    rng = np.random.default_rng(seed)
    n_rows = sum(sizes)
    data = rng.integers(2, size=(n_rows, 2)) if ties else rng.normal(size=(n_rows, 2))
    if family == "bernoulli":
        data = data > 0
    elif family == "gaussian":
        data = data * scale
    model = FairBayesianClustering(
        family,
        matching_step=step,
        temperature=temperature,
        concentration=concentration,
        n_masked=int(rng.integers(3)) if len(sizes) > 1 else 0,
        **QUICK,
    )
    try:
        model.fit(data, sensitive_features=np.repeat(np.arange(len(sizes)), sizes))
    except ValueError as error:
        if "constant" not in str(error):
            raise
        return
    assert np.isfinite(model.posterior_.log_likelihood).all()
