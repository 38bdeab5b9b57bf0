r"""Launch: a fair way to deal the rows of one or two clusters into two halves.

Members of :math:`S` (one cluster, or two together) are numbered in *parts*: anchors (part 0), then
the unmasked followers that sit in the slots, a part a group, then masked followers whose label
is in :math:`S` (the last part). They are shuffled, so that nothing knows the present halves or the
present matching. What comes out is a log preference (predictive in half A over that in half B) of
every *free* member, and the terms that balance anchors and followers; :func:`fairmix.kernels.deal`
draws halves from them.

*launch*: all members are free but two anchors, one for each half. A few rounds of hard EM
(anchors go to the half with the larger predictive, followers by preference within the halves'
capacities), starting from one of four first guesses, on no more than ``max_launched`` members, then
one round for all.

*condition*: a share of the members is free; the others stay in their present halves and say
what these look like.
"""

from typing import NamedTuple

import numpy as np

from fairmix.kernels.balance import balance
from fairmix.kernels.decorator import kernel, routine
from fairmix.kernels.random_choice import draw_index

#: Rounds of hard EM at most.
HARD_ROUNDS = 5


class Deal(NamedTuple):
    """Room to deal the members of two halves."""

    slots: np.ndarray  # slots of S; the last two hold the two anchors
    rows: np.ndarray  # rows of all members
    part_start: np.ndarray  # first member of each part
    free_end: np.ndarray  # members of a part from its start to here are free
    flexible: np.ndarray  # (group, slot of S): whether an extra seat may come or go
    capacity: np.ndarray  # (group, slot of S): seats of unmasked followers that do not go
    has_extra: np.ndarray  # (group, slot of S): whether a flexible slot has an extra seat
    gets_extra: np.ndarray  # the same, as proposed
    n_extra: np.ndarray  # group -> extra seats of flexible slots
    lift: np.ndarray  # (group, slot of S): seats to be expected
    in_a: np.ndarray  # member -> whether it is in half A
    preference: np.ndarray  # member -> log predictive in A over that in B
    odds: np.ndarray  # member -> odds of half A
    order: np.ndarray  # members of a part, the most eager for A first
    centre: np.ndarray  # group -> preference at which followers do not mind
    border: np.ndarray  # group -> what a seat adds to the log odds of its anchor
    stats: np.ndarray  # (half, statistic)
    n_rows: np.ndarray  # of each half
    half_groups: np.ndarray  # (half, group): rows by label
    joined: np.ndarray  # statistics of a half with a row added
    half_slots: np.ndarray  # slots of half A from the front, of B from the back
    new_seat: np.ndarray  # member -> seat
    new_slot: np.ndarray  # member -> slot
    log_weights: np.ndarray  # of clusters, or of numbers of extra seats
    max_launched: int  # hard EM looks at about so many members


@routine
def collect_members(rng, layout, state, deal, cluster, other_cluster):
    """List the members of one or two clusters, shuffled within parts; give the slots' number."""
    n_slots = 0
    for slot in range(state.labels.size):
        if state.labels[slot] in (cluster, other_cluster):
            deal.slots[n_slots] = slot
            n_slots += 1
    shuffle(rng, deal.slots, 0, n_slots)
    put_anchor_last(state, deal, n_slots - 1, cluster)
    put_anchor_last(state, deal, n_slots - 2, other_cluster)
    shuffle(rng, deal.slots, 0, n_slots - 2)  # again: the search has sorted them a little
    for k in range(n_slots):
        deal.rows[k] = state.anchor_at[deal.slots[k]]
    n_members = n_slots
    n_groups = state.n_masked.size
    for group in range(1, n_groups):
        deal.part_start[group] = n_members
        n_members = collect_seated(layout, state, deal, group, n_slots, n_members)
        shuffle(rng, deal.rows, deal.part_start[group], n_members)
        expect_seats(deal, group, n_slots)
    deal.part_start[n_groups] = n_members
    for group in range(1, n_groups):
        first = layout.group_start[group]
        for place in range(first, first + state.n_masked[group]):
            row = state.mask_order[place]
            label = state.labels[state.free_slot[row]]
            if label in (cluster, other_cluster):
                deal.rows[n_members] = row
                n_members += 1
    shuffle(rng, deal.rows, deal.part_start[n_groups], n_members)
    deal.part_start[n_groups + 1] = n_members
    return n_slots


@kernel
def put_anchor_last(state, deal, last, cluster):
    """Exchange the slot at a place with one of the cluster, which is a random one."""
    k = last
    while state.labels[deal.slots[k]] != cluster:
        k -= 1
    deal.slots[k], deal.slots[last] = deal.slots[last], deal.slots[k]


