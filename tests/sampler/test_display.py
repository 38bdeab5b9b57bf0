"""What is shown, where and when."""

import math
import sys
from types import SimpleNamespace

import pytest

from fairmix.sampler.audience import find_audience, say
from fairmix.sampler.display import (
    Lines,
    choose_display,
    describe,
    format_number,
    format_seconds,
    is_due,
)
from fairmix.sampler.headway import Headway
from tests.sampler.terminal import use_terminal
from tests.sampler.test_headway import make_headway


def test_nobody_looks_on_unless_there_is_a_terminal(monkeypatch, capsys):
    assert find_audience() == "none"
    use_terminal(monkeypatch)
    assert find_audience() == "terminal"
    monkeypatch.setenv("TERM", "dumb")
    assert find_audience() == "none"
    sys.stderr.close()
    assert find_audience() == "none"
    monkeypatch.setattr("sys.stderr", None)
    assert find_audience() == "none"
    say("nobody hears this")
    assert capsys.readouterr().out == ""


def test_other_processes_have_no_audience(monkeypatch):
    use_terminal(monkeypatch)
    monkeypatch.setattr("multiprocessing.parent_process", object)
    assert find_audience() == "none"


@pytest.mark.parametrize(("shell", "audience"), [("kernel", "notebook"), ("history", "terminal")])
def test_notebooks_have_a_kernel_and_terminals_have_not(monkeypatch, shell, audience):
    use_terminal(monkeypatch)
    shells = SimpleNamespace(get_ipython=lambda: SimpleNamespace(**{shell: object()}))
    monkeypatch.setitem(sys.modules, "IPython", shells)
    assert find_audience() == audience


@pytest.mark.parametrize(
    ("verbose", "elapsed", "left", "due"),
    [
        (1, 0.0, math.nan, True),
        (True, 0.0, math.nan, True),
        ("auto", 0.9, 1000.0, False),  # nothing is known that early
        ("auto", 1.0, 9.5, True),  # sure to take long
        ("auto", 1.0, 8.5, False),  # not sure
        ("auto", 4.9, 0.1, False),
        ("auto", 4.9, math.nan, False),
        ("auto", 5.1, 0.0, True),
        ("auto", 5.1, math.nan, True),
    ],
)
def test_what_is_due(verbose, elapsed, left, due):
    assert is_due(verbose, elapsed, left) == due


def test_where_it_is_shown(monkeypatch):
    assert choose_display("auto") is None
    assert isinstance(choose_display(1), Lines)
    terminal = use_terminal(monkeypatch)
    bars = choose_display("auto")
    assert not isinstance(bars, Lines)
    # A second fit of another thread must not draw over them.
    assert choose_display("auto") is None
    assert isinstance(choose_display(1), Lines)
    bars.close([make_headway()], 1.0)
    monkeypatch.setenv("TTY_INTERACTIVE", "0")  # rich's way to say that cursors cannot move
    assert isinstance(choose_display(1), Lines)
    monkeypatch.delenv("TTY_INTERACTIVE")

    def refuse(text):
        raise OSError("no space left")

    monkeypatch.setattr(terminal, "write", refuse)
    with pytest.raises(OSError, match="no space"):
        choose_display(1)
    terminal = use_terminal(monkeypatch)
    again = choose_display(1)  # whatever happened, the terminal is free again
    assert not isinstance(again, Lines)
    again.close([make_headway()], 1.0)


def test_lines_come_at_tenths_and_minutes(capsys):
    lines = Lines()

    def told(n_done, elapsed):
        lines.show([make_headway(0, n_done, 1000)], elapsed)
        return capsys.readouterr().err

    assert told(50, 0.5) == ""
    assert "5 % of 1,000 sweeps" in told(50, 1.0)  # the first second
    assert told(99, 2.0) == ""
    assert "10 % of" in told(100, 2.5)
    assert told(199, 62.0) == ""
    assert "19 % of" in told(199, 62.6)
    headway = make_headway(0, 1000, 1000)
    headway.end(70.0)
    lines.close([headway], 70.0)
    assert capsys.readouterr().err == (
        "fairmix: 100 % of 1,000 sweeps, 70 s, 5 clusters, log posterior -12.5\n"
    )
    lines.close([headway], 71.0)
    assert capsys.readouterr().err == ""


def test_a_line_tells_of_all_chains():
    one, other = make_headway(0, 50), make_headway(1, 20)
    other.advance(4.0, 1, 7, -20.0)
    assert describe([one, other, Headway(2, 40, 100)], 12.4) == (
        " 23 % of 300 sweeps, 12 s (draws and warm-up), 17 a second, about 14 s left, "
        "5 to 7 clusters, log posterior -20 to -12.5"
    )


def test_times_and_numbers_are_short():
    times = [0.0, 99.4, 99.6, 5900.0, 36000.0, 200_000.0, math.nan]
    assert [format_seconds(each) for each in times] == [
        "0 s", "99 s", "2 min", "98 min", "10.0 h", "2.3 d", "-",
    ]  # fmt: skip
    assert [format_number(each) for each in (1234.4, 9.97, 9.94, 0.0123)] == [
        "1234", "10", "9.9", "0.012",
    ]  # fmt: skip
