"""What is compared by default, and in which order."""

from sklearn.cluster import KMeans

from fairmix.comparison import default_methods
from fairmix.comparison.durations import OF_OTHERS, OF_SAMPLERS
from fairmix.comparison.methods import METHODS, NOT_TOLD, list_runs
from fairmix.tables.groups import read_groups


def test_default_methods():
    groups = read_groups(["a"] * 60 + ["b"] * 90, 150)
    methods = default_methods(4, groups, "gaussian", n_warmup=7, n_draws=9)
    assert tuple(methods) == METHODS
    assert methods["FBC"][0].n_masked == 0
    assert methods["FBC"][-1].n_masked == {"b": 18}
    assert [(model.p, model.q) for model in methods["SFC"]] == [(2, 3), (10, 20), (6, 20)]
    for name in OF_SAMPLERS:
        assert all((model.n_warmup, model.n_draws) == (7, 9) for model in methods[name])


def test_what_is_not_told_does_not_depend_on_the_number():
    groups = read_groups(["a"] * 60 + ["b"] * 90, 150)
    one, other = (default_methods(k, groups, "gaussian") for k in (2, 9))
    same = {name for name in METHODS if repr(one[name]) == repr(other[name])}
    assert set(NOT_TOLD) <= same
    assert "SFC" not in same


def test_something_is_known_of_the_time_that_each_takes():
    assert OF_SAMPLERS.keys() | OF_OTHERS.keys() == set(METHODS)


def test_groups_of_very_different_sizes():
    groups = read_groups(["a"] * 30 + ["b"] * 970, 1000)
    methods = default_methods(2, groups, "gaussian")
    assert [(model.p, model.q) for model in methods["SFC"]] == [(1, 33), (1, 44), (1, 65)]


def test_strict_settings_come_first_then_others_then_seeds():
    runs = list_runs({"a": [KMeans(2), KMeans(3)], "b": [KMeans(2)]}, [5, 6])
    assert [(run.method, run.seed) for run in runs[:4]] == [("a", 5), ("a", 6)] * 2
    by_rank = sorted(runs, key=lambda run: run.rank)
    assert [(run.method, run.estimator.n_clusters, run.seed) for run in by_rank] == [
        ("a", 2, 5), ("b", 2, 5), ("a", 3, 5), ("a", 2, 6), ("b", 2, 6), ("a", 3, 6),
    ]  # fmt: skip
