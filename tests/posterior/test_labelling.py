"""Labels of new rows: fair by each method, as the model has them, and clear about what is wrong."""

import itertools
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import softmax

from fairmix.families import Categorical, Gaussian, Product
from fairmix.metrics import fairness_gap, group_counts
from fairmix.model.places import share_out
from fairmix.posterior.labelling import ROWS_PER_CLUSTER, Predictor
from fairmix.posterior.prediction import Prediction
from tests.posterior.made import make_predictor

CENTRES = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 5.0]])


def make_rows(n_rows, seed):
    """Give rows of three clumps whose groups lean to different ones, their clumps and groups."""
    rng = np.random.default_rng(seed)
    groups = np.where(rng.random(n_rows) < 0.3, "few", "many")
    leaning = np.where(groups == "few", 0.7, 0.2)
    clumps = np.where(rng.random(n_rows) < leaning, 0, rng.integers(1, 3, n_rows))
    return CENTRES[clumps] + 1.5 * rng.normal(size=(n_rows, 2)), clumps, groups


@pytest.fixture(scope="module")
def predictor():
    X, clumps, groups = make_rows(600, 0)
    return make_predictor(X, clumps, sensitive=groups)


def log_predictive(predictor, X):
    rows = predictor.prediction.schema.read(X).rows
    return predictor.prediction.log_predictive(rows)[:, :-1]


def test_a_batch_is_the_best_fair_one_of_all():
    X, clumps, groups = make_rows(40, 1)
    predictor = make_predictor(X, clumps, sensitive=groups)
    new, _, _ = make_rows(8, 2)
    sensitive = np.array(["few", "few", "few", "many", "many", "many", "many", "many"])
    found = predictor.labels_of(new, sensitive, "batch")
    gains = log_predictive(predictor, new)
    for group in ("few", "many"):
        own = np.flatnonzero(sensitive == group)
        places = share_out(np.bincount(clumps) / 40, len(own))
        assert np.bincount(found[own], minlength=3).tolist() == places.tolist()
        best = max(
            gains[own, labels].sum()
            for labels in map(list, itertools.product(range(3), repeat=len(own)))
            if np.bincount(labels, minlength=3).tolist() == places.tolist()
        )
        assert gains[own, found[own]].sum() == pytest.approx(best)


def test_a_batch_has_the_shares_that_were_learned(predictor):
    X, _, groups = make_rows(2000, 3)
    labels = predictor.labels_of(X, groups, "batch")
    assert fairness_gap(labels, groups) < 0.003
    counts = group_counts(labels, groups)
    for group in ("few", "many"):
        wanted = predictor.prediction.shares * counts[group].sum()
        assert np.abs(counts[group].to_numpy() - wanted).max() < 1


def test_prices_are_fair_on_average_where_the_model_is_not():
    X, clumps, groups = make_rows(6000, 0)
    predictor = make_predictor(X, clumps, sensitive=groups)
    X, _, groups = make_rows(20_000, 4)
    by_prices = predictor.labels_of(X, groups, "prices")
    with pytest.warns(UserWarning, match="nothing is made fair"):
        nearest = predictor.labels_of(X, None, "auto")
    # Shares among 1,800 rows of a group are off by some hundredths.
    assert fairness_gap(by_prices, groups) < 0.05
    assert fairness_gap(nearest, groups) > 0.4


def test_prices_look_at_one_row_at_a_time(predictor):
    X, _, groups = make_rows(50, 5)
    together = predictor.labels_of(X, groups, "prices")
    alone = [predictor.labels_of(X[[k]], groups[[k]], "prices")[0] for k in range(50)]
    assert together.tolist() == alone
    gains = log_predictive(predictor, X)
    group_names = predictor.prediction.schema.group_names
    prices = predictor.prediction.prices[[group_names.index(group) for group in groups]]
    assert together.tolist() == (gains - prices).argmax(axis=1).tolist()


def test_without_groups_the_most_probable_cluster_is_taken(predictor):
    X, _, _ = make_rows(50, 6)
    joint = log_predictive(predictor, X) + predictor.prediction.log_weights[:-1]
    with pytest.warns(UserWarning, match="pass the sensitive attribute"):
        labels = predictor.labels_of(X, None, "auto")
    assert labels.tolist() == joint.argmax(axis=1).tolist()
    with pytest.warns(UserWarning, match="pass the sensitive attribute"):
        probabilities = predictor.probabilities_of(X, None, "auto")
    assert probabilities == pytest.approx(softmax(joint, axis=1))


