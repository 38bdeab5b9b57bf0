r"""Fair split, merge and re-deal: anchors and followers of one or two clusters dealt anew.

Two distinct slots are drawn. If they share a cluster, it is to be *split* into A (with the first)
and B (with the second). Else, with probability 1/2 each, their clusters are *merged*, or their
union :math:`S` is *dealt anew* into two halves. Halves come from a launch
(:mod:`fairmix.kernels.launch`) with probability :math:`q`; then T is redrawn uniformly among the
maps inside each half (inside :math:`S` for a merge) that keep every slot's capacity, and the free
matches of masked rows uniformly among the half's slots. With

.. math::
   w(A) = \gamma^{(|A_0|)}\, m(A)\, |A_0|^{M_A} \prod_b N_{A,b}!

(:math:`A_0` slots, :math:`M_A` masked rows, :math:`N_{A,b}` unmasked followers of group b), the
ratios are, times the ratio of energies,

.. math::
   \text{split: } \frac{V(t+1)}{2 V(t)} \frac{w(A) w(B)}{w(S)\, q(A, B)}, \quad
   \text{merge: its inverse}, \quad
   \text{re-deal: } \frac{w(A') w(B')\, q(A, B)}{w(A) w(B)\, q(A', B')}.
"""

import math

from fairmix.kernels.decorator import kernel
from fairmix.kernels.launch import (
    add_up_halves,
    collect_members,
    deal_out,
    launch,
    shuffle,
)
from fairmix.kernels.random_choice import accept, draw_index
from fairmix.kernels.state import close_cluster, open_cluster

SPLIT, MERGE, REDEAL = 0, 1, 2


@kernel
def split_merge_step(
    rng, family, distance, layout, tables, n_proposals, row_stats, state, deal, proposed, accepted
):
    """Make a number of proposals; count them by kind."""
    if state.labels.size < 2:
        return
    for _ in range(n_proposals):
        slot = draw_index(rng, state.labels.size)
        other_slot = draw_index(rng, state.labels.size - 1)
        other_slot += other_slot >= slot
        if state.labels[slot] == state.labels[other_slot]:
            kind = SPLIT
        elif rng.random() < 0.5:
            kind = MERGE
        else:
            kind = REDEAL
        n_clusters = state.n_clusters[0]
        if kind == SPLIT and tables.log_v[n_clusters + 1] == -math.inf:
            continue
        proposed[kind] += 1
        accepted[kind] += propose_deal(
            rng, family, distance, layout, tables, row_stats, state, deal, slot, other_slot, kind
        )


@kernel
def propose_deal(
    rng, family, distance, layout, tables, row_stats, state, deal, slot, other_slot, kind
):
    """Propose a split, merge or re-deal; give 1 if it was accepted."""
    cluster, other_cluster = state.labels[slot], state.labels[other_slot]
    n_slots = collect_members(rng, layout, state, deal, cluster, other_cluster)
    n_members = deal.part_start[-1]
    place, other_place = 0, 0
    for k in range(n_slots):
        if deal.slots[k] == slot:
            place = k
        elif deal.slots[k] == other_slot:
            other_place = k
    launch(rng, family, row_stats, deal, place, other_place)

    t = state.n_clusters[0]
    log_ratio = 0.0
    if kind == SPLIT:
        put_all_in_a(deal, n_members)
        log_ratio += tables.log_v[t + 1] - tables.log_v[t] - math.log(2.0)
    else:
        read_halves(state, deal, n_members, cluster)
        log_ratio += deal_out(rng, deal, place, other_place, False)
    log_ratio -= log_weight(family, tables, row_stats, deal, n_members)
    if kind == MERGE:
        put_all_in_a(deal, n_members)
        log_ratio += tables.log_v[t - 1] - tables.log_v[t] + math.log(2.0)
    else:
        log_ratio -= deal_out(rng, deal, place, other_place, True)
    log_ratio += log_weight(family, tables, row_stats, deal, n_members)
    log_ratio += draw_matches(rng, distance, layout, state, deal, n_slots)
    if not accept(rng, log_ratio):
        return 0
    if kind == SPLIT:
        other_cluster = open_cluster(state)
    elif kind == MERGE:
        close_cluster(state, other_cluster)
    keep_deal(family, row_stats, state, deal, n_slots, cluster, other_cluster, kind)
    return 1


@kernel
def put_all_in_a(deal, n_members):
    """Let half A be everybody."""
    for member in range(n_members):
        deal.in_a[member] = True


@kernel
def read_halves(state, deal, n_members, cluster):
    """Let half A be the members that are in this cluster now."""
    n_parts = deal.part_start.size - 1
    for member in range(n_members):
        row = deal.rows[member]
        slot = state.slot_of[row]
        if member >= deal.part_start[n_parts - 1]:
            slot = state.free_slot[row]
        deal.in_a[member] = state.labels[slot] == cluster


