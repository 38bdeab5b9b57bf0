"""Probabilities of clusters and of being together equal counts, draw by draw."""

import numpy as np
import pytest

from fairmix.posterior.matched import match_clusters
from tests.posterior.hand_made import make_posterior, random_draws


@pytest.fixture
def posterior():
    return make_posterior(random_draws(np.random.default_rng(0), 2, 30, 8, 3))


def draws_of(posterior):
    return posterior.labels.reshape(-1, posterior.labels.shape[2])


@pytest.mark.parametrize("max_indicators", [1, 100, 2**24])
def test_similarity_is_the_share_of_draws(posterior, monkeypatch, max_indicators):
    monkeypatch.setattr("fairmix.posterior.similarity.MAX_INDICATORS", max_indicators)
    expected = np.mean([draw[:, None] == draw for draw in draws_of(posterior)], axis=0)
    assert posterior.similarity() == pytest.approx(expected)
    rows = [5, 0, 3]
    assert posterior.similarity(rows=rows) == pytest.approx(expected[np.ix_(rows, rows)])


def test_similarity_of_many_draws_is_that_of_every_so_many(posterior, monkeypatch):
    monkeypatch.setattr("fairmix.posterior.thinning.FEWEST_DRAWS", 20)
    monkeypatch.setattr("fairmix.posterior.thinning.MAX_COMPARISONS", 20 * 64)
    thinned = posterior.labels[:, ::3].reshape(-1, 8)
    expected = np.mean([draw[:, None] == draw for draw in thinned], axis=0)
    assert posterior.similarity() == pytest.approx(expected)


def test_what_rows_may_be(posterior, monkeypatch):
    with pytest.raises(ValueError, match=r"rows has 8, but rows are numbered from 0 to 7"):
        posterior.similarity(rows=[0, 8])
    with pytest.raises(ValueError, match=r"rows must be a list of rows, .* got \[0\.5\]"):
        posterior.similarity(rows=[0.5])
    monkeypatch.setattr("fairmix.posterior.similarity.MAX_ROWS", 7)
    with pytest.raises(ValueError, match=r"all 8 rows.*pass rows=, at most 7 of them"):
        posterior.similarity()
    with pytest.raises(ValueError, match=r"rows has 8 rows; pass at most 7"):
        posterior.similarity(rows=range(8))
    assert posterior.similarity(rows=range(7)).shape == (7, 7)


def test_probabilities_are_shares_of_draws(posterior):
    labels = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    expected = np.zeros((8, 3))
    for draw in draws_of(posterior):
        partners = match_clusters(draw, labels)
        for row, cluster in enumerate(draw):
            if partners[cluster] >= 0:
                expected[row, partners[cluster]] += 1 / 60
    assert posterior.probabilities(labels) == pytest.approx(expected)
    named = np.array(["a", "b", "c"])[labels]
    assert posterior.probabilities(named) == pytest.approx(expected)


def test_probabilities_do_not_depend_on_the_names_of_clusters(posterior):
    """A draw whose clusters are named otherwise is the same draw."""
    estimate = posterior.point_estimate()
    expected = posterior.probabilities(estimate)
    assert posterior.probabilities() == pytest.approx(expected)
    swapped = posterior.probabilities(1 - np.minimum(estimate.labels, 1))
    merged = posterior.probabilities(np.minimum(estimate.labels, 1))
    assert swapped[:, ::-1] == pytest.approx(merged)


def test_rows_of_clusters_without_a_partner_count_to_none():
    posterior = make_posterior([[[0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0]]])
    assert posterior.probabilities([0] * 6)[:, 0].tolist() == [1, 1, 1, 1, 0.5, 0.5]


def test_labels_of_another_table_are_an_error(posterior):
    with pytest.raises(ValueError, match=r"labels has 3 entries, but there are 8 rows"):
        posterior.probabilities([0, 1, 2])
