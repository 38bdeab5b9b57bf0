"""With parameters instantiated (Algorithm 8), every move has the law of the collapsed sampler.

The family is the Gaussian with its conjugate prior, so the posterior is known by
enumeration, but the sampler sees only its density and its prior.
"""

import numpy as np
import pytest
from scipy.special import digamma

from tests.exact.enumeration import enumerate_states
from tests.exact.problems import CAPPED_PROBLEMS, FREE_PROBLEMS, LARGER_PROBLEMS, PROBLEMS
from tests.exact.test_single_steps import (
    DEALS,
    MOVES,
    N_DRAWS,
    check_anchor_swaps,
    check_deals,
    check_extra_move,
    check_mask_changes,
    check_move,
)
from tests.exact.test_sweep import check_sweep
from tests.monte_carlo import assert_mean
from tests.sampler.test_invariants import check_draw
from tests.tiny import make_chain, only
from tests.twins import InstantiatedGaussian

TWIN = InstantiatedGaussian()
SINGLE = [(move, name) for move in MOVES for name in ("equal, m=1", "r=2, m=2")] + [
    ("gibbs", "mfm"),
    ("gibbs", "three groups"),
    ("follower swap", "three groups"),
]


def test_draws():
    """A draw tells the log posterior at its parameters, and slices adapt in a warm-up only."""
    problem = PROBLEMS["r=2, m=2"]
    chain = make_chain(problem, next(iter(enumerate_states(problem))), seed=1, family=TWIN)
    widths = chain.likelihood.widths.copy()
    for power in (1.0, 0.3):
        chain.likelihood.power[0] = power
        for _ in range(20):
            check_draw(chain, chain.run(1))
    assert np.array_equal(chain.likelihood.widths, widths)
    chain.heat(1.0)
    chain.run(1)
    assert np.all(chain.likelihood.widths != widths)


def test_parameters_follow_their_posterior_given_the_partition():
    """Normal-gamma posteriors; partitions alone would not tell if parameters hardly moved."""
    start = ((0, 0, 0, 1, 1), (), frozenset(), ())
    chain = make_chain(PROBLEMS["mfm"], start, seed=1, family=TWIN, **only())
    rows, n_columns = chain.likelihood.rows, chain.likelihood.rows.shape[1]
    found = [[], []]
    for _ in range(N_DRAWS):
        chain.run(1)
        for label in range(2):
            found[label].append(chain.likelihood.parameters[label].copy())
    for label in range(2):
        own = rows[chain.row_labels == label]
        count, total = len(own), own.sum(axis=0)
        centre = total / (count + 1)
        shape = TWIN.shape + count / 2
        rate = TWIN.rate + (np.sum(own**2, axis=0) - total * centre) / 2
        means, log_precisions = np.split(np.array(found[label]), [n_columns], axis=1)
        spread = np.exp(log_precisions) * (means - centre) ** 2
        expected = [centre, digamma(shape) - np.log(rate), np.full(n_columns, 1 / (count + 1))]
        assert_mean(np.stack([means, log_precisions, spread], axis=1), np.array(expected))


@pytest.mark.parametrize(("move", "name"), SINGLE)
def test_move_alone(move, name):
    # Given parameters few joint proposals are accepted: ten a draw.
    more = {"joint_proposals": 10} if move == "joint" else {}
    check_move(PROBLEMS[name], move, family=TWIN, **more)


@pytest.mark.parametrize("name", ["mfm", "equal", "r=2, m=2", "four and six, m=1", "cap, m=1"])
def test_split_merge_alone(name):
    problem = (PROBLEMS | LARGER_PROBLEMS | CAPPED_PROBLEMS)[name]
    check_deals(problem, only(split_merge_proposals=30), family=TWIN)


@pytest.mark.parametrize("move", list(DEALS))
@pytest.mark.parametrize("name", ["equal, m=1", "r=2, m=2", "five and five"])
def test_re_deals_alone(name, move):
    problem = (PROBLEMS | LARGER_PROBLEMS)[name]
    check_deals(problem, DEALS[move], n_clusters_stays=True, family=TWIN)


def test_anchor_swaps_mask_changes_and_extra_seats_alone():
    check_anchor_swaps(PROBLEMS["r=2, m=2"], reach=1000, family=TWIN)
    check_mask_changes(PROBLEMS["equal, m=1"], price=0.5, family=TWIN)
    check_extra_move(FREE_PROBLEMS["free, r=2, m=1"], family=TWIN)


@pytest.mark.parametrize(
    ("step", "name"),
    [
        ("separate", "equal, m=1"),
        ("joint", "r=2, m=2"),
        ("all moves", "r=2, m=2"),
        ("all moves", "three groups"),
        ("all moves", "mfm"),
        ("all moves", "free, r=2, m=1"),
        ("all moves", "cap, three groups"),
    ],
)
def test_sweep_follows_the_posterior(step, name):
    problem = (PROBLEMS | FREE_PROBLEMS | CAPPED_PROBLEMS)[name]
    check_sweep(step, problem, family=TWIN, has_parameters=True)
