"""Profiles say what a brute-force look at the table says."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from fairmix import FairBayesianClustering
from fairmix.posterior.posterior import Posterior
from fairmix.posterior.profile import Profile
from tests.posterior.hand_made import make_training, mixed_table, posterior_of

FAMILY = {"fare": "exponential"}


@pytest.fixture(scope="module")
def mixed():
    X, groups, labels = mixed_table()
    training = make_training(X, groups, FAMILY)
    return X, groups, labels, posterior_of(training, [labels]).profile(labels)


def one_column(values, labels, **options):
    """Give the profile of a table of one column."""
    training = make_training(pd.DataFrame({"x": values}), **options)
    return posterior_of(training, [labels]).profile(labels)


def test_numbers_are_those_of_pandas(mixed):
    X, _, labels, profile = mixed
    long = profile.features().set_index(["feature", "cluster"])
    for name in ("age", "children", "fare"):
        by_cluster = X[name].groupby(labels)
        for cluster, values in by_cluster:
            found = long.loc[(name, cluster)]
            assert found["level"] is None
            assert found["mean"] == pytest.approx(values.mean(), rel=1e-9)
            assert found["sd"] == pytest.approx(values.std(ddof=0), rel=1e-9)
            for quantile in (5, 25, 50, 75, 95):
                expected = values.quantile(quantile / 100)
                assert found[f"{quantile}%"] == pytest.approx(expected, abs=1e-9)
            assert found["n_missing"] == values.isna().sum()
            others = X[name][labels != cluster]
            effect = (values.mean() - others.mean()) / X[name].std(ddof=0)
            assert found["effect"] == pytest.approx(effect, rel=1e-7)
            pairs = values.to_numpy()[:, None] - others.to_numpy()
            pairs = pairs[~np.isnan(pairs)]
            assert found["share_above"] == pytest.approx((np.sign(pairs) / 2 + 0.5).mean())
            assert found["mean_of_all"] == pytest.approx(X[name].mean(), rel=1e-9)
            assert found["sd_of_all"] == pytest.approx(X[name].std(ddof=0), rel=1e-9)
            assert found["n_missing_of_all"] == X[name].isna().sum()


def test_categories_are_those_of_pandas(mixed):
    X, _, labels, profile = mixed
    long = profile.features().set_index(["feature", "cluster", "level"])
    for name in ("class", "alone"):
        for level in X[name].dropna().unique():
            indicator = (X[name] == level).astype(float).where(X[name].notna())
            for cluster, values in indicator.groupby(labels):
                found = long.loc[(name, cluster, level)]
                assert found["mean"] == pytest.approx(values.mean())
                assert found["n_missing"] == values.isna().sum()
                others = indicator[labels != cluster]
                effect = (values.mean() - others.mean()) / indicator.std(ddof=0)
                assert found["effect"] == pytest.approx(effect, abs=1e-12)


def test_groups_are_those_of_pandas(mixed):
    _, groups, labels, profile = mixed
    crossed = pd.Series(list(zip(groups["sex"], groups["home"], strict=True)))
    assert [each.name for each in profile.attributes] == [("sex", "home"), "sex", "home"]
    for place, values in enumerate((crossed, groups["sex"], groups["home"])):
        attribute = profile.attributes[place]
        for k, level in enumerate(attribute.levels):
            is_it = np.array([value == level for value in values])
            assert attribute.shares[k] == pytest.approx(is_it.mean())
            for cluster in profile.clusters:
                share = is_it[labels == cluster.label].mean()
                assert cluster.group_shares[place][k] == pytest.approx(share)


def test_a_column_of_two_values_has_one_effect_whatever_its_kind():
    rng = np.random.default_rng(1)
    values, labels = rng.integers(0, 2, 40), np.arange(40) % 3
    effects = {}
    for family in ("gaussian", "bernoulli", "categorical"):
        profile = one_column(values, labels, family=family)
        effects[family] = [trait.effects[-1] for (trait,) in (c.traits for c in profile.clusters)]
    assert effects["gaussian"] == pytest.approx(effects["bernoulli"])
    assert effects["categorical"] == effects["bernoulli"]


def test_of_two_levels_that_which_is_more_frequent_than_elsewhere_is_told():
    profile = one_column([True] * 3 + [False] * 7 + [True] * 9 + [False], [0] * 10 + [1] * 10)
    assert [cluster.traits[0].strongest for cluster in profile.clusters] == [0, 1]
    assert "x False 70 % (all: 40 %)" in str(profile)
    assert "x True 90 % (all: 60 %)" in str(profile)


def test_features_are_ordered_by_effect(mixed):
    *_, profile = mixed
    for cluster in profile.clusters:
        effects = [abs(cluster.traits[k].effect) for k in cluster.order]
        assert effects == sorted(effects, reverse=True)
        assert sorted(cluster.order) == list(range(len(profile.columns)))
    long = profile.features()
    strongest = long[long["rank"] == 1].groupby("cluster")["feature"].first()
    assert strongest[1] == "age"
    assert strongest[2] == "children"


def test_the_table_is_readable(mixed):
    _, _, labels, profile = mixed
    table = profile.table()
    assert list(table.index) == [0, 1, 2, "all"]
    assert table["size"].tolist() == [*np.bincount(labels), len(labels)]
    assert table["share of sex f"].iloc[:3].tolist() == pytest.approx(
        [cluster.group_shares[1][profile.attributes[1].levels.index("f")]
         for cluster in profile.clusters], abs=1e-3
    )  # fmt: skip
    assert table.loc[1, "most frequent class"] == "first (100 %)"
    # Three digits of a standard deviation of some 10.
    assert table.loc[1, "mean of age"] == round(table.loc[1, "mean of age"], 1)


def test_an_estimate_lies_in_its_interval_and_has_the_cluster(mixed):
    *_, profile = mixed
    long = profile.features()
    assert (long["estimate_5%"] <= long["estimate"]).all()
    assert (long["estimate"] <= long["estimate_95%"]).all()
    assert [cluster.share_of_draws for cluster in profile.clusters] == [1.0, 1.0, 1.0]
    assert profile.n_draws == 1


def test_one_cluster():
    X, _, _ = mixed_table()
    profile = posterior_of(make_training(X), [[0] * len(X)]).profile()
    (cluster,) = profile.clusters
    assert cluster.name == "all rows"
    assert profile.attributes == ()
    assert all(trait.effects is None and trait.effect == 0 for trait in cluster.traits)
    assert profile.features()["effect"].isna().all()
    assert "1 cluster of 60 rows" in str(profile)
    assert "age" in str(profile)


def test_thirty_clusters():
    X, groups, _ = mixed_table(600)
    labels = np.arange(600) % 30
    profile = posterior_of(make_training(X, groups["sex"]), [labels]).profile(labels)
    assert len(profile.clusters) == 30
    assert len(profile.features()) == 30 * (3 + 3 + 2)
    assert str(profile).count('"') == 60
    assert max(len(line) for line in str(profile).splitlines()) <= 88


def test_a_category_of_one_cluster_only():
    values = ["a"] * 10 + ["b"] * 10 + ["c"] * 3 + ["b"] * 7
    labels = np.repeat([0, 1, 2], 10)
    profile = one_column(values, labels)
    (trait,) = profile.clusters[2].traits
    assert trait.summary.means == (0.0, 0.7, 0.3)
    assert profile.clusters[0].name == "x a"
    assert profile.clusters[0].traits[0].effect == pytest.approx(1 / np.sqrt(2 / 9))
    assert "x a 100 % (all: 33 %)" in str(profile)


def test_a_cluster_without_a_cell():
    values = np.array([1.0, 2.0, 3.0, np.nan, np.nan, 4.0])
    X = pd.DataFrame({"x": values, "y": [0.0, 1.0, 2.0, 5.0, 6.0, 5.0]})
    labels = [0, 0, 0, 1, 1, 0]
    # In the other draw the cluster has a cell; that says nothing of these two rows.
    draws = [labels, [0, 0, 0, 1, 1, 1]]
    profile = posterior_of(make_training(X), draws).profile(labels)
    assert profile.clusters[1].share_of_draws == 1.0
    empty = profile.clusters[1].traits[0]
    assert empty.summary.means is None
    assert empty.effects is None
    assert empty.estimates is None
    assert profile.clusters[0].traits[0].effects is None  # nobody else to compare with
    assert profile.features()["mean"].isna().sum() == 1
    assert pd.isna(profile.table().loc[1, "mean of x"])
    json.dumps(profile.to_plain(), allow_nan=False)


def test_units_are_the_users_own():
    far = 1e9 + np.array([1.0, 2.0, 3.0, 11.0, 12.0, 13.0])
    for values in (far, far * 1e200, far * 1e-200):
        profile = one_column(values, [0, 0, 0, 1, 1, 1], family="gaussian")
        (trait,) = profile.clusters[1].traits
        assert trait.summary.means[0] == pytest.approx(values[4], rel=1e-14)
        assert trait.effect == pytest.approx(10 / np.std([1, 2, 3, 11, 12, 13]), rel=1e-5)


def test_labels_of_any_kind_and_names_of_your_own():
    X, groups, labels = mixed_table()
    posterior = posterior_of(make_training(X, groups), [labels])
    words = np.array(["x", "y", "z"])[labels]
    profile = posterior.profile(words, names={"y": "seniors"})
    assert [cluster.label for cluster in profile.clusters] == ["x", "y", "z"]
    assert profile.clusters[1].name == "seniors"
    assert profile.clusters[0].name == posterior.profile(words).clusters[0].name
    assert 'Cluster y "seniors"' in str(profile)
    with pytest.raises(ValueError, match=r"names has 7, which is no cluster; .*'x', 'y', 'z'"):
        posterior.profile(words, names={7: "seniors"})
    with pytest.raises(TypeError, match=r"names\['x'\] must be text, got 3"):
        posterior.profile(words, names={"x": 3})
    with pytest.raises(ValueError, match="labels has 2 entries, but there are 60 rows"):
        posterior.profile([0, 1])


def test_without_labels_it_is_the_estimate_of_the_posterior():
    X, groups, labels = mixed_table()
    draws = [labels, labels, labels, np.arange(60) % 2]
    posterior = posterior_of(make_training(X, groups), draws)
    profile = posterior.profile()
    assert [cluster.size for cluster in profile.clusters] == sorted(np.bincount(labels))[::-1]
    assert profile.n_draws == 4
    assert [cluster.share_of_draws for cluster in profile.clusters][2] == 0.75


def test_a_profile_can_be_kept_as_json(mixed):
    *_, profile = mixed
    plain = profile.to_plain()
    text = json.dumps(plain, allow_nan=False)
    assert json.loads(text) == plain
    again = Profile.from_plain(json.loads(text))
    assert again == profile
    assert str(again) == str(profile)
    pd.testing.assert_frame_equal(again.features(), profile.features())


@pytest.mark.parametrize("wrong", [{}, {"format": 2}, {"format": "x", "columns": []}])
def test_other_formats_are_refused(wrong):
    with pytest.raises(ValueError, match=r"the profile has format .* make it anew"):
        Profile.from_plain(wrong)


def test_a_torn_profile_is_refused(mixed):
    *_, profile = mixed
    for name in ("columns", "clusters", "attributes", "n_rows"):
        for torn in ({}, {name: None}, {name: [{}]}):
            plain = {key: value for key, value in profile.to_plain().items() if key != name}
            with pytest.raises(ValueError, match="this is not a whole profile"):
                Profile.from_plain(plain | torn)


HOSTILE = [
    "\x1b[31mred\x00\n",
    "<script>alert(1)</script>",
    'a"b, c; d',
    "x" * 500,
    "",
    "ü 東 \u202e",
]


def test_hostile_text():
    n_rows = 24
    labels = np.arange(n_rows) % 2
    X = pd.DataFrame({name: np.arange(n_rows) % 5 + 9.0 * labels for name in HOSTILE})
    X["levels"] = [HOSTILE[k % 3] for k in range(n_rows)]
    groups = pd.Series([HOSTILE[k % 3] for k in range(n_rows)], name=HOSTILE[0])
    posterior = posterior_of(make_training(X, groups), [labels])
    profile = posterior.profile(labels, names={0: HOSTILE[0] * 30})
    text = str(profile)
    assert "\x1b" not in text
    assert "\x00" not in text
    assert "\u202e" not in text
    assert all(line.isprintable() for line in text.splitlines())
    assert len(text) < 3000
    assert len(profile.table()) == 3
    assert Profile.from_plain(json.loads(json.dumps(profile.to_plain()))) == profile


def test_names_of_columns_that_are_numbers():
    values = np.random.default_rng(0).normal(size=(20, 3))
    values[:, 1] += 10 * (np.arange(20) % 2)
    groups = np.arange(20) % 4 < 2
    posterior = posterior_of(make_training(values, groups, "gaussian"), [np.arange(20) % 2])
    profile = posterior.profile(np.arange(20) % 2)
    assert [column.name for column in profile.columns] == [0, 1, 2]
    assert profile.clusters[1].name.startswith("high column 1")
    assert "column 1 9.64 +- 0.74" in str(profile)
    assert "False 50 % (all: 50 %)" in str(profile)
    assert "share of True" in profile.table().columns
    named = pd.DataFrame(values, columns=[2020, 2021, 2022])
    training = make_training(named, groups, "gaussian")
    assert posterior_of(training, [groups]).profile().columns[0].name == 2020


def test_a_posterior_without_its_table_says_so():
    X, _, labels = mixed_table()
    posterior = posterior_of(None, [labels])
    assert isinstance(posterior, Posterior)
    for ask in (posterior.profile, posterior.feature_importance):
        with pytest.raises(ValueError, match=r"training = None.*include_data=True"):
            ask()
    assert len(X) == posterior.labels.shape[2]


def test_of_an_estimator():
    X, groups, _ = mixed_table()
    numbers = X[["fare"]].assign(other=X["children"] + np.arange(60) % 7)
    model = FairBayesianClustering(n_chains=1, n_warmup=5, n_draws=10, random_state=0)
    for ask in (model.profile, model.feature_importance):
        with pytest.raises(NotFittedError):
            ask()
    model.fit(numbers, sensitive_features=groups["sex"])
    profile = model.profile(names={0: "most"})
    assert [cluster.size for cluster in profile.clusters] == np.bincount(model.labels_).tolist()
    assert profile.clusters[0].name == "most"
    assert profile == model.posterior_.profile(model.labels_, names={0: "most"})
    assert [each.name for each in profile.attributes] == ["sex"]
    means = numbers["fare"].groupby(model.labels_).mean()
    found = profile.features().query("feature == 'fare'")["mean"]
    assert found.tolist() == pytest.approx(means.tolist())