@kernel
def collect_seated(layout, state, deal, group, n_slots, n_members):
    """List a group's unmasked followers in the slots, and the slots' capacities."""
    width = layout.seats_per_slot[group]
    for k in range(n_slots):
        first = layout.seat_start[group] + deal.slots[k] * width
        capacity, n_masked = 0, 0
        for seat in range(first, first + width):
            row = state.row_at[seat]
            if row < 0:
                continue
            if state.masked[row]:
                n_masked += 1
            else:
                deal.rows[n_members] = row
                n_members += 1
                capacity += 1
        # An extra seat stays if a masked row sits there.
        flexible = layout.has_free_extra[group] and n_masked == 0
        has_extra = flexible and capacity == width
        deal.flexible[group, k] = flexible
        deal.has_extra[group, k] = has_extra
        deal.gets_extra[group, k] = has_extra
        deal.capacity[group, k] = capacity - has_extra
    return n_members


@kernel
def expect_seats(deal, group, n_slots):
    """Count the extra seats, and share them out evenly among the flexible slots."""
    n_flexible, n_extra = 0, 0
    for k in range(n_slots):
        n_flexible += deal.flexible[group, k]
        n_extra += deal.has_extra[group, k]
    for k in range(n_slots):
        deal.lift[group, k] = deal.capacity[group, k]
        if deal.flexible[group, k]:
            deal.lift[group, k] += n_extra / n_flexible
    deal.n_extra[group] = n_extra


@routine
def shuffle(rng, values, start, end):
    """Shuffle a stretch of an array."""
    for k in range(end - 1, start, -1):
        other = start + draw_index(rng, k - start + 1)
        values[k], values[other] = values[other], values[k]


@routine
def launch(rng, likelihood, row_stats, deal):
    """Free all members but the two anchors, and make halves by hard EM from a first guess."""
    place, other_place = deal.part_start[1] - 1, deal.part_start[1] - 2
    n_members = deal.part_start[-1]
    share = min(1.0, deal.max_launched / n_members)
    free_share(deal, share, 0.5)
    kind = draw_index(rng, 4)
    if kind == 0:
        seed_halves(row_stats, deal, place, other_place)
        prefer_by_fit(likelihood, row_stats, deal)
    elif kind == 1:
        statistic = draw_index(rng, row_stats.shape[1])
        prefer_by_statistic(row_stats, deal, place, other_place, statistic)
    elif kind == 2:
        prefer_by_projection(rng, row_stats, deal, place, other_place)
    else:
        prefer_by_misfit(rng, likelihood, row_stats, deal)
    part_anchors(deal)
    deal_hard(deal)
    for _ in range(HARD_ROUNDS):
        add_up_free(row_stats, deal)
        prefer_by_fit(likelihood, row_stats, deal)
        if not deal_hard(deal):
            break
    if share < 1.0:
        free_share(deal, 1.0, 0.5)
        prefer_by_fit(likelihood, row_stats, deal)
        deal_hard(deal)
        add_up_free(row_stats, deal)
        prefer_by_fit(likelihood, row_stats, deal)
    balance(deal, True)


@kernel
def free_share(deal, share, fraction):
    """Free a share of every part (rounded up from this fraction on), never the two anchors."""
    for part in range(deal.free_end.size):
        start, end = deal.part_start[part], deal.part_start[part + 1]
        n_free = int(share * (end - start) + 1.0 - fraction)
        if part == 0:
            n_free = min(n_free, end - start - 2)
        deal.free_end[part] = start + n_free


@kernel
def part_anchors(deal):
    """Put the two anchors into one half each."""
    deal.in_a[deal.part_start[1] - 1] = True
    deal.in_a[deal.part_start[1] - 2] = False


@routine
def condition(rng, likelihood, row_stats, deal, share):
    """Free a share of the members; the others say what the halves look like."""
    n_parts = deal.part_start.size - 1
    free_share(deal, share, rng.random())  # so that the only one of a part may be free, too
    deal.n_rows[:] = 0
    deal.stats[:] = 0.0
    for part in range(n_parts):
        for member in range(deal.free_end[part], deal.part_start[part + 1]):
            add_to_half(row_stats, deal, member)
    prefer_by_fit(likelihood, row_stats, deal)
    balance(deal, False)


@kernel
def seed_halves(row_stats, deal, place, other_place):
    """Let each half be one anchor."""
    deal.n_rows[:] = 1
    for k in range(row_stats.shape[1]):
        deal.stats[0, k] = row_stats[deal.rows[place], k]
        deal.stats[1, k] = row_stats[deal.rows[other_place], k]


@routine
def prefer_by_fit(likelihood, row_stats, deal):
    """Let free members prefer the half with the larger predictive density."""
    base = likelihood.log_marginal(deal.n_rows[0], deal.stats[0])
    other_base = likelihood.log_marginal(deal.n_rows[1], deal.stats[1])
    for part in range(deal.free_end.size):
        for member in range(deal.part_start[part], deal.free_end[part]):
            row = deal.rows[member]
            for k in range(row_stats.shape[1]):
                deal.joined[k] = deal.stats[0, k] + row_stats[row, k]
            fit = likelihood.log_marginal(deal.n_rows[0] + 1, deal.joined) - base
            for k in range(row_stats.shape[1]):
                deal.joined[k] = deal.stats[1, k] + row_stats[row, k]
            other_fit = likelihood.log_marginal(deal.n_rows[1] + 1, deal.joined) - other_base
            deal.preference[member] = fit - other_fit


