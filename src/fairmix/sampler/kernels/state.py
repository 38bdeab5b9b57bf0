r"""What a chain carries, and how its statistics follow from it.

The state is held as :math:`n_0` *slots*. A slot has a label, one anchor row and
the follower rows that the matching map sends to that anchor; it is the paper's
bundle. Rows are numbered anchors first, then one follower group after the
other. Swaps exchange two rows of one group between slots, the Gibbs step
relabels slots; the paper's map is read off as ``anchor_at[slot_of[row]]``.

A masked follower keeps its seat (its value of ``T``, which the energy sees)
but belongs to the bundle of ``free_slot[row]``, its value of ``T0``.

Cluster identifiers are places in arrays of length ``n_slots``: the first
``n_clusters[0]`` entries of ``active`` are in use, the others are unused, and
``place`` is the inverse of ``active``.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from fairmix.sampler.kernels.cap import add_counts, add_row, log_allowance, set_counts
from fairmix.sampler.kernels.decorator import inlined, kernel


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
    cap: Any  # a Cap, see model/cap.py


class PartitionTables(NamedTuple):
    """The prior on partitions, as tables: join a cluster, or open one."""

    log_v: np.ndarray  # log V_n(t)
    log_join: np.ndarray  # log (size + gamma), by the cluster's size in slots
    log_open: np.ndarray  # log gamma V(t + 1) / V(t), by t
    log_rising: np.ndarray  # log gamma^(size)


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
    cluster_groups: np.ndarray  # (cluster, column of the cap): rows; only kept under a cap
    bundle_groups: np.ndarray
    imbalance: np.ndarray  # column -> sum over clusters, see cap.py
    lack: np.ndarray  # grouping -> likewise
    cap_price: np.ndarray  # one number: what an excess of 1 costs in log posterior

    @property
    def carried(self):
        """What a chain carries from sweep to sweep; the others follow from it (``rebuild``)."""
        return (
            "labels",
            "anchor_at",
            "row_at",
            "slot_of",
            "seat_of",
            "masked",
            "n_masked",
            "mask_order",
            "free_slot",
            "active",
            "place",
            "n_clusters",
            "cap_price",
        )


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
    log_allowance: np.ndarray  # one number: what the cap left when the trial began
    joined_groups: np.ndarray  # counts of a cluster with a bundle in it
    added: np.ndarray  # column of the cap -> what a bundle adds to a cluster's imbalance
    label_start: np.ndarray
    slots_by_label: np.ndarray
    touched_rows: np.ndarray
    labels_before: np.ndarray
    slots_by_extra: np.ndarray  # (group, place): slots, those with an extra seat first


@inlined
def home_slot(state, row):
    """Give the slot whose bundle the row belongs to."""
    if state.masked[row]:
        return state.free_slot[row]
    return state.slot_of[row]


@kernel
def open_cluster(state):
    """Take an unused cluster identifier into use."""
    n_clusters = state.n_clusters[0]
    cluster = state.active[n_clusters]
    state.n_clusters[0] = n_clusters + 1
    state.cluster_slots[cluster] = 0
    state.cluster_rows[cluster] = 0
    state.cluster_stats[cluster, :] = 0.0
    return cluster


@kernel
def close_cluster(state, cluster):
    """Return a cluster identifier to the unused ones."""
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
    if layout.cap.is_tight:
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
    state.lack[:] = 0
    cap = layout.cap
    for row in range(state.slot_of.size):
        counts = state.bundle_groups[home_slot(state, row)]
        for grouping in range(cap.largest.size):
            counts[cap.columns[row, grouping]] += 1
        counts[counts.size - 1] += 1
    for slot in range(state.labels.size):
        add_counts(cap, state, state.labels[slot], state.bundle_groups[slot], 1)


@inlined
def begin_trial(layout, state, work):
    """Start to move rows tentatively."""
    work.n_saved[0] = 0
    if layout.cap.is_tight:
        work.log_allowance[0] = log_allowance(layout.cap, state)


@inlined
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
    if layout.cap.is_tight:
        for column in range(work.saved_groups.shape[1]):
            work.saved_groups[n_saved, column] = state.cluster_groups[cluster, column]
    work.n_saved[0] = n_saved + 1


@inlined
def take_row(likelihood, layout, row_stats, state, work, row, cluster):
    """Take a row out of a cluster, tentatively."""
    save_cluster(layout, state, work, cluster)
    state.cluster_rows[cluster] -= 1
    for k in range(work.stats.size):
        state.cluster_stats[cluster, k] -= row_stats[row, k]
    if likelihood.follows_rows:
        likelihood.add_row(state, row, cluster, -1.0)
    if layout.cap.is_tight:
        add_row(layout.cap, state, cluster, row, -1)


@inlined
def put_row(likelihood, layout, row_stats, state, work, row, cluster):
    """Put a row into a cluster, tentatively."""
    save_cluster(layout, state, work, cluster)
    state.cluster_rows[cluster] += 1
    for k in range(work.stats.size):
        state.cluster_stats[cluster, k] += row_stats[row, k]
    if likelihood.follows_rows:
        likelihood.add_row(state, row, cluster, 1.0)
    if layout.cap.is_tight:
        add_row(layout.cap, state, cluster, row, 1)


@kernel
def evaluate_trial(likelihood, layout, state, work):
    """Refresh the clusters that the trial changed; give the log ratio, -inf outside the cap."""
    log_ratio = 0.0
    if layout.cap.is_tight:
        log_ratio = log_allowance(layout.cap, state) - work.log_allowance[0]
        if log_ratio == -math.inf:
            return log_ratio
    likelihood.refresh_trial(state, work)
    for k in range(work.n_saved[0]):
        cluster = work.saved_cluster[k]
        log_ratio += state.cluster_log_likelihood[cluster] - work.saved_log_likelihood[k]
    return log_ratio


@kernel
def undo_trial(layout, state, work):
    """Put every cluster back as it was when the trial began."""
    for k in range(work.n_saved[0]):
        cluster = work.saved_cluster[k]
        state.cluster_rows[cluster] = work.saved_rows[k]
        state.cluster_log_likelihood[cluster] = work.saved_log_likelihood[k]
        for s in range(work.stats.size):
            state.cluster_stats[cluster, s] = work.saved_stats[k, s]
        if layout.cap.is_tight:
            set_counts(layout.cap, state, cluster, work.saved_groups[k])
