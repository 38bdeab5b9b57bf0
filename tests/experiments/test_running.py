"""Runs are kept part by part, go on where they ended, and say what went wrong."""

import contextlib
import json
import re
import signal

import pytest

from experiments import running
from experiments.page import show, tabulate
from experiments.pictures import make_panels
from experiments.protocol import FULL, QUICK, Claim, Experiment, Part
from experiments.running import Course, Results, as_plain, reproduce


def draw(rows):
    figure, axes = make_panels(["gap"])
    axes[0, 0].plot([row["gap"] for row in rows])
    return figure


class Made:
    """An experiment of three parts that notes what is run, and fails as told."""

    def __init__(self):
        self.ran = []
        self.errors = {}
        self.bound = 1.0

    def make(self, data, gap):
        self.ran.append(data)
        if data in self.errors:
            raise self.errors[data]
        return [{"data": data, "gap": gap}]

    @property
    def experiment(self):
        gaps = {"a": 0.1, "b": 0.2, "c": 0.3}
        return Experiment(
            number=1,
            title="Made & small",
            place="Table 1",
            about="What is run.",
            parts=lambda effort: [
                Part(data, lambda data=data, gap=gap: self.make(data, gap))
                for data, gap in gaps.items()
            ],
            by=("data",),
            figures=("gap",),
            draw=draw,
            claims=lambda rows: [
                Claim("Gaps are small.", all(row["gap"] < self.bound for row in rows))
            ],
            findings=lambda rows: [Claim("The paper is right.", False)],
            paper=({"data": "b", "gap": 0.25},),
        )


@pytest.fixture
def made(monkeypatch):
    made = Made()
    monkeypatch.setattr(running, "NAMES", ("made",))
    monkeypatch.setattr(running, "get_experiment", lambda name: made.experiment)
    return made


def run(folder, effort=FULL, **given):
    told = []
    return reproduce(["made"], effort, folder, told.append, **given), told


def test_a_run_goes_on_where_it_was_interrupted(made, tmp_path):
    made.errors["b"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    assert made.ran == ["a", "b"]
    assert not json.loads((tmp_path / "made.json").read_text())["is_whole"]
    made.errors.clear()
    assert run(tmp_path)[0] == []
    assert made.ran == ["a", "b", "b", "c"]
    assert [row["gap"] for row in Results("made", FULL, tmp_path).rows] == [0.1, 0.2, 0.3]
    assert run(tmp_path)[1] == []  # nothing is left
    assert made.ran == ["a", "b", "b", "c"]
    run(tmp_path, is_anew=True)
    assert made.ran[4:] == ["a", "b", "c"]


def test_draws_of_a_fit_that_was_interrupted_are_no_result(made, tmp_path, monkeypatch):
    plainly = made.make

    def make(data, gap):
        if data == "b":
            # As a fit does, which then gives the draws so far.
            with contextlib.suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        return plainly(data, gap)

    monkeypatch.setattr(made, "make", make)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    assert list(json.loads((tmp_path / "made.json").read_text())["parts"]) == ["a"]


def test_the_quick_form_is_made_anew(made, tmp_path):
    run(tmp_path, QUICK)
    run(tmp_path, QUICK)
    assert made.ran == ["a", "b", "c"] * 2


def test_results_of_another_effort_are_not_taken_up(made, tmp_path):
    run(tmp_path, QUICK)
    run(tmp_path)
    assert made.ran == ["a", "b", "c"] * 2


def test_a_part_that_failed_is_told_of_and_tried_again(made, tmp_path):
    made.errors["b"] = ValueError("no")
    problems, _ = run(tmp_path)
    assert problems == ["made: b failed: ValueError: no"]
    assert "ValueError: no" in (tmp_path / "index.html").read_text()
    made.errors.clear()
    assert run(tmp_path)[0] == []
    assert made.ran == ["a", "b", "c", "b"]


def test_a_claim_that_does_not_hold_is_a_problem(made, tmp_path):
    made.bound = 0.25
    assert run(tmp_path, QUICK)[0] == ["made: does not hold: Gaps are small."]


def test_parts_without_data_are_left_out_and_the_others_run(made, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "reason_missing", lambda data: "Bank <is> missing.")
    problems, told = run(tmp_path)
    assert (problems, made.ran) == ([], [])
    assert told == ["made, a: what needs this is left out. Bank <is> missing."]
    page = (tmp_path / "index.html").read_text()
    assert "Left out: a; b; c. Bank &lt;is&gt; missing." in page
    assert "of commit" not in page  # nothing was made
    monkeypatch.setattr(running, "reason_missing", lambda data: "")
    run(tmp_path)
    assert made.ran == ["a", "b", "c"]


def test_results_say_where_they_come_from(made, tmp_path):
    run(tmp_path)
    plain = json.loads((tmp_path / "made.json").read_text())
    assert plain["form"] == "full"
    assert plain["effort"]["seed"] == 0
    part = plain["parts"]["a"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", part["date"])
    assert part["source"]
    assert {"system", "processor", "fairmix", "numpy", "python"} <= set(part["machine"])


def test_the_page_tells_the_papers_figures_from_ours_and_asks_nobody(made, tmp_path):
    run(tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert "Made &amp; small" in page
    assert not re.search(r"<script|https?://|<link", page)
    assert page.count('class="paper"') == 1
    assert 'class="missed">The paper is right.' in page
    assert "This is the quick form" not in page
    run(tmp_path, QUICK)
    page = (tmp_path / "index.html").read_text()
    assert "This is the quick form" in page
    assert "The paper is right." not in page  # a few rows say nothing about it


def test_lines_of_a_table_are_means_beside_the_papers(made):
    rows = [{"data": "a", "gap": 0.1}, {"data": "b", "gap": 0.2}, {"data": "b", "gap": 0.4}]
    assert tabulate(made.experiment, rows) == [
        ["ours", "a", "0.100"],
        ["the paper's", "b", "0.250"],
        ["ours, mean of 2", "b", "0.300 ± 0.100"],
    ]
    assert show([None]) == ""
    assert show(["agree", "agree"]) == "agree"


def test_time_left_is_that_of_parts_like_those_that_were_made(made, tmp_path):
    first, second = (Results("made", FULL, tmp_path) for _ in range(2))
    second.name = "other"
    course = Course([(each, part) for each in (first, second) for part in each.missing_parts()])
    course.note("made", 10.0)
    assert (course.place, course.time_left) == ("[1/6]", "about 50 s left")
    course.note("made", 10.0)
    course.note("made", 10.0)
    course.note("other", 30.0)
    assert (course.place, course.time_left) == ("[4/6]", "about 60 s left")
    course.note("other", None)
    course.note("other", None)
    assert course.time_left == "done"


def test_values_are_plain():
    assert as_plain({"a": (float("nan"), 1 / 3), 2: True}) == {"a": [None, 0.333333], "2": True}
