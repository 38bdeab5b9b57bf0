"""Methods side by side."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairmix import FairBayesianClustering, compare
from fairmix.baselines import FairAssignment, FairKMeans
from fairmix.comparison.measure import make_run
from fairmix.comparison.methods import METHODS
from fairmix.datasets import load_toy
from fairmix.metrics import balance, cost, fairness_gap

COLUMNS = ["method", "setting", "seed", "n_clusters", "cost", "gap", "balance"]


@pytest.fixture(scope="module")
def toy():
    return load_toy(n_rows=120)


@pytest.fixture(scope="module")
def found(toy):
    methods = {
        "moving": FairKMeans(3, n_init=1),
        "fixed": [FairAssignment(3, slack=slack, n_init=1) for slack in (0.0, 0.3)],
        "impossible": FairKMeans(1000),
        "scikit-learn": [KMeans(3, n_init=1), DBSCAN(0.5)],
        "numbers": [FairAssignment(k, n_init=1) for k in (2, 3)],
        "pipeline": make_pipeline(StandardScaler(), FairKMeans(3)),
    }
    return compare(toy.data, toy.sensitive_features, n_clusters=3, methods=methods, n_seeds=3)


def test_runs_are_measured(toy, found):
    assert list(found.runs.columns[:7]) == COLUMNS
    assert len(found.runs) == 27
    row = found.runs.iloc[0]
    labels = FairKMeans(3, n_init=1, random_state=0).fit_predict(
        toy.data, sensitive_features=toy.sensitive_features
    )
    scaled = (toy.data - toy.data.mean()) / toy.data.std(ddof=0)
    assert row["cost"] == pytest.approx(cost(scaled, labels))
    assert row["gap"] == fairness_gap(labels, toy.sensitive_features)
    assert row["balance"] == balance(labels, toy.sensitive_features)
    assert row["seconds"] > 0
    assert -1 <= row["silhouette"] <= 1


def test_settings_are_told_apart(found):
    fixed = found.runs[found.runs["method"] == "fixed"]
    assert fixed["setting"].unique().tolist() == ["n_init=1, slack=0.0", "n_init=1, slack=0.3"]
    numbers = found.summary().loc["numbers"]
    assert numbers.index.tolist() == ["n_clusters=2, n_init=1", "n_clusters=3, n_init=1"]
    assert numbers["n_clusters"].tolist() == [2, 3]


def test_a_failure_is_a_row(found):
    failed = found.runs[found.runs["method"] == "impossible"]
    assert failed["error"].str.contains("n_clusters = 1000, but X has 120 different rows").all()
    assert failed["cost"].isna().all()
    assert found.summary().loc["impossible", "failures"].tolist() == [3]
    assert found.summary().loc["moving", "failures"].tolist() == [0]


def test_other_clusterers(found):
    runs = found.runs.set_index("method")
    assert (runs.loc["scikit-learn", "error"] == "").all()
    assert runs.loc["scikit-learn", "gap"].notna().all()
    # A pipeline hands sensitive_features on only if scikit-learn's routing is switched on.
    assert runs.loc["pipeline", "error"].str.contains("sensitive_features").all()


def test_processes_give_the_same(toy, found):
    methods = {"moving": FairKMeans(3, n_init=1)}
    there = compare(
        toy.data, toy.sensitive_features, n_clusters=3, methods=methods, n_seeds=3, n_jobs=2
    ).runs
    here = found.runs[found.runs["method"] == "moving"].reset_index(drop=True)
    pd.testing.assert_frame_equal(there[COLUMNS], here[COLUMNS])


def test_picture(found):
    axes = found.plot()
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend[:3] == ["moving (3 clusters)", "fixed (3 clusters)", "impossible (failed)"]
    assert "numbers (2 to 3 clusters)" in legend
    assert "gap" in axes.get_xlabel()
    assert "Cost" in axes.get_ylabel()


def test_gaps_of_several_attributes(toy):
    both = pd.DataFrame({"side": toy.sensitive_features, "other": np.arange(120) % 2})
    runs = compare(toy.data, both, n_clusters=2, methods=["Fair assignment"], n_seeds=1).runs
    assert {"gap of side", "gap of other"} <= set(runs.columns)


def test_unknown_methods(toy):
    with pytest.raises(ValueError, match="methods: 'DBSCAN' is not one of 'FBC'"):
        compare(toy.data, toy.sensitive_features, n_clusters=2, methods=["DBSCAN"])
    with pytest.raises(ValueError, match="n_seeds must be"):
        compare(toy.data, toy.sensitive_features, n_clusters=2, n_seeds=0)
    for wrong, words in [
        (5, "a list of names"),
        ({"mine": object()}, r"methods\['mine'\] must be"),
    ]:
        with pytest.raises(TypeError, match=words):
            compare(toy.data, toy.sensitive_features, n_clusters=2, methods=wrong)
    for wrong in (
        {"n_seeds": 10**30}, {"n_jobs": "x"}, {"n_jobs": 0}, {"verbose": "x"}, {"n_draws": 0},
        {"n_warmup": -1}, {"random_state": None}, {"random_state": 2**32}, {"time_limit": 0},
        {"time_limit": "1 min"},
    ):  # fmt: skip
        with pytest.raises((ValueError, TypeError), match=next(iter(wrong))):
            compare(toy.data, toy.sensitive_features, n_clusters=2, methods="k-means", **wrong)
    for nothing in ({}, {"none": []}):
        with pytest.raises(ValueError, match="has nothing to run"):
            compare(toy.data, toy.sensitive_features, n_clusters=2, methods=nothing)
    with pytest.raises(ValueError, match="sensitive_features is None"):
        compare(toy.data, None, n_clusters=2)


@pytest.fixture
def made(monkeypatch):
    """Note which runs are made."""
    made = []

    def make_and_note(data, run):
        made.append((run.method, run.setting, run.seed))
        return make_run(data, run)

    monkeypatch.setattr("fairmix.comparison.schedule.make_run", make_and_note)
    return made


FEW = {"n_warmup": 4, "n_draws": 4}


def test_the_fit_that_finds_the_number_is_a_run(toy, made):
    methods = ["k-means", "FBC", "Plain mixture"]
    runs = compare(toy.data, toy.sensitive_features, methods=methods, random_state=5, **FEW).runs
    assert runs["method"].tolist() == ["k-means", *["FBC"] * 4, "Plain mixture"]
    assert (runs["seed"] == 5).all()
    assert len(made) == len(set(made)) == 6
    # What needs no number is run while it is not known.
    assert [method for method, _, _ in made[:3]] == ["FBC", "Plain mixture", "k-means"]
    found = runs["n_clusters"].tolist()
    assert found[0] == found[1]
    alone = FairBayesianClustering(n_chains=2, random_state=5, verbose=0, **FEW)
    assert alone.fit(toy.data, sensitive_features=toy.sensitive_features).n_clusters_ == found[1]


def test_the_number_is_found_even_if_that_is_no_run_to_show(toy, made):
    runs = compare(toy.data, toy.sensitive_features, methods=["k-means"], **FEW).runs
    assert runs["method"].tolist() == ["k-means"]
    assert [method for method, _, _ in made] == ["FBC", "k-means"]


def test_no_number_is_looked_for_without_need(toy, made):
    compare(toy.data, toy.sensitive_features, methods={"mine": KMeans(3)})
    compare(toy.data, toy.sensitive_features, methods=["Plain mixture"], **FEW)
    assert [method for method, _, _ in made] == ["mine", "Plain mixture"]


def test_runs_that_there_is_no_time_for_are_rows(toy, made, monkeypatch):
    monkeypatch.setattr("fairmix.comparison.side_by_side.time_sampling", lambda *_: 1e6)
    methods = ["FBC", "SFC", "k-means"]
    with pytest.warns(UserWarning, match=r"time_limit = 1000 s left no room for 8 of 8 runs") as w:
        found = compare(toy.data, toy.sensitive_features, methods=methods, time_limit=1000)
    assert w[0].filename == __file__
    assert "FBC 4, SFC 3, k-means 1" in str(w[0].message)
    assert made == []
    assert found.runs["left_out"].all()
    assert (found.runs["error"] == "").all()
    assert found.summary()["left_out"].sum() == 8
    assert found.summary()["runs"].sum() == found.summary()["failures"].sum() == 0
    with pytest.warns(UserWarning, match=r"4 of 5 runs \(FBC 4\)"):
        found = compare(
            toy.data, toy.sensitive_features, methods=["FBC", "k-means"], n_clusters=3,
            time_limit=1000,
        )  # fmt: skip
    assert made == [("k-means", "fairness_weight=0", 0)]
    legend = [text.get_text() for text in found.plot().get_legend().get_texts()]
    assert legend == ["FBC (left out)", "k-means (3 clusters)"]


def test_what_takes_numbers_only_is_run_on_numbers_only(toy, made):
    compare(toy.data, toy.sensitive_features, n_clusters=2, **FEW)
    assert "FBC, K given" in {method for method, _, _ in made}
    made.clear()
    table = toy.data.assign(colour=["red", "blue"] * 60)
    compare(table, toy.sensitive_features, n_clusters=2, **FEW)
    assert {method for method, _, _ in made} == set(METHODS) - {"FBC, K given"}


def test_if_the_number_cannot_be_found_it_is_an_error(toy):
    with pytest.raises(ValueError, match=r"could not find the number.*pass n_clusters"):
        compare(toy.data, toy.sensitive_features, family="unknown", methods="k-means", **FEW)
