r"""Fair split, merge and re-deal: anchors and followers of one or two clusters dealt anew.

*Split*: a cluster :math:`S` (with two random anchors of it, one for each half) is dealt into halves
A and B. *Merge*: clusters A and B (with a random anchor of each) become :math:`S`. *Re-deal*: their
union is dealt anew into two halves. *Partial re-deal*: the same for a random share of their rows,
while the others stay. Splits and merges are proposed with equal probability. Halves come from a
launch (``launch.py``), for a partial re-deal from the rows that stay, with probability :math:`q`
(``allocation.py``); then T is redrawn uniformly among the maps inside each half (inside :math:`S`
for a merge) that keep every slot's capacity (if R is free: among the maps of any R with as many
extra seats there), and the free matches of masked rows uniformly among the half's slots.
A re-deal makes two launches: new halves come from one, the present ones are scored by the other,
and on the way back they change places. So halves may become quite different ones.
With

.. math::
   w(A) = \gamma^{(|A_0|)}\, m(A)\, |A_0|^{M_A} \prod_b N_{A,b}! \binom{f_{A,b}}{k_{A,b}}

(:math:`A_0` slots, :math:`M_A` masked rows, :math:`N_{A,b}` unmasked followers of group b,
:math:`f` slots whose extra seat may go, :math:`k` extra seats of these) and the probability
of the choice, :math:`c(A, B) = P(A) P(B | A) / (|A_0| |B_0|)` and
:math:`c(S) = P(S) / (|S_0| (|S_0| - 1))` (``pair_choice.py``), the ratios are,
times the ratio of energies,

.. math::
   \text{split: } \frac{V(t+1)}{V(t)} \frac{w(A) w(B)\, c(A, B)}{w(S)\, c(S)\, q(A, B)}, \quad
   \text{merge: its inverse}, \quad
   \text{re-deals: }
   \frac{w(A') w(B')\, c(A', B')\, q(A, B)}{w(A) w(B)\, c(A, B)\, q(A', B')}.
"""

import math

from fairmix.sampler.kernels.allocation import deal_out, give_extra_seats, log_binomial
from fairmix.sampler.kernels.cap import imbalance_of, log_allowance, log_allowance_if, set_counts
from fairmix.sampler.kernels.decorator import kernel
from fairmix.sampler.kernels.launch import (
    add_up_halves,
    collect_members,
    condition,
    launch,
    part_anchors,
    shuffle,
)
from fairmix.sampler.kernels.moves import MERGE, PARTIAL_REDEAL, REDEAL, SPLIT
from fairmix.sampler.kernels.pair_choice import (
    draw_first,
    draw_second,
    log_chance_of_first,
    log_chance_of_second,
)
from fairmix.sampler.kernels.random_choice import draw_index
from fairmix.sampler.kernels.state import close_cluster, open_cluster

#: A partial re-deal deals at most this share of the rows anew.
MAX_SHARE = 0.5
#: Under a cap with a price, so many deals set no prices for the groups, so many set them whole, and
#: the others set a random part of them.
UNPRICED_SHARE, PRICED_SHARE = 0.3, 0.35


@kernel
def split_merge_step(
    rng, likelihood, distance, layout, tables, schedule, row_stats, state, deal, proposed, accepted
):
    """Make the proposals of one sweep; count them by kind."""
    n_split_merge = schedule.split_merge_proposals
    n_dealt = n_split_merge + schedule.redeal_proposals
    for k in range(n_dealt + schedule.partial_redeal_proposals):
        if k < n_split_merge:
            kind = SPLIT if rng.random() < 0.5 else MERGE
        else:
            kind = REDEAL if k < n_dealt else PARTIAL_REDEAL
        n_clusters = state.n_clusters[0]
        cluster = draw_first(rng, state, kind in (SPLIT, MERGE))
        other_cluster = cluster
        if kind == SPLIT:
            if state.cluster_slots[cluster] < 2 or tables.log_v[n_clusters + 1] == -math.inf:
                continue
        elif n_clusters == 1:
            continue
        else:
            other_cluster = draw_second(rng, likelihood, state, deal, cluster)
        proposed[kind] += 1
        accepted[kind] += propose_deal(
            rng,
            likelihood,
            distance,
            layout,
            tables,
            row_stats,
            state,
            deal,
            cluster,
            other_cluster,
            kind,
        )


