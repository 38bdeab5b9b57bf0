"""A chain is what it says it carries: all else is room to work in, and a new process can go on."""

import json
import subprocess
import sys

import numpy as np
import pytest

import fairmix.sampler.chain
from fairmix.families import Gaussian, GaussianTied
from fairmix.model.grouping import arrange_groups
from fairmix.model.problem import Problem, read_table
from fairmix.sampler.arrays import make_draws
from fairmix.sampler.assembly import Settings, make_chain, make_model
from fairmix.sampler.kernels.sweep import Draws
from fairmix.sampler.warmup import WarmUp
from tests.twins import InstantiatedGaussian

SIZES = (9, 14, 20)
#: Kinds of chains: the family, and settings that are not the default ones.
CASES = {
    "gaussian": (Gaussian(), {}),
    "shared parameters": (GaussianTied(), {}),
    "parameters": (InstantiatedGaussian(), {}),
    "parameters, masked": (InstantiatedGaussian(), {"n_masked": 4, "extra": "medoids"}),
    "masked": (Gaussian(), {"n_masked": 4}),
    "free extra seats": (Gaussian(), {"n_masked": 4, "extra": "free"}),
    "cap": (GaussianTied(), {"max_gap": 0.15, "min_balance": 0.2}),
    "cap, masked": (InstantiatedGaussian(), {"max_gap": 0.15, "n_masked": 2}),
    "gap": (Gaussian(), {"max_gap": 0.1}),
    "gap and balance, shared parameters": (GaussianTied(), {"max_gap": 0.2, "min_balance": 0.2}),
    "gap, parameters": (InstantiatedGaussian(), {"max_gap": 0.1}),
    "the paper's step": (Gaussian(), {"n_masked": 4, "matching_step": "joint"}),
}
N_WARMUP, N_SWEEPS = 60, 68
#: A chain is left and taken up after so many sweeps: at once, while the power of the likelihood
#: rises, while the price of masked rows is looked for and while it rises, at the posterior, and
#: after the warm-up.
MOMENTS = (0, 10, 28, 45, 57, N_WARMUP + 3)


def make_case(name, chain=0):
    """Make one of the two chains of a case."""
    family, settings = CASES[name]
    rng = np.random.default_rng(1)
    n_rows = sum(SIZES)
    X = rng.standard_normal((n_rows, 3)) + 2.0 * rng.integers(2, size=(n_rows, 1))
    _, table = read_table(X, family)
    grouping = arrange_groups(list(range(len(SIZES))), np.repeat(np.arange(len(SIZES)), SIZES), rng)
    settings = Settings(temperature=0.3, init_partition=(4, 1), **settings)
    problem = Problem.of_rows(table, family, grouping)
    if name.startswith("gap"):
        capped = problem.capped
        every = np.arange(n_rows)
        problem = Problem.without_groups(table, grouping, table, family, every, rng, capped)
    model = make_model(problem, settings, rng)
    return make_chain(model, settings, np.random.SeedSequence(2).spawn(2), chain)


def walk(chain, n_sweeps, between=lambda: None):
    """Warm a chain up and sample, so many sweeps from where it is; give the draw of each."""
    course = WarmUp(chain, N_WARMUP, annealing=True)
    seen = []
    for _ in range(n_sweeps):
        if course.prepare() > 0:
            course.advance(1)
        between()
        seen.append(chain.run(1))
    return {name: [getattr(draws, name)[0] for draws in seen] for name in Draws._fields}


def bits(draws, first=0):
    """Give draws as bytes, from one of them on."""
    return {name: np.array(values[first:]).tobytes() for name, values in draws.items()}


def rooms_of(chain):
    """Give all arrays of a chain that are room to work in."""
    state, likelihood = chain.state, chain.likelihood
    names = [name for name in state._fields if name not in state.carried]
    found = [getattr(state, name) for name in names]
    found += [getattr(likelihood, name) for name in likelihood.room]
    return [*found, *chain.work, *(each for each in chain.deal if isinstance(each, np.ndarray))]


def poison(array, rng):
    """Fill an array with what nobody expects."""
    if array.dtype.kind == "f":
        array[...] = np.nan
    elif array.dtype.kind == "b":
        array[...] = ~array
    else:
        bounds = np.iinfo(array.dtype)
        array[...] = rng.integers(bounds.min, bounds.max, size=array.shape, dtype=array.dtype)


