r"""Moves of the relaxed model: which followers are masked, and where they go.

Given the partition, the prior of :math:`\mathbf T_0` and :math:`E` is uniform.
Outside the mask, :math:`\mathbf T_0` follows its prior.

*Free match*: the label of a masked row is drawn from its full conditional,
:math:`P(c) \propto |c|\, m(X^c \cup x) / m(X^c)` with :math:`x` taken out, and
then an anchor of that cluster with equal probability.

*Mask exchange*: a masked row :math:`e` and an unmasked :math:`u` of its group change
roles. Row :math:`e` returns to the cluster of its seat and :math:`u` gets a
label from its full conditional. With both rows taken out, the ratio is

.. math::
   \frac{p(x_e \mid \text{seat of } e)\; W_u}{p(x_u \mid \text{seat of } u)\; W_e},
   \qquad W_j = \sum_c |c|\, p(x_j \mid X^c),

where :math:`W_u` sees :math:`e` at its seat and :math:`W_e` sees :math:`u` at its. Under a cap,
labels that lead outside have weight zero.

*Mask change*, in a relaxed warm-up: any number of rows may be masked, at least the model's, with
prior :math:`\propto e^{-\lambda |E|}`, where :math:`\lambda` is the price. A random row is masked
if it is not, unmasked if it is. With the row :math:`u` taken out, the ratio of masking it is
:math:`e^{-\lambda}\, W_u / (n_0\, p(x_u \mid \text{seat of } u))`.
"""

import math

from fairmix.sampler.kernels.cap import add_row, log_allowance
from fairmix.sampler.kernels.decorator import kernel
from fairmix.sampler.kernels.random_choice import accept, draw_index, draw_weighted, log_sum_exp
from fairmix.sampler.kernels.state import (
    begin_trial,
    home_slot,
    put_row,
    take_row,
    undo_trial,
)


@kernel
def sort_slots_by_label(state, work):
    """List the slots cluster by cluster, to draw an anchor of a cluster."""
    start = 0
    for place in range(state.n_clusters[0]):
        cluster = state.active[place]
        work.label_start[cluster] = start
        start += state.cluster_slots[cluster]
    for slot in range(state.labels.size):
        cluster = state.labels[slot]
        work.slots_by_label[work.label_start[cluster]] = slot
        work.label_start[cluster] += 1
    for place in range(state.n_clusters[0]):
        cluster = state.active[place]
        work.label_start[cluster] -= state.cluster_slots[cluster]


@kernel
def weigh_free_label(likelihood, layout, row_stats, state, work, row):
    """Fill the log weights of all clusters for a row that is in none; give their sum."""
    n_clusters = state.n_clusters[0]
    likelihood.predict_row(row_stats, state, work, row)
    for place in range(n_clusters):
        cluster = state.active[place]
        work.log_weights[place] = math.log(state.cluster_slots[cluster])
        work.log_weights[place] += work.candidates[place]
        if layout.cap.is_tight:
            add_row(layout.cap, state, cluster, row, 1)
            work.log_weights[place] += log_allowance(layout.cap, state)
            add_row(layout.cap, state, cluster, row, -1)
    return log_sum_exp(work.log_weights, n_clusters)


@kernel
def draw_free_slot(rng, state, work):
    """Draw a cluster by the weights that are filled in, then one of its slots."""
    cluster = state.active[draw_weighted(rng, work.log_weights, state.n_clusters[0])]
    first = work.label_start[cluster]
    return work.slots_by_label[first + draw_index(rng, state.cluster_slots[cluster])]


@kernel
def redraw_free_match(rng, likelihood, layout, row_stats, state, work, row):
    """Draw a masked row's free match from its full conditional; tell if its label changed."""
    begin_trial(layout, state, work)
    source = state.labels[state.free_slot[row]]
    take_row(likelihood, layout, row_stats, state, work, row, source)
    likelihood.refresh(state, source)
    weigh_free_label(likelihood, layout, row_stats, state, work, row)
    state.free_slot[row] = draw_free_slot(rng, state, work)
    target = state.labels[state.free_slot[row]]
    put_row(likelihood, layout, row_stats, state, work, row, target)
    likelihood.refresh(state, target)
    return 1 if target != source else 0