@kernel
def propose_deal(
    rng, likelihood, distance, layout, tables, row_stats, state, deal, cluster, other_cluster, kind
):
    """Propose a split, a merge or a re-deal; give 1 if it was accepted."""
    n_slots = collect_members(rng, layout, state, deal, cluster, other_cluster)
    n_members = deal.part_start[-1]
    budget = gap_budget(layout.cap, state, cluster, other_cluster)
    pricing = draw_pricing(rng, layout, state)
    deal.pricing[0] = pricing
    deal.pricing[1] = state.cap_price[0] * layout.cap.gap_of_one[0] if pricing > 0.0 else 0.0
    t = state.n_clusters[0]
    new_t = t + (kind == SPLIT) - (kind == MERGE)
    log_threshold = math.log(1.0 - rng.random())
    log_ratio = tables.log_v[new_t] - tables.log_v[t]

    read_halves(state, deal, n_members, cluster)
    keeps_parameters = kind == PARTIAL_REDEAL
    if kind == PARTIAL_REDEAL:
        condition(rng, likelihood, layout, row_stats, deal, MAX_SHARE * rng.random(), pricing)
    log_ratio -= log_weight(
        rng, likelihood, tables, row_stats, deal, cluster, other_cluster, False, keeps_parameters
    )
    prefers_small = kind in (SPLIT, MERGE)
    log_ratio -= log_choice(likelihood, state, deal, t, cluster, other_cluster, prefers_small)
    if kind in (SPLIT, REDEAL):
        launch(rng, likelihood, layout, row_stats, deal, pricing)
    if kind in (REDEAL, PARTIAL_REDEAL):
        read_halves(state, deal, n_members, cluster)
        log_ratio += deal_out(rng, layout, deal, budget, False)
    if kind == REDEAL:
        launch(rng, likelihood, layout, row_stats, deal, pricing)
    if kind == MERGE:
        put_all_in_a(deal, n_members)
        join_groups(rng, deal)
    else:
        part_anchors(deal)
        log_ratio -= deal_out(rng, layout, deal, budget, True)
        if not log_ratio > -math.inf:
            return 0
    if layout.cap.is_tight:
        count_halves(layout.cap, deal)
        new_cluster = state.active[t] if kind == SPLIT else other_cluster
        log_ratio += log_allowance_if(
            layout.cap, state, cluster, deal.half_groups[0], new_cluster, deal.half_groups[1]
        )
        log_ratio -= log_allowance(layout.cap, state)
    log_ratio += log_weight(
        rng, likelihood, tables, row_stats, deal, cluster, other_cluster, True, keeps_parameters
    )
    log_ratio += log_choice(likelihood, state, deal, new_t, cluster, other_cluster, prefers_small)
    log_ratio += draw_matches(rng, distance, layout, state, deal, n_slots)
    if not log_ratio >= log_threshold:  # NaN is refused, too
        return 0
    if kind == MERGE:
        # The probability to split again is at most 1: most merges are refused without a launch.
        launch(rng, likelihood, layout, row_stats, deal, pricing)
        read_halves(state, deal, n_members, cluster)
        log_ratio += deal_out(rng, layout, deal, budget, False)
        if not log_ratio >= log_threshold:
            return 0
        put_all_in_a(deal, n_members)
        add_up_halves(row_stats, deal, n_members)
        if layout.cap.is_tight:
            count_halves(layout.cap, deal)
        close_cluster(state, other_cluster)
    elif kind == SPLIT:
        other_cluster = open_cluster(state)
    keep_deal(likelihood, layout, row_stats, state, deal, n_slots, cluster, other_cluster)
    return 1


@kernel
def gap_budget(cap, state, cluster, other_cluster):
    """Give the weighted imbalance that matched rows of the clusters may have after a deal."""
    if not cap.is_tight:
        return 0
    budget = cap.largest[0]
    for column in range(cap.first[1]):
        imbalance = state.imbalance[column]
        imbalance -= imbalance_of(cap, state.cluster_groups[cluster], column)
        if other_cluster != cluster:
            imbalance -= imbalance_of(cap, state.cluster_groups[other_cluster], column)
        budget -= cap.weight[column] * imbalance
    return budget


@kernel
def draw_pricing(rng, layout, state):
    """Draw how much of their prices the groups get, which only rows that move freely need."""
    if not (layout.cap.is_tight and 0.0 < state.cap_price[0] < math.inf):
        return 0.0
    share = rng.random()
    if share < UNPRICED_SHARE:
        return 0.0
    return 1.0 if share < UNPRICED_SHARE + PRICED_SHARE else rng.random()


@kernel
def count_halves(cap, deal):
    """Count the members of the halves by column of the cap."""
    deal.half_groups[:] = 0
    for member in range(deal.part_start[-1]):
        row = deal.rows[member]
        counts = deal.half_groups[0 if deal.in_a[member] else 1]
        for grouping in range(cap.largest.size):
            counts[cap.columns[row, grouping]] += 1
        counts[counts.size - 1] += 1