@pytest.mark.parametrize("name", CASES)
def test_room_to_work_in_may_hold_anything(name, monkeypatch):
    rng = np.random.default_rng(0)
    expected = walk(make_case(name), N_SWEEPS)

    def make_poisoned_draws(model, n_draws):
        draws = make_draws(model, n_draws)
        for array in draws:
            poison(array, rng)
        return draws

    monkeypatch.setattr(fairmix.sampler.chain, "make_draws", make_poisoned_draws)
    chain = make_case(name)
    rooms = rooms_of(chain)
    drawn = walk(chain, N_SWEEPS, between=lambda: [poison(array, rng) for array in rooms])
    assert bits(drawn) == bits(expected)


@pytest.mark.parametrize("name", ["gaussian", "parameters"])
def test_a_likelihood_says_of_each_array_what_it_is(name):
    likelihood = make_case(name).likelihood
    arrays = {
        name
        for name, value in zip(likelihood._fields, likelihood, strict=True)
        if isinstance(value, np.ndarray)
    }
    fixed = {"power", "adapts", "rows"} & arrays  # by the warm-up, and by the data
    assert sorted([*likelihood.carried, *likelihood.room, *fixed]) == sorted(arrays)


def write_snapshot(snapshot, path):
    """Write a snapshot to a file without pickling anything."""
    arrays = {
        f"{part}.{name}": array
        for part in ("state", "likelihood")
        for name, array in snapshot[part].items()
    }
    others = {part: snapshot[part] for part in ("generator", "seed", "warmth")}
    np.savez(path, others=json.dumps(others), **arrays)


def read_snapshot(path):
    """Read what was written."""
    with np.load(path, allow_pickle=False) as file:
        snapshot = {"state": {}, "likelihood": {}, **json.loads(str(file["others"]))}
        for part, name in (key.split(".") for key in file.files if key != "others"):
            snapshot[part][name] = file[f"{part}.{name}"]
    return snapshot


def go_on(folder):
    """Take up all chains that were left in a folder, and write what they draw."""
    for path in folder.glob("*.npz"):
        number, moment = map(int, path.stem.split("-"))
        # Another chain of the same model: another start, another seed, some way on.
        chain = make_case(list(CASES)[number], chain=1)
        walk(chain, 3)
        chain.restore(read_snapshot(path))
        drawn = walk(chain, N_SWEEPS - moment)
        np.savez(folder / f"{path.stem}.drawn", own=chain.rng.spawn(1)[0].random(2), **drawn)


@pytest.fixture(scope="module")
def taken_up(tmp_path_factory):
    """Leave chains of all cases at all moments; give a folder with what a new process draws."""
    folder = tmp_path_factory.mktemp("snapshots")
    for number, name in enumerate(CASES):
        for moment in MOMENTS:
            chain = make_case(name)
            walk(chain, moment)
            chain.rng.spawn(1)  # as a recorder does
            write_snapshot(chain.snapshot(), folder / f"{number}-{moment}.npz")
    code = "import pathlib, tests.sampler.test_snapshot as it; it.go_on(pathlib.Path({!r}))"
    subprocess.run([sys.executable, "-c", code.format(str(folder))], check=True)
    return folder


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("name", CASES)
def test_a_new_process_goes_on_with_a_chain(taken_up, name, moment):
    chain = make_case(name)
    expected = walk(chain, N_SWEEPS)
    own = chain.rng.spawn(2)[1].random(2)
    with np.load(taken_up / f"{list(CASES).index(name)}-{moment}.drawn.npz") as file:
        drawn = dict(file)
    assert drawn.pop("own").tolist() == own.tolist()
    assert bits(drawn) == bits(expected, moment)


def test_a_chain_can_go_back():
    chain = make_case("parameters, masked")
    walk(chain, 40)
    chain.rng.spawn(1)
    snapshot = chain.snapshot()
    course = WarmUp(chain, N_WARMUP, annealing=True)
    found = []
    for _ in range(2):
        course.prepare()
        own = chain.rng.spawn(1)[0].random()
        found.append((own, bits(walk(chain, 25))))
        chain.restore(snapshot)
    assert found[0] == found[1]


def test_a_snapshot_of_another_model_is_refused():
    snapshot = make_case("gaussian").snapshot()
    with pytest.raises(ValueError, match=r"snapshot: the likelihood .* restore it in a chain"):
        make_case("parameters").restore(snapshot)
