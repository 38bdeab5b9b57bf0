"""Particles are draws, as near to the draws as any so many draws can be."""

from itertools import combinations

import numpy as np
import pytest

from fairmix.posterior.particles import LEAST_DROP
from tests.posterior.hand_made import make_posterior, random_draws
from tests.posterior.test_overlap import variation_of_information

HALVES, STRIPES = np.repeat([0, 1], 20), np.tile([0, 1], 20)


def near(rng, centre, n_draws):
    """Give draws of a partition with some rows moved."""
    return np.where(rng.random((n_draws, len(centre))) < 0.03, 1 - centre, centre)


def two_arrangements(seed=0, n_draws=200, shares=(0.3, 0.3)):
    """Give chains that are in the second arrangement for a share of their draws, in any order."""
    rng = np.random.default_rng(seed)
    chains = []
    for share in shares:
        is_second = rng.random(n_draws) < share
        draws = near(rng, HALVES, n_draws)
        draws[is_second] = near(rng, STRIPES, is_second.sum())
        chains.append(draws)
    return np.stack(chains)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_no_other_draws_are_nearer(n, seed):
    posterior = make_posterior(random_draws(np.random.default_rng(seed), 2, 9, 8, 3))
    particles = posterior.particles(n)
    draws = posterior.labels.reshape(-1, 8)
    distances = np.array([[variation_of_information(a, b) for b in draws] for a in draws])
    losses = [distances[list(each)].min(axis=0).mean() for each in combinations(range(18), n)]
    assert particles.mean_distance == pytest.approx(min(losses))
    for k in range(n):
        draw = posterior.labels[particles.chains[k], particles.draws[k]]
        assert particles.labels[k].tolist() == draw.tolist()
    places = particles.chains * 9 + particles.draws
    nearest = distances[places].min(axis=0) + 1e-9 >= distances[places]
    at_least = (nearest & (nearest.sum(axis=0) == 1)).mean(axis=1)
    assert (particles.weights >= at_least - 1e-12).all()
    assert (particles.weights <= nearest.mean(axis=1) + 1e-12).all()
    assert particles.weights.sum() == pytest.approx(1)
    assert (np.diff(particles.weights) <= 0).all()
    assert particles.shares.mean(axis=1) == pytest.approx(particles.weights)
    assert particles.distances == pytest.approx(distances[np.ix_(places, places)])


def test_the_elbow_finds_two_arrangements():
    posterior = make_posterior(two_arrangements())
    particles = posterior.particles()
    assert len(particles) == 2
    assert variation_of_information(particles.labels[0], HALVES) < 0.3
    assert variation_of_information(particles.labels[1], STRIPES) < 0.3
    assert particles.are_weights_known
    assert particles.weights[0] == pytest.approx(0.7, abs=0.07)
    se = np.sqrt(particles.weights[0] * particles.weights[1] / 400)
    assert particles.weight_errors == pytest.approx([se, se], rel=0.3)
    assert np.allclose(particles.table()["weight"], particles.weights)
    assert "weights 7" in repr(particles)


def test_scatter_about_one_partition_is_one_arrangement():
    rng = np.random.default_rng(0)
    centre = rng.integers(4, size=300)
    labels = np.broadcast_to(centre, (2, 60, 300)).copy()
    is_moved = rng.random(labels.shape) < 0.15
    labels[is_moved] = rng.integers(4, size=is_moved.sum())
    posterior = make_posterior(labels)
    one, two = posterior.particles(1), posterior.particles(2)
    assert 1 - two.mean_distance / one.mean_distance < LEAST_DROP
    assert len(posterior.particles()) == 1
    assert "One arrangement stands for all draws: 4 clusters" in posterior.particles().describe()
    assert posterior.particles().are_weights_known


@pytest.mark.parametrize(
    ("shares", "n_draws"), [((0.0, 1.0), 200), ((0.2, 0.6), 200), ((0.3,), 200), ((0.3, 0.3), 99)]
)
def test_weights_are_unknown_unless_chains_agree_on_them(shares, n_draws):
    """Chains in different arrangements, in different shares; one chain; few draws."""
    posterior = make_posterior(two_arrangements(shares=shares, n_draws=n_draws))
    particles = posterior.particles()
    assert len(particles) == 2
    assert not particles.are_weights_known
    assert particles.table()["weight"].isna().all()
    assert "weights unknown" in repr(particles)
    words = particles.describe()
    assert "Their weights are unknown" in words
    assert f"A {', '.join(f'{share:.0%}' for share in particles.shares[0])}" in words


def test_the_table_has_the_figures_of_the_draws():
    labels = two_arrangements()
    log_posterior = np.random.default_rng(1).normal(size=labels.shape[:2])
    posterior = make_posterior(labels, log_posterior)
    table = posterior.particles(3).table()
    assert table.index.tolist() == ["A", "B", "C"]
    for _, row in table.iterrows():
        where = int(row["chain"]), int(row["draw"])
        assert row["n_clusters"] == posterior.n_clusters[where]
        assert row["log_posterior"] == log_posterior[where]
        assert row["fairness_gap"] == posterior.fairness_gap[where]
        assert row["balance"] == posterior.balance[where]
    assert table[["share of chain 0", "share of chain 1"]].sum().tolist() == pytest.approx([1, 1])


def test_usual_labels_are_without_scatter():
    posterior = make_posterior(two_arrangements())
    usual = posterior.particles().usual_labels
    assert variation_of_information(usual[0], HALVES) == pytest.approx(0, abs=1e-9)
    assert variation_of_information(usual[1], STRIPES) == pytest.approx(0, abs=1e-9)
    assert "20 of 40 rows are mostly elsewhere than in A" in posterior.particles().describe()


def test_usual_labels_are_those_of_most_draws_and_not_of_the_particle():
    labels = np.random.default_rng(0).random((2, 60, 100)) < np.repeat([0.15, 0.85], 50)
    particles = make_posterior(labels.astype(int)).particles(1)
    centre = np.repeat([0, 1], 50)
    assert variation_of_information(particles.labels[0], centre) > 0.3
    assert variation_of_information(particles.usual_labels[0], centre) == pytest.approx(0, abs=1e-9)


def test_particles_are_always_the_same():
    labels = two_arrangements()
    first, second = (make_posterior(labels).particles() for _ in range(2))
    assert first.draws.tolist() == second.draws.tolist()


def test_copies_of_a_draw_are_one_candidate():
    posterior = make_posterior([[HALVES] * 5 + [STRIPES] * 2])
    particles = posterior.particles(2)
    assert particles.mean_distance == 0
    assert particles.weights.tolist() == pytest.approx([5 / 7, 2 / 7])
    assert len(posterior.particles()) == 2
    assert len(make_posterior([[HALVES] * 5]).particles()) == 1
    with pytest.raises(ValueError, match=r"n = 3 particles, but there are only 2 different draws"):
        posterior.particles(3)


@pytest.mark.parametrize("n", [0, 27, 1.5])
def test_what_n_may_be(n):
    with pytest.raises((TypeError, ValueError), match=r"n must be an integer"):
        make_posterior([[HALVES, STRIPES]]).particles(n)


def test_many_rows_mean_fewer_draws(monkeypatch):
    monkeypatch.setattr("fairmix.posterior.thinning.MAX_COMPARISONS", 1)
    posterior = make_posterior(two_arrangements())
    particles = posterior.particles(2)
    assert particles.shares[0] * 25 == pytest.approx(np.round(particles.shares[0] * 25))