@pytest.mark.parametrize("method", ["prices", "batch"])
def test_probabilities_have_the_prices_in_them(predictor, method):
    X, _, groups = make_rows(400, 7)
    probabilities = predictor.probabilities_of(X, groups, method)
    labels = predictor.labels_of(X, groups, method)
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(400))
    chosen = probabilities[np.arange(400), labels]
    assert chosen == pytest.approx(probabilities.max(axis=1))
    # Within a group, odds are those of the densities but for a factor.
    log_odds = np.log(probabilities[:, 0] / probabilities[:, 1])
    gains = log_predictive(predictor, X)
    for group in ("few", "many"):
        own = groups == group
        offsets = log_odds[own] - (gains[own, 0] - gains[own, 1])
        assert np.ptp(offsets) < 1e-6


def test_auto_is_a_batch_of_enough_rows(predictor):
    n_enough = ROWS_PER_CLUSTER * 3
    X, _, _ = make_rows(2 * n_enough, 8)
    groups = np.repeat(["few", "many"], n_enough)

    def labels(rows, method):
        return predictor.labels_of(X[rows], groups[rows], method).tolist()

    every, fewer = slice(None), slice(1, None)
    assert labels(every, "auto") == labels(every, "batch") != labels(every, "prices")
    assert labels(fewer, "auto") == labels(fewer, "prices") != labels(fewer, "batch")
    one_group = slice(0, n_enough)
    assert labels(one_group, "auto") == labels(one_group, "batch")


@pytest.mark.parametrize("method", ["auto", "batch", "prices", "match"])
def test_the_table_that_was_fitted_keeps_its_labels(method):
    X, clumps, groups = make_rows(120, 9)
    labels = np.random.default_rng(0).permutation(clumps)
    predictor = make_predictor(X, labels, sensitive=groups)
    assert predictor.labels_of(X, groups, method).tolist() == labels.tolist()
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    assert predictor.labels_of(frame, groups.tolist(), method).tolist() == labels.tolist()
    changed = X.copy()
    changed[0] += 1e-9
    assert predictor.labels_of(changed, groups, method).tolist() != labels.tolist()


class TestMatch:
    def test_new_anchors_go_with_fitted_ones_and_others_with_them(self, predictor):
        X, _, groups = make_rows(300, 10)
        labels = predictor.labels_of(X, groups, "match")
        n_few, n_many = (groups == "few").sum(), (groups == "many").sum()
        counts = np.array([np.bincount(labels[groups == g], minlength=3) for g in ("few", "many")])
        least = n_many // n_few
        assert (counts[1] >= least * counts[0]).all()
        assert (counts[1] <= (least + 1) * counts[0]).all()

    def test_it_is_the_papers_with_equal_groups(self):
        """Rows on a line, so that least total distance means: in order."""
        rng = np.random.default_rng(11)
        old = np.sort(rng.normal(size=(8, 1)), axis=0)
        groups = np.array(["a", "b"] * 4)
        predictor = make_predictor(old, [0, 0, 0, 0, 1, 1, 2, 2], sensitive=groups)
        new = rng.permutation(rng.normal(size=(8, 1)))
        new_groups = np.array(["a"] * 4 + ["b"] * 4)
        labels = predictor.labels_of(new, new_groups, "match")
        of_old = predictor.labels[groups == "a"]
        for group in ("a", "b"):
            own = np.flatnonzero(new_groups == group)
            in_order = own[np.argsort(new[own, 0])]
            assert labels[in_order].tolist() == of_old.tolist()

    def test_the_smallest_group_is_that_of_the_fit(self):
        """Whatever its name, and however many of its rows are new."""
        X, clumps, groups = make_rows(60, 22)
        groups = np.where(groups == "few", "z", groups)
        predictor = make_predictor(X, clumps, sensitive=groups)
        new, clumps, _ = make_rows(30, 23)
        new_groups = np.where(np.argsort(np.argsort(clumps)) < 15, "z", "many")
        labels = predictor.labels_of(new, new_groups, "match")
        assert fairness_gap(labels, new_groups) == 0.0
        with pytest.raises(ValueError, match="group 'z', of which X has none"):
            predictor.labels_of(new, ["many"] * 30, "match")

    @pytest.mark.parametrize("n_many", [1, 3, 200])
    def test_any_numbers_of_rows(self, predictor, n_many):
        X, _, _ = make_rows(5 + n_many, 12)
        groups = np.repeat(["few", "many"], [5, n_many])
        labels = predictor.labels_of(X, groups, "match")
        assert set(labels[5:]) <= set(labels[:5])

    def test_more_new_rows_than_fitted_ones(self):
        X, clumps, groups = make_rows(30, 13)
        predictor = make_predictor(X, clumps, sensitive=groups)
        new, _, new_groups = make_rows(2500, 14)
        assert (predictor.labels_of(new, new_groups, "match") >= 0).all()

    def test_categories_are_matched_too(self):
        words = np.array([["x", "u"], ["y", "v"]] * 10, dtype=object)
        groups = ["a", "a", "b", "b"] * 5
        predictor = make_predictor(words, [0, 1] * 10, Categorical(), groups)
        labels = predictor.labels_of(words[:8], groups[:8], "match")
        assert labels.tolist() == [0, 1] * 4

    def test_rows_to_match_to_must_be_there(self, predictor):
        X, _, _ = make_rows(4, 15)
        with pytest.raises(ValueError, match="group 'few', of which X has none"):
            predictor.labels_of(X, ["many"] * 4, "match")
        kept = Predictor.of(
            Prediction.from_plain(predictor.prediction.to_plain()),
            predictor.labels,
            makes_fair=True,
            owner="Model",
        )
        with pytest.raises(ValueError, match="which this model was kept without"):
            kept.labels_of(X, ["few"] * 4, "match")
        groups = ["few", "many"] * 2
        assert (kept.labels_of(X, groups, "prices") == predictor.labels_of(X, groups, "auto")).all()


