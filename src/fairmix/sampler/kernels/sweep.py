"""A sweep: some rounds of STEP 1 and STEP 2, then splits and merges.

A bundle changes cluster with the rows that are matched just then, so a sweep has several rounds,
each with new bundles.

``run_sweeps`` is the one entry from Python: it makes a number of sweeps and writes
a draw after every so many of them. Everything else is compiled into it.

Where the chain may go outside the cap at a price, only sweeps that end inside count. (Were all
counted and the next state inside taken, states after long ways outside would come too often.)
"""

from typing import NamedTuple

import numpy as np

from fairmix.sampler.kernels.cap import log_allowance
from fairmix.sampler.kernels.decorator import kernel
from fairmix.sampler.kernels.extra_move import move_extra_seat, sort_slots_by_extra
from fairmix.sampler.kernels.gibbs_step import gibbs_step
from fairmix.sampler.kernels.joint_move import propose_jointly
from fairmix.sampler.kernels.mask_moves import (
    change_mask,
    exchange_mask,
    redraw_free_match,
    sort_slots_by_label,
)
from fairmix.sampler.kernels.moves import (
    ANCHOR_SWAP,
    EXTRA,
    FOLLOWER_SWAP,
    FREE_MATCH,
    GIBBS,
    JOINT,
    MASK_CHANGE,
    MASK_EXCHANGE,
    REMATCH,
)
from fairmix.sampler.kernels.random_choice import draw_index
from fairmix.sampler.kernels.split_merge_step import split_merge_step
from fairmix.sampler.kernels.state import home_slot, rebuild
from fairmix.sampler.kernels.swap_moves import rematch, swap_anchors, swap_followers


class Draws(NamedTuple):
    """Where draws are written, one entry of each array a draw."""

    labels: np.ndarray  # (draw, row), cluster identifiers
    n_clusters: np.ndarray
    log_likelihood: np.ndarray
    prior_log_density: np.ndarray  # of the partition, and of parameters that are part of the state
    log_energy: np.ndarray
    masked_rows: np.ndarray  # (draw, masked row)
    n_proposed: np.ndarray  # (draw, move), since the draw before
    n_accepted: np.ndarray
    n_written: np.ndarray  # one number: draws that are there


@kernel
def run_sweeps(
    rng,
    likelihood,
    distance,
    layout,
    tables,
    schedule,
    row_stats,
    state,
    work,
    deal,
    draws,
    sweeps_per_draw,
    n_draws,
):
    """Write ``n_draws`` draws after those that are there, or fewer if waiting takes too long."""
    if n_draws > 0:
        likelihood.begin(rng, state)
    for draw in range(draws.n_written[0], n_draws):
        draws.n_proposed[draw, :] = 0
        draws.n_accepted[draw, :] = 0
        proposed, accepted = draws.n_proposed[draw], draws.n_accepted[draw]
        n_left, n_waited = sweeps_per_draw, 0
        while n_left > 0:
            if n_waited > schedule.max_waiting:
                return
            make_sweep(
                rng,
                likelihood,
                distance,
                layout,
                tables,
                schedule,
                row_stats,
                state,
                work,
                deal,
                proposed,
                accepted,
            )
            if schedule.max_waiting == 0 or log_allowance(layout.cap, state) == 0.0:
                n_left -= 1
                n_waited = 0
            else:
                n_waited += 1
        write_draw(likelihood, distance, layout, tables, state, draws, draw)
        draws.n_written[0] = draw + 1


@kernel
def make_sweep(
    rng,
    likelihood,
    distance,
    layout,
    tables,
    schedule,
    row_stats,
    state,
    work,
    deal,
    proposed,
    accepted,
):
    """Make one sweep."""
    for _ in range(schedule.rounds):
        matching_step(
            rng, likelihood, distance, layout, schedule, row_stats, state, work, proposed, accepted
        )
        for _ in range(schedule.gibbs_passes):
            proposed[GIBBS] += state.labels.size
            accepted[GIBBS] += gibbs_step(rng, likelihood, layout, tables, row_stats, state, work)
    split_merge_step(
        rng,
        likelihood,
        distance,
        layout,
        tables,
        schedule,
        row_stats,
        state,
        deal,
        proposed,
        accepted,
    )
    likelihood.update_parameters(rng, state)


