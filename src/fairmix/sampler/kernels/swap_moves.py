r"""Swaps: two rows of one group change places between slots.

*Follower swap* (the paper's proposal for :math:`\mathbf T`): two followers of one
group exchange their anchors. *Anchor swap* (ours): two anchors of equal capacity
in every follower group exchange places, and both sets of followers stay where
they are. One of the two is given; the other is drawn with equal probability from the next
``swap_reach`` rows of its group (slots of its class) in a circle, which keeps memory near
and a sweep linear in rows. The same pair leads back, so both proposals are symmetric, and
neighbours alone would already generate all permutations. The ratio has the marginals of the two
clusters and the energy. A masked follower holds its seat but not its label there, so only
its energy changes. Within one cluster the likelihood stays: the energy decides.

*Rematch* (ours): every follower swaps seats with a random one of its own cluster. The Gibbs step
moves whole bundles, and which rows of a cluster make up a bundle is for the energy alone to say;
with a nearly flat energy a pass makes all bundles anew, at the cost of a few distances a row.
"""

from fairmix.sampler.kernels.decorator import inlined, kernel
from fairmix.sampler.kernels.random_choice import accept, draw_index
from fairmix.sampler.kernels.state import (
    begin_trial,
    evaluate_trial,
    put_row,
    take_row,
    undo_trial,
)


@kernel
def swap_followers(rng, likelihood, distance, layout, row_stats, state, work, row):
    """Propose to swap a follower with another one; give (proposed, accepted)."""
    group = layout.group_of[row]
    first = layout.group_start[group]
    n_rows = layout.group_start[group + 1] - first
    if n_rows == 1:
        return 0, 0
    other = draw_partner(rng, first, n_rows, row, layout.swap_reach)
    slot, other_slot = state.slot_of[row], state.slot_of[other]
    if slot == other_slot:
        return 0, 0
    log_ratio = swapped_log_energy(distance, layout, state, row, other)
    cluster, other_cluster = state.labels[slot], state.labels[other_slot]
    begin_trial(layout, state, work)
    if cluster != other_cluster:
        if not state.masked[row]:
            take_row(likelihood, layout, row_stats, state, work, row, cluster)
            put_row(likelihood, layout, row_stats, state, work, row, other_cluster)
        if not state.masked[other]:
            take_row(likelihood, layout, row_stats, state, work, other, other_cluster)
            put_row(likelihood, layout, row_stats, state, work, other, cluster)
        log_ratio += evaluate_trial(likelihood, layout, state, work)
    if not accept(rng, log_ratio):
        undo_trial(layout, state, work)
        return 1, 0
    exchange_seats(state, row, other)
    return 1, 1


@kernel
def rematch(rng, distance, layout, state, work):
    """Swap followers with random ones of their own clusters; give (proposed, accepted).

    The partner is drawn as one of the seats of the cluster, so that the same seats lead back.
    """
    n_proposed, n_accepted = 0, 0
    for row in range(state.labels.size, state.slot_of.size):
        slot = state.slot_of[row]
        cluster = state.labels[slot]
        k = work.label_start[cluster] + draw_index(rng, state.cluster_slots[cluster])
        group = layout.group_of[row]
        width = layout.seats_per_slot[group]
        seat = layout.seat_start[group] + work.slots_by_label[k] * width + draw_index(rng, width)
        other = state.row_at[seat]
        if other < 0 or state.slot_of[other] == slot:
            continue
        n_proposed += 1
        if accept(rng, swapped_log_energy(distance, layout, state, row, other)):
            exchange_seats(state, row, other)
            n_accepted += 1
    return n_proposed, n_accepted


@inlined
def draw_partner(rng, first, n_places, place, reach):
    """Draw one of the next ``reach`` places in a circle of ``n_places`` from ``first`` on."""
    step = 1 + draw_index(rng, min(n_places - 1, reach))
    return first + (place - first + step) % n_places


@inlined
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


@inlined
def exchange_seats(state, row, other):
    """Exchange the seats, and with them the slots, of two followers."""
    seat, other_seat = state.seat_of[row], state.seat_of[other]
    slot, other_slot = state.slot_of[row], state.slot_of[other]
    state.row_at[seat], state.row_at[other_seat] = other, row
    state.seat_of[row], state.seat_of[other] = other_seat, seat
    state.slot_of[row], state.slot_of[other] = other_slot, slot


@kernel
def swap_anchors(rng, likelihood, distance, layout, row_stats, state, work, slot):
    """Propose to swap a slot's anchor with another one; give (proposed, accepted)."""
    first = layout.class_start[layout.class_of[slot]]
    n_slots = layout.class_start[layout.class_of[slot] + 1] - first
    if n_slots == 1:
        return 0, 0
    place = draw_partner(rng, first, n_slots, layout.class_place[slot], layout.swap_reach)
    other_slot = layout.class_slots[place]
    anchor, other_anchor = state.anchor_at[slot], state.anchor_at[other_slot]
    log_ratio = moved_anchor_log_energy(distance, layout, state, slot, other_anchor)
    log_ratio += moved_anchor_log_energy(distance, layout, state, other_slot, anchor)
    cluster, other_cluster = state.labels[slot], state.labels[other_slot]
    begin_trial(layout, state, work)
    if cluster != other_cluster:
        take_row(likelihood, layout, row_stats, state, work, anchor, cluster)
        put_row(likelihood, layout, row_stats, state, work, anchor, other_cluster)
        take_row(likelihood, layout, row_stats, state, work, other_anchor, other_cluster)
        put_row(likelihood, layout, row_stats, state, work, other_anchor, cluster)
        log_ratio += evaluate_trial(likelihood, layout, state, work)
    if not accept(rng, log_ratio):
        undo_trial(layout, state, work)
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
