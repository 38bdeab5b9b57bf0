"""The whole sweep, as ``fit`` runs it, follows the enumerated posterior."""

import numpy as np
import pytest

from tests.exact.enumeration import (
    canonical,
    co_clustering,
    enumerate_states,
    law_of,
    row_partition,
)
from tests.exact.problems import CAPPED_PROBLEMS, FREE_PROBLEMS, PROBLEMS
from tests.monte_carlo import assert_law, assert_mean, share_of
from tests.tiny import NO_DEALS, check_invariants, make_chain, only

N_DRAWS = share_of(100_000)
A_FEW_DEALS = {"split_merge_proposals": 2, "redeal_proposals": 1, "partial_redeal_proposals": 1}


def run_chain(problem, weights, family, **schedule):
    start = sorted(weights, key=str)[0]
    chain = make_chain(problem, start, seed=11, family=family, **schedule)
    chain.run(100)
    draws = chain.run(N_DRAWS)
    check_invariants(chain)
    return draws


CASES = [
    (step, problems, name)
    for step, problems in (
        ("separate", PROBLEMS | FREE_PROBLEMS),
        ("joint", PROBLEMS),
        ("all moves", PROBLEMS | FREE_PROBLEMS | CAPPED_PROBLEMS),
    )
    for name in problems
]


@pytest.mark.parametrize(
    ("step", "problems", "name"), [pytest.param(*c, id=f"{c[0]}: {c[2]}") for c in CASES]
)
def test_sweep_follows_the_posterior(step, problems, name):
    check_sweep(step, problems[name])


def check_sweep(step, problem, family=None, has_parameters=False):
    weights = enumerate_states(problem)
    if len(problem.sizes) == 1:
        schedule = A_FEW_DEALS if step == "all moves" else NO_DEALS
    elif step == "separate":
        schedule = NO_DEALS | {"follower_swaps": 2, "anchor_swaps": 2}
    elif step == "all moves":
        schedule = A_FEW_DEALS | {
            "follower_swaps": 1,
            "anchor_swaps": 1,
            "joint_proposals": 1,
            "extra_moves": 0 if problem.extra is not None else 1,
        }
    else:
        schedule = only(joint_proposals=4, gibbs_passes=1)
    draws = run_chain(problem, weights, family, **schedule)

    n_anchors, n_rows = problem.n_anchors, len(problem.rows)
    partitions = [canonical(labels) for labels in draws.labels.tolist()]
    assert_law(partitions, law_of(weights, lambda s: row_partition(s, n_anchors)))
    assert_law(draws.n_clusters.tolist(), law_of(weights, lambda s: max(s[0]) + 1))
    masks = [frozenset(rows) for rows in draws.masked_rows.tolist()]
    assert_law(masks, law_of(weights, lambda s: s[2]))
    upper = np.triu_indices(n_rows, 1)
    together = draws.labels[:, upper[0]] == draws.labels[:, upper[1]]
    expected = co_clustering(weights, n_anchors, n_rows)[upper]
    assert_mean(together, expected, np.sqrt(expected * (1 - expected) / N_DRAWS))
    if not has_parameters:  # else parameters are part of the state, and of its log posterior
        log_posterior = draws.log_likelihood + draws.prior_log_density + draws.log_energy
        assert_mean(log_posterior, mean_log_weight(weights))


def mean_log_weight(weights):
    """Give the posterior mean of the log posterior itself."""
    values = np.array(list(weights.values()))
    probabilities = np.exp(values - values.max())
    return probabilities @ values / probabilities.sum()
