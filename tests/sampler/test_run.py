"""Chains run in any way give the same draws; if they are stopped, what they have drawn."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.cluster import KMeans

from fairmix import FairBayesianClustering
from fairmix.sampler.run import run_chains
from tests.sampler.stub import StubChain, do_nothing, make_recorder
from tests.test_golden import make_points

BACKENDS = ("sequential", "threading", "loky", "multiprocessing")
N_WARMUP, THIN, N_KEPT = 5, 2, 20


def run(on_sweep=do_nothing, n_chains=3, **settings):
    make = partial(StubChain, on_sweep=on_sweep)
    recorder = make_recorder(n_chains, N_KEPT)
    return run_chains(make, recorder, n_warmup=N_WARMUP, thin=THIN, annealing=False, **settings)


def assert_same(one, other, chains=slice(None), draws=slice(None)):
    assert one.moves == other.moves
    assert one.group_names == other.group_names
    assert set(one.arrays) == set(other.arrays)
    for name, values in one.arrays.items():
        assert np.array_equal(values, other.arrays[name][chains, draws], equal_nan=True), name


@pytest.fixture(scope="module")
def usual():
    return run()


def test_all_draws_are_there(usual):
    assert usual.arrays["labels"].shape == (3, N_KEPT, 12)
    assert len(np.unique(usual.arrays["log_posterior"])) == 3 * N_KEPT
    assert "extra" not in usual.moves
    assert usual.arrays["acceptance"].shape == (3, N_KEPT, len(usual.moves))
    assert np.isnan(usual.arrays["acceptance"][..., usual.moves.index("follower_swap")]).all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_draws_do_not_depend_on_the_backend(usual, backend):
    with joblib.parallel_config(backend=backend, n_jobs=2):
        assert_same(run(), usual)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_draws_do_not_depend_on_threads_or_the_clock(usual, n_jobs, monkeypatch):
    assert_same(run(n_jobs=n_jobs), usual)
    monkeypatch.setattr("fairmix.sampler.run.CHUNK_SECONDS", 1e-9)
    assert_same(run(n_jobs=n_jobs), usual)


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_the_estimator_draws_the_same_in_other_processes(backend):
    points, groups = make_points((10, 10, 14))
    model = FairBayesianClustering(
        n_chains=2, n_warmup=4, n_draws=4, n_masked=2, extra="free", random_state=0
    )
    here = model.fit(points, sensitive_features=groups).posterior_
    with joblib.parallel_config(backend=backend, n_jobs=2):
        there = model.fit(points, sensitive_features=groups).posterior_
    assert np.array_equal(here.labels, there.labels)
    for name in ("n_components", "log_posterior", "masked_rows", "cost", "group_gaps"):
        assert np.array_equal(getattr(here, name), getattr(there, name)), name
    assert list(here.acceptance) == list(there.acceptance)


def test_every_chain_is_made_once_and_starts_are_made_in_threads():
    made = []

    def make(number):
        made.append((number, threading.current_thread()))
        return StubChain(number, do_nothing)

    run_chains(make, make_recorder(3, 4), n_warmup=0, annealing=False, n_jobs=3)
    assert sorted(number for number, _ in made) == [0, 1, 2]
    assert all(thread is not threading.main_thread() for number, thread in made if number > 0)


def make_if_writable(number, *, values):
    assert values.flags.writeable
    return StubChain(number, do_nothing)


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_large_arrays_can_be_written_in_other_processes(backend):
    """To numba, an array that can't is of another type: all would be compiled again."""
    make = partial(make_if_writable, values=np.zeros(300_000))
    with joblib.parallel_config(backend=backend, n_jobs=2):
        run_chains(make, make_recorder(2, 2), n_warmup=0, annealing=False)


def interrupt(number, sweep, *, of_chain, at):
    if (number, sweep) == (of_chain, at):
        raise KeyboardInterrupt


def at_draw(n_draws):
    """Give the sweep that ends a draw."""
    return N_WARMUP + n_draws * THIN


@pytest.fixture
def draw_by_draw(monkeypatch):
    """Let chains return to Python after every draw."""
    monkeypatch.setattr("fairmix.sampler.run.CHUNK_SECONDS", 1e-9)


@pytest.mark.usefixtures("draw_by_draw")
@pytest.mark.parametrize(
    ("of_chain", "at", "chains", "n_draws", "told"),
    [
        (1, at_draw(9), [0, 1], 8, "20, 8, 0 of 20 draws; kept are the first 8 of 2 of them"),
        (1, at_draw(3), [0], 20, "20, 2, 0 of 20 draws; kept are the first 20 of 1 of them"),
        (2, at_draw(7), [0, 1, 2], 6, "20, 20, 6 of 20 draws; kept are the first 6 of each"),
        (1, 2, [0], 20, "20, 0, 0 of 20 draws"),
    ],
)
def test_an_interrupt_gives_what_was_drawn(usual, of_chain, at, chains, n_draws, told):
    with pytest.warns(UserWarning, match=f"interrupted when its 3 chains had {told}") as caught:
        record = run(partial(interrupt, of_chain=of_chain, at=at))
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert_same(record, usual, chains, slice(n_draws))


def test_a_chain_without_draws_leaves_no_gap(usual):
    with (
        pytest.warns(UserWarning, match="had 20, 0, 20 of 20 draws; kept are the first 20 of 2"),
        joblib.parallel_config(backend="loky", n_jobs=2),
    ):
        record = run(partial(interrupt, of_chain=1, at=2))
    assert_same(record, usual, [0, 2])


