"""What is said beforehand, what there is time for, and how long runs are expected to take."""

import math
import re
import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans

from fairmix import FairBayesianClustering
from fairmix.comparison.durations import N_TIMED, Durations, time_sampling
from fairmix.comparison.measure import Data
from fairmix.comparison.methods import list_runs
from fairmix.comparison.schedule import Schedule
from tests.sampler.terminal import use_terminal

ROWS = np.random.default_rng(0).normal(size=(40, 2))
DATA = Data(ROWS, ["a", "b"] * 20, ROWS)


def make_schedule(durations=None, time_limit=math.inf, began=None, verbose=1):
    return Schedule(
        DATA,
        durations or Durations(2000, 10.0),
        began=time.perf_counter() if began is None else began,
        time_limit=time_limit,
        n_jobs=1,
        verbose=verbose,
    )


def list_some(n_seeds=1, **methods):
    given = {name.replace("_", " "): some for name, some in methods.items()}
    return list_runs(given, range(n_seeds))


RUNS = list_some(FBC=[KMeans(2), KMeans(3)], SFC=[KMeans(2)], mine=[KMeans(4)])


def test_expected_seconds():
    durations = Durations(2000, 10.0)
    assert [durations.expect(run) for run in RUNS[:3]] == [10.0, 10.0, 0.4]
    assert math.isnan(durations.expect(RUNS[3]))
    assert durations.expect_all(RUNS, 1) == pytest.approx(20.4)
    assert durations.expect_all(RUNS, 2) == pytest.approx(10.2)
    assert durations.expect_all(RUNS, 8) == 10.0  # no run is faster for others beside it
    assert durations.expect_all(RUNS[3:], 1) == 0.0
    for seconds in (1.0, 3.0, math.nan):
        durations.note("mine", seconds)
        durations.note("FBC", seconds)
    assert durations.expect(RUNS[3]) == durations.expect(RUNS[0]) == 2.0


def test_what_is_said_beforehand(capsys):
    make_schedule(time_limit=60).announce(RUNS)
    assert capsys.readouterr().err.splitlines() == [
        "fairmix: 4 runs of 3 methods, about 20 s with 1 job, at most 60 s:",
        "fairmix:   FBC: 2 runs, about 10 s each",
        "fairmix:   SFC: 1 run, about 0.4 s each",
        "fairmix:   mine: 1 run, nobody knows how long",
    ]


def test_auto_speaks_to_those_who_look_on_and_wait(monkeypatch, capsys):
    make_schedule(verbose="auto").announce(RUNS)
    assert capsys.readouterr().err == ""
    terminal = use_terminal(monkeypatch)
    make_schedule(verbose="auto").announce(RUNS)
    assert "4 runs of 3 methods" in terminal.getvalue()
    terminal = use_terminal(monkeypatch)
    for runs, verbose in ((RUNS[2:], "auto"), (RUNS, 0)):
        schedule = make_schedule(verbose=verbose)
        schedule.announce(runs)
        schedule.make(runs[-1:])
    assert terminal.getvalue() == ""


def test_each_run_is_told(capsys):
    schedule = make_schedule()
    schedule.announce(RUNS[3:])
    (row,) = schedule.make(RUNS[3:])
    told = capsys.readouterr().err
    assert re.search(rf"run 1 of 1, \d+ s: mine, seed 0: gap {row['gap']:.4f}, cost", told)
    assert "1 run of 1 method," in told


def test_runs_that_would_end_too_late_are_not_begun(capsys):
    rows = make_schedule(time_limit=5.0).make(RUNS)
    assert {row["method"]: row["left_out"] for row in rows} == {
        "FBC": True, "SFC": False, "mine": False,
    }  # fmt: skip
    told = capsys.readouterr().err
    assert re.search(
        r"left out, \d s: FBC, n_clusters=2, seed 0: no time for it \(about 10 s", told
    )
    rows = make_schedule(time_limit=5.0, began=time.perf_counter() - 6.0).make(RUNS)
    assert all(row["left_out"] for row in rows)


class Slow(BaseEstimator):
    """A method that nothing is known of."""

    def fit_predict(self, X):
        """Take some time."""
        time.sleep(0.3)
        return np.arange(len(X)) % 2


def test_what_the_first_run_took_is_expected_of_the_next():
    runs = list_some(n_seeds=5, slow=[Slow()])
    rows = make_schedule(Durations(40, 0.0), time_limit=1.0).make(runs)
    made = [row for row in rows if not row["left_out"]]
    assert 1 <= len(made) <= 3  # 0.3 s each, and none that would end after 1 s
    assert len(rows) == 5


def test_a_few_sweeps_tell_how_long_many_take(monkeypatch):
    clock = [0.0]
    fitted = []

    def fit(self, X, *, sensitive_features):
        fitted.append((self.n_chains, self.n_warmup, self.n_draws, self.verbose))
        # Compiled once; half a second for a start, a hundredth for a sweep.
        clock[0] += 30.0 * (len(fitted) == 1) + 0.5 + 0.01 * (self.n_warmup + self.n_draws - 1)

    monkeypatch.setattr(FairBayesianClustering, "fit", fit)
    monkeypatch.setattr("fairmix.comparison.durations.time.perf_counter", lambda: clock[0])
    seconds = time_sampling(DATA, FairBayesianClustering(n_chains=3, n_warmup=100, n_draws=200))
    assert seconds == pytest.approx(3 * (0.5 + 300 * 0.01))
    assert fitted == [(1, half, half + 1, 0) for half in (0, 0, N_TIMED // 2)]


def test_what_fails_takes_no_time():
    assert time_sampling(DATA, FairBayesianClustering("no such family")) == 0.0
