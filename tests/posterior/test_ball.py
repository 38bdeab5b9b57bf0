"""Credible balls equal what a search through all draws finds."""

import numpy as np
import pytest

from tests.posterior.hand_made import make_posterior, random_draws
from tests.posterior.test_overlap import variation_of_information


def different(draws):
    return {tuple(draw) for draw in np.asarray(draws).tolist()}


@pytest.mark.parametrize("level", [0.3, 0.8, 0.95, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_the_ball_equals_a_search_through_all_draws(level, seed):
    posterior = make_posterior(random_draws(np.random.default_rng(seed), 2, 20, 8, 3))
    ball = posterior.credible_ball(level)
    draws = posterior.labels.reshape(-1, 8)
    centre = posterior.point_estimate().labels
    assert ball.centre.tolist() == centre.tolist()
    distances = np.round([variation_of_information(centre, draw) for draw in draws], 9)
    radius = min(r for r in distances if np.mean(distances <= r) >= level)
    assert ball.radius == pytest.approx(radius, abs=1e-8)
    is_inside = distances <= radius
    assert ball.share == pytest.approx(is_inside.mean())
    assert ball.share >= level
    assert different(ball.horizontal) == different(draws[distances == radius])
    n_clusters = draws.max(axis=1) + 1
    for found, wanted in (
        (ball.upper_vertical, n_clusters[is_inside].min()),
        (ball.lower_vertical, n_clusters[is_inside].max()),
    ):
        candidates = is_inside & (n_clusters == wanted)
        at_rim = candidates & (distances == distances[candidates].max())
        assert different(found) == different(draws[at_rim])
        assert len(found) == len(different(found))


def test_a_level_is_reached_exactly():
    """95 of 100 draws are 95 %, and 7 are 7 %, whatever floating point makes of that."""
    posterior = make_posterior([[[0, 0, 0, 0]] * 95 + [[0, 0, 1, 1]] * 5])
    assert posterior.credible_ball(0.95).radius == 0
    assert posterior.credible_ball(0.95).share == 0.95
    assert posterior.credible_ball(0.951).radius == 1
    posterior = make_posterior([[[0, 0, 0, 0]] * 93 + [[0, 0, 1, 1]] * 7])
    assert posterior.credible_ball(0.07, [0, 0, 1, 1]).radius == 0


def test_another_centre():
    posterior = make_posterior([[[0, 0, 0, 0]] * 5])
    ball = posterior.credible_ball(estimate=["a", "a", "b", "b"])
    assert (ball.radius, ball.share) == (1, 1)
    assert ball.centre.tolist() == [0, 0, 1, 1]
    assert "100% of the draws are within 1.00 bits of 2 clusters; they have 1 to 1" in repr(ball)


@pytest.mark.parametrize("level", [0, 1.01, "much", True])
def test_a_level_is_a_probability(level):
    with pytest.raises((TypeError, ValueError), match=r"level must be a probability"):
        make_posterior([[[0, 1]]]).credible_ball(level)
