"""Methods side by side."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairmix import compare
from fairmix.baselines import FairAssignment, FairKMeans
from fairmix.comparison import default_methods
from fairmix.datasets import load_toy
from fairmix.inputs import read_groups
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
    figure = found.plot()
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend[:3] == ["moving (3 clusters)", "fixed (3 clusters)", "impossible (failed)"]
    assert "numbers (2 to 3 clusters)" in legend
    axes = figure.axes[0]
    assert "gap" in axes.get_xlabel()
    assert "Cost" in axes.get_ylabel()


def test_gaps_of_several_attributes(toy):
    both = pd.DataFrame({"side": toy.sensitive_features, "other": np.arange(120) % 2})
    runs = compare(toy.data, both, n_clusters=2, methods=["Fair assignment"], n_seeds=1).runs
    assert {"gap of side", "gap of other"} <= set(runs.columns)


def test_progress(toy, capsys):
    compare(toy.data, toy.sensitive_features, n_clusters=3, methods="k-means", n_seeds=1, verbose=1)
    assert "1 of 1 runs" in capsys.readouterr().err


def test_default_methods():
    groups = read_groups(["a"] * 60 + ["b"] * 90, 150)
    methods = default_methods(4, groups, "gaussian")
    assert next(iter(methods)) == "FBC"
    assert methods["FBC"][0].n_masked == 0
    assert methods["FBC"][-1].n_masked == {"b": 18}
    assert [(model.p, model.q) for model in methods["SFC"]] == [(2, 3), (10, 20), (6, 20)]


def test_unknown_methods(toy):
    with pytest.raises(ValueError, match="methods: 'DBSCAN' is not one of 'FBC'"):
        compare(toy.data, toy.sensitive_features, n_clusters=2, methods=["DBSCAN"])
    with pytest.raises(ValueError, match="n_seeds must be"):
        compare(toy.data, toy.sensitive_features, n_clusters=2, n_seeds=0)
    for nothing in ({}, {"none": []}):
        with pytest.raises(ValueError, match="has nothing to run"):
            compare(toy.data, toy.sensitive_features, n_clusters=2, methods=nothing)
    with pytest.raises(ValueError, match="sensitive_features is None"):
        compare(toy.data, None, n_clusters=2)


def test_groups_of_very_different_sizes():
    groups = read_groups(["a"] * 30 + ["b"] * 970, 1000)
    methods = default_methods(2, groups, "gaussian")
    assert [(model.p, model.q) for model in methods["SFC"]] == [(1, 33), (1, 44), (1, 65)]
