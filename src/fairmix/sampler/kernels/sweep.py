"""A sweep: some rounds of STEP 1 and STEP 2, then splits and merges.

A bundle changes cluster with the rows that are matched just then, so a sweep has several rounds,
each with new bundles.

``run_sweeps`` is the one entry from Python: it makes a number of sweeps and writes
a draw after every so many of them. Everything else is compiled into it.
"""

from typing import NamedTuple

import numpy as np

from fairmix.kernels import verbs  # noqa: F401 (registers the verbs with numba)
from fairmix.kernels.decorator import kernel
from fairmix.kernels.extra_move import move_extra_seat, sort_slots_by_extra
from fairmix.kernels.gibbs_step import gibbs_step
from fairmix.kernels.joint_move import propose_jointly
from fairmix.kernels.mask_moves import (
    change_mask,
    exchange_mask,
    redraw_free_match,
    sort_slots_by_label,
)
from fairmix.kernels.random_choice import draw_index
from fairmix.kernels.split_merge_step import split_merge_step
from fairmix.kernels.state import home_slot, rebuild
from fairmix.kernels.swap_moves import rematch, swap_anchors, swap_followers

#: Names of the moves, as they are counted, and the entry of ``Schedule`` that makes them.
MOVES = {
    "follower_swap": "follower_swaps",
    "anchor_swap": "anchor_swaps",
    "extra": "extra_moves",
    "mask_exchange": "mask_passes",
    "free_match": "free_match_passes",
    "joint": "joint_proposals",
    "gibbs": "gibbs_passes",
    "split": "split_merge_proposals",
    "merge": "split_merge_proposals",
    "redeal": "redeal_proposals",
    "exchange": "exchange_proposals",
    "rematch": "rematch_passes",
    "mask_change": "mask_changes",
}


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
    """Make ``n_draws * sweeps_per_draw`` sweeps and write ``n_draws`` draws."""
    if n_draws > 0:
        likelihood.begin(rng, state)
    for draw in range(n_draws):
        draws.n_proposed[draw, :] = 0
        draws.n_accepted[draw, :] = 0
        proposed, accepted = draws.n_proposed[draw], draws.n_accepted[draw]
        for _ in range(sweeps_per_draw):
            for _ in range(schedule.rounds):
                matching_step(
                    rng,
                    likelihood,
                    distance,
                    layout,
                    schedule,
                    row_stats,
                    state,
                    work,
                    proposed,
                    accepted,
                )
                for _ in range(schedule.gibbs_passes):
                    proposed[6] += state.labels.size
                    accepted[6] += gibbs_step(
                        rng, likelihood, layout, tables, row_stats, state, work
                    )
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
                proposed[7:11],
                accepted[7:11],
            )
            likelihood.update_parameters(rng, state)
        write_draw(likelihood, distance, layout, tables, state, draws, draw)


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
        proposed[0] += p
        accepted[0] += a
    first = draw_index(rng, n_anchors)
    for k in range(schedule.anchor_swaps):
        slot = (first + k) % n_anchors
        p, a = swap_anchors(rng, likelihood, distance, layout, row_stats, state, work, slot)
        proposed[1] += p
        accepted[1] += a
    if schedule.extra_moves > 0:
        for group in range(1, layout.has_free_extra.size):
            if layout.has_free_extra[group]:
                n_extra = sort_slots_by_extra(layout, state, work, group)
                proposed[2] += schedule.extra_moves
                for _ in range(schedule.extra_moves):
                    accepted[2] += move_extra_seat(
                        rng, likelihood, distance, layout, row_stats, state, work, group, n_extra
                    )
    sort_slots_by_label(state, work)
    for _ in range(schedule.mask_changes):
        p, a = change_mask(rng, likelihood, layout, row_stats, state, work, schedule.mask_price)
        proposed[12] += p
        accepted[12] += a
    for _ in range(schedule.mask_passes):
        for group in range(1, state.n_masked.size):
            for _ in range(state.n_masked[group]):
                p, a = exchange_mask(rng, likelihood, layout, row_stats, state, work, group)
                proposed[3] += p
                accepted[3] += a
    for _ in range(schedule.free_match_passes):
        for group in range(1, state.n_masked.size):
            first = layout.group_start[group]
            for place in range(first, first + state.n_masked[group]):
                row = state.mask_order[place]
                proposed[4] += 1
                accepted[4] += redraw_free_match(
                    rng, likelihood, layout, row_stats, state, work, row
                )
    for _ in range(schedule.joint_proposals):
        p, a = propose_jointly(rng, likelihood, distance, layout, row_stats, state, work)
        proposed[5] += p
        accepted[5] += a
    for _ in range(schedule.rematch_passes):
        p, a = rematch(rng, distance, layout, state, work)
        proposed[11] += p
        accepted[11] += a


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
