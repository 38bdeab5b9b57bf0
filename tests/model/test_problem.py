"""What is clustered, and how it is assembled: pickled, made twice, the same for all kinds."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from fairmix import FairBayesianClustering, metrics
from fairmix.baselines import FairletMixture, MixtureOfFiniteMixtures
from fairmix.families import Gaussian
from fairmix.families.choice import choose_family
from fairmix.mixture import SampledMixture
from fairmix.model.grouping import arrange_groups
from fairmix.model.problem import Problem, family_of_kept, read_table
from fairmix.sampler.assembly import Settings, make_chain, make_model

RNG = np.random.default_rng(0)
CODES = np.arange(30) % 3 // 2
FRAMES = {
    "numbers": pd.DataFrame(RNG.normal(size=(30, 2)), columns=["u", "v"]),
    "categories": pd.DataFrame({"c": RNG.choice(list("abc"), 30), "d": RNG.choice(list("xy"), 30)}),
    "mixed": pd.DataFrame({"u": RNG.normal(size=30), "c": RNG.choice(list("abc"), 30)}),
}


def make_problem(name, seed=1):
    family = choose_family("auto", FRAMES[name])
    schema, table = read_table(FRAMES[name], family)
    grouping = arrange_groups(["a", "b"], CODES, np.random.default_rng(seed))
    return Problem.of_rows(table, family_of_kept(family, schema), grouping)


@pytest.mark.parametrize("name", FRAMES)
def test_problems_can_be_pickled(name):
    problem = make_problem(name)
    labels = RNG.integers(3, size=(4, 30))
    cost = problem.cost(labels)
    again = pickle.loads(pickle.dumps(problem))
    assert np.array_equal(again.cost(labels), cost)
    assert np.array_equal(again.place_of_row, problem.place_of_row)
    rows = np.arange(30)
    matrix = problem.distance().matrix(rows, rows)
    assert np.array_equal(again.distance().matrix(rows, rows), matrix)


def test_cost_is_that_of_the_metrics():
    labels = RNG.integers(3, size=(1, 30))
    numbers = make_problem("numbers")
    assert numbers.cost(labels)[0] == pytest.approx(metrics.cost(numbers.table.rows, labels[0]))
    words = make_problem("categories")
    expected = metrics.cost(FRAMES["categories"], labels[0], family="categorical")
    assert words.cost(labels)[0] == pytest.approx(expected)


def test_rows_are_found_in_internal_order():
    problem = make_problem("numbers")
    internal = problem.units.rows[problem.enforced.order]
    assert np.array_equal(internal[problem.place_of_row], problem.table.rows)
    assert problem.measured.names == ["b", "a"]
    assert np.array_equal(problem.measured.codes, 1 - CODES)


def test_bundles_without_groups():
    table = make_problem("numbers").table
    grouping = arrange_groups(["a", "b"], CODES, np.random.default_rng(0))
    bundles = np.arange(30) // 3
    units = make_problem("numbers").units
    units = type(units)(units.rows[:10], units.points[:10], units.is_category)
    rng = np.random.default_rng(0)
    problem = Problem.without_groups(table, grouping, units, Gaussian(), bundles, rng)
    assert problem.enforced.n_groups == 1
    assert problem.enforced.n_rows == 10
    assert np.array_equal(problem.enforced.order[problem.place_of_row], bundles)
    assert problem.measured.names == ["b", "a"]


def test_chains_made_of_pickled_arguments_draw_the_same():
    problem = make_problem("numbers")
    settings = Settings(extra="free", max_gap=0.2)
    model = make_model(problem, settings, np.random.default_rng(2))
    seeds = np.random.SeedSequence(3).spawn(2)
    arguments = pickle.loads(pickle.dumps((model, settings, seeds, 1)))
    first = make_chain(model, settings, seeds, 1)
    first.rng.spawn(1)  # what a chain does with its seed is its own affair
    for chain in (make_chain(*arguments), make_chain(model, settings, seeds, 1)):
        assert np.array_equal(chain.state.labels, first.state.labels)
        assert np.array_equal(chain.match, first.match)
        assert chain.rng.bit_generator.state == first.rng.bit_generator.state
    again = make_chain(model, settings, seeds, 1)
    assert again.rng.spawn(1)[0].random() == make_chain(*arguments).rng.spawn(1)[0].random()


def test_settings_of_estimators():
    settings = Settings.of(FairBayesianClustering.paper(n_masked=3))
    assert (settings.matching_step, settings.n_masked) == ("joint", 3)
    assert settings.init_partition == "one"
    plain = Settings.of(MixtureOfFiniteMixtures(concentration=2.0))
    assert plain == Settings(concentration=2.0)


@pytest.mark.parametrize("kind", [FairBayesianClustering, MixtureOfFiniteMixtures, FairletMixture])
def test_mixtures_are_siblings(kind):
    assert kind.__bases__ == (SampledMixture,)
    assert hasattr(kind, "paper") == (kind is FairBayesianClustering)
    model = kind(n_draws=7, random_state=1)
    assert clone(model).get_params() == model.get_params()
    assert vars(model).keys() == model.get_params().keys()
    assert model.get_metadata_routing().fit.requests == {"sensitive_features": True}
