"""Sure cores against all subsets of the rows."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from fairmix.sampler.recorder import canonical_labels
from tests.posterior.hand_made import make_posterior, random_draws


def restricted(draw, rows):
    """Give a draw's partition of some rows, named by first appearance."""
    names = {}
    return tuple(names.setdefault(label, len(names)) for label in draw[list(rows)].tolist())


def joint_probability(draws, rows, labels):
    wanted = restricted(np.asarray(labels), range(len(rows)))
    return np.mean([restricted(draw, rows) == wanted for draw in draws])


def size_of_the_largest(draws, probability):
    """Try all subsets of the rows, the large ones first."""
    n_rows = draws.shape[1]
    for size in range(n_rows, 0, -1):
        for rows in combinations(range(n_rows), size):
            common = Counter(restricted(draw, rows) for draw in draws).most_common(1)[0][1]
            if common / len(draws) >= probability - 1e-12:
                return size
    return 0


@pytest.mark.parametrize("probability", [0.3, 0.5, 0.9])
@pytest.mark.parametrize("seed", range(8))
def test_a_core_is_as_probable_as_it_says_and_cannot_grow(seed, probability):
    posterior = make_posterior(random_draws(np.random.default_rng(seed), 2, 15, 8, 3))
    draws = posterior.labels.reshape(-1, 8)
    core = posterior.sure_core(probability)
    found = joint_probability(draws, core.rows, core.labels)
    assert core.probability == pytest.approx(found)
    assert found >= probability
    for row in set(range(8)) - set(core.rows):
        rows = [*core.rows, row]
        for place in range(9):
            assert joint_probability(draws, rows, [*core.labels, place]) < probability


def test_cores_are_hardly_ever_smaller_than_the_largest():
    """Greedy, from every row: it misses a row in few of these, and never two."""
    missed = []
    for seed in range(60):
        posterior = make_posterior(random_draws(np.random.default_rng(seed), 2, 15, 8, 3))
        largest = size_of_the_largest(posterior.labels.reshape(-1, 8), 0.4)
        missed.append(largest - len(posterior.sure_core(0.4).rows))
    print(Counter(missed))
    assert set(missed) <= {0, 1}
    assert sum(missed) <= 6


@pytest.mark.parametrize(("seed", "n_chains", "n_draws"), [(1, 2, 15), (0, 1, 6), (29, 1, 6)])
def test_row_probabilities_are_shares_of_the_core(seed, n_chains, n_draws):
    """With the last two, the core has rows in other clusters than the estimate has them."""
    draws = random_draws(np.random.default_rng(seed), n_chains, n_draws, 8, 3)
    posterior = make_posterior(draws)
    estimate = posterior.point_estimate().labels
    core = posterior.sure_core(0.3)
    assert (core.labels != estimate[core.rows]).any() == (seed != 1)
    own = estimate.copy()
    own[core.rows] = core.labels
    for row in range(8):
        mine = core.rows[core.labels == own[row]]
        if len(mine) == 0:
            assert np.isnan(core.row_probabilities[row])
            continue
        together = [np.mean(draw[mine] == draw[row]) for draw in posterior.labels.reshape(-1, 8)]
        assert core.row_probabilities[row] == pytest.approx(np.mean(together))


def test_a_core_has_the_numbers_of_the_estimate():
    """Two clusters, one row of which goes to and fro."""
    sure = np.repeat([0, 1], [6, 4])
    draws = [np.append(sure, where) for where in (0, 1, 0, 1, 0)]
    posterior = make_posterior([draws])
    core = posterior.sure_core(0.9)
    assert core.rows.tolist() == list(range(10))
    assert core.labels.tolist() == sure.tolist()
    assert core.probability == 1
    assert core.row_probabilities.tolist() == [1.0] * 10 + [0.6]
    assert repr(core) == ("<SureCore: 10 of 11 rows in 2 clusters, all at once in 100% of 5 draws>")
    assert len(posterior.sure_core(0.6).rows) == 11


def test_draws_that_say_nothing_leave_a_core_of_one_row():
    rng = np.random.default_rng(0)
    draws = [[canonical_labels(rng.permutation(12) // 3, 4) for _ in range(40)]]
    core = make_posterior(draws).sure_core(1.0)
    assert len(core.rows) <= 2
    assert core.probability == 1


def test_many_rows_mean_fewer_draws(monkeypatch):
    monkeypatch.setattr("fairmix.posterior.thinning.MAX_COMPARISONS", 1)
    monkeypatch.setattr("fairmix.posterior.core.MAX_COMPARISONS", 1)
    posterior = make_posterior(random_draws(np.random.default_rng(0), 2, 100, 8, 3))
    core = posterior.sure_core()
    assert core.n_draws == 50
    draws = posterior.labels[:, ::4].reshape(-1, 8)
    assert core.probability == joint_probability(draws, core.rows, core.labels)
