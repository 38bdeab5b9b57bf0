r"""Launch: a fair way to deal the rows of one or two clusters into two halves.

Given a set :math:`S` of slots and two of them, a launch makes a fair two-way split by a few rounds
of hard EM: anchors go to the half with the larger log predictive, and followers, sorted by
preference, fill the capacities of the halves. It uses :math:`S`, the two slots and fresh
randomness only, never the present halves or matching: members are shuffled before anything is
added up. It leaves a log preference (predictive in half A over that in half B) for every
member, which stays fixed; :func:`deal_out` draws halves from these preferences, or gives the
probability of halves.

Members are numbered in *parts*: anchors (part 0), then the unmasked followers that sit in the
slots, a part a group, then masked followers whose label is in :math:`S` (the last part).
"""

import math
from typing import NamedTuple

import numpy as np

from fairmix.kernels.decorator import kernel
from fairmix.kernels.random_choice import draw_index

#: Rounds of hard EM at most.
MAX_ROUNDS = 10


class Deal(NamedTuple):
    """Room to deal the members of two halves."""

    slots: np.ndarray  # slots of S
    rows: np.ndarray  # rows of all members
    part_start: np.ndarray  # first member of each part
    capacity: np.ndarray  # (group, slot of S): seats that unmasked followers hold
    in_a: np.ndarray  # member -> whether it is in half A
    preference: np.ndarray  # member -> log predictive in A over that in B
    order: np.ndarray  # members of a part, the most eager for A first
    stats: np.ndarray  # (half, statistic)
    n_rows: np.ndarray  # of each half
    joined: np.ndarray  # statistics of a half with a row added
    half_slots: np.ndarray  # slots of half A from the front, of B from the back
    new_seat: np.ndarray  # member -> seat
    new_slot: np.ndarray  # member -> slot


@kernel
def collect_members(rng, layout, state, deal, cluster, other_cluster):
    """List the members of one or two clusters, shuffled within parts; give the slots' number."""
    n_slots = 0
    for slot in range(state.labels.size):
        if state.labels[slot] in (cluster, other_cluster):
            deal.slots[n_slots] = slot
            n_slots += 1
    shuffle(rng, deal.slots, 0, n_slots)
    for k in range(n_slots):
        deal.rows[k] = state.anchor_at[deal.slots[k]]
    n_members = n_slots
    n_groups = layout.n_masked.size
    for group in range(1, n_groups):
        deal.part_start[group] = n_members
        n_members = collect_seated(layout, state, deal, group, n_slots, n_members)
        shuffle(rng, deal.rows, deal.part_start[group], n_members)
    deal.part_start[n_groups] = n_members
    for group in range(1, n_groups):
        first = layout.group_start[group]
        for place in range(first, first + layout.n_masked[group]):
            row = state.mask_order[place]
            label = state.labels[state.free_slot[row]]
            if label in (cluster, other_cluster):
                deal.rows[n_members] = row
                n_members += 1
    shuffle(rng, deal.rows, deal.part_start[n_groups], n_members)
    deal.part_start[n_groups + 1] = n_members
    return n_slots


@kernel
def collect_seated(layout, state, deal, group, n_slots, n_members):
    """List a group's unmasked followers in the slots, and the slots' capacities."""
    width = layout.seats_per_slot[group]
    for k in range(n_slots):
        first = layout.seat_start[group] + deal.slots[k] * width
        capacity = 0
        for seat in range(first, first + width):
            row = state.row_at[seat]
            if row >= 0 and not state.masked[row]:
                deal.rows[n_members] = row
                n_members += 1
                capacity += 1
        deal.capacity[group, k] = capacity
    return n_members


@kernel
def shuffle(rng, values, start, end):
    """Shuffle a stretch of an array."""
    for k in range(end - 1, start, -1):
        other = start + draw_index(rng, k - start + 1)
        values[k], values[other] = values[other], values[k]


@kernel
def launch(rng, family, row_stats, deal, place, other_place):
    """Fill the preferences of all members, from two places of ``deal.slots``."""
    n_members = deal.part_start[-1]
    kind = draw_index(rng, 3)
    if kind == 0:
        seed_halves(row_stats, deal, place, other_place)
        prefer_by_fit(family, row_stats, deal, n_members)
    elif kind == 1:
        statistic = draw_index(rng, row_stats.shape[1])
        prefer_by_statistic(row_stats, deal, n_members, place, other_place, statistic)
    else:
        prefer_by_projection(rng, row_stats, deal, n_members, place, other_place)
    deal_hard(deal, place, other_place)
    for _ in range(MAX_ROUNDS):
        add_up_halves(row_stats, deal, n_members)
        prefer_by_fit(family, row_stats, deal, n_members)
        if not deal_hard(deal, place, other_place):
            break


@kernel
def seed_halves(row_stats, deal, place, other_place):
    """Let each half be one anchor."""
    deal.n_rows[0] = 1
    deal.n_rows[1] = 1
    for k in range(row_stats.shape[1]):
        deal.stats[0, k] = row_stats[deal.rows[place], k]
        deal.stats[1, k] = row_stats[deal.rows[other_place], k]