@routine
def prefer_by_statistic(row_stats, deal, place, other_place, statistic):
    """Prefer the half whose anchor is nearer in one statistic."""
    seed = row_stats[deal.rows[place], statistic]
    other_seed = row_stats[deal.rows[other_place], statistic]
    for part in range(deal.free_end.size):
        for member in range(deal.part_start[part], deal.free_end[part]):
            value = row_stats[deal.rows[member], statistic]
            deal.preference[member] = abs(value - other_seed) - abs(value - seed)


@routine
def prefer_by_projection(rng, row_stats, deal, place, other_place):
    """Prefer the half whose anchor is nearer in a random projection of the statistics."""
    for k in range(row_stats.shape[1]):
        deal.joined[k] = rng.standard_normal()
    seed = project(row_stats, deal, place)
    other_seed = project(row_stats, deal, other_place)
    for part in range(deal.free_end.size):
        for member in range(deal.part_start[part], deal.free_end[part]):
            value = project(row_stats, deal, member)
            deal.preference[member] = abs(value - other_seed) - abs(value - seed)


@kernel
def project(row_stats, deal, member):
    """Project a member's statistics on the direction that is in ``deal.joined``."""
    value = 0.0
    for k in range(row_stats.shape[1]):
        value += deal.joined[k] * row_stats[deal.rows[member], k]
    return value


@routine
def prefer_by_misfit(rng, likelihood, row_stats, deal):
    """Let those prefer half A that fit the whole worse than a random anchor does."""
    deal.in_a[: deal.part_start[-1]] = True
    add_up_free(row_stats, deal)
    n_others = deal.n_rows[0] - 1
    for part in range(deal.free_end.size):
        for member in range(deal.part_start[part], deal.free_end[part]):
            for k in range(row_stats.shape[1]):
                deal.joined[k] = deal.stats[0, k] - row_stats[deal.rows[member], k]
            deal.preference[member] = likelihood.log_marginal(n_others, deal.joined)
    threshold = 0.0
    if deal.free_end[0] > 0:
        threshold = deal.preference[draw_index(rng, deal.free_end[0])]
    for part in range(deal.free_end.size):
        for member in range(deal.part_start[part], deal.free_end[part]):
            deal.preference[member] -= threshold


@routine
def deal_hard(deal):
    """Deal free members out by preference, within capacities; tell whether anyone changed half."""
    n_parts = deal.part_start.size - 1
    n_changed = deal_eager(deal, 0) + deal_eager(deal, n_parts - 1)
    for part in range(1, n_parts - 1):
        start, end = deal.part_start[part], deal.free_end[part]
        seats = 0.5
        for k in range(deal.part_start[1]):
            if deal.in_a[k] and (k < deal.free_end[0] or k >= deal.part_start[1] - 2):
                seats += deal.lift[part, k]
        room = min(int(seats), end - start)
        select_eager(deal, start, end, room)
        for k in range(start, end):
            member = deal.order[k]
            n_changed += deal.in_a[member] != (k < start + room)
            deal.in_a[member] = k < start + room
    return n_changed > 0


@kernel
def deal_eager(deal, part):
    """Put each free member of a part into the half it prefers; count the changes."""
    n_changed = 0
    for member in range(deal.part_start[part], deal.free_end[part]):
        wanted = deal.preference[member] > 0.0
        n_changed += deal.in_a[member] != wanted
        deal.in_a[member] = wanted
    return n_changed


@routine
def select_eager(deal, start, end, room):
    """Put the ``room`` members that are most eager for half A first in ``deal.order``."""
    for k in range(start, end):
        deal.order[k] = k
    low, high, target = start, end - 1, start + room
    while low < high and start < target < end:
        pivot = deal.preference[deal.order[(low + high) // 2]]
        i, j = low, high
        while i <= j:
            while deal.preference[deal.order[i]] > pivot:
                i += 1
            while deal.preference[deal.order[j]] < pivot:
                j -= 1
            if i <= j:
                deal.order[i], deal.order[j] = deal.order[j], deal.order[i]
                i += 1
                j -= 1
        if target <= j:
            high = j
        elif target >= i:
            low = i
        else:
            break


@routine
def add_up_halves(row_stats, deal, n_members):
    """Add up the statistics of both halves."""
    deal.n_rows[:] = 0
    deal.stats[:] = 0.0
    for member in range(n_members):
        add_to_half(row_stats, deal, member)


@routine
def add_up_free(row_stats, deal):
    """Add up the statistics of both halves, as far as members are free, and the two anchors."""
    deal.n_rows[:] = 0
    deal.stats[:] = 0.0
    for part in range(deal.free_end.size):
        for member in range(deal.part_start[part], deal.free_end[part]):
            add_to_half(row_stats, deal, member)
    add_to_half(row_stats, deal, deal.part_start[1] - 1)
    add_to_half(row_stats, deal, deal.part_start[1] - 2)


@kernel
def add_to_half(row_stats, deal, member):
    """Add a member to the statistics of its half."""
    half = 0 if deal.in_a[member] else 1
    row = deal.rows[member]
    deal.n_rows[half] += 1
    for k in range(row_stats.shape[1]):
        deal.stats[half, k] += row_stats[row, k]