@kernel
def join_groups(rng, deal):
    """Let the union have all seats, extra ones at random slots."""
    for group in range(1, deal.n_extra.size):
        n_flexible = 0
        for k in range(deal.part_start[1]):
            n_flexible += deal.flexible[group, k]
        give_extra_seats(rng, deal, group, True, deal.n_extra[group], n_flexible)


@kernel
def log_choice(likelihood, state, deal, n_clusters, cluster, other_cluster, prefers_small):
    """Give the log probability to choose the clusters that the halves are, and their anchors."""
    n_in_a = count_half(deal, 0, 0)
    n_in_b = count_half(deal, 0, 1)
    pair = (cluster, other_cluster)
    log_prob = log_chance_of_first(state, n_clusters, n_in_a, n_in_b, pair, prefers_small)
    if n_in_b == 0:
        return log_prob - math.log(n_in_a * (n_in_a - 1.0))
    log_prob += log_chance_of_second(likelihood, state, deal, n_clusters, cluster, other_cluster)
    return log_prob - math.log(n_in_a * n_in_b)


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
def log_weight(
    rng,
    likelihood,
    tables,
    row_stats,
    deal,
    cluster,
    other_cluster,
    is_new,
    keeps_parameters,
):
    """Add up log w over the halves that are not empty, as they are or as proposed."""
    n_parts = deal.part_start.size - 1
    extra = deal.gets_extra if is_new else deal.has_extra
    add_up_halves(row_stats, deal, deal.part_start[n_parts])
    total = 0.0
    for half in range(2):
        if deal.n_rows[half] == 0:
            continue
        present = cluster if half == 0 else other_cluster
        total += likelihood.weigh_half(rng, deal, half, present, is_new, keeps_parameters)
        n_slots = count_half(deal, 0, half)
        total += tables.log_rising[n_slots]
        for part in range(1, n_parts - 1):
            total += math.lgamma(count_half(deal, part, half) + 1.0)
            if deal.n_extra[part] > 0:
                total += log_ways(deal, part, half, extra)
        total += count_half(deal, n_parts - 1, half) * math.log(n_slots)
    return total


@kernel
def log_ways(deal, group, half, extra):
    """Count the ways to place a half's extra seats (log)."""
    n_flexible, n_extra = 0, 0
    for k in range(deal.part_start[1]):
        if deal.in_a[k] == (half == 0):
            n_flexible += deal.flexible[group, k]
            n_extra += extra[group, k]
    return log_binomial(n_flexible, n_extra)


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
        # Seats of masked rows stay theirs; a slot that has none fills its seats from the first on.
        left = deal.capacity[group, place] + deal.gets_extra[group, place]
        for seat in range(first, first + width):
            row = state.row_at[seat]
            if left == 0 or (row >= 0 and state.masked[row]):
                continue
            while deal.in_a[deal.order[k]] != is_a:
                k += 1
            deal.new_seat[deal.order[k]] = seat
            deal.new_slot[deal.order[k]] = slot
            k += 1
            left -= 1


@kernel
def keep_deal(likelihood, layout, row_stats, state, deal, n_slots, cluster, other_cluster):
    """Make the dealt halves (or the union) the state."""
    n_parts = deal.part_start.size - 1
    for member in range(deal.part_start[1], deal.part_start[n_parts - 1]):
        state.row_at[state.seat_of[deal.rows[member]]] = -1
    for member in range(deal.part_start[1], deal.part_start[n_parts - 1]):
        row = deal.rows[member]
        state.row_at[deal.new_seat[member]] = row
        state.seat_of[row] = deal.new_seat[member]
        state.slot_of[row] = deal.new_slot[member]
    for member in range(deal.part_start[n_parts - 1], deal.part_start[n_parts]):
        state.free_slot[deal.rows[member]] = deal.new_slot[member]
    for k in range(n_slots):
        state.labels[deal.slots[k]] = cluster if deal.in_a[k] else other_cluster
    for half in range(2):
        changed = cluster if half == 0 else other_cluster
        if layout.cap.is_tight:
            set_counts(layout.cap, state, changed, deal.half_groups[half])
        if deal.n_rows[half] == 0:
            continue
        state.cluster_slots[changed] = count_half(deal, 0, half)
        state.cluster_rows[changed] = deal.n_rows[half]
        for k in range(row_stats.shape[1]):
            state.cluster_stats[changed, k] = deal.stats[half, k]
        likelihood.keep_half(state, deal, half, changed)
