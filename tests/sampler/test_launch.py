"""What deals rest on: an order of members, and launches, that know nothing of the present halves.

Small problems hardly notice if they know a little, so these are looked at by themselves.
"""

import numpy as np
import pytest
from numba import njit

from fairmix.kernels.launch import collect_members, launch
from tests.monte_carlo import assert_mean
from tests.test_invariants import make_random_chain

N_TIMES = 20_000
#: Arrays of a deal that the probability of new halves is read off.
RESULTS = "in_a", "preference", "odds", "centre", "stats", "n_rows"


@njit
def collect_often(rng, layout, state, deal, cluster, other_cluster, in_cluster):
    """Note for each place whether the slot that comes there is in the first cluster."""
    for row in in_cluster:
        n_slots = collect_members(rng, layout, state, deal, cluster, other_cluster)
        for k in range(n_slots):
            row[k] = state.labels[deal.slots[k]] == cluster


@njit
def launch_once(rng, layout, likelihood, row_stats, state, deal, cluster, other_cluster, in_a):
    """Make a launch with all members in one half, or none, beforehand."""
    collect_members(rng, layout, state, deal, cluster, other_cluster)
    deal.in_a[:] = in_a
    launch(rng, likelihood, row_stats, deal)


def make_chain():
    return make_random_chain("gaussian", (12, 24), 0, seed=3, start=2)


def test_the_order_of_slots_says_nothing_of_their_clusters():
    chain = make_chain()
    cluster, other_cluster = chain.state.active[:2]
    in_cluster = np.zeros((N_TIMES, 12), dtype=bool)
    collect_often(
        chain.rng, chain.layout, chain.state, chain.deal, cluster, other_cluster, in_cluster
    )
    n_slots = np.sum(chain.state.labels == cluster)
    assert 2 <= n_slots <= 10
    assert in_cluster[:, -1].all()
    assert not in_cluster[:, -2].any()
    assert_mean(in_cluster[:, :-2], np.full(10, (n_slots - 1) / 10))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("max_launched", [9, 1000])
def test_a_launch_does_not_look_at_the_present_halves(seed, max_launched):
    found = []
    for in_a in (False, True):
        chain = make_chain()
        cluster, other_cluster = chain.state.active[:2]
        deal = chain.deal._replace(max_launched=max_launched)
        launch_once(
            np.random.default_rng(seed),
            chain.layout,
            chain.likelihood,
            chain.model.row_stats,
            chain.state,
            deal,
            cluster,
            other_cluster,
            in_a,
        )
        n_members = deal.part_start[-1]
        found.append([getattr(deal, name)[:n_members].copy() for name in RESULTS])
    for before, after in zip(*found, strict=True):
        assert np.array_equal(before, after)
