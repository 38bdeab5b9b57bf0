"""What differs between two partitions, in words."""

import numpy as np
import pandas as pd
import pytest

from fairmix.families.choice import choose_family
from fairmix.model.problem import read_table
from fairmix.posterior.differences import tell_difference
from fairmix.posterior.training import Training
from fairmix.tables.frames import open_columns
from fairmix.tables.groups import Groups

ONE = np.repeat([0, 1, 2], [20, 15, 5])


@pytest.fixture(scope="module")
def training():
    """Rows 15 to 19 are older, and all of them are students."""
    rng = np.random.default_rng(0)
    age = rng.normal(30, 1, size=40)
    age[15:20] = 50
    job = np.where(np.arange(40) % 4 == 0, "clerks", "worker").astype(object)
    job[15:20] = "student"
    frame = pd.DataFrame({"age": age, "job": job, "noise": rng.normal(size=40)})
    family = choose_family("auto", open_columns(frame))
    schema, table = read_table(frame, family)
    return Training(schema, table, Groups(["all"], np.zeros(40, dtype=np.int64)), family)


def test_the_same_partition():
    names = np.array([2, 0, 1])
    assert tell_difference(ONE, names[ONE], "B") == [
        "In most of the draws of B, each row is where it is in most of those of A."
    ]


def test_rows_that_move_are_told_by_their_features(training):
    other = ONE.copy()
    other[15:20] = 1
    renamed = np.array([1, 2, 0])[other]
    assert tell_difference(ONE, renamed, "B")[1:] == [
        "- 5 of the 20 rows of cluster 0 are in cluster 1."
    ]
    first, move = tell_difference(ONE, renamed, "B", training)
    assert first.startswith("5 of 40 rows are mostly elsewhere than in A")
    age = training.values()[:, 0]
    assert age[15:20] == pytest.approx([50] * 5)
    assert move == (
        "- 5 of the 20 rows of cluster 0 are in cluster 1: "
        f"mean age 50 (of the others there {age[:15].mean():.3g}), "
        "job student 100% (of the others there 0%)."
    )


def test_a_whole_cluster_that_moves_is_compared_with_all_rows(training):
    reference = ONE.copy()
    reference[15:20], reference[35:] = 2, 1
    other = np.where(reference == 2, 0, reference)
    first, move, gone = tell_difference(reference, other, "B", training)
    assert first.startswith("5 of 40")
    assert move == (
        "- 5 of the 5 rows of cluster 2 are in cluster 0: job student 100% (of all rows 12%), "
        f"mean age 50 (of all rows {training.values()[:, 0].mean():.3g})."
    )
    assert gone == "- B has no cluster 2."


def test_a_new_cluster_and_many_moves():
    reference = np.repeat([0, 1], [30, 10])
    labels = reference.copy()
    labels[:12] = [2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 6]
    sentences = tell_difference(reference, labels, "C")
    assert sentences[1] == "- 3 of the 30 rows of cluster 0 are in a cluster that A does not have."
    assert sentences[-1] == "- 1 more rows make smaller moves."
    assert len(sentences) == 6


def test_features_that_do_not_stand_out_are_not_told(training):
    other = ONE.copy()
    other[[20, 24, 25, 26, 27]] = 0
    _, move = tell_difference(ONE, other, "B", training)
    assert move.startswith("- 5 of the 15 rows of cluster 1 are in cluster 0")
    assert "job" not in move
    assert "age" not in move
