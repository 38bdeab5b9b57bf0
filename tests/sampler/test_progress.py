"""What is shown of a run in a terminal, a notebook and a file; and who may stop it."""

import contextlib
import io
import re
import sys
import time
from functools import partial
from types import SimpleNamespace

import joblib
import pytest

from fairmix.sampler.progress import Progress
from fairmix.sampler.run import run_chains
from tests.sampler.stub import StubChain, make_recorder
from tests.sampler.terminal import HIDE_CURSOR, SHOW_CURSOR, use_terminal


def sleep(number, sweep, *, seconds=0.001):
    time.sleep(seconds)


def run(on_sweep=sleep, n_chains=2, n_kept=20, **settings):
    make = partial(StubChain, on_sweep=on_sweep)
    recorder = make_recorder(n_chains, n_kept)
    return run_chains(make, recorder, n_warmup=10, annealing=False, **({"n_jobs": 2} | settings))


@pytest.fixture
def long(monkeypatch):
    """Let every fit be a long one."""
    monkeypatch.setattr("fairmix.sampler.display.LONG", 0.02)
    monkeypatch.setattr("fairmix.sampler.progress.LOOK_SECONDS", 0.01)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_bars_in_a_terminal(monkeypatch, capsys, n_jobs):
    terminal = use_terminal(monkeypatch)
    run(verbose=1, n_jobs=n_jobs)
    told = terminal.getvalue()
    assert told.count("done") >= 3
    assert told.count("100%") >= 3
    assert told.index(HIDE_CURSOR) < told.index(SHOW_CURSOR) == told.rindex(SHOW_CURSOR)
    assert told.rindex("\n") > told.rindex("100%")
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("long")
def test_auto_shows_long_fits_only(monkeypatch):
    terminal = use_terminal(monkeypatch)
    run(verbose="auto")
    assert "100%" in terminal.getvalue()
    monkeypatch.setattr("fairmix.sampler.display.LONG", 5.0)
    terminal = use_terminal(monkeypatch)
    run(verbose="auto")
    assert terminal.getvalue() == ""


@pytest.mark.usefixtures("long")
def test_auto_is_silent_where_nobody_looks_on(capfd):
    run(verbose="auto")
    with joblib.parallel_config(backend="loky", n_jobs=2):
        run(verbose="auto", n_jobs=None)
    assert capfd.readouterr() == ("", "")


def test_silence(monkeypatch):
    terminal = use_terminal(monkeypatch)
    for verbose in (0, False):
        run(verbose=verbose)
    assert terminal.getvalue() == ""


def test_lines_in_a_file_have_no_control_characters(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    run(verbose=1)
    told = capsys.readouterr()
    assert told.out == ""
    assert re.fullmatch(r"(fairmix: [ -~]+\n)+", told.err)
    assert "100 % of 60 sweeps" in told.err


def test_a_notebook_has_one_picture_that_changes(monkeypatch):
    published = []

    def publish(data, *, transient, update):
        published.append((data, transient["display_id"], update))

    shell = SimpleNamespace(kernel=object(), display_pub=SimpleNamespace(publish=publish))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr("fairmix.sampler.bars.NotebookBars.seconds", 0.01)
    run(verbose=1)
    assert len(published) > 1
    assert len({name for _, name, _ in published}) == 1
    assert [update for _, _, update in published] == [False] + [True] * (len(published) - 1)
    assert "done" in published[-1][0]["text/plain"]


@pytest.mark.parametrize("what", [RuntimeError, KeyboardInterrupt])
def test_bars_end_whatever_happens(monkeypatch, what):
    terminal = use_terminal(monkeypatch)

    def fail(number, sweep):
        time.sleep(0.005)
        if (number, sweep) == (1, 8):
            raise what("no way on")

    with contextlib.suppress(what):
        run(fail, verbose=1)
    told = terminal.getvalue()
    assert "stopped" in told
    assert told.rindex(SHOW_CURSOR) > told.rindex(HIDE_CURSOR)
    assert sys.stderr is terminal
    terminal = use_terminal(monkeypatch)  # the terminal is free for the next
    run(verbose=1)
    assert "100%" in terminal.getvalue()


def test_what_others_write_stands_above_the_bars(monkeypatch):
    terminal = use_terminal(monkeypatch)

    def write(number, sweep):
        time.sleep(0.02)
        if (number, sweep) == (0, 20):
            print("a warning", file=sys.stderr)

    run(write, verbose=1)
    line = next(line for line in terminal.getvalue().split("\n") if "a warning" in line)
    # What was drawn there is erased, and drawn anew beneath it.
    assert re.split(r"\x1b\[2K|\r", line)[-1] == "a warning"


class Broken(io.StringIO):
    """A stream that its reader has left."""

    def write(self, text):
        """Fail."""
        raise BrokenPipeError


@pytest.mark.parametrize("stream", [Broken(), None])
def test_a_fit_goes_on_if_nobody_can_be_told(monkeypatch, capsys, stream):
    monkeypatch.setattr("sys.stderr", stream)
    assert run(verbose=1).arrays["labels"].shape[:2] == (2, 20)
    assert capsys.readouterr().out == ""


def test_the_end_does_not_wait_for_the_next_picture(monkeypatch):
    monkeypatch.setattr("fairmix.sampler.display.Lines.seconds", 100.0)
    began = time.perf_counter()
    run(verbose=1)
    assert time.perf_counter() - began < 20


class Listener:
    """Keeps what it hears, and stops a chain at a share of its sweeps."""

    def __init__(self, stop_at=2.0):
        self.stop_at = stop_at
        self.heard = []

    def begin(self, number):
        self.heard.append((number, "begin"))

    def advance(self, number, share):
        self.heard.append((number, share))
        return share >= self.stop_at

    def end(self, number):
        self.heard.append((number, "end"))
        return False


@pytest.fixture
def _sweep_by_sweep(monkeypatch):
    monkeypatch.setattr("fairmix.sampler.run.CHUNK_SECONDS", 1e-9)


@pytest.mark.usefixtures("_sweep_by_sweep")
def test_a_listener_hears_of_every_chain():
    listener = Listener()
    run(listener=listener)
    for number in range(2):
        heard = [what for who, what in listener.heard if who == number]
        assert heard[0] == "begin"
        assert heard[1:-1] == [pytest.approx(sweep / 30) for sweep in range(1, 31)]
        assert heard[-1] == "end"


def test_a_listener_hears_of_chains_in_other_processes():
    listener = Listener()
    with joblib.parallel_config(backend="loky", n_jobs=2):
        run(listener=listener, n_jobs=None)
    assert sorted(listener.heard) == [(k, what) for k in range(2) for what in ("begin", "end")]


@pytest.mark.usefixtures("_sweep_by_sweep")
def test_a_listener_stops_all_chains():
    with pytest.warns(UserWarning, match="interrupted when its 2 chains had 10, 0 of 20 draws"):
        record = run(listener=Listener(stop_at=20 / 30), n_jobs=1)
    assert record.arrays["labels"].shape[:2] == (1, 10)
    with pytest.raises(RuntimeError, match=r"callback stopped .* before .* n_warmup = 10"):
        run(listener=Listener(stop_at=0.1), n_jobs=1)


def test_a_copy_is_silent():
    _, arguments = Progress(2, 10, 30, 1, Listener()).__reduce__()
    assert arguments == (2, 10, 30, 0)
