r"""STEP 1 exactly as in the paper: T', T0' and E' proposed together.

In one follower group, two rows exchange anchors, one row gets a free match drawn
uniformly from all anchors, and a masked and an unmasked row change roles. The
proposal is symmetric, so the ratio is that of energy times likelihood. The two rows may
be the same one, which leaves T alone; were they always different, two followers of
which one is masked would change T and E only together, and half of the states would never
be reached. Here ``free_slot`` is kept for all rows, masked or not, as the paper does.
"""

from fairmix.sampler.kernels.decorator import kernel
from fairmix.sampler.kernels.mask_moves import exchange_roles
from fairmix.sampler.kernels.random_choice import accept, draw_index
from fairmix.sampler.kernels.state import (
    begin_trial,
    evaluate_trial,
    home_slot,
    put_row,
    take_row,
    undo_trial,
)
from fairmix.sampler.kernels.swap_moves import exchange_seats, swapped_log_energy


@kernel
def propose_jointly(rng, likelihood, distance, layout, row_stats, state, work):
    """Propose one joint change of a follower group's maps; give (proposed, accepted)."""
    n_anchors = state.labels.size
    row = n_anchors + draw_index(rng, row_stats.shape[0] - n_anchors)
    group = layout.group_of[row]
    first = layout.group_start[group]
    n_rows = layout.group_start[group + 1] - first
    n_masked = state.n_masked[group]
    exchanges_mask = 0 < n_masked < n_rows
    other = first + draw_index(rng, n_rows)
    freed = first + draw_index(rng, n_rows)
    new_free_slot = draw_index(rng, n_anchors)
    masked_place = first + draw_index(rng, max(n_masked, 1))
    unmasked_place = first + n_masked + draw_index(rng, n_rows - n_masked)

    n_touched = note_row(state, work, 0, row)
    n_touched = note_row(state, work, n_touched, other)
    n_touched = note_row(state, work, n_touched, freed)
    if exchanges_mask:
        n_touched = note_row(state, work, n_touched, state.mask_order[masked_place])
        n_touched = note_row(state, work, n_touched, state.mask_order[unmasked_place])

    log_ratio = swapped_log_energy(distance, layout, state, row, other)
    exchange_seats(state, row, other)
    old_free_slot = state.free_slot[freed]
    state.free_slot[freed] = new_free_slot
    if exchanges_mask:
        exchange_roles(state, masked_place, unmasked_place)

    begin_trial(layout, state, work)
    for k in range(n_touched):
        touched, before = work.touched_rows[k], work.labels_before[k]
        after = state.labels[home_slot(state, touched)]
        if after != before:
            take_row(likelihood, layout, row_stats, state, work, touched, before)
            put_row(likelihood, layout, row_stats, state, work, touched, after)
    log_ratio += evaluate_trial(likelihood, layout, state, work)
    if accept(rng, log_ratio):
        return 1, 1

    undo_trial(layout, state, work)
    if exchanges_mask:
        exchange_roles(state, masked_place, unmasked_place)
    state.free_slot[freed] = old_free_slot
    exchange_seats(state, row, other)
    return 1, 0


@kernel
def note_row(state, work, n_touched, row):
    """Note a row and its label before the proposal, once; give how many are noted."""
    for k in range(n_touched):
        if work.touched_rows[k] == row:
            return n_touched
    work.touched_rows[n_touched] = row
    work.labels_before[n_touched] = state.labels[home_slot(state, row)]
    return n_touched + 1
