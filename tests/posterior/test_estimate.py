"""The estimate is the draw that brute force chooses."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from fairmix.posterior.estimate import LOSSES
from tests.monte_carlo import FALSE_ALARM
from tests.posterior.hand_made import make_posterior, random_draws
from tests.posterior.test_overlap import KNOWN


@pytest.mark.parametrize("loss", ["vi", "binder"])
@pytest.mark.parametrize("seed", range(5))
def test_the_estimate_is_the_draw_of_least_expected_loss(loss, seed):
    posterior = make_posterior(random_draws(np.random.default_rng(seed), 2, 15, 8, 4))
    draws = posterior.labels.reshape(-1, 8)
    losses = np.array([np.mean([KNOWN[loss](a, b) for b in draws]) for a in draws])
    estimate = posterior.point_estimate(loss)
    assert estimate.loss == loss
    assert estimate.labels.dtype == np.int64
    assert estimate.expected_loss == pytest.approx(losses.min())
    assert losses[estimate.chain * 15 + estimate.draw] == pytest.approx(losses.min())
    assert np.array_equal(estimate.labels, posterior.labels[estimate.chain, estimate.draw])
    assert estimate.n_clusters == posterior.n_clusters[estimate.chain, estimate.draw]


def test_variation_of_information_and_binder_differ():
    """Binder's loss opens a cluster for a row of its own sooner (Wade & Ghahramani 2018)."""
    whole, split = [0] * 8, [0] * 7 + [1]
    halves = [0] * 4 + [1] * 4
    posterior = make_posterior([[whole, split, halves]])
    chosen = {loss: posterior.point_estimate(loss).labels.tolist() for loss in KNOWN}
    for loss, known in KNOWN.items():
        losses = [np.mean([known(a, b) for b in posterior.labels[0]]) for a in (whole, split)]
        assert chosen[loss] == (whole, split)[int(np.argmin(losses))]
    assert chosen == {"vi": whole, "binder": split}


def test_map_and_last():
    log_posterior = np.zeros((2, 4))
    log_posterior[0, 2] = 1.0
    labels = random_draws(np.random.default_rng(0), 2, 4, 8, 3)
    posterior = make_posterior(labels, log_posterior)
    best, last = posterior.point_estimate("map"), posterior.point_estimate("last")
    assert (best.chain, best.draw) == (0, 2)
    assert (last.chain, last.draw) == (1, 3)
    assert np.isnan(best.expected_loss)
    assert np.isnan(last.expected_loss)


def test_a_random_draw_is_any_draw():
    posterior = make_posterior(random_draws(np.random.default_rng(0), 2, 3, 5, 3))
    rng = np.random.RandomState(0)
    drawn = [posterior.point_estimate("random", random_state=rng) for _ in range(3000)]
    counts = np.bincount([each.chain * 3 + each.draw for each in drawn], minlength=6)
    assert stats.chisquare(counts).pvalue > FALSE_ALARM
    one, again = (posterior.point_estimate("random", random_state=7) for _ in range(2))
    assert (one.chain, one.draw) == (again.chain, again.draw)


def test_the_estimate_needs_no_compiler():
    """A compiler that fails, or a cache that can't be written, must not cost a finished fit."""
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "import numpy as np\n"
        "from fairmix.posterior.pairs import compare_pairs\n"
        "print(compare_pairs(np.zeros((1, 2, 3), dtype=np.uint8)).distances.sum())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0.0"


def test_the_estimate_is_the_central_draw():
    centre = np.repeat([0, 1], 10)
    draws = []
    for k in range(6):
        draw = centre.copy()
        draw[k] = 1
        draws.append(draw)
    draws.insert(3, centre)
    estimate = make_posterior([draws]).point_estimate()
    assert (estimate.chain, estimate.draw) == (0, 3)


@pytest.mark.parametrize("n_most", [7, 10])
def test_large_input_is_thinned_evenly(monkeypatch, n_most):
    monkeypatch.setattr("fairmix.posterior.thinning.MAX_DRAWS", n_most)
    posterior = make_posterior(random_draws(np.random.default_rng(0), 3, 40, 7, 3))
    chosen = posterior.pairs.chains * 40 + posterior.pairs.draws
    assert len(chosen) == n_most
    assert set(np.diff(chosen)) <= {119 // (n_most - 1), 119 // (n_most - 1) + 1}
    estimate = posterior.point_estimate()
    assert estimate.chain * 40 + estimate.draw in chosen


def test_many_rows_mean_fewer_draws(monkeypatch):
    monkeypatch.setattr("fairmix.posterior.thinning.MAX_COMPARISONS", 3600 * 7)
    posterior = make_posterior(random_draws(np.random.default_rng(0), 3, 40, 7, 3))
    assert len(posterior.pairs.chains) == 60
    monkeypatch.setattr("fairmix.posterior.thinning.MAX_COMPARISONS", 1)
    assert len(make_posterior(posterior.labels).pairs.chains) == 50


def test_an_unknown_loss_is_an_error():
    posterior = make_posterior([[[0, 1]]])
    with pytest.raises(ValueError, match=r"loss must be one of 'vi', .* got 'VI'"):
        posterior.point_estimate("VI")
    for loss in LOSSES:
        assert posterior.point_estimate(loss).labels.tolist() == [0, 1]
