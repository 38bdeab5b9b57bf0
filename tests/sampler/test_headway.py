"""How far, how fast, how long."""

import math

import pytest

from fairmix.sampler.headway import HORIZON, Headway, seconds_left


def make_headway(number=0, n_done=0, n_sweeps=100, pace=10.0):
    headway = Headway(number, 40, n_sweeps)
    headway.start(0.0)
    headway.sweep(1.0)
    if n_done:
        headway.advance(1.0 + n_done / pace, n_done, 5, -12.5)
    return headway


def test_phases():
    headway = Headway(3, 40, 100)
    seen = [headway.phase]
    headway.start(0.0)
    seen.append(headway.phase)
    headway.sweep(2.0)
    for n_sweeps in (39, 1, 60):
        seen.append(headway.phase)
        headway.advance(3.0, n_sweeps, 5, -1.0)
    headway.end(4.0)
    assert [*seen, headway.phase] == ["waiting", "start", "warm-up", "warm-up", "draws", "done"]
    assert headway.seconds_taken == 4.0
    stopped = make_headway(n_done=99)
    stopped.end(20.0)
    assert stopped.phase == "stopped"
    assert stopped.seconds_left == 0.0


def test_a_chain_without_warm_up_draws_at_once():
    headway = Headway(0, 0, 10)
    headway.sweep(0.0)
    assert headway.phase == "draws"


def test_the_pace_is_that_of_late():
    headway = Headway(0, 0, 1000)
    headway.sweep(0.0)
    headway.advance(10.0, 100, 5, 0.0)  # the search for a start is not in it
    assert headway.sweeps_per_second == pytest.approx(10.0)
    assert headway.seconds_left == pytest.approx(90.0)
    headway.advance(11.0, 100, 5, 0.0)
    weight = math.exp(-1.0 / HORIZON)
    assert headway.sweeps_per_second == pytest.approx((100 * weight + 100) / (10 * weight + 1))
    for second in range(12, 62):
        headway.advance(float(second), 2, 5, 0.0)
    assert headway.sweeps_per_second == pytest.approx(2.0, rel=0.1)


def test_a_chain_that_goes_on_has_its_sweeps_but_no_pace():
    headway = Headway(0, 40, 100)
    headway.sweep(0.0, 60)
    assert (headway.phase, headway.n_done) == ("draws", 60)
    assert math.isnan(headway.seconds_left)
    headway.advance(1.0, 4, 5, 0.0)
    assert headway.seconds_left == pytest.approx(9.0)


def test_time_left_of_all_chains():
    one, other, waiting = make_headway(0, 50), make_headway(1, 50), Headway(2, 40, 100)
    assert seconds_left([one]) == pytest.approx(5.0)
    assert seconds_left([one, other]) == pytest.approx(5.0)
    # 5 + 5 + 10 seconds of work in two threads, but 10 of them in one.
    assert seconds_left([one, other, waiting]) == pytest.approx(10.0)
    one.end(9.0)
    assert seconds_left([one, other, waiting]) == pytest.approx(15.0)
    assert math.isnan(seconds_left([waiting]))
    for headway in (other, waiting):
        headway.end(9.0)
    assert seconds_left([one, other, waiting]) == 0.0
