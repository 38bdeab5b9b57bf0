r"""Swaps: two rows of one group change places between slots.

*Follower swap* (the paper's proposal for :math:`\mathbf T`): two followers of one
group exchange their anchors. *Anchor swap* (ours): two anchors of equal capacity
in every follower group exchange places, and both sets of followers stay where
they are. Both proposals are symmetric; the ratio has the marginals of the two
clusters and the energy. A masked follower holds its seat but not its label there, so only
its energy changes. Within one cluster the likelihood stays: the energy decides.
"""

from fairmix.kernels.decorator import kernel
from fairmix.kernels.random_choice import accept, draw_index, draw_other
from fairmix.kernels.state import (
    begin_trial,
    evaluate_trial,
    put_row,
    take_row,
    undo_trial,
)


@kernel
def swap_followers(rng, family, distance, layout, row_stats, state, work):
    """Propose one follower swap; give (proposed, accepted)."""
    n_anchors = state.labels.size
    row = n_anchors + draw_index(rng, row_stats.shape[0] - n_anchors)
    group = layout.group_of[row]
    first = layout.group_start[group]
    n_rows = layout.group_start[group + 1] - first
    if n_rows == 1:
        return 0, 0
    other = first + draw_other(rng, n_rows, row - first)
    slot, other_slot = state.slot_of[row], state.slot_of[other]
    if slot == other_slot:
        return 0, 0
    log_ratio = swapped_log_energy(distance, layout, state, row, other)
    cluster, other_cluster = state.labels[slot], state.labels[other_slot]
    begin_trial(work)
    if cluster != other_cluster:
        if not state.masked[row]:
            take_row(row_stats, state, work, row, cluster)
            put_row(row_stats, state, work, row, other_cluster)
        if not state.masked[other]:
            take_row(row_stats, state, work, other, other_cluster)
            put_row(row_stats, state, work, other, cluster)
        log_ratio += evaluate_trial(family, state, work)
    if not accept(rng, log_ratio):
        undo_trial(state, work)
        return 1, 0
    exchange_seats(state, row, other)
    return 1, 1


@kernel
def swapped_log_energy(distance, layout, state, row, other):
    """Log energy that is gained when two followers of one group exchange anchors."""
    anchor = state.anchor_at[state.slot_of[row]]
    other_anchor = state.anchor_at[state.slot_of[other]]
    gain = (
        distance.between(anchor, row)
        + distance.between(other_anchor, other)
        - distance.between(other_anchor, row)
        - distance.between(anchor, other)
    )
    return gain * layout.energy_weight[layout.group_of[row]]


@kernel
def exchange_seats(state, row, other):
    """Exchange the seats, and with them the slots, of two followers."""
    seat, other_seat = state.seat_of[row], state.seat_of[other]
    slot, other_slot = state.slot_of[row], state.slot_of[other]
    state.row_at[seat], state.row_at[other_seat] = other, row
    state.seat_of[row], state.seat_of[other] = other_seat, seat
    state.slot_of[row], state.slot_of[other] = other_slot, slot


@kernel
def swap_anchors(rng, family, distance, layout, row_stats, state, work):
    """Propose one anchor swap; give (proposed, accepted)."""
    slot = draw_index(rng, state.labels.size)
    first = layout.class_start[layout.class_of[slot]]
    n_slots = layout.class_start[layout.class_of[slot] + 1] - first
    other_slot = layout.class_slots[first + draw_index(rng, n_slots)]
    if slot == other_slot:
        return 0, 0
    anchor, other_anchor = state.anchor_at[slot], state.anchor_at[other_slot]
    log_ratio = moved_anchor_log_energy(distance, layout, state, slot, other_anchor)
    log_ratio += moved_anchor_log_energy(distance, layout, state, other_slot, anchor)
    cluster, other_cluster = state.labels[slot], state.labels[other_slot]
    begin_trial(work)
    if cluster != other_cluster:
        take_row(row_stats, state, work, anchor, cluster)
        put_row(row_stats, state, work, anchor, other_cluster)
        take_row(row_stats, state, work, other_anchor, other_cluster)
        put_row(row_stats, state, work, other_anchor, cluster)
        log_ratio += evaluate_trial(family, state, work)
    if not accept(rng, log_ratio):
        undo_trial(state, work)
        return 1, 0
    state.anchor_at[slot], state.anchor_at[other_slot] = other_anchor, anchor
    state.slot_of[anchor], state.slot_of[other_anchor] = other_slot, slot
    return 1, 1


@kernel
def moved_anchor_log_energy(distance, layout, state, slot, new_anchor):
    """Log energy that is gained when a slot gets another anchor."""
    anchor = state.anchor_at[slot]
    log_energy = 0.0
    for group in range(1, layout.seats_per_slot.size):
        width = layout.seats_per_slot[group]
        first = layout.seat_start[group] + slot * width
        gain = 0.0
        for seat in range(first, first + width):
            row = state.row_at[seat]
            if row >= 0:
                gain += distance.between(anchor, row) - distance.between(new_anchor, row)
        log_energy += gain * layout.energy_weight[group]
    return log_energy