@kernel
def exchange_mask(rng, likelihood, layout, row_stats, state, work, group):
    """Propose that a masked and an unmasked row change roles; give (proposed, accepted)."""
    first = layout.group_start[group]
    n_rows = layout.group_start[group + 1] - first
    n_masked = state.n_masked[group]
    if n_masked == n_rows:
        return 0, 0
    masked_place = first + draw_index(rng, n_masked)
    unmasked_place = first + n_masked + draw_index(rng, n_rows - n_masked)
    masked, unmasked = state.mask_order[masked_place], state.mask_order[unmasked_place]
    masked_seat = state.labels[state.slot_of[masked]]
    unmasked_seat = state.labels[state.slot_of[unmasked]]

    begin_trial(layout, state, work)
    free = state.labels[state.free_slot[masked]]
    take_row(likelihood, layout, row_stats, state, work, masked, free)
    take_row(likelihood, layout, row_stats, state, work, unmasked, unmasked_seat)
    likelihood.refresh(state, free)
    likelihood.refresh(state, unmasked_seat)

    log_ratio = -seat_log_predictive(
        likelihood, layout, row_stats, state, work, unmasked, unmasked_seat
    )
    log_ratio -= weigh_free_label(likelihood, layout, row_stats, state, work, masked)
    take_row(likelihood, layout, row_stats, state, work, unmasked, unmasked_seat)
    likelihood.refresh(state, unmasked_seat)
    log_ratio += seat_log_predictive(
        likelihood, layout, row_stats, state, work, masked, masked_seat
    )
    log_ratio += weigh_free_label(likelihood, layout, row_stats, state, work, unmasked)
    if not accept(rng, log_ratio):
        undo_trial(layout, state, work)
        return 1, 0

    state.free_slot[unmasked] = draw_free_slot(rng, state, work)
    state.free_slot[masked] = draw_index(rng, state.labels.size)  # its prior, from now on
    target = state.labels[state.free_slot[unmasked]]
    put_row(likelihood, layout, row_stats, state, work, unmasked, target)
    likelihood.refresh(state, target)
    exchange_roles(state, masked_place, unmasked_place)
    return 1, 1


@kernel
def change_mask(rng, likelihood, layout, row_stats, state, work, price):
    """Propose to mask or unmask a random row; give (proposed, accepted)."""
    n_anchors = state.labels.size
    place = n_anchors + draw_index(rng, row_stats.shape[0] - n_anchors)
    row = state.mask_order[place]
    group = layout.group_of[row]
    masks = not state.masked[row]
    if not masks and state.n_masked[group] == layout.n_masked[group]:
        return 0, 0
    seat = state.labels[state.slot_of[row]]
    source = state.labels[home_slot(state, row)]
    begin_trial(layout, state, work)
    take_row(likelihood, layout, row_stats, state, work, row, source)
    likelihood.refresh(state, source)
    log_odds = weigh_free_label(likelihood, layout, row_stats, state, work, row)
    log_odds -= work.log_weights[state.place[seat]] - math.log(state.cluster_slots[seat])
    log_odds -= math.log(n_anchors) + price
    if not accept(rng, log_odds if masks else -log_odds):
        undo_trial(layout, state, work)
        return 1, 0

    border = layout.group_start[group] + state.n_masked[group] - (0 if masks else 1)
    state.mask_order[place], state.mask_order[border] = state.mask_order[border], row
    state.n_masked[group] += 1 if masks else -1
    state.masked[row] = masks
    # A row that returns keeps its free match: only joint proposals see it, and none are made.
    target = seat
    if masks:
        state.free_slot[row] = draw_free_slot(rng, state, work)
        target = state.labels[state.free_slot[row]]
    put_row(likelihood, layout, row_stats, state, work, row, target)
    likelihood.refresh(state, target)
    return 1, 1


@kernel
def seat_log_predictive(likelihood, layout, row_stats, state, work, row, cluster):
    """Put a row into a cluster; give the log ratio of its marginals."""
    before = state.cluster_log_likelihood[cluster]
    put_row(likelihood, layout, row_stats, state, work, row, cluster)
    likelihood.refresh(state, cluster)
    return state.cluster_log_likelihood[cluster] - before


@kernel
def exchange_roles(state, masked_place, unmasked_place):
    """Mask the row at the second place of the mask's order instead of the first."""
    masked, unmasked = state.mask_order[masked_place], state.mask_order[unmasked_place]
    state.mask_order[masked_place], state.mask_order[unmasked_place] = unmasked, masked
    state.masked[masked] = False
    state.masked[unmasked] = True
