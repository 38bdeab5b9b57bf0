r"""The move that changes R: an extra seat goes from one anchor to another.

When R is free, a slot with an extra seat in a group gives one of its followers to a slot without.
Both slots and the follower are drawn with equal probability, and so is the way back: the
proposal is symmetric. The ratio has the marginals of the two clusters and the energy.
"""

from fairmix.sampler.kernels.decorator import kernel
from fairmix.sampler.kernels.random_choice import accept, draw_index
from fairmix.sampler.kernels.state import begin_trial, evaluate_trial, put_row, take_row, undo_trial


@kernel
def sort_slots_by_extra(layout, state, work, group):
    """List a group's slots, those with an extra seat first; give how many these are."""
    width = layout.seats_per_slot[group]
    n_extra = 0
    n_slots = state.labels.size
    n_plain = 0
    for slot in range(n_slots):
        first = layout.seat_start[group] + slot * width
        if find_empty_seat(state, first, width) < 0:
            work.slots_by_extra[group, n_extra] = slot
            n_extra += 1
        else:
            n_plain += 1
            work.slots_by_extra[group, n_slots - n_plain] = slot
    return n_extra


@kernel
def find_empty_seat(state, first, width):
    """Give the empty one of a slot's seats, -1 if there is none."""
    for seat in range(first, first + width):
        if state.row_at[seat] < 0:
            return seat
    return -1


@kernel
def move_extra_seat(rng, likelihood, distance, layout, row_stats, state, work, group, n_extra):
    """Propose to move an extra seat of a group; give 1 if it was accepted."""
    place = draw_index(rng, n_extra)
    other_place = n_extra + draw_index(rng, state.labels.size - n_extra)
    slot = work.slots_by_extra[group, place]
    other_slot = work.slots_by_extra[group, other_place]
    width = layout.seats_per_slot[group]
    seat = layout.seat_start[group] + slot * width + draw_index(rng, width)
    row = state.row_at[seat]
    gain = distance.between(state.anchor_at[slot], row)
    gain -= distance.between(state.anchor_at[other_slot], row)
    log_ratio = gain * layout.energy_weight[group]
    cluster, other_cluster = state.labels[slot], state.labels[other_slot]
    begin_trial(layout, state, work)
    if cluster != other_cluster and not state.masked[row]:
        take_row(likelihood, layout, row_stats, state, work, row, cluster)
        put_row(likelihood, layout, row_stats, state, work, row, other_cluster)
        log_ratio += evaluate_trial(likelihood, layout, state, work)
    if not accept(rng, log_ratio):
        undo_trial(layout, state, work)
        return 0
    new_seat = find_empty_seat(state, layout.seat_start[group] + other_slot * width, width)
    state.row_at[seat] = -1
    state.row_at[new_seat] = row
    state.seat_of[row] = new_seat
    state.slot_of[row] = other_slot
    work.slots_by_extra[group, place] = other_slot
    work.slots_by_extra[group, other_place] = slot
    return 1
