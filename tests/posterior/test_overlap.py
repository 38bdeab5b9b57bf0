"""Distances between partitions equal those of scikit-learn, however shared rows are counted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score, pair_confusion_matrix, rand_score

from fairmix.posterior.overlap import distances_between, distances_to
from fairmix.sampler.recorder import canonical_labels


def entropy(labels):
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return -np.sum(shares * np.log2(shares))


def variation_of_information(a, b):
    return entropy(a) + entropy(b) - 2 * mutual_info_score(a, b) / np.log(2)


def binder_loss(a, b):
    confusion = pair_confusion_matrix(a, b)
    loss = (confusion[0, 1] + confusion[1, 0]) / max(confusion.sum(), 1)
    assert len(a) == 1 or loss == pytest.approx(1 - rand_score(a, b))
    return loss


KNOWN = {"vi": variation_of_information, "binder": binder_loss}


def check_distances(n_partitions, n_rows, n_labels, seed):
    rng = np.random.default_rng(seed)
    labels = np.stack(
        [
            canonical_labels(rng.integers(n_labels, size=n_rows), n_labels)
            for _ in range(n_partitions)
        ]
    ).astype(np.uint8)
    for loss, known in KNOWN.items():
        expected = np.array([[known(a, b) for b in labels] for a in labels])
        found = distances_between(labels, loss)
        assert found == pytest.approx(expected, abs=1e-9)
        assert (found >= 0).all()
        assert distances_to(labels[None], labels[0], loss) == pytest.approx(expected[:1], abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 12), st.integers(1, 15), st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_distances_equal_independent_implementations(n_partitions, n_rows, n_labels, seed):
    check_distances(n_partitions, n_rows, n_labels, seed)


@pytest.mark.parametrize("max_cells", [0, 1000])
@pytest.mark.parametrize("block", [7, 25, 1000])
def test_distances_do_not_depend_on_the_way_of_counting(monkeypatch, max_cells, block):
    """Blocks of one partition or several, rows in one part or several; a table or runs."""
    monkeypatch.setattr("fairmix.posterior.overlap.MAX_CELLS_PER_ROW", max_cells)
    monkeypatch.setattr("fairmix.posterior.overlap.BLOCK", block)
    check_distances(n_partitions=9, n_rows=12, n_labels=5, seed=0)