@kernel
def prefer_by_fit(family, row_stats, deal, n_members):
    """Prefer the half with the larger predictive density."""
    base = family.log_marginal(deal.n_rows[0], deal.stats[0])
    other_base = family.log_marginal(deal.n_rows[1], deal.stats[1])
    for member in range(n_members):
        row = deal.rows[member]
        for k in range(row_stats.shape[1]):
            deal.joined[k] = deal.stats[0, k] + row_stats[row, k]
        fit = family.log_marginal(deal.n_rows[0] + 1, deal.joined) - base
        for k in range(row_stats.shape[1]):
            deal.joined[k] = deal.stats[1, k] + row_stats[row, k]
        other_fit = family.log_marginal(deal.n_rows[1] + 1, deal.joined) - other_base
        deal.preference[member] = fit - other_fit


@kernel
def prefer_by_statistic(row_stats, deal, n_members, place, other_place, statistic):
    """Prefer the half whose anchor is nearer in one statistic."""
    seed = row_stats[deal.rows[place], statistic]
    other_seed = row_stats[deal.rows[other_place], statistic]
    for member in range(n_members):
        value = row_stats[deal.rows[member], statistic]
        deal.preference[member] = abs(value - other_seed) - abs(value - seed)


@kernel
def prefer_by_projection(rng, row_stats, deal, n_members, place, other_place):
    """Prefer the half whose anchor is nearer in a random projection of the statistics."""
    n_stats = row_stats.shape[1]
    for k in range(n_stats):
        deal.joined[k] = rng.standard_normal()
    for member in range(n_members):
        value = 0.0
        for k in range(n_stats):
            value += deal.joined[k] * row_stats[deal.rows[member], k]
        deal.preference[member] = value
    seed, other_seed = deal.preference[place], deal.preference[other_place]
    for member in range(n_members):
        value = deal.preference[member]
        deal.preference[member] = abs(value - other_seed) - abs(value - seed)


@kernel
def deal_hard(deal, place, other_place):
    """Deal members out by preference, within capacities; tell whether anyone changed half."""
    n_parts = deal.part_start.size - 1
    n_changed = 0
    for member in range(deal.part_start[1]):
        wanted = deal.preference[member] > 0.0
        if member == place:
            wanted = True
        elif member == other_place:
            wanted = False
        n_changed += deal.in_a[member] != wanted
        deal.in_a[member] = wanted
    for part in range(1, n_parts - 1):
        start, end = deal.part_start[part], deal.part_start[part + 1]
        room = capacity_of_a(deal, part)
        select_eager(deal, start, end, room)
        for k in range(start, end):
            member = deal.order[k]
            n_changed += deal.in_a[member] != (k < start + room)
            deal.in_a[member] = k < start + room
    for member in range(deal.part_start[n_parts - 1], deal.part_start[n_parts]):
        wanted = deal.preference[member] > 0.0
        n_changed += deal.in_a[member] != wanted
        deal.in_a[member] = wanted
    return n_changed > 0


@kernel
def capacity_of_a(deal, group):
    """Add up the capacities of the anchors in half A."""
    room = 0
    for k in range(deal.part_start[1]):
        if deal.in_a[k]:
            room += deal.capacity[group, k]
    return room


@kernel
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


@kernel
def add_up_halves(row_stats, deal, n_members):
    """Add up the statistics of both halves."""
    n_stats = row_stats.shape[1]
    deal.n_rows[:] = 0
    deal.stats[:] = 0.0
    for member in range(n_members):
        half = 0 if deal.in_a[member] else 1
        row = deal.rows[member]
        deal.n_rows[half] += 1
        for k in range(n_stats):
            deal.stats[half, k] += row_stats[row, k]


@kernel
def deal_out(rng, deal, place, other_place, is_drawn):
    """Draw halves from the preferences (or take the present ones); give their log probability.

    Anchors go independently; followers one after the other, with weights remaining capacity times
    predictive; masked rows independently. The two given anchors are fixed.
    """
    n_parts = deal.part_start.size - 1
    log_prob = 0.0
    for member in range(deal.part_start[1]):
        if member == place:
            deal.in_a[member] = True
        elif member == other_place:
            deal.in_a[member] = False
        else:
            log_prob += choose_half(rng, deal, member, deal.preference[member], is_drawn)
    for part in range(1, n_parts - 1):
        start, end = deal.part_start[part], deal.part_start[part + 1]
        room = capacity_of_a(deal, part)
        other_room = end - start - room
        for member in range(start, end):
            if room == 0:
                deal.in_a[member] = False
            elif other_room == 0:
                deal.in_a[member] = True
            else:
                logit = deal.preference[member] + math.log(room / other_room)
                log_prob += choose_half(rng, deal, member, logit, is_drawn)
            if deal.in_a[member]:
                room -= 1
            else:
                other_room -= 1
    for member in range(deal.part_start[n_parts - 1], deal.part_start[n_parts]):
        log_prob += choose_half(rng, deal, member, deal.preference[member], is_drawn)
    return log_prob


@kernel
def choose_half(rng, deal, member, logit, is_drawn):
    """Draw a member's half with this log odds of A (or keep it); give the log probability."""
    if is_drawn:
        deal.in_a[member] = rng.random() * (1.0 + math.exp(-logit)) < 1.0
    if not deal.in_a[member]:
        logit = -logit
    if logit > 0.0:
        return -math.log1p(math.exp(-logit))
    return logit - math.log1p(math.exp(logit))
