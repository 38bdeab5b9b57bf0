import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from fairmix.point_estimate import expected_information, least_expected_information
from fairmix.posterior import canonical_labels


def entropy(labels):
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return -np.sum(shares * np.log2(shares))


def variation_of_information(a, b):
    return entropy(a) + entropy(b) - 2 * mutual_info_score(a, b) / np.log(2)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 12), st.integers(1, 15), st.integers(0, 2**32 - 1))
def test_losses_equal_an_independent_implementation(n_partitions, n_rows, seed):
    rng = np.random.default_rng(seed)
    labels = np.stack(
        [canonical_labels(rng.integers(4, size=n_rows), 4) for _ in range(n_partitions)]
    ).astype(np.uint8)
    expected = [np.mean([variation_of_information(a, b) for b in labels]) for a in labels]
    assert expected_information(labels) == pytest.approx(np.array(expected), abs=1e-9)


def test_the_estimate_is_the_central_draw():
    centre = np.repeat([0, 1], 10)
    draws = []
    for k in range(6):
        draw = centre.copy()
        draw[k] = 1
        draws.append(draw)
    draws.insert(3, centre)
    labels = np.array(draws, dtype=np.uint8)[None]
    assert least_expected_information(labels) == (0, 3)


def test_large_input_is_thinned(monkeypatch):
    monkeypatch.setattr("fairmix.point_estimate.MAX_DRAWS", 10)
    labels = np.random.default_rng(0).integers(3, size=(3, 40, 7)).astype(np.uint8)
    chain, draw = least_expected_information(labels)
    assert 0 <= chain < 3
    assert 0 <= draw < 40


def test_canonical_labels():
    labels = np.array([7, 7, 2, 2, 2, 5, 0, 0])
    assert canonical_labels(labels, 9).tolist() == [1, 1, 0, 0, 0, 3, 2, 2]
