"""Clusters are matched so that as many rows as possible are in the same cluster twice."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.cluster import contingency_matrix

from fairmix.posterior.matched import count_shared, match_clusters
from fairmix.sampler.recorder import canonical_labels


def random_labels(rng, n_rows, n_labels):
    return canonical_labels(rng.integers(n_labels, size=n_rows), n_labels).astype(np.uint8)


def rows_kept(shared, matched):
    return sum(shared[cluster, partner] for cluster, partner in enumerate(matched) if partner >= 0)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 20), st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_no_other_matching_keeps_more_rows(n_rows, n_labels, n_others, seed):
    rng = np.random.default_rng(seed)
    labels, reference = random_labels(rng, n_rows, n_labels), random_labels(rng, n_rows, n_others)
    shared = count_shared(labels, reference)
    matched = match_clusters(labels, reference)
    assert matched.shape == (labels.max() + 1,)
    partners = matched[matched >= 0]
    assert len(set(partners)) == len(partners)
    n_places = max(shared.shape)
    padded = np.zeros((n_places, n_places), dtype=int)
    padded[: shared.shape[0], : shared.shape[1]] = shared
    best = max(padded[range(n_places), each].sum() for each in permutations(range(n_places)))
    assert rows_kept(shared, matched) == best


def test_clusters_without_a_partner():
    labels = np.array([0, 0, 0, 1, 1, 2])
    assert match_clusters(labels, np.array([1, 1, 1, 0, 0, 0])).tolist() == [1, 0, -1]
    # What is left of the reference shares no row with cluster 1.
    labels, reference = np.array([0, 0, 0, 0, 1]), np.array([0, 0, 0, 1, 0])
    assert match_clusters(labels, reference).tolist() == [0, -1]


@pytest.mark.parametrize("block", [3, 2**16])
def test_shared_rows_equal_an_independent_count(monkeypatch, block):
    monkeypatch.setattr("fairmix.posterior.matched.BLOCK", block)
    rng = np.random.default_rng(0)
    labels, reference = random_labels(rng, 50, 4), random_labels(rng, 50, 7)
    assert np.array_equal(count_shared(labels, reference), contingency_matrix(labels, reference))


def test_labels_of_a_small_type_do_not_overflow():
    labels = np.arange(200, dtype=np.uint8)
    assert match_clusters(labels, labels[::-1]).tolist() == list(range(199, -1, -1))
