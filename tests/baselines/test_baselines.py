"""What all baselines with a given number of clusters must do, and variational fair clustering."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairmix.baselines import FairletMixture, VariationalFairClustering
from fairmix.baselines import vfc as vfc_module
from fairmix.baselines.fairlets import choose_ratio
from fairmix.baselines.partitioner import squared_distances
from fairmix.datasets import load_toy
from fairmix.metrics import balance, cost, fairness_gap
from fairmix.model.grouping import arrange_groups
from tests.baselines.partitioners import PARTITIONERS


@pytest.fixture(params=PARTITIONERS)
def make(request):
    return PARTITIONERS[request.param]


def test_toy(make):
    toy = load_toy(n_rows=300)
    model = make(3).fit(toy.data, sensitive_features=toy.sensitive_features)
    assert model.n_clusters_ == 3
    assert fairness_gap(model.labels_, toy.sensitive_features) <= 0.05
    assert model.groups_ == {0: 150, 1: 150}
    assert model.feature_names_in_.tolist() == ["x", "y"]
    sizes = np.bincount(model.labels_)
    assert (np.diff(sizes) <= 0).all()  # 0 is the largest
    again = make(3).fit_predict(toy.data, sensitive_features=toy.sensitive_features)
    assert np.array_equal(model.labels_, again)


@given(
    st.integers(0, 10**6),
    st.lists(st.integers(10, 40), min_size=2, max_size=2),
    st.integers(2, 4),
    st.sampled_from(sorted(PARTITIONERS)),
)
@example(seed=10, sizes=[10, 39], n_clusters=2, name="variational")  # k-means is fair by chance
@settings(max_examples=40, deadline=None)
def test_identities(seed, sizes, n_clusters, name):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(sum(sizes), 3)) + rng.integers(0, 3, sum(sizes))[:, None]
    groups = np.repeat(["a", "b"], sizes)
    labels = PARTITIONERS[name](n_clusters).fit_predict(X, sensitive_features=groups)
    # Each method's own guarantee, in counts of the smaller group in clusters.
    small = min(("a", "b"), key=lambda group: (groups == group).sum())
    inside = np.array([(groups[labels == k] == small).sum() for k in range(labels.max() + 1)])
    size = np.bincount(labels)
    share = min(sizes) / sum(sizes)
    gap, ratio = fairness_gap(labels, groups), balance(labels, groups)
    if name == "fairlets":
        p, q = choose_ratio(*sorted(sizes), 2 * n_clusters)
        assert ratio >= p / q
    elif name != "variational":
        assert (np.abs(inside - share * size) < 2).all()
    # What any labels obey.
    assert gap <= 1 - ratio * max(sizes) / min(sizes) + 1e-9
    assert ratio <= min(sizes) / max(sizes) + 1e-9
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    assert cost(scaled, labels) <= X.shape[1] + 1e-9


@pytest.mark.parametrize("name", [name for name in PARTITIONERS if name != "fairlets"])
def test_three_groups(name):
    toy = load_toy(n_rows=270, groups=3)
    model = PARTITIONERS[name](3)
    model.fit(toy.data, sensitive_features=toy.sensitive_features)
    assert fairness_gap(model.labels_, toy.sensitive_features) <= 0.05


def test_mixed_tables_and_named_columns(make):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "income": rng.normal(size=80),
            "city": rng.choice(["Bonn", "Rome", "Lima"], 80),
            "sex": rng.choice(["f", "m"], 80),
        }
    )
    model = make(2).fit(frame, sensitive_features="sex")
    assert model.feature_names_in_.tolist() == ["income", "city"]
    assert set(model.groups_) == {"f", "m"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be an integer of at least 1"),
        ({"n_clusters": 31}, "n_clusters = 31, but X has 30 different rows"),
        ({"X": np.full((30, 1), np.nan)}, "NaN"),
        ({"X": np.ones((30, 2))}, "every column is constant"),
        ({"sensitive_features": [0] * 29}, "has 29 rows but X has 30"),
    ],
)
def test_bad_input(make, arguments, message):
    given = {
        "n_clusters": 2,
        "X": np.arange(30.0)[:, None],
        "sensitive_features": [0, 1] * 15,
    } | arguments
    with pytest.raises(ValueError, match=message):
        make(given["n_clusters"]).fit(given["X"], sensitive_features=given["sensitive_features"])


def test_a_group_that_is_too_small_is_a_warning(make):
    X = np.random.default_rng(0).normal(size=(40, 2))
    groups = np.arange(40) < 2
    if "Fairlet" in type(make(2)).__name__:
        groups = np.arange(40) < 10  # enough for ten clusters' fairlets
        make(2).fit(X, sensitive_features=groups)
        return
    with pytest.warns(UserWarning, match=r"has 2 row\(s\) .* fewer than n_clusters = 4"):
        make(4).fit(X, sensitive_features=groups)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e5, 1e10])
def test_units_do_not_matter(make, scale):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (40, 2)), rng.normal(6, 1, (40, 2))])
    groups = np.concatenate([rng.random(40) < 0.3, rng.random(40) < 0.6])

    def fit(factor):
        model = make(2).set_params(standardize=False)
        if isinstance(model, VariationalFairClustering):
            model.set_params(fairness_weight=100 * factor**2, lipschitz=2 * factor**2)
        return model.fit_predict(X * factor, sensitive_features=groups)

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X: its largest value")
        assert np.mean(fit(scale) == fit(1.0)) > 0.97


@parametrize_with_checks([make(2) for make in PARTITIONERS.values()])
def test_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "sensitive_features has one group only")
        warnings.filterwarnings("ignore", "y was passed, but no sensitive_features")
        warnings.filterwarnings("ignore", "X: .* is constant")
        check(estimator)


# --- variational fair clustering -----------------------------------------------------------------


@given(st.integers(0, 10**6), st.sampled_from([0.0, 1.0, 100.0, 1e4, 1e7]), st.booleans())
@settings(max_examples=30, deadline=None)
def test_the_objective_never_goes_up(seed, weight, normalize):
    rng = np.random.default_rng(seed)
    groups = np.arange(60) % 3 == 0
    X = rng.normal(size=(60, 2)) + 3 * groups[:, None]
    model = VariationalFairClustering(
        3, fairness_weight=weight, n_init=1, normalize_rows=normalize, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, sensitive_features=groups)
    steps = np.diff(model.objective_)
    assert (steps <= 1e-9 * np.abs(model.objective_[1:]) + 1e-12).all()


def test_gradient_of_the_penalty():
    rng = np.random.default_rng(0)
    grouping = arrange_groups(["a", "b", "c"], np.arange(30) % 3)
    codes = np.empty(30, dtype=int)
    codes[grouping.order] = grouping.group_of
    penalty = vfc_module._Penalty(codes, grouping, 7.0)
    assignment = rng.dirichlet(np.ones(4), 30)
    gradient = penalty.gradient(assignment)
    for row, cluster in [(0, 0), (7, 3), (29, 1)]:
        changed = assignment.copy()
        changed[row, cluster] += 1e-6
        numeric = (penalty(changed) - penalty(assignment)) / 1e-6
        assert gradient[row, cluster] == pytest.approx(numeric, rel=1e-4)


def test_the_penalty_is_zero_for_fair_clusters():
    grouping = arrange_groups(["a", "b"], np.arange(40) % 2)
    codes = np.arange(40) % 2
    penalty = vfc_module._Penalty(codes, grouping, 3.0)
    assert penalty.of_labels(np.repeat([0, 1], 20), 2) == pytest.approx(0.0)
    assert penalty.of_labels(codes, 2) > 1.0


def test_too_few_iterations_are_reported(diabetes):
    X, groups = diabetes
    model = VariationalFairClustering(4, fairness_weight=1e5, max_iter=3, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_iter = 3 .* were not enough"):
        model.fit(X, sensitive_features=groups)


@pytest.mark.parametrize("weight", [1e4, 1e6, 1e8])
def test_large_weights_are_fair(diabetes, weight):
    X, groups = diabetes
    model = VariationalFairClustering(4, fairness_weight=weight, n_init=2, random_state=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "max_iter = 1000 .* were not enough")
        labels = model.fit_predict(X, sensitive_features=groups)
    assert fairness_gap(labels, groups) <= 0.02  # the authors' code has 0.47
    assert model.lipschitz_ >= model.lipschitz


def test_no_weight_is_kmeans(diabetes):
    X, groups = diabetes
    scaled = (X - X.mean()) / X.std(ddof=0)
    model = VariationalFairClustering(4, fairness_weight=0, random_state=0)
    labels = model.fit_predict(X, sensitive_features=groups)
    assert cost(scaled, labels) == pytest.approx(4.5, abs=0.02)  # that of k-means


def test_a_descent_that_fails_is_reported(diabetes, monkeypatch):
    X, groups = diabetes
    grows = np.argsort(X["glucose"].to_numpy())

    def break_it(self, points, penalty, centres):
        descent = vfc_module._Descent(penalty, squared_distances(points, centres), 2.0)
        descent.objective.append(0.0)
        descent.has_settled = True
        descent.assignment = np.eye(4)[(groups == "over 29").to_numpy() * 2 + (grows % 2)]
        return descent

    monkeypatch.setattr(VariationalFairClustering, "_descend", break_it)
    with pytest.warns(ConvergenceWarning, match="less fair .* than those of k-means"):
        VariationalFairClustering(4, n_init=1, random_state=0).fit(X, sensitive_features=groups)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"fairness_weight": -1}, "fairness_weight"),
        ({"lipschitz": 0}, "lipschitz must be a positive number"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
        ({"n_init": 0}, "n_init must be an integer of at least 1"),
    ],
)
def test_bad_parameters(arguments, message):
    with pytest.raises(ValueError, match=message):
        VariationalFairClustering(2, **arguments).fit(np.arange(20.0)[:, None])


def test_fairlet_mixture_refuses_what_it_cannot_do():
    toy = load_toy(n_rows=60)
    for family in ("student-t", "gaussian-tied"):
        with pytest.raises(ValueError, match="conjugate family"):
            FairletMixture(family).fit(toy.data, sensitive_features=toy.sensitive_features)
    with pytest.raises(ValueError, match="pass both"):
        FairletMixture(p=1).fit(toy.data, sensitive_features=toy.sensitive_features)
    three = load_toy(n_rows=90, groups=3)
    with pytest.raises(ValueError, match="fairlets are made of two"):
        FairletMixture().fit(three.data, sensitive_features=three.sensitive_features)
