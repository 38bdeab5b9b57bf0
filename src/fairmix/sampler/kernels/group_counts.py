r"""Deal rows that no matching holds into halves of which a cap allows the counts.

Rows of the first group of a grouping go independently, by their log odds :math:`l_j` (prices
included). Of each other group a number k of loose rows goes to A, with probability proportional to

.. math::
   \exp\Big(-\frac{(k - \mu)^2}{2 v + 1} - \lambda\, (I_A + I_B - \text{budget})_+ \Big),

where :math:`\mu` and :math:`v` are mean and variance of that number if they went independently,
:math:`I` the imbalances of the halves, the budget is what other clusters and groups leave of the
cap, and :math:`\lambda` is the price of an imbalance. Given k, the set that goes is drawn one row
after the other, as followers are (``allocation.py``), with prices such that k are to be expected.
"""

import math

from fairmix.sampler.kernels.decorator import inlined, kernel
from fairmix.sampler.kernels.group_prices import expect_in_a, seek_prices
from fairmix.sampler.kernels.random_choice import draw_weighted, log_sum_exp
from fairmix.sampler.kernels.seat_prices import MAX_LOGIT, anchor_logit

#: Rows to be expected are never taken to be fewer.
LEAST_EXPECTED = 1e-6


@inlined
def choose_half(rng, deal, member, logit, is_drawn):
    """Draw a member's half with this log odds of A (or keep it); give the log probability."""
    odds = math.exp(min(max(logit, -MAX_LOGIT), MAX_LOGIT))
    if is_drawn:
        deal.in_a[member] = rng.random() * (1.0 + odds) < odds
    return -math.log1p(1.0 / odds if deal.in_a[member] else odds)


@kernel
def deal_by_group(rng, cap, deal, budget, is_drawn):
    """Draw the halves of loose rows (or take the present ones); give their log probability."""
    begin, end = cap.first[0], cap.first[1]
    deal.price[begin:end] = 0.0
    expect_in_a(cap, deal, 0)
    log_prob = 0.0
    for member in range(deal.loose_end[0]):
        if cap.columns[deal.rows[member], 0] == begin:
            log_prob += choose_half(rng, deal, member, anchor_logit(deal, member), is_drawn)
    count_by_group(cap, deal)
    for column in range(begin + 1, end):
        log_prob += draw_count(rng, cap, deal, column, budget, is_drawn)
        budget -= imbalance_of_count(cap, deal, column, deal.room[column, 0])
    return log_prob + draw_sets(rng, cap, deal, is_drawn)


@kernel
def count_by_group(cap, deal):
    """Count the rows of the halves that are settled, and loose rows: in A now, and in B."""
    deal.half_groups[:] = 0
    deal.room[:] = 0
    for member in range(deal.part_start[1]):
        column = cap.columns[deal.rows[member], 0]
        half = 0 if deal.in_a[member] else 1
        if column > cap.first[0] and member < deal.loose_end[0]:
            deal.room[column, half] += 1
        else:
            deal.half_groups[half, column] += 1


@kernel
def draw_count(rng, cap, deal, column, budget, is_drawn):
    """Draw how many loose rows of a group go to A (or take them); give the log probability."""
    n_loose = deal.room[column, 0] + deal.room[column, 1]
    mean, width = deal.expected[column, 0], 2.0 * deal.expected[column, 1] + 1.0
    for k in range(n_loose + 1):
        excess = max(imbalance_of_count(cap, deal, column, k) - budget, 0)
        deal.log_weights[k] = -(k - mean) * (k - mean) / width - deal.pricing[1] * excess
    log_total = log_sum_exp(deal.log_weights, n_loose + 1)
    chosen = deal.room[column, 0]
    log_prob = deal.log_weights[chosen] - log_total
    if is_drawn:
        # Drawing overwrites the weights; what was drawn has a weight of its own.
        chosen = draw_weighted(rng, deal.log_weights, n_loose + 1)
        excess = max(imbalance_of_count(cap, deal, column, chosen) - budget, 0)
        log_prob = -(chosen - mean) * (chosen - mean) / width - deal.pricing[1] * excess - log_total
        deal.room[column, 0], deal.room[column, 1] = chosen, n_loose - chosen
    return log_prob


@kernel
def imbalance_of_count(cap, deal, column, n_in_a):
    """Give the weighted imbalance of a group in both halves if so many loose rows are in A."""
    first = cap.first[0]
    n_in_b = deal.room[column, 0] + deal.room[column, 1] - n_in_a
    imbalance = 0
    for half in range(2):
        n_rows = deal.half_groups[half, column] + (n_in_a if half == 0 else n_in_b)
        crossed = cap.sizes[first] * n_rows - cap.sizes[column] * deal.half_groups[half, first]
        imbalance += abs(crossed)
    return max(cap.weight[column], 1) * imbalance


@kernel
def draw_sets(rng, cap, deal, is_drawn):
    """Draw which loose rows go to A, given their numbers (or take them); give the log prob."""
    begin, end = cap.first[0], cap.first[1]
    for column in range(begin, end):
        deal.expected[column, 2] = deal.room[column, 0]
    seek_prices(cap, deal, 0, begin + 1)
    expect_in_a(cap, deal, 0)
    for column in range(begin, end):
        n_loose = deal.room[column, 0] + deal.room[column, 1]
        deal.to_come[column, 0] = deal.expected[column, 0]
        deal.to_come[column, 1] = n_loose - deal.expected[column, 0]
    log_prob = 0.0
    for member in range(deal.loose_end[0]):
        column = cap.columns[deal.rows[member], 0]
        if column > begin:
            log_prob += draw_next(rng, deal, member, column, is_drawn)
    return log_prob


@kernel
def draw_next(rng, deal, member, column, is_drawn):
    """Draw the half of the next row of a group (or keep it); give the log probability."""
    room, other_room = deal.room[column, 0], deal.room[column, 1]
    logit = anchor_logit(deal, member) + deal.price[column]
    odds = math.exp(min(max(logit, -MAX_LOGIT), MAX_LOGIT))
    chance = odds / (1.0 + odds)
    log_prob = 0.0
    if room == 0 or other_room == 0:
        deal.in_a[member] = other_room == 0
    else:
        odds *= room * max(deal.to_come[column, 1], LEAST_EXPECTED)
        odds /= other_room * max(deal.to_come[column, 0], LEAST_EXPECTED)
        if is_drawn:
            deal.in_a[member] = rng.random() * (1.0 + odds) < odds
        log_prob = -math.log1p(1.0 / odds if deal.in_a[member] else odds)
    deal.to_come[column, 0] -= chance
    deal.to_come[column, 1] -= 1.0 - chance
    deal.room[column, 0 if deal.in_a[member] else 1] -= 1
    return log_prob