@kernel
def matching_step(
    rng, likelihood, distance, layout, schedule, row_stats, state, work, proposed, accepted
):
    """Make the matching moves of one round, given the partition."""
    rebuild(likelihood, layout, row_stats, state)
    n_anchors = state.labels.size
    n_followers = row_stats.shape[0] - n_anchors
    # In turn from a random one on: memory is read in order, and no row is left out for long.
    first = draw_index(rng, n_followers)
    for k in range(schedule.follower_swaps):
        row = n_anchors + (first + k) % n_followers
        p, a = swap_followers(rng, likelihood, distance, layout, row_stats, state, work, row)
        proposed[FOLLOWER_SWAP] += p
        accepted[FOLLOWER_SWAP] += a
    first = draw_index(rng, n_anchors)
    for k in range(schedule.anchor_swaps):
        slot = (first + k) % n_anchors
        p, a = swap_anchors(rng, likelihood, distance, layout, row_stats, state, work, slot)
        proposed[ANCHOR_SWAP] += p
        accepted[ANCHOR_SWAP] += a
    if schedule.extra_moves > 0:
        for group in range(1, layout.has_free_extra.size):
            if layout.has_free_extra[group]:
                n_extra = sort_slots_by_extra(layout, state, work, group)
                proposed[EXTRA] += schedule.extra_moves
                for _ in range(schedule.extra_moves):
                    accepted[EXTRA] += move_extra_seat(
                        rng, likelihood, distance, layout, row_stats, state, work, group, n_extra
                    )
    sort_slots_by_label(state, work)
    for _ in range(schedule.mask_changes):
        p, a = change_mask(rng, likelihood, layout, row_stats, state, work, schedule.mask_price)
        proposed[MASK_CHANGE] += p
        accepted[MASK_CHANGE] += a
    for _ in range(schedule.mask_passes):
        for group in range(1, state.n_masked.size):
            for _ in range(state.n_masked[group]):
                p, a = exchange_mask(rng, likelihood, layout, row_stats, state, work, group)
                proposed[MASK_EXCHANGE] += p
                accepted[MASK_EXCHANGE] += a
    for _ in range(schedule.free_match_passes):
        for group in range(1, state.n_masked.size):
            first = layout.group_start[group]
            for place in range(first, first + state.n_masked[group]):
                row = state.mask_order[place]
                proposed[FREE_MATCH] += 1
                accepted[FREE_MATCH] += redraw_free_match(
                    rng, likelihood, layout, row_stats, state, work, row
                )
    for _ in range(schedule.joint_proposals):
        p, a = propose_jointly(rng, likelihood, distance, layout, row_stats, state, work)
        proposed[JOINT] += p
        accepted[JOINT] += a
    for _ in range(schedule.rematch_passes):
        p, a = rematch(rng, distance, layout, state, work)
        proposed[REMATCH] += p
        accepted[REMATCH] += a


@kernel
def write_draw(likelihood, distance, layout, tables, state, draws, draw):
    """Write the state as draw number ``draw``."""
    n_clusters = state.n_clusters[0]
    draws.n_clusters[draw] = n_clusters
    log_likelihood = 0.0
    log_prior = tables.log_v[n_clusters] + likelihood.log_prior_of_parameters(state)
    for place in range(n_clusters):
        cluster = state.active[place]
        log_likelihood += state.cluster_log_likelihood[cluster]
        log_prior += tables.log_rising[state.cluster_slots[cluster]]
    draws.log_likelihood[draw] = log_likelihood
    draws.prior_log_density[draw] = log_prior

    n_anchors = state.labels.size
    log_energy = 0.0
    for row in range(state.slot_of.size):
        draws.labels[draw, row] = state.labels[home_slot(state, row)]
        if row >= n_anchors:
            separation = distance.between(state.anchor_at[state.slot_of[row]], row)
            log_energy -= separation * layout.energy_weight[layout.group_of[row]]
    draws.log_energy[draw] = log_energy
    n_masked = 0
    for group in range(1, layout.n_masked.size):
        first = layout.group_start[group]
        for place in range(first, first + layout.n_masked[group]):
            draws.masked_rows[draw, n_masked] = state.mask_order[place]
            n_masked += 1