@kernel
def log_weight(family, tables, row_stats, deal, n_members):
    """Add up log w over the halves that are not empty."""
    n_parts = deal.part_start.size - 1
    add_up_halves(row_stats, deal, n_members)
    total = 0.0
    for half in range(2):
        if deal.n_rows[half] == 0:
            continue
        total += family.log_marginal(deal.n_rows[half], deal.stats[half])
        n_slots = count_half(deal, 0, half)
        total += tables.log_rising[n_slots]
        for part in range(1, n_parts - 1):
            total += math.lgamma(count_half(deal, part, half) + 1.0)
        total += count_half(deal, n_parts - 1, half) * math.log(n_slots)
    return total


@kernel
def count_half(deal, part, half):
    """Count the members of one part in one half."""
    count = 0
    for member in range(deal.part_start[part], deal.part_start[part + 1]):
        count += deal.in_a[member] == (half == 0)
    return count


@kernel
def draw_matches(rng, distance, layout, state, deal, n_slots):
    """Draw seats and free matches inside the halves; give the gain in log energy."""
    n_parts = deal.part_start.size - 1
    log_energy = 0.0
    for group in range(1, n_parts - 1):
        start, end = deal.part_start[group], deal.part_start[group + 1]
        # Members in a new random order, seats half by half in the slots' order.
        for k in range(start, end):
            deal.order[k] = k
        shuffle(rng, deal.order, start, end)
        seat_half(layout, state, deal, group, n_slots, True)
        seat_half(layout, state, deal, group, n_slots, False)
        gain = 0.0
        for member in range(start, end):
            row = deal.rows[member]
            gain += distance.between(state.anchor_at[state.slot_of[row]], row)
            gain -= distance.between(state.anchor_at[deal.new_slot[member]], row)
        log_energy += gain * layout.energy_weight[group]
    n_in_a = list_half_slots(deal, n_slots)
    for member in range(deal.part_start[n_parts - 1], deal.part_start[n_parts]):
        if deal.in_a[member]:
            k = draw_index(rng, n_in_a)
        else:
            k = n_in_a + draw_index(rng, n_slots - n_in_a)
        deal.new_slot[member] = deal.half_slots[k]
    return log_energy


@kernel
def list_half_slots(deal, n_slots):
    """List the slots of half A, then those of B; give how many are in A."""
    n_in_a = 0
    n_in_b = 0
    for k in range(n_slots):
        if deal.in_a[k]:
            deal.half_slots[n_in_a] = deal.slots[k]
            n_in_a += 1
        else:
            n_in_b += 1
            deal.half_slots[n_slots - n_in_b] = deal.slots[k]
    return n_in_a


@kernel
def seat_half(layout, state, deal, group, n_slots, is_a):
    """Give a group's members of one half the seats of its slots, in the order they come."""
    width = layout.seats_per_slot[group]
    k = deal.part_start[group]
    for place in range(n_slots):
        if deal.in_a[place] != is_a:
            continue
        slot = deal.slots[place]
        first = layout.seat_start[group] + slot * width
        for seat in range(first, first + width):
            row = state.row_at[seat]
            if row >= 0 and not state.masked[row]:
                while deal.in_a[deal.order[k]] != is_a:
                    k += 1
                deal.new_seat[deal.order[k]] = seat
                deal.new_slot[deal.order[k]] = slot
                k += 1


@kernel
def keep_deal(family, row_stats, state, deal, n_slots, cluster, other_cluster, kind):
    """Make the dealt halves (or the union) the state."""
    n_parts = deal.part_start.size - 1
    for member in range(deal.part_start[1], deal.part_start[n_parts - 1]):
        row = deal.rows[member]
        state.row_at[deal.new_seat[member]] = row
        state.seat_of[row] = deal.new_seat[member]
        state.slot_of[row] = deal.new_slot[member]
    for member in range(deal.part_start[n_parts - 1], deal.part_start[n_parts]):
        state.free_slot[deal.rows[member]] = deal.new_slot[member]
    for k in range(n_slots):
        state.labels[deal.slots[k]] = cluster if deal.in_a[k] else other_cluster
    for half in range(1 if kind == MERGE else 2):
        changed = cluster if half == 0 else other_cluster
        state.cluster_slots[changed] = count_half(deal, 0, half)
        state.cluster_rows[changed] = deal.n_rows[half]
        for k in range(row_stats.shape[1]):
            state.cluster_stats[changed, k] = deal.stats[half, k]
        state.cluster_log_marginal[changed] = family.log_marginal(
            deal.n_rows[half], deal.stats[half]
        )
