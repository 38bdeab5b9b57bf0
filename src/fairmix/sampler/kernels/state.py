r"""What a chain carries, and how its statistics follow from it.

The state is held as :math:`n_0` *slots*. A slot has a label, one anchor row and
the follower rows that the matching map sends to that anchor; it is the paper's
bundle. Rows are numbered anchors first, then one follower group after the
other. Swaps exchange two rows of one group between slots, the Gibbs step
relabels slots; the paper's map is read off as ``anchor_at[slot_of[row]]``.

A masked follower keeps its seat (its value of ``T``, which the energy sees)
but belongs to the bundle of ``free_slot[row]``, its value of ``T0``.

Cluster identifiers are places in arrays of length ``n_slots``: the first
``n_clusters[0]`` entries of ``active`` are in use, the others are free, and
``place`` is the inverse of ``active``.
"""

import math
from typing import NamedTuple

import numpy as np

from fairmix.kernels.decorator import kernel
from fairmix.kernels.support import (
    add_groups,
    add_rows_of_group,
    balance_is_allowed,
    gap_is_allowed,
    imbalance_of,
)


class Layout(NamedTuple):
    """What a fit holds fixed: sizes, capacities, the weight of the energy and the cap."""

    group_start: np.ndarray  # rows of group b: group_start[b] to group_start[b + 1]
    group_of: np.ndarray  # row -> group, 0 for anchors
    seat_start: np.ndarray  # first seat of follower group b
    seats_per_slot: np.ndarray  # seats of group b in every slot, filled or not
    n_masked: np.ndarray  # masked rows of group b in the model; a relaxed warm-up has more
    energy_weight: np.ndarray  # 1 / (n_b temperature)
    class_of: np.ndarray  # slot -> class of slots with the same capacities
    class_start: np.ndarray  # class -> its first place in class_slots
    class_slots: np.ndarray  # slots, class by class
    class_place: np.ndarray  # slot -> its place in class_slots
    swap_reach: int  # partners of a swap are among so many next ones
    has_free_extra: np.ndarray  # group -> whether extra seats may change slots (R free)
    is_capped: bool
    gap_weight: np.ndarray  # group -> weight of its imbalance in the gap
    largest_gap: float
    least_balance: float


class PartitionTables(NamedTuple):
    """The prior on partitions, as tables: join a cluster, or open one."""

    log_v: np.ndarray  # log V_n(t)
    log_join: np.ndarray  # log (size + gamma), by the cluster's size in slots
    log_open: np.ndarray  # log gamma V(t + 1) / V(t), by t
    log_rising: np.ndarray  # log gamma^(size)


class Schedule(NamedTuple):
    """How often each move is made: matching and Gibbs moves a round, the others a sweep."""

    rounds: int  # of a sweep
    follower_swaps: int
    anchor_swaps: int
    extra_moves: int
    mask_passes: int
    free_match_passes: int
    mask_changes: int  # only in a relaxed warm-up
    mask_price: float  # what a row that they mask costs (log)
    joint_proposals: int
    rematch_passes: int
    gibbs_passes: int
    split_merge_proposals: int
    redeal_proposals: int
    exchange_proposals: int


class State(NamedTuple):
    """Partition, matching, mask, and the statistics that follow from them."""

    labels: np.ndarray  # slot -> cluster
    anchor_at: np.ndarray  # slot -> anchor row
    row_at: np.ndarray  # seat -> follower row, -1 if the seat is not filled
    slot_of: np.ndarray  # row -> slot by the matching map
    seat_of: np.ndarray  # follower row -> seat, -1 for anchors
    masked: np.ndarray  # row -> bool
    n_masked: np.ndarray  # group -> masked rows
    mask_order: np.ndarray  # rows of each group, its masked ones first
    free_slot: np.ndarray  # row -> slot by the free map
    active: np.ndarray
    place: np.ndarray
    n_clusters: np.ndarray
    cluster_slots: np.ndarray  # cluster -> number of slots
    cluster_rows: np.ndarray  # cluster -> number of rows
    cluster_stats: np.ndarray
    cluster_log_likelihood: np.ndarray  # marginal, or given the cluster's parameters
    bundle_rows: np.ndarray
    bundle_stats: np.ndarray
    cluster_groups: np.ndarray  # (cluster, group): rows by label; only kept under a cap
    bundle_groups: np.ndarray
    imbalance: np.ndarray  # group -> sum over clusters, see support.py


class Workspace(NamedTuple):
    """Room for one proposal, so that the loops allocate nothing."""

    stats: np.ndarray
    log_weights: np.ndarray
    candidates: np.ndarray
    saved_cluster: np.ndarray
    saved_rows: np.ndarray
    saved_stats: np.ndarray
    saved_log_likelihood: np.ndarray
    saved_groups: np.ndarray
    n_saved: np.ndarray
    label_start: np.ndarray
    slots_by_label: np.ndarray
    touched_rows: np.ndarray
    labels_before: np.ndarray
    slots_by_extra: np.ndarray  # (group, place): slots, those with an extra seat first


@kernel
def home_slot(state, row):
    """Give the slot whose bundle the row belongs to."""
    if state.masked[row]:
        return state.free_slot[row]
    return state.slot_of[row]


@kernel
def open_cluster(state):
    """Take a free cluster identifier into use."""
    n_clusters = state.n_clusters[0]
    cluster = state.active[n_clusters]
    state.n_clusters[0] = n_clusters + 1
    state.cluster_slots[cluster] = 0
    state.cluster_rows[cluster] = 0
    state.cluster_stats[cluster, :] = 0.0
    return cluster


