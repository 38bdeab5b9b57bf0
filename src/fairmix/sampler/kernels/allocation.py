r"""Deal the loose members out into two halves, or give the probability of halves.

Anchors go independently, by their log odds; so do masked rows. Then, group by group: extra seats
of flexible slots (R free) are shared between the halves, and followers fill the seats.

*Followers*: given parameters, A's followers are a set of fixed size N with probability
proportional to the product of their odds. It is drawn one follower after the other: with
:math:`c` such that :math:`\sum_j \sigma(\text{preference}_j - c) = N`, the odds of follower j
are :math:`e^{\text{preference}_j - c}` times (seats left over those to be expected by now) in A
over the same in B. Their product is the probability.

*Extra seats*: k of the :math:`k_S` extra seats go to A with probability proportional to
:math:`\binom{f_A}{k} \binom{f_B}{k_S - k} e^{k \cdot \text{border}}` among those k that the cap
allows (:math:`f` flexible slots); which slots get them is drawn with equal probability.
"""

import math

from fairmix.sampler.kernels.cap import imbalance_of, lack_among
from fairmix.sampler.kernels.decorator import kernel
from fairmix.sampler.kernels.group_counts import choose_half, deal_by_group
from fairmix.sampler.kernels.random_choice import draw_weighted, log_sum_exp
from fairmix.sampler.kernels.seat_prices import MAX_LOGIT, anchor_logit, solve_centre

#: Seats to be expected are never taken to be fewer.
LEAST_EXPECTED = 1e-6


@kernel
def deal_out(rng, layout, deal, budget, is_drawn):
    """Draw halves (or take the present ones); give their log probability, inf if impossible."""
    n_parts = deal.part_start.size - 1
    log_prob = 0.0
    if deal.pricing[0] > 0.0:
        log_prob += deal_by_group(rng, layout.cap, deal, budget, is_drawn)
    else:
        for member in range(deal.loose_end[0]):
            log_prob += choose_half(rng, deal, member, anchor_logit(deal, member), is_drawn)
    for member in range(deal.part_start[n_parts - 1], deal.loose_end[n_parts - 1]):
        log_prob += choose_half(rng, deal, member, deal.preference[member], is_drawn)
    count_settled(layout, deal)
    for group in range(1, n_parts - 1):
        if deal.n_extra[group] > 0 or layout.cap.is_tight:
            log_prob += share_extra_seats(rng, layout, deal, group, budget, is_drawn)
            if log_prob == math.inf:
                return math.inf
        room = seats_of_a(deal, group, is_drawn)
        settle_group(deal, group, room)
        if layout.cap.is_tight:
            budget -= imbalance_of_halves(layout.cap, deal, group)
        log_prob += deal_followers(rng, deal, group, room, is_drawn)
        if log_prob == math.inf:
            return math.inf
    return log_prob


@kernel
def count_settled(layout, deal):
    """Count anchors and masked rows of the halves, by group."""
    n_parts = deal.part_start.size - 1
    deal.half_groups[:] = 0
    for member in range(deal.part_start[1]):
        deal.half_groups[0 if deal.in_a[member] else 1, 0] += 1
    for member in range(deal.part_start[n_parts - 1], deal.part_start[n_parts]):
        group = layout.group_of[deal.rows[member]]
        deal.half_groups[0 if deal.in_a[member] else 1, group] += 1


@kernel
def settle_group(deal, group, room):
    """Add a group's seated followers to the halves' counts: so many in A, the others in B."""
    deal.half_groups[0, group] += room
    deal.half_groups[1, group] += deal.part_start[group + 1] - deal.part_start[group] - room


@kernel
def seats_of_a(deal, group, is_drawn):
    """Count the seats of half A, with the extra ones as proposed or as they are."""
    extra = deal.gets_extra if is_drawn else deal.has_extra
    seats = 0
    for k in range(deal.part_start[1]):
        if deal.in_a[k]:
            seats += deal.capacity[group, k] + extra[group, k]
    return seats


