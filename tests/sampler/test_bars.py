"""Bars say what is known of each chain, in any width."""

import io
import re

import pytest
from rich.console import Console

from fairmix.sampler.bars import make_table, picture_of
from fairmix.sampler.headway import Headway
from tests.sampler.test_headway import make_headway


def draw(headways, width, most_chains=None, elapsed=7.0):
    """Give the lines of a picture, without colours."""
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(make_table(headways, elapsed, width, most_chains))
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


@pytest.fixture
def headways():
    ended = make_headway(2, 100)
    ended.end(12.0)
    return [make_headway(0, 50), make_headway(1, 20), ended, Headway(3, 40, 100)]


def test_all_there_is_to_know(headways):
    lines = draw(headways, 100)
    assert len(lines) == 6
    assert lines[0].split() == [
        "chain", "phase", "sweeps/s", "time", "left", "clusters", "log", "posterior",
    ]  # fmt: skip
    cells = [re.sub("[━╸╺]", "", line).split() for line in lines[1:]]
    assert cells == [
        ["0", "50%", "draws", "10", "5", "s", "5", "-12.5"],
        ["1", "20%", "warm-up", "10", "8", "s", "5", "-12.5"],
        ["2", "100%", "done", "5", "-12.5"],
        ["3", "0%", "waiting"],
        ["all", "42%", "20", "12", "s"],
    ]
    lengths = [len(re.findall("[━╸]", line)) for line in lines[1:]]
    assert lengths[0] == pytest.approx(lengths[2] / 2, abs=1)
    assert lengths[3] == 0


def test_when_all_have_ended_times_are_those_taken(headways):
    headways = headways[:3]
    headways[1].end(5.0)
    headways[0].end(6.0)
    lines = draw(headways, 100, elapsed=13.2)
    assert "time taken" in lines[0]
    assert [re.search(r"\d+ s", line)[0] for line in lines[1:]] == ["6 s", "5 s", "12 s", "13 s"]
    assert "stopped" in lines[1]


@pytest.mark.parametrize("width", [32, 40, 59, 60, 70, 83, 84, 100, 200])
def test_no_line_is_too_long_or_cut(headways, width):
    headways[1].advance(1e6, 20, 12, -123456.78)
    lines = draw(headways, width)
    # A terminal writes ^C at the end of the last line; if that broke it, all would shift.
    assert max(map(len, lines)) <= width - 2
    assert "…" not in "".join(lines)
    assert {"0", "1", "2", "3", "all"} <= {line.split()[0] for line in lines}
    for number in ("5", "12"):
        assert any(number in line.split() for line in lines)


def test_one_chain_has_one_line():
    assert len(draw([make_headway()], 100)) == 2


def test_chains_that_run_come_first_if_there_is_no_room_for_all(headways):
    lines = draw(headways, 100, most_chains=2)
    assert [line.split()[0] for line in lines[1:]] == ["0", "1", "all"]
    lines = draw(headways, 100, most_chains=3)
    assert [line.split()[0] for line in lines[1:]] == ["0", "1", "3", "all"]
    assert "42%" in lines[-1]


def test_pictures_in_notebooks_have_no_control_characters(headways):
    picture = picture_of(make_table(headways, 7.0, 100))
    assert set(picture) == {"text/plain", "text/html"}
    for content in picture.values():
        assert "warm-up" in content
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", content)
    assert "<pre" in picture["text/html"]
