"""Gaps by attribute are those that the metrics give, draw by draw."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from fairmix import Posterior
from fairmix.metrics import fairness_gap
from fairmix.posterior import attributes
from fairmix.posterior.attributes import gaps_of_attributes, measured_attributes
from fairmix.posterior.training import Training
from fairmix.tables.groups import read_groups
from fairmix.tables.rare_groups import merge_rare_groups
from tests.sampler.stub import N_ROWS, StubChain, do_nothing, make_recorder

PEOPLE = pd.DataFrame({"sex": list("fmmmmmffmmmf"), "age": list("oyyoymmymoyy")})
CROSSED = read_groups(PEOPLE, N_ROWS)


def make_posterior(groups, gap_kind="paper", n_kept=20):
    """Give the draws of two stubs, with groups of theirs."""
    recorder = make_recorder(2, n_kept)
    for number in range(2):
        chain = StubChain(number, do_nothing)
        recorder.open(number, chain).write(chain.run(n_kept))
    nothing = SimpleNamespace()
    training = Training(nothing, nothing, groups, nothing, gap_kind)
    return Posterior.from_record(recorder.finish([0, 1], n_kept), training)


@pytest.mark.parametrize("kind", ["paper", "mean", "worst"])
def test_gaps_are_those_of_the_metrics(kind):
    posterior = make_posterior(CROSSED, kind)
    gaps, thin = gaps_of_attributes(posterior.labels, CROSSED, kind)
    assert thin == 1
    assert list(gaps) == ["sex", "age"]
    for name, values in gaps.items():
        expected = [
            [fairness_gap(draw, PEOPLE[name], kind=kind) for draw in chain]
            for chain in posterior.labels
        ]
        assert np.array_equal(values, expected)
        summary = posterior.summary()
        assert summary.loc[f"gap by {name}", "mean"] == pytest.approx(np.mean(expected), abs=1e-4)


def test_gaps_by_hand():
    """In cluster 0 are 2 of 4 f and 3 of 8 m; 1 of 3 m, 2 of 3 o and 2 of 6 y."""
    labels = np.array([0, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 1], dtype=np.uint8)
    gaps, _ = gaps_of_attributes(labels[None, None], CROSSED, "paper")
    assert gaps["sex"].item() == pytest.approx(abs(2 / 4 - 3 / 8))
    # Among equally small groups the first is the one to compare with.
    assert gaps["age"].item() == pytest.approx((abs(1 / 3 - 2 / 3) + abs(1 / 3 - 2 / 6)) / 2)


def test_parts_make_no_difference(monkeypatch):
    posterior = make_posterior(CROSSED)
    whole, _ = gaps_of_attributes(posterior.labels, CROSSED, "paper")
    monkeypatch.setattr(attributes, "BLOCK", 7 * N_ROWS)
    parts, _ = gaps_of_attributes(posterior.labels, CROSSED, "paper")
    assert all(np.array_equal(parts[name], whole[name]) for name in whole)


def test_many_labels_are_thinned_and_that_is_said(monkeypatch):
    posterior = make_posterior(CROSSED)
    whole, _ = gaps_of_attributes(posterior.labels, CROSSED, "paper")
    monkeypatch.setattr(attributes, "MIN_DRAWS", 6)
    monkeypatch.setattr(attributes, "MAX_LABELS", 1)
    thinned, thin = gaps_of_attributes(posterior.labels, CROSSED, "paper")
    assert thin == 3
    assert np.array_equal(thinned["age"], whole["age"][:, 2::3])
    assert "gap by age (1 draw in 3)" in posterior.summary().index
    monkeypatch.setattr(attributes, "MIN_DRAWS", 100)  # all of fewer
    assert gaps_of_attributes(posterior.labels, CROSSED, "paper")[1] == 1


def test_which_attributes_are_measured():
    ages = read_groups(PEOPLE[["age"]], N_ROWS)
    assert measured_attributes(CROSSED) == ["sex", "age"]
    assert measured_attributes(ages) == []  # it is the fairness gap
    assert measured_attributes(merge_rare_groups(ages, 4)) == ["age"]
    assert measured_attributes(read_groups(None, N_ROWS)) == []
    twice = PEOPLE[["sex"]].assign(again=PEOPLE["sex"])  # crossed, these are two groups as well
    assert measured_attributes(read_groups(twice, N_ROWS)) == ["sex", "again"]


def test_a_summary_of_draws_alone_or_of_one_attribute_has_no_such_rows():
    for posterior in (
        make_posterior(read_groups(PEOPLE["sex"], N_ROWS)),
        Posterior(**vars(make_posterior(CROSSED)) | {"training": None}),
    ):
        assert not any(name.startswith("gap by") for name in posterior.summary().index)


def test_rare_groups_that_were_put_together_are_measured_apart():
    merged = merge_rare_groups(read_groups(PEOPLE["age"], N_ROWS), 4)
    posterior = make_posterior(merged)
    means = [fairness_gap(draw, PEOPLE["age"]) for chain in posterior.labels for draw in chain]
    assert posterior.summary().loc["gap by age", "mean"] == pytest.approx(np.mean(means), abs=1e-4)