@kernel
def share_extra_seats(rng, layout, deal, group, budget, is_drawn):
    """Share extra seats between the halves (or take them as they are); give the log probability.

    It is inf if the cap allows nothing. Slots inside a half get them with equal probability, which
    is not part of the result.
    """
    n_extra = deal.n_extra[group]
    flexible, other_flexible, certain, present = 0, 0, 0, 0
    for k in range(deal.part_start[1]):
        if deal.in_a[k]:
            flexible += deal.flexible[group, k]
            certain += deal.capacity[group, k]
            present += deal.has_extra[group, k]
        else:
            other_flexible += deal.flexible[group, k]
    least, most = max(n_extra - other_flexible, 0), min(n_extra, flexible)
    for k in range(least, most + 1):
        log_weight = log_binomial(flexible, k) + log_binomial(other_flexible, n_extra - k)
        if layout.cap.is_tight and not seats_are_allowed(
            layout.cap, deal, group, certain + k, budget
        ):
            log_weight = -math.inf
        deal.log_weights[k - least] = log_weight + k * deal.border[group]
    n_options = most - least + 1
    log_total = log_sum_exp(deal.log_weights, n_options)
    if log_total == -math.inf:  # nothing to draw, and the present halves have no probability
        return math.inf if is_drawn else -math.inf
    if not is_drawn:
        return deal.log_weights[present - least] - log_total
    n_in_a = least + draw_weighted(rng, deal.log_weights, n_options)
    give_extra_seats(rng, deal, group, True, n_in_a, flexible)
    give_extra_seats(rng, deal, group, False, n_extra - n_in_a, other_flexible)
    log_weight = log_binomial(flexible, n_in_a) + log_binomial(other_flexible, n_extra - n_in_a)
    return log_weight + n_in_a * deal.border[group] - log_total


@kernel
def give_extra_seats(rng, deal, group, is_a, n_extra, n_flexible):
    """Give extra seats to random flexible slots of one half."""
    for k in range(deal.part_start[1]):
        if deal.in_a[k] != is_a:
            continue
        deal.gets_extra[group, k] = False
        if deal.flexible[group, k]:
            if rng.random() * n_flexible < n_extra:
                deal.gets_extra[group, k] = True
                n_extra -= 1
            n_flexible -= 1


@kernel
def log_binomial(n, k):
    """Log of the number of ways to choose k of n."""
    return math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)


@kernel
def seats_are_allowed(cap, deal, group, room, budget):
    """Tell whether the cap allows so many seats of a group in A, given the groups before it."""
    n_masked = deal.half_groups[0, group]
    other_n_masked = deal.half_groups[1, group]
    settle_group(deal, group, room)
    allowed = imbalance_of_halves(cap, deal, group) <= budget
    for half in range(2):
        lack = lack_among(cap, deal.half_groups[half], 0, 0, group + 1)
        allowed = allowed and lack == 0
    deal.half_groups[0, group] = n_masked
    deal.half_groups[1, group] = other_n_masked
    return allowed


@kernel
def imbalance_of_halves(cap, deal, group):
    """Give the halves' part in the weighted imbalance of one group."""
    imbalance = imbalance_of(cap, deal.half_groups[0], group)
    imbalance += imbalance_of(cap, deal.half_groups[1], group)
    return cap.weight[group] * imbalance


@kernel
def deal_followers(rng, deal, group, room, is_drawn):
    """Fill the seats with a group's followers; give the log probability, inf if impossible."""
    start, end = deal.part_start[group], deal.loose_end[group]
    for member in range(end, deal.part_start[group + 1]):
        room -= deal.in_a[member]
    other_room = end - start - room
    if room < 0 or other_room < 0:
        return math.inf
    if room == 0 or other_room == 0:
        for member in range(start, end):
            deal.in_a[member] = other_room == 0
        return 0.0
    centre = solve_centre(deal, group, -float(room), False, 0.0)
    expected = 0.0
    for member in range(start, end):
        logit = min(max(deal.preference[member] - centre, -MAX_LOGIT), MAX_LOGIT)
        deal.odds[member] = math.exp(logit)
        expected += deal.odds[member] / (1.0 + deal.odds[member])
    other_expected = end - start - expected
    log_prob = 0.0
    for member in range(start, end):
        if room == 0 or other_room == 0:
            deal.in_a[member] = other_room == 0
            continue
        odds = deal.odds[member]
        chance = odds / (1.0 + odds)
        odds *= room * max(other_expected, LEAST_EXPECTED)
        odds /= other_room * max(expected, LEAST_EXPECTED)
        if is_drawn:
            deal.in_a[member] = rng.random() * (1.0 + odds) < odds
        log_prob -= math.log1p(1.0 / odds if deal.in_a[member] else odds)
        expected -= chance
        other_expected -= 1.0 - chance
        if deal.in_a[member]:
            room -= 1
        else:
            other_room -= 1
    return log_prob