@kernel
def close_cluster(state, cluster):
    """Return a cluster identifier to the free ones."""
    last = state.n_clusters[0] - 1
    gap = state.place[cluster]
    moved = state.active[last]
    state.active[gap] = moved
    state.place[moved] = gap
    state.active[last] = cluster
    state.place[cluster] = last
    state.n_clusters[0] = last


@kernel
def rebuild(likelihood, layout, row_stats, state):
    """Recompute all statistics from the rows, so that float errors never pile up."""
    if layout.is_capped:
        count_groups(layout, state)
    state.bundle_rows[:] = 0
    state.bundle_stats[:] = 0.0
    n_stats = row_stats.shape[1]
    for row in range(row_stats.shape[0]):
        slot = home_slot(state, row)
        state.bundle_rows[slot] += 1
        for k in range(n_stats):
            state.bundle_stats[slot, k] += row_stats[row, k]
    for place in range(state.n_clusters[0]):
        cluster = state.active[place]
        state.cluster_slots[cluster] = 0
        state.cluster_rows[cluster] = 0
        state.cluster_stats[cluster, :] = 0.0
    for slot in range(state.labels.size):
        cluster = state.labels[slot]
        state.cluster_slots[cluster] += 1
        state.cluster_rows[cluster] += state.bundle_rows[slot]
        for k in range(n_stats):
            state.cluster_stats[cluster, k] += state.bundle_stats[slot, k]
    likelihood.recompute(state)


@kernel
def count_groups(layout, state):
    """Count the rows of bundles and clusters by group."""
    state.bundle_groups[:] = 0
    state.cluster_groups[:] = 0
    state.imbalance[:] = 0
    for row in range(state.slot_of.size):
        state.bundle_groups[home_slot(state, row), layout.group_of[row]] += 1
    for slot in range(state.labels.size):
        add_groups(layout, state, state.labels[slot], state.bundle_groups[slot], 1)


@kernel
def begin_trial(work):
    """Start to move rows tentatively."""
    work.n_saved[0] = 0


@kernel
def save_cluster(layout, state, work, cluster):
    """Remember a cluster as it was when the trial began."""
    n_saved = work.n_saved[0]
    for k in range(n_saved):
        if work.saved_cluster[k] == cluster:
            return
    work.saved_cluster[n_saved] = cluster
    work.saved_rows[n_saved] = state.cluster_rows[cluster]
    work.saved_log_likelihood[n_saved] = state.cluster_log_likelihood[cluster]
    for k in range(work.stats.size):
        work.saved_stats[n_saved, k] = state.cluster_stats[cluster, k]
    if layout.is_capped:
        for group in range(layout.gap_weight.size):
            work.saved_groups[n_saved, group] = state.cluster_groups[cluster, group]
    work.n_saved[0] = n_saved + 1


@kernel
def take_row(likelihood, layout, row_stats, state, work, row, cluster):
    """Take a row out of a cluster, tentatively."""
    save_cluster(layout, state, work, cluster)
    state.cluster_rows[cluster] -= 1
    for k in range(work.stats.size):
        state.cluster_stats[cluster, k] -= row_stats[row, k]
    likelihood.add_row(state, row, cluster, -1.0)
    if layout.is_capped:
        add_rows_of_group(layout, state, cluster, layout.group_of[row], -1)


@kernel
def put_row(likelihood, layout, row_stats, state, work, row, cluster):
    """Put a row into a cluster, tentatively."""
    save_cluster(layout, state, work, cluster)
    state.cluster_rows[cluster] += 1
    for k in range(work.stats.size):
        state.cluster_stats[cluster, k] += row_stats[row, k]
    likelihood.add_row(state, row, cluster, 1.0)
    if layout.is_capped:
        add_rows_of_group(layout, state, cluster, layout.group_of[row], 1)


@kernel
def evaluate_trial(likelihood, layout, state, work):
    """Refresh the clusters that the trial changed; give the log ratio, -inf outside the cap."""
    if layout.is_capped and not trial_is_allowed(layout, state, work):
        return -math.inf
    log_ratio = 0.0
    for k in range(work.n_saved[0]):
        cluster = work.saved_cluster[k]
        likelihood.refresh(state, cluster)
        log_ratio += state.cluster_log_likelihood[cluster] - work.saved_log_likelihood[k]
    return log_ratio


@kernel
def trial_is_allowed(layout, state, work):
    """Tell whether the trial stays inside the cap."""
    for k in range(work.n_saved[0]):
        counts = state.cluster_groups[work.saved_cluster[k]]
        if not balance_is_allowed(layout, counts, counts.size):
            return False
    return gap_is_allowed(layout, state)


@kernel
def undo_trial(layout, state, work):
    """Put every cluster back as it was when the trial began."""
    for k in range(work.n_saved[0]):
        cluster = work.saved_cluster[k]
        state.cluster_rows[cluster] = work.saved_rows[k]
        state.cluster_log_likelihood[cluster] = work.saved_log_likelihood[k]
        for s in range(work.stats.size):
            state.cluster_stats[cluster, s] = work.saved_stats[k, s]
        if layout.is_capped:
            restore_groups(layout, state, cluster, work.saved_groups[k])


@kernel
def restore_groups(layout, state, cluster, counts):
    """Put a cluster's counts by group back."""
    for group in range(1, counts.size):
        state.imbalance[group] -= imbalance_of(layout, state.cluster_groups[cluster], group)
        state.imbalance[group] += imbalance_of(layout, counts, group)
    for group in range(counts.size):
        state.cluster_groups[cluster, group] = counts[group]
