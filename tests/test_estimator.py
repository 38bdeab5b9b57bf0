import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairmix import FairBayesianClustering, Fixed, Geometric, Uniform, metrics
from fairmix.baselines import FairletMixture, MixtureOfFiniteMixtures
from fairmix.datasets import load_toy
from fairmix.families import Gaussian
from fairmix.sampler import assembly
from fairmix.tables.units import standardise

QUICK = {"n_warmup": 30, "n_draws": 40, "n_chains": 2, "random_state": 0}


@pytest.fixture(scope="module")
def table():
    """Two clumps, two groups of unequal size, three numeric columns."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(45, 3)), rng.normal(size=(45, 3)) + 6])
    group = np.where(np.arange(90) % 9 < 4, "few", "many")
    return pd.DataFrame(X, columns=["x", "y", "z"]), pd.Series(group, name="group")


@pytest.fixture(scope="module")
def fitted(table):
    X, group = table
    return FairBayesianClustering(**QUICK).fit(X, sensitive_features=group)


@pytest.mark.filterwarnings("ignore:sensitive_features has one group only")
@pytest.mark.filterwarnings("ignore:y was passed, but no sensitive_features")
@pytest.mark.filterwarnings("ignore:The chains ")
@pytest.mark.filterwarnings("ignore:.*SCIPY_ARRAY_API is not set")
@parametrize_with_checks([FairBayesianClustering()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_attributes(fitted):
    assert fitted.labels_.dtype == np.int64
    assert fitted.labels_.shape == (90,)
    assert fitted.n_clusters_ == len(np.unique(fitted.labels_))
    assert fitted.groups_ == {"few": 40, "many": 50}
    assert list(fitted.groups_) == ["few", "many"]
    assert fitted.n_features_in_ == 3
    assert fitted.feature_names_in_.tolist() == ["x", "y", "z"]


def test_posterior_arrays(fitted, table):
    X, group = table
    posterior = fitted.posterior_
    assert posterior.labels.shape == (2, 40, 90)
    assert posterior.labels.dtype == np.uint8
    rows = standardise(X.to_numpy())
    for name in ("n_clusters", "n_components", "log_likelihood", "log_posterior"):
        assert getattr(posterior, name).shape == (2, 40)
    for chain, draw in [(0, 0), (1, 17), (1, 39)]:
        labels = posterior.labels[chain, draw]
        sizes = np.bincount(labels)
        assert (np.diff(sizes) <= 0).all()
        assert posterior.n_clusters[chain, draw] == len(sizes)
        assert posterior.n_components[chain, draw] >= len(sizes)
        gap = metrics.fairness_gap(labels, group)
        assert posterior.fairness_gap[chain, draw] == pytest.approx(gap, abs=1e-12)
        balance = metrics.balance(labels, group)
        assert posterior.balance[chain, draw] == pytest.approx(balance)
        cost = metrics.cost(rows, labels)
        assert posterior.cost[chain, draw] == pytest.approx(cost)
    always = {"rematch", "follower_swap", "anchor_swap", "gibbs"}
    assert set(posterior.acceptance) == always | {"split", "merge", "redeal", "partial_redeal"}
    for move, rates in posterior.acceptance.items():
        assert rates.shape == (2, 40)
        assert not np.isnan(rates).any() or move not in always
        assert ((rates >= 0) & (rates <= 1) | np.isnan(rates)).all()


def test_log_posterior_is_what_it_says(table):
    """With one group there is no matching, so all terms can be computed from the labels."""
    X, _ = table
    model = MixtureOfFiniteMixtures(**QUICK, concentration=0.7).fit(X)
    rows = standardise(X.to_numpy())
    family = Gaussian().prepare(rows)
    stats = np.empty((90, 6))
    family.write_statistics(rows, stats)
    from fairmix.model.partition_prior import PartitionPrior

    prior = PartitionPrior(90, 0.7, Geometric(0.1))
    labels = model.posterior_.labels[1, 7]
    sizes = np.bincount(labels)
    log_likelihood = sum(
        family.log_marginal(int(size), stats[labels == c].sum(axis=0))
        for c, size in enumerate(sizes)
    )
    assert model.posterior_.log_likelihood[1, 7] == pytest.approx(log_likelihood)
    expected = log_likelihood + prior.log_prob(sizes)
    assert model.posterior_.log_posterior[1, 7] == pytest.approx(expected)


def test_labels_are_a_draw(fitted):
    same = (fitted.posterior_.labels == fitted.labels_).all(axis=2)
    assert same.any()


def test_summary(fitted):
    summary = fitted.posterior_.summary()
    assert max(len(line) for line in str(summary).splitlines()) < 80
    assert {"mean", "sd", "ess_bulk", "r_hat"} <= set(summary.columns)
    mean = fitted.posterior_.n_clusters.mean()
    assert summary.loc["n_clusters", "mean"] == pytest.approx(mean, abs=1e-4)
    assert "2 chains x 40 draws" in repr(fitted.posterior_)


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_draws_do_not_depend_on_threads(fitted, table, n_jobs):
    X, group = table
    again = FairBayesianClustering(**QUICK, n_jobs=n_jobs).fit(X, sensitive_features=group)
    assert np.array_equal(again.posterior_.labels, fitted.posterior_.labels)
    assert np.array_equal(again.posterior_.log_posterior, fitted.posterior_.log_posterior)
    assert np.array_equal(again.posterior_.n_components, fitted.posterior_.n_components)


def test_draws_do_not_depend_on_the_clock(fitted, table, monkeypatch):
    X, group = table
    monkeypatch.setattr("fairmix.sampler.run.CHUNK_SECONDS", 1e-9)
    again = FairBayesianClustering(**QUICK).fit(X, sensitive_features=group)
    assert np.array_equal(again.posterior_.labels, fitted.posterior_.labels)
    assert np.array_equal(again.posterior_.n_components, fitted.posterior_.n_components)


def test_another_seed_gives_other_draws(fitted, table):
    X, group = table
    other = FairBayesianClustering(**QUICK | {"random_state": 1}).fit(X, sensitive_features=group)
    assert not np.array_equal(other.posterior_.log_posterior, fitted.posterior_.log_posterior)


def test_thinning_keeps_every_so_many_sweeps(table):
    X, group = table
    every = FairBayesianClustering(**QUICK).fit(X, sensitive_features=group).posterior_
    thinned = FairBayesianClustering(**QUICK, thin=4).fit(X, sensitive_features=group).posterior_
    assert thinned.labels.shape == (2, 10, 90)
    assert np.array_equal(thinned.labels, every.labels[:, 3::4])


def test_all_kinds_of_tables_give_the_same(fitted, table):
    X, group = table
    model = FairBayesianClustering(**QUICK)
    with_group = X.assign(group=group)
    cases = {
        "polars": (pl.DataFrame(X.to_dict("list")), pl.Series("group", group.tolist())),
        "numpy": (X.to_numpy(), group.to_numpy()),
        "lists": (X.to_numpy().tolist(), group.tolist()),
        "column name": (with_group, "group"),
        "list of names": (with_group, ["group"]),
        "polars column name": (pl.DataFrame(with_group.to_dict("list")), "group"),
        "frame of one column": (X, group.to_frame()),
        "categorical": (X, group.astype("category")),
        "object columns": (X.astype(object), group),
        "numbered columns": (X.set_axis(range(3), axis=1), group),
        "nullable": (X.convert_dtypes(), group.convert_dtypes()),
    }
    for name, (data, sensitive) in cases.items():
        model.fit(data, sensitive_features=sensitive)
        assert np.array_equal(model.labels_, fitted.labels_), name
        assert model.n_features_in_ == 3, name
        assert model.groups_ == fitted.groups_, name
        assert hasattr(model, "feature_names_in_") == (
            name not in ("numpy", "lists", "numbered columns")
        ), name


def test_several_sensitive_columns_are_crossed(table):
    X, group = table
    frame = X.assign(group=group, old=np.arange(90) % 2 == 0)
    model = FairBayesianClustering(**QUICK).fit(frame, sensitive_features=["group", "old"])
    assert set(model.groups_) == {(g, o) for g in ("few", "many") for o in (False, True)}
    assert next(iter(model.groups_.values())) == min(model.groups_.values())
    assert model.posterior_.fairness_gap.max() < 0.2


def test_a_list_of_group_names_is_not_a_list_of_columns():
    X = pd.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0) % 7})
    model = FairBayesianClustering(**QUICK).fit(X, sensitive_features=["a", "c"] * 10)
    assert model.groups_ == {"a": 10, "c": 10}
    assert model.n_features_in_ == 2


def test_values_that_are_also_column_names_are_values():
    X = pd.DataFrame({"M": np.arange(20.0), "F": np.arange(20.0) % 7})
    model = FairBayesianClustering(**QUICK).fit(X, sensitive_features=["M", "F"] * 10)
    assert model.groups_ == {"F": 10, "M": 10}
    assert model.n_features_in_ == 2


def test_large_integers_as_groups_stay_apart():
    X = np.random.default_rng(0).normal(size=(20, 2))
    groups = np.array([2**53, 2**53 + 1] * 10, dtype=object)
    model = FairBayesianClustering(**QUICK).fit(X, sensitive_features=groups)
    assert model.groups_ == {2**53: 10, 2**53 + 1: 10}


@pytest.mark.parametrize("init", ["one", "singletons", "kmeans", 5, np.arange(90) % 4])
@pytest.mark.parametrize("init_match", ["transport", "random"])
def test_starts(table, init, init_match):
    X, group = table
    model = FairBayesianClustering(**QUICK, init_partition=init, init_match=init_match)
    assert model.fit(X, sensitive_features=group).posterior_.n_clusters.min() >= 1


@pytest.mark.parametrize("extra", ["random", "medoids", list(range(0, 90, 9))])
def test_extra(table, extra):
    X, group = table
    model = FairBayesianClustering(**QUICK, extra=extra).fit(X, sensitive_features=group)
    # n_many = 40 + 10: each gap is (r / n_1) TV(R, anchors) <= (10 / 50) (30 / 40).
    assert model.posterior_.fairness_gap.max() <= 0.15 + 1e-12


def test_extra_is_the_same_in_all_chains(table, monkeypatch):
    X, group = table
    models = []
    original = assembly.make_chain

    def remember(model, *arguments):
        models.append(model)
        return original(model, *arguments)

    monkeypatch.setattr(assembly, "make_chain", remember)
    FairBayesianClustering(**QUICK | {"n_chains": 3}).fit(X, sensitive_features=group)
    assert len(models) == 3
    assert all(model is models[0] for model in models)


def test_masks(table):
    X, group = table
    model = FairBayesianClustering(**QUICK, n_masked={"many": 7}).fit(X, sensitive_features=group)
    posterior = model.posterior_
    assert posterior.masked_rows.shape == (2, 40, 7)
    assert (group.to_numpy()[posterior.masked_rows] == "many").all()
    assert {"mask_exchange", "free_match"} <= set(posterior.acceptance)


def test_joint_step(table):
    X, group = table
    model = FairBayesianClustering(
        **QUICK, matching_step="joint", matching_moves=10, split_merge_moves=0, n_masked=3
    )
    posterior = model.fit(X, sensitive_features=group).posterior_
    assert set(posterior.acceptance) == {"joint", "gibbs"}


@pytest.mark.parametrize("prior", [Fixed(2), Uniform(2), lambda k: -2.0 * k if k < 3 else -np.inf])
def test_priors_bound_the_clusters(table, prior):
    X, group = table
    model = FairBayesianClustering(**QUICK, components_prior=prior)
    posterior = model.fit(X, sensitive_features=group).posterior_
    assert posterior.n_clusters.max() <= 2
    assert posterior.n_components.max() <= 2


def test_toy_data_has_three_fair_and_six_plain_clusters():
    toy = load_toy()
    settings = {"n_warmup": 100, "n_draws": 100, "n_jobs": 2, "random_state": 0}
    fair = FairBayesianClustering(**settings).fit(
        toy.data, sensitive_features=toy.sensitive_features
    )
    assert fair.n_clusters_ == 3
    assert metrics.fairness_gap(fair.labels_, toy.sensitive_features) == 0.0
    plain = MixtureOfFiniteMixtures(**settings).fit(
        toy.data, sensitive_features=toy.sensitive_features
    )
    assert plain.n_clusters_ == 6
    assert plain.posterior_.fairness_gap.min() == pytest.approx(1.0)


def test_categories(table):
    X, group = table
    words = X.apply(lambda column: column.gt(3).map({True: "high", False: "low"}))
    for family in ("categorical", "bernoulli"):
        model = FairBayesianClustering(family, **QUICK).fit(words, sensitive_features=group)
        labels = model.labels_
        expected = metrics.cost(words, labels, family=family)
        chain, draw = np.argwhere((model.posterior_.labels == labels).all(axis=2))[0]
        assert model.posterior_.cost[chain, draw] == pytest.approx(expected)
        assert model.n_clusters_ == 2


def test_booleans_are_numbers_for_the_gaussian(table):
    X, group = table
    model = FairBayesianClustering(**QUICK).fit(X.assign(flag=X["x"] > 3), sensitive_features=group)
    assert model.n_features_in_ == 4


def test_families_as_objects(table):
    X, group = table
    tight = FairBayesianClustering(Gaussian(rate=0.01), **QUICK).fit(X, sensitive_features=group)
    assert tight.posterior_.log_likelihood.mean() != 0


def test_standardisation_can_be_switched_off(table):
    X, group = table
    kwargs = {"sensitive_features": group}
    one = FairBayesianClustering(**QUICK, standardize=False).fit(
        standardise(X.to_numpy()), **kwargs
    )
    other = FairBayesianClustering(**QUICK).fit(X, **kwargs)
    assert np.array_equal(one.posterior_.labels, other.posterior_.labels)


def test_clone_params_and_pickle(fitted):
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    copy.set_params(n_draws=5, components_prior=Geometric(0.5))
    assert clone(copy).components_prior == Geometric(0.5)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.labels_, fitted.labels_)
    assert np.array_equal(again.posterior_.labels, fitted.posterior_.labels)


def test_pipeline_routes_the_sensitive_features(table, fitted):
    X, group = table
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), FairBayesianClustering(**QUICK))
        pipeline.fit(X, sensitive_features=group)
    assert pipeline[-1].groups_ == fitted.groups_
    assert np.array_equal(pipeline[-1].labels_, fitted.labels_)


def mean_gap(estimator, X, y=None):
    return -estimator.posterior_.fairness_gap.mean()


@pytest.mark.parametrize("routing", [False, True])
def test_grid_search(table, routing):
    X, group = table
    with config_context(enable_metadata_routing=routing):
        search = GridSearchCV(
            FairBayesianClustering(**QUICK), {"n_masked": [0, 10]}, scoring=mean_gap, cv=3
        )
        search.fit(X, sensitive_features=group)
    assert search.best_params_ == {"n_masked": 0}
    assert search.best_estimator_.groups_ == {"few": 40, "many": 50}


def test_refitting_without_names_forgets_them(table):
    X, group = table
    model = FairBayesianClustering(**QUICK).fit(X, sensitive_features=group)
    model.fit(X.to_numpy(), sensitive_features=group)
    assert not hasattr(model, "feature_names_in_")


def test_chains_that_disagree_are_a_warning():
    toy = load_toy(n_rows=120)
    stuck = FairBayesianClustering(
        matching_moves=0, split_merge_moves=0, n_warmup=0, n_draws=100, random_state=0,
        init_partition=4, init_match="random",
    )  # fmt: skip
    with pytest.warns(ConvergenceWarning, match="(?s)R-hat is .* for the log posterior.*n_warmup"):
        stuck.fit(toy.data, sensitive_features=toy.sensitive_features)


def test_progress(table, capsys):
    X, group = table
    FairBayesianClustering(**QUICK, verbose=1).fit(X, sensitive_features=group)
    assert "100 % of 140 sweeps" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["auto", "batch", "prices", "match"])
def test_new_rows(fitted, table, method):
    X, group = table
    assert np.array_equal(
        fitted.predict(X, sensitive_features=group, method=method), fitted.labels_
    )
    shuffled = np.random.default_rng(0).permutation(90)
    new, new_group = X.iloc[shuffled] + 0.01, group.iloc[shuffled]
    labels = fitted.predict(new, sensitive_features=new_group, method=method)
    # Two clumps six standard deviations apart: any rule knows them.
    assert metrics.cost(new, labels) <= 1.5 * metrics.cost(X, fitted.labels_)


def test_new_rows_without_groups(fitted, table):
    X, group = table
    with pytest.warns(UserWarning, match="nothing is made fair"):
        labels = fitted.predict(X)
    with pytest.warns(UserWarning, match="nothing is made fair"):
        probabilities = fitted.predict_proba(X)
    assert probabilities.shape == (90, fitted.n_clusters_)
    assert np.array_equal(probabilities.argmax(axis=1), labels)
    scores = fitted.score_samples(X.assign(group=group))
    assert fitted.score(X) == pytest.approx(scores.mean())
    assert fitted.score(X + 100) < fitted.score(X) - 10


def test_a_plain_mixture_enforces_nothing_on_new_rows(table):
    X, group = table
    model = MixtureOfFiniteMixtures(**QUICK).fit(X, sensitive_features=group)
    labels = model.predict(X, sensitive_features=group)
    assert np.array_equal(labels, model.predict_proba(X).argmax(axis=1))
    with pytest.raises(ValueError, match="MixtureOfFiniteMixtures enforces no fairness"):
        model.predict(X, sensitive_features=group, method="batch")


def test_prediction_needs_a_fit(table):
    X, _ = table
    for method in ("predict", "predict_proba", "score_samples", "score"):
        with pytest.raises(NotFittedError):
            getattr(FairBayesianClustering(), method)(X)


def test_weights_of_a_matching_count_anchors(fitted, table):
    """Its prior on partitions is one of the rows of the smallest group."""
    _, group = table
    sizes = np.bincount(fitted.labels_[group == "few"])
    weights = np.exp(fitted._predictor.prediction.log_weights[:-1])
    assert weights / weights.sum() == pytest.approx((sizes + 1) / (sizes + 1).sum())


def test_pipelines_predict(table, fitted):
    X, group = table
    new = X + 0.01
    pipeline = make_pipeline(StandardScaler(), FairBayesianClustering(**QUICK))
    with config_context(enable_metadata_routing=True):
        pipeline.fit(X, sensitive_features=group)
        labels = pipeline.predict(new, sensitive_features=group, method="batch")
    assert pipeline.score(new) < 0
    scaled = pipeline[:-1].transform(new)
    expected = pipeline[-1].predict(scaled, sensitive_features=group, method="batch")
    assert np.array_equal(labels, expected)
    assert (
        pickle.loads(pickle.dumps(pipeline))
        .predict(new, sensitive_features=group, method="batch")
        .tolist()
        == labels.tolist()
    )


def test_bundles_of_fairlets_predict_rows(table):
    X, group = table
    model = FairletMixture(**QUICK).fit(X, sensitive_features=group)
    labels = model.predict(X + 0.01, sensitive_features=group, method="batch")
    assert metrics.fairness_gap(labels, group) < 0.05
    n_units = len(np.unique(model.fairlets_))
    new = np.exp(model._predictor.prediction.log_weights[-1])
    assert 0 < new < 1 / n_units
