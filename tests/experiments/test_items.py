"""The quick form of each experiment, and its claims."""

import json
import os
import re
from pathlib import Path

import pytest

from experiments.fits import is_within_bound
from experiments.items import NAMES, get_experiment
from experiments.page import tabulate
from experiments.protocol import QUICK, rows_of, values_of
from experiments.running import as_plain

#: What is packaged, or made.
ALWAYS_THERE = (None, "adult")
ROOT = Path(__file__).parents[2]


#: Figures that no run may give, where the largest gap of the draws is not what a claim is about.
BREAKING = {
    "toy": {"n_clusters": 4},
    "number_of_clusters": {"log_posterior": 0.0},
    "likelihood_of_new": {"gap": 0.1},
    "components_prior": {"mean_n_components": 5.0},
    "autocorrelation": {"effective draws of K": 1.0},
    "traces": {"NLL at the end": 1e9},
    "four_starts": {"log posterior, range of chains": 1.0},
    "several_attributes": {"gap by sex": 0.5},
    "new_rows": {"gap": 0.5, "log score": 0.0},
}


def parts_at_hand(experiment):
    """Give the parts whose data is there; nothing is downloaded."""
    has_data = bool(os.environ.get("FAIRMIX_DATA"))
    return [part for part in experiment.parts(QUICK) if has_data or part.data in ALWAYS_THERE]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_claims_hold_and_can_fail(name):
    experiment = get_experiment(name)
    parts = parts_at_hand(experiment)
    if not parts:
        pytest.skip("FAIRMIX_DATA does not name a folder with the datasets")
    rows = json.loads(json.dumps(as_plain(rows_of(parts))))
    claims = experiment.claims(rows)
    assert claims
    assert [claim.sentence for claim in claims if not claim.holds] == []
    for claim in experiment.findings(rows):
        assert claim.sentence
    assert experiment.draw(rows).axes
    assert len(tabulate(experiment, rows)) > len(experiment.paper)
    for column in experiment.by + experiment.figures:
        assert values_of(rows, column), f"no row has {column}"
    wrong = BREAKING.get(name, {"largest_gap": 1.1})
    broken = [row | {figure: wrong[figure] for figure in wrong if figure in row} for row in rows]
    assert not all(claim.holds for claim in experiment.claims(broken))


def test_every_script_is_an_experiment():
    scripts = {path.stem for path in (ROOT / "experiments" / "items").glob("[!_]*.py")}
    assert scripts == set(NAMES)
    page = (ROOT / "docs" / "paper" / "experiments.md").read_text()
    assert re.findall(r"^\| `(\w+)`", page, re.MULTILINE) == list(NAMES)
    numbers = [get_experiment(name).number for name in NAMES]
    assert numbers == list(range(1, len(NAMES) + 1))


@pytest.mark.parametrize("name", NAMES)
def test_the_papers_figures_have_columns(name):
    experiment = get_experiment(name)
    for row in experiment.paper:
        assert set(row) <= {*experiment.by, *experiment.figures, "data"}
    for part in experiment.parts(QUICK):
        assert part.name


def test_the_same_seed_gives_the_same_rows():
    part = next(
        part
        for part in get_experiment("components_prior").parts(QUICK)
        if part.data in ALWAYS_THERE
    )
    first, second = (
        [{name: value for name, value in row.items() if name != "seconds"} for row in part.make()]
        for _ in range(2)
    )
    assert as_plain(first) == as_plain(second)


def test_a_gap_above_its_bound_is_seen():
    assert is_within_bound({"largest_gap": 0.05, "gap_bound": 0.05})
    assert not is_within_bound({"largest_gap": 0.06, "gap_bound": 0.05})