class TestNothingFair:
    def test_the_model_decides_alone_and_says_nothing(self):
        X, clumps, groups = make_rows(60, 16)
        predictor = make_predictor(X, clumps, sensitive=groups, makes_fair=False)
        new, _, new_groups = make_rows(20, 17)
        labels = predictor.labels_of(new, None, "auto")
        assert labels.tolist() == predictor.labels_of(new, new_groups, "auto").tolist()
        assert predictor.probabilities_of(new, None, "auto").argmax(axis=1).tolist() == (
            labels.tolist()
        )
        for method in ("batch", "prices", "match"):
            with pytest.raises(ValueError, match=f"{method}.*enforces no fairness"):
                predictor.labels_of(new, new_groups, method)

    def test_a_fit_of_one_group_has_nothing_to_be_fair_about(self):
        X, clumps, _ = make_rows(60, 18)
        predictor = make_predictor(X, clumps)
        new, _, _ = make_rows(20, 19)
        joint = log_predictive(predictor, new) + predictor.prediction.log_weights[:-1]
        assert predictor.labels_of(new, None, "auto").tolist() == joint.argmax(axis=1).tolist()
        batch = predictor.labels_of(new, None, "batch")
        places = share_out(predictor.prediction.shares, 20)
        assert np.bincount(batch, minlength=3).tolist() == places.tolist()


