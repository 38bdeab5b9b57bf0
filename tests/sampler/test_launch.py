"""What deals rest on: an order of members, and launches, that know nothing of the present halves.

Small problems hardly notice if they know a little, so these are looked at by themselves.
"""

from dataclasses import replace

import numpy as np
import pytest
from numba import njit
from scipy.special import expit

from fairmix.model.cap import make_cap
from fairmix.sampler.arrays import initial_start
from fairmix.sampler.chain import Chain
from fairmix.sampler.compilation import pack
from fairmix.sampler.kernels.launch import collect_members, condition, launch
from fairmix.sampler.kernels.seat_prices import ENOUGH
from fairmix.sampler.kernels.split_merge_step import draw_matches
from fairmix.tables.groups import Groups
from tests.monte_carlo import assert_mean
from tests.sampler.test_invariants import make_random_chain

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
def launch_once(
    rng, layout, likelihood, row_stats, state, deal, cluster, other_cluster, in_a, pricing
):
    """Make a launch with all members in one half, or none, beforehand."""
    collect_members(rng, layout, state, deal, cluster, other_cluster)
    deal.in_a[:] = in_a
    launch(rng, likelihood, layout, row_stats, deal, pricing)


@njit
def condition_once(
    rng, layout, likelihood, row_stats, state, deal, cluster, other_cluster, in_a, pricing
):
    """Free half of the members, which are in these halves beforehand."""
    collect_members(rng, layout, state, deal, cluster, other_cluster)
    deal.in_a[:] = in_a
    condition(rng, likelihood, layout, row_stats, deal, 0.5, pricing)


@njit
def seat_often(rng, layout, distance, state, deal, cluster, other_cluster, in_a, found):
    """Note the slots that members get, who stand in the same order every time."""
    n_slots = collect_members(rng, layout, state, deal, cluster, other_cluster)
    deal.in_a[:] = in_a
    for row in found:
        draw_matches(rng, distance, layout, state, deal, n_slots)
        row[:] = deal.new_slot[: row.size]


def make_chain():
    return make_random_chain("gaussian", (12, 24), 0, seed=3, start=2)


def make_capped_chain():
    """Give a chain of rows that are not matched, under a cap on groups that differ."""
    chain = make_random_chain("gaussian", (36,), 0, seed=3, start=2)
    codes = (chain.model.rows[:, 0] > np.median(chain.model.rows[:, 0])).astype(np.int64)
    model = replace(chain.model, cap=make_cap([Groups(["low", "high"], codes)], 0.1))
    start = initial_start(model, chain.state.labels, np.arange(36), chain.rng)
    return Chain(model, start, chain.schedule, chain.rng)


@pytest.mark.parametrize("seed", range(8))
def test_prices_make_the_halves_fair(seed):
    chain = make_capped_chain()
    deal, columns = chain.deal._replace(max_launched=1000), chain.model.cap.columns[:, 0]
    shares = {}
    for pricing in (0.0, 1.0):
        launch_once(
            np.random.default_rng(seed),
            pack(chain.layout),
            pack(chain.likelihood),
            chain.model.row_stats,
            pack(chain.state),
            pack(deal),
            *chain.state.active[:2],
            False,
            pricing,
        )
        n_members = deal.part_start[1]
        expected = expit(deal.preference[: n_members - 2] + deal.border[0])
        expected = np.append(expected, [0.0, 1.0])  # the two that are held
        groups = columns[deal.rows[:n_members]]
        shares[pricing] = [expected[groups == group].mean() for group in (0, 1)]
    assert abs(np.diff(shares[1.0])[0]) < 3 * ENOUGH / 10
    assert abs(np.diff(shares[0.0])[0]) > abs(np.diff(shares[1.0])[0])


def test_the_order_of_slots_says_nothing_of_their_clusters():
    chain = make_chain()
    cluster, other_cluster = chain.state.active[:2]
    in_cluster = np.zeros((N_TIMES, 12), dtype=bool)
    layout, state, deal = pack(chain.layout), pack(chain.state), pack(chain.deal)
    collect_often(chain.rng, layout, state, deal, cluster, other_cluster, in_cluster)
    n_slots = np.sum(chain.state.labels == cluster)
    assert 2 <= n_slots <= 10
    assert in_cluster[:, -1].all()
    assert not in_cluster[:, -2].any()
    assert_mean(in_cluster[:, :-2], np.full(10, (n_slots - 1) / 10))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("max_launched", [9, 1000])