def sleep_and_interrupt(number, sweep):
    """Take so long that every draw is told at once, and end in the middle."""
    time.sleep(0.06)
    interrupt(number, sweep, of_chain=1, at=at_draw(5))


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_an_interrupt_in_another_process_gives_what_was_drawn(usual, backend, monkeypatch):
    monkeypatch.setattr("tests.sampler.test_run.N_KEPT", 6)
    with (
        pytest.warns(UserWarning, match="had 6, 4 of 6 draws"),
        joblib.parallel_config(backend=backend, n_jobs=2),
    ):
        record = run(sleep_and_interrupt, n_chains=2)
    assert_same(record, usual, slice(2), slice(4))


def test_an_interrupt_before_there_is_a_draw_is_raised():
    with pytest.raises(KeyboardInterrupt):
        run(partial(interrupt, of_chain=0, at=3))


def fail(number, sweep, *, seen, error, at):
    """Let the second of two chains that run side by side fail."""
    seen[number] = sweep
    time.sleep(0.005)
    if (number, sweep) == (1, at):
        raise error


def assert_nothing_runs_on(seen):
    before = dict(seen)
    time.sleep(0.05)
    assert seen == before
    assert all(sweep < at_draw(200) for sweep in seen.values())


@pytest.mark.usefixtures("draw_by_draw")
def test_an_interrupt_of_one_chain_stops_the_others(monkeypatch):
    monkeypatch.setattr("tests.sampler.test_run.N_KEPT", 2000)
    seen = {}
    with pytest.warns(UserWarning, match="interrupted when") as caught:
        run(partial(fail, seen=seen, error=KeyboardInterrupt, at=at_draw(9)), n_jobs=2)
    assert len(caught) == 1
    assert_nothing_runs_on(seen)


@pytest.mark.usefixtures("draw_by_draw")
@pytest.mark.parametrize("at", [4, at_draw(9)])
def test_an_error_of_one_chain_stops_the_others_and_is_raised(at, monkeypatch):
    monkeypatch.setattr("tests.sampler.test_run.N_KEPT", 2000)
    seen = {}
    with pytest.raises(RuntimeError, match="no way on"):
        run(partial(fail, seen=seen, error=RuntimeError("no way on"), at=at), n_jobs=2)
    assert_nothing_runs_on(seen)


def raise_in_second(number, sweep):
    if number == 1:
        raise RuntimeError("no way on")


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_error_is_raised_from_every_backend(backend):
    with (
        joblib.parallel_config(backend=backend, n_jobs=2),
        pytest.raises(RuntimeError, match="no way on"),
    ):
        run(raise_in_second)


SCRIPT = """
import os
import numpy as np
from fairmix import FairBayesianClustering
from fairmix.sampler.recorder import DrawWriter

write = DrawWriter.write

def write_and_tell(self, draws):
    write(self, draws)
    os.write(1, b"drawn\\n")  # whole lines from several threads

DrawWriter.write = write_and_tell
X = np.random.default_rng(0).normal(size=(20, 2))
model = FairBayesianClustering(n_chains=2, n_warmup=2, n_draws=10**6, n_jobs=%d, random_state=0)
model.fit(X, sensitive_features=["a", "b"] * 10)
print("fitted", model.labels_.shape, model.posterior_.labels.shape, flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for a child on Windows")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_in_a_process(n_jobs):
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT % n_jobs],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        cwd=Path(__file__).parents[2],
    ) as process:
        try:
            for _ in range(5):
                assert process.stdout.readline() == "drawn\n"
            process.send_signal(signal.SIGINT)
            told, warned = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0, warned
    fitted = re.search(r"fitted \(20,\) \((\d+), (\d+), 20\)", told)
    assert 1 <= int(fitted[1]) <= n_jobs
    assert int(fitted[2]) > 0
    assert "UserWarning: The fit was interrupted when its 2 chains had" in warned
    assert "of 1,000,000 draws" in warned


@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
def test_progress(backend, capsys):
    with joblib.parallel_config(backend=backend, n_jobs=2):
        run(verbose=1)
    told = capsys.readouterr().err
    if backend == "threading":
        assert f"100 % of {3 * (N_WARMUP + THIN * N_KEPT)} sweeps" in told
    else:
        for number in range(3):
            assert f"chain {number} has ended" in told
        assert "3 of 3" in told


def test_progress_is_silent_unless_asked_for(capfd):
    run()
    with joblib.parallel_config(backend="loky", n_jobs=2):
        run()
    assert capfd.readouterr().err == ""


def test_k_means_of_chains_that_start_side_by_side_run_one_by_one(monkeypatch):
    """Each limits the threads of the whole process, and lifts the limit when it ends."""
    inside, most = [], []

    class SlowKMeans(KMeans):
        def fit(self, X):
            inside.append(X)
            most.append(len(inside))
            time.sleep(0.5)
            inside.pop()
            return super().fit(X)

    monkeypatch.setattr("fairmix.sampler.start.KMeans", SlowKMeans)
    points, groups = make_points((10, 10))
    FairBayesianClustering(
        n_chains=3, n_warmup=0, n_draws=1, init_partition="kmeans", n_jobs=3, random_state=0
    ).fit(points, sensitive_features=groups)
    assert most == [1, 1, 1]