class TestTables:
    """Whatever kind of table it is, and whatever is wrong with it."""

    @pytest.fixture(scope="class")
    @staticmethod
    def named():
        X, clumps, groups = make_rows(80, 20)
        frame = pd.DataFrame(X, columns=["x", "y"])
        return make_predictor(frame, clumps, sensitive=groups)

    def test_all_kinds_of_tables_give_the_same(self, named):
        X, _, groups = make_rows(10, 21)
        frame = pd.DataFrame(X, columns=["x", "y"])
        expected = named.labels_of(frame, groups, "prices").tolist()
        with_group = frame.assign(sex=groups, other="text")[["other", "y", "sex", "x"]]
        for table, sensitive in [
            (pl.DataFrame(frame.to_dict("list")), pl.Series(groups.tolist())),
            (X, groups),
            (X.tolist(), groups.tolist()),
            (frame[["y", "x"]], pd.Series(groups)),
            (with_group, "sex"),
            (with_group, ["sex"]),
            (pl.DataFrame(with_group.to_dict("list")), "sex"),
            (frame.set_axis(range(5, 15)), pd.Categorical(groups)),
        ]:
            assert named.labels_of(table, sensitive, "prices").tolist() == expected

    @pytest.mark.parametrize("method", ["auto", "batch", "prices", "match"])
    def test_a_single_row(self, named, method):
        labels = named.labels_of([[0.0, 0.0]], ["few"], method)
        assert labels.shape == (1,)
        assert labels.dtype == np.int64

    @pytest.mark.parametrize(
        ("X", "sensitive", "method", "message"),
        [
            ([[0.0, 1.0]], ["none"], "auto", r"holds 'none'.*its groups are \['few', 'many'\]"),
            ([[0.0, 1.0]], ["few", "many"], "auto", "2 rows but X has 1"),
            ([[0.0, 1.0]], [None], "auto", "missing"),
            ([[0.0, 1.0]], "sex", "auto", "'sex' is not a column"),
            ([[0.0]], ["few"], "auto", "X has 1 features, but FairBayesianClustering is expecting"),
            ([0.0, 1.0], ["few"], "auto", "Expected 2D array"),
            ([], [], "auto", "Expected 2D array"),
            (np.empty((0, 2)), [], "auto", "0 sample"),
            ([[np.nan, 1.0]], ["few"], "auto", r"missing cells \(NaN\) in rows 0"),
            ([[np.inf, 1.0]], ["few"], "auto", "inf"),
            ([["text", 1.0]], ["few"], "auto", "holds text"),
            ([[0.0, 1.0]], ["few"], "nearest", "method must be one of 'auto', 'batch', 'prices'"),
            ([[0.0, 1.0]], ["few"], None, "method must be one of"),
            ([[0.0, 1.0]], None, "batch", "needs the group of each row"),
            (pd.DataFrame({"x": [1.0], "z": [1.0]}), ["few"], "auto", "'y' is missing"),
        ],
    )
    def test_what_is_wrong_is_said(self, named, X, sensitive, method, message):
        with pytest.raises(ValueError, match=message):
            named.labels_of(X, sensitive, method)

    def test_matching_gives_no_probabilities(self, named):
        with pytest.raises(ValueError, match="no probabilities"):
            named.probabilities_of([[0.0, 1.0]], ["few"], "match")

    def test_enormous_values_have_a_place(self, named):
        X = [[1e150, -1e150], [1e9, 0.0], [0.0, 0.0]] * 20
        for method in ("batch", "prices"):
            labels = named.labels_of(X, ["few", "many", "few"] * 20, method)
            assert set(labels) <= {0, 1, 2}

    def test_rows_that_are_all_equal_are_shared_out_too(self, named):
        labels = named.labels_of([[0.0, 0.0]] * 1000, ["few", "many"] * 500, "batch")
        assert fairness_gap(labels, ["few", "many"] * 500) == 0.0


class TestCategories:
    WORDS = pd.DataFrame(
        {
            "job": ["cook", "pilot", "smith"] * 8,
            "income": np.arange(24.0),
            "own": [True, False] * 12,
        }
    )
    FAMILY = Product((Categorical(), Gaussian(), Categorical()))
    NEW = pd.DataFrame({"job": ["cook", "baker"], "income": [3.0, np.nan], "own": [True, False]})

    def make(self, **options):
        groups = ["a", "a", "b", "b"] * 6
        return make_predictor(self.WORDS, np.arange(24) % 2, self.FAMILY, groups, **options)

    @pytest.fixture(autouse=True)
    def _without_compiler(self, monkeypatch):
        monkeypatch.setattr("fairmix.sampler.compilation.is_compiled", lambda: False)

    def test_what_the_fit_did_not_know_is_an_error(self):
        with pytest.raises(ValueError, match=r"'income' has missing cells"):
            self.make().labels_of(self.NEW, ["a", "b"], "auto")
        new = self.NEW.fillna(0.0)
        with pytest.raises(
            ValueError, match=r"'job' holds 'baker' \(in rows 1\).*missing='ignore'"
        ):
            self.make().labels_of(new, ["a", "b"], "auto")

    def test_or_it_is_left_out_where_cells_may_be_missing(self):
        predictor = self.make(allow_missing=True)
        with pytest.warns(UserWarning, match="'job' holds 'baker'.*left out"):
            found = predictor.probabilities_of(self.NEW, ["a", "b"], "prices")
        holes = self.NEW.assign(job=["cook", None])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.array_equal(predictor.probabilities_of(holes, ["a", "b"], "prices"), found)
        with pytest.warns(UserWarning, match="left out"):
            table, _ = predictor._read(self.NEW, ["a", "b"], "match")
        assert np.array_equal(np.isnan(table.points), np.isnan(table.rows))
        assert np.isnan(table.points[1, 0])

    def test_a_row_without_any_value_is_an_error(self):
        empty = pd.DataFrame({"job": ["baker"], "income": [np.nan], "own": [None]})
        with (
            pytest.warns(UserWarning, match="left out"),
            pytest.raises(ValueError, match="no value at all"),
        ):
            self.make(allow_missing=True).labels_of(empty, ["a"], "auto")