@pytest.mark.parametrize("pricing", [0.0, 0.7])
def test_a_launch_does_not_look_at_the_present_halves(seed, max_launched, pricing):
    found = []
    for in_a in (False, True):
        chain = make_chain() if pricing == 0.0 else make_capped_chain()
        cluster, other_cluster = chain.state.active[:2]
        deal = chain.deal._replace(max_launched=max_launched)
        launch_once(
            np.random.default_rng(seed),
            pack(chain.layout),
            pack(chain.likelihood),
            chain.model.row_stats,
            pack(chain.state),
            pack(deal),
            cluster,
            other_cluster,
            in_a,
            pricing,
        )
        n_members = deal.part_start[-1]
        found.append([getattr(deal, name)[:n_members].copy() for name in RESULTS])
    for before, after in zip(*found, strict=True):
        assert np.array_equal(before, after)


def condition_with(halves, seed, pricing):
    """Give the deal of a partial re-deal whose members are in these halves beforehand."""
    chain = make_chain() if pricing == 0.0 else make_capped_chain()
    condition_once(
        np.random.default_rng(seed),
        pack(chain.layout),
        pack(chain.likelihood),
        chain.model.row_stats,
        pack(chain.state),
        pack(chain.deal),
        *chain.state.active[:2],
        halves,
        pricing,
    )
    return chain.deal


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("pricing", [0.0, 0.7])
def test_a_partial_re_deal_does_not_look_at_the_halves_of_loose_members(seed, pricing):
    halves = np.random.default_rng(seed).random(len(make_chain().deal.in_a)) < 0.5
    deal = condition_with(halves, seed, pricing)
    flipped = halves.copy()
    for start, end in zip(deal.part_start[:-1], deal.loose_end, strict=True):
        flipped[start:end] ^= True
    other_deal = condition_with(flipped, seed, pricing)
    assert (flipped != halves).any()
    n_members = deal.part_start[-1]
    for name in ("preference", "centre", "border", "stats", "n_rows"):
        before, after = (getattr(each, name)[:n_members] for each in (deal, other_deal))
        assert np.array_equal(before, after), name


def test_members_are_seated_at_random_inside_their_half():
    chain = make_chain()
    deal, state = chain.deal, chain.state
    in_a = np.arange(len(deal.in_a)) % 2 == 0
    found = np.zeros((N_TIMES, len(deal.new_slot)), dtype=np.int64)
    seat_often(
        chain.rng,
        pack(chain.layout),
        pack(chain.model.distance),
        pack(state),
        pack(deal),
        *state.active[:2],
        in_a,
        found,
    )
    members = np.arange(deal.part_start[1], deal.part_start[2])
    for is_a in (False, True):
        own = members[in_a[members] == is_a]
        slots, counts = np.unique(found[0, own], return_counts=True)
        assert len(slots) > 1
        expected = np.broadcast_to(counts / len(own), (len(own), len(slots)))
        assert_mean(found[:, own, None] == slots, expected)


def test_preferences_and_prices():
    """A launch prefers by predictive density, and expects as many seats in A as followers."""
    chain = make_chain()
    deal, row_stats = chain.deal._replace(max_launched=1000), chain.model.row_stats
    launch_once(
        chain.rng,
        pack(chain.layout),
        pack(chain.likelihood),
        row_stats,
        pack(chain.state),
        pack(deal),
        *chain.state.active[:2],
        False,
        0.0,
    )
    log_marginal = chain.model.family.log_marginal
    n_slots, n_members = deal.part_start[1:3]
    loose = np.concatenate([np.arange(n_slots - 2), np.arange(n_slots, n_members)])
    for member in loose:
        row = row_stats[deal.rows[member]]
        fits = [
            log_marginal(n_rows + 1, stats + row) - log_marginal(n_rows, stats)
            for n_rows, stats in zip(deal.n_rows, deal.stats, strict=True)
        ]
        assert deal.preference[member] == pytest.approx(fits[0] - fits[1])
    anchors, followers = deal.preference[: n_slots - 2], deal.preference[n_slots:n_members]
    lift = deal.lift[1, :n_slots]
    n_followers = np.sum(expit(followers - deal.centre[1]))
    odds = anchors + deal.border[0] + lift[:-2] * deal.border[1]
    n_seats = lift[:-2] @ expit(odds) + lift[-1]  # the last anchor stays in A
    assert 0 < n_seats < lift.sum()
    assert n_followers == pytest.approx(n_seats, abs=ENOUGH)
    n_in_a, n_in_b = (np.sum(deal.in_a[n_slots:n_members] == half) for half in (True, False))
    price = np.log((n_in_a + 0.5) / (n_in_b + 0.5)) + deal.centre[1]
    assert deal.border[1] == pytest.approx(price)
