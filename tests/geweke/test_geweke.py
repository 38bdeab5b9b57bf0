"""Geweke's test: the sampler and the simulator of data agree on the joint law.

*Each move alone*: state from the prior, data given the state, then the move. The pair still
follows the joint law, whether or not the move is irreducible; replications are independent.

*The sweep*: sweeps and redraws of the data alternate, so errors accumulate.
"""

import numpy as np
import pytest
from scipy import stats

from fairmix.sampler.arrays import make_state
from tests.exact.problems import make_problem
from tests.geweke.simulators import PriorSimulator, draw_rows, summarise
from tests.monte_carlo import FALSE_ALARM, share_of, standard_error
from tests.tiny import NO_DEALS, check_invariants, make_chain, only

PROBLEMS = {
    family: make_problem(
        family, (3, 4, 3), seed=7, extra=((1,), ()), n_masked=(2, 1), temperature=temperature
    )
    for family, temperature in (("gaussian", 0.2), ("bernoulli", 0.6), ("categorical", 0.6))
}
FREE_PROBLEMS = {
    "gaussian, free": make_problem(
        "gaussian", (3, 4, 4), seed=7, extra=None, n_masked=(2, 0), temperature=0.2
    ),
    "gaussian, cap": make_problem(
        "gaussian", (3, 4, 4), seed=7, extra=None, n_masked=(2, 0), temperature=0.2, max_gap=0.3
    ),
}
STEPS = {
    "gibbs": only(gibbs_passes=2),
    "follower swap": only(follower_swaps=10),
    "anchor swap": only(anchor_swaps=10),
    "rematch": only(rematch_passes=2),
    "mask exchange": only(mask_passes=3),
    "free match": only(free_match_passes=1),
    "joint": only(joint_proposals=10),
    "split-merge": only(split_merge_proposals=8),
    "re-deal": only(redeal_proposals=5),
    "partial re-deal": only(partial_redeal_proposals=5),
}
N_REPLICATIONS = share_of(6_000)


def make_parts(problem, **schedule):
    """Give the simulator of the prior and a chain whose data can be replaced."""
    prior = PriorSimulator(problem, np.random.default_rng(1))
    start = prior.draw()
    free = tuple(start.free_match[start.masked_rows])
    state = tuple(start.labels), tuple(start.match[3:]), frozenset(start.masked_rows), free
    return prior, make_chain(problem, state, seed=2, **schedule)


def replace_rows(chain, rows):
    chain.model.family.write_statistics(rows, chain.model.row_stats)


def draw_joint(problem, prior, chain):
    """Put a state from the prior and data given it into the chain; give the data."""
    chain.state = make_state(chain.model, chain.layout, prior.draw())
    rows = draw_rows(problem.family, chain.row_labels, len(problem.rows[0]), prior.rng)
    replace_rows(chain, rows)
    return rows


def assert_same_mean(first, first_error, second, second_error):
    error = np.sqrt(first_error**2 + second_error**2)
    deviation = np.abs(first - second) / np.maximum(error, 1e-12)
    bound = stats.t.isf(FALSE_ALARM / len(deviation) / 2, 40)
    assert np.all(deviation < bound), f"standard errors: {deviation.round(1)}, bound {bound:.1f}"


@pytest.mark.parametrize("step", list(STEPS))
@pytest.mark.parametrize("family", list(PROBLEMS))
def test_move_keeps_the_joint_law(family, step):
    check_move(PROBLEMS[family], STEPS[step])


@pytest.mark.parametrize("step", [*STEPS, "extra"])
@pytest.mark.parametrize("name", list(FREE_PROBLEMS))
def test_move_keeps_the_joint_law_with_free_extra_seats(name, step):
    check_move(FREE_PROBLEMS[name], (STEPS | {"extra": only(extra_moves=5)})[step])


def check_move(problem, schedule):
    prior, chain = make_parts(problem, **schedule)
    differences, n_changed = [], 0
    for _ in range(N_REPLICATIONS):
        rows = draw_joint(problem, prior, chain)
        before = summarise(chain, rows)
        draws = chain.run(1)
        n_changed += int(draws.n_accepted.sum() > 0)
        differences.append(summarise(chain, rows) - before)
    check_invariants(chain)
    assert n_changed > N_REPLICATIONS / 4  # else the test says little
    differences = np.array(differences)
    error = differences.std(axis=0, ddof=1) / np.sqrt(len(differences))
    assert_same_mean(differences.mean(axis=0), error, 0.0, 0.0)


@pytest.mark.parametrize("step", ["separate", "joint"])
@pytest.mark.parametrize("family", list(PROBLEMS))
def test_sweep(family, step):
    problem = PROBLEMS[family]
    schedule = NO_DEALS | {"follower_swaps": 6, "anchor_swaps": 4, "split_merge_proposals": 2}
    if step == "joint":
        schedule = only(joint_proposals=10, gibbs_passes=1)
    prior, chain = make_parts(problem, **schedule)
    forward = np.array(
        [summarise(chain, draw_joint(problem, prior, chain)) for _ in range(N_REPLICATIONS)]
    )
    successive = []
    for _ in range(2 * N_REPLICATIONS):
        chain.run(1)
        rows = draw_rows(family, chain.row_labels, len(problem.rows[0]), prior.rng)
        replace_rows(chain, rows)
        successive.append(summarise(chain, rows))
    successive = np.array(successive)
    forward_error = forward.std(axis=0, ddof=1) / np.sqrt(len(forward))
    assert_same_mean(
        forward.mean(axis=0), forward_error, successive.mean(axis=0), standard_error(successive)
    )
