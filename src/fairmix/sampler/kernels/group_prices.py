"""Prices of groups: log odds under which all groups have about the same share in half A.

Rows that no matching holds go to the half they fit. If one group likes half A better, such halves
are unfair, and a cap refuses them. So every group gets a price, which is added to the log odds of
its loose rows, such that its expected share in A (held rows count as they are) is that of all rows
without prices. Prices follow from the launch and from held rows, never from where loose ones are,
so halves have the same probability on the way there and back.
"""

import math

from fairmix.sampler.kernels.decorator import kernel
from fairmix.sampler.kernels.seat_prices import MAX_LOGIT, anchor_logit, sigmoid

#: Steps at most to find the prices of a grouping, and how exact they have to be, in rows.
MAX_STEPS, ENOUGH = 12, 0.1
#: Times that the prices of each grouping are found, if there are several.
CYCLES = 2


@kernel
def price_groups(cap, deal, part, first_held):
    """Add a part of the price of its groups to the preference of every loose row.

    Held rows are the anchors from ``first_held`` on. What is between them and the loose ones says
    nothing: a launch that looks at some rows only must not know where the others are.
    """
    share = share_of_a(deal, first_held)
    n_groupings = cap.largest.size
    for _ in range(1 if n_groupings == 1 else CYCLES):
        for grouping in range(n_groupings):
            find_prices(cap, deal, grouping, share, first_held)
            for member in range(deal.loose_end[0]):
                column = cap.columns[deal.rows[member], grouping]
                deal.preference[member] += part * deal.price[column]


@kernel
def share_of_a(deal, first_held):
    """Give the share of the loose and held members that is to be expected in A."""
    n_members = deal.loose_end[0] + deal.part_start[1] - first_held
    expected = 0.0
    for member in range(deal.loose_end[0]):
        expected += sigmoid(anchor_logit(deal, member))
    for member in range(first_held, deal.part_start[1]):
        expected += deal.in_a[member]
    return expected / n_members


@kernel
def find_prices(cap, deal, grouping, share, first_held):
    """Find the prices of one grouping."""
    begin, end = cap.first[grouping], cap.first[grouping + 1]
    deal.expected[begin:end, 2] = 0.0
    for member in range(deal.loose_end[0]):
        deal.expected[cap.columns[deal.rows[member], grouping], 2] += share
    for member in range(first_held, deal.part_start[1]):
        deal.expected[cap.columns[deal.rows[member], grouping], 2] += share - deal.in_a[member]
    seek_prices(cap, deal, grouping, begin)


@kernel
def seek_prices(cap, deal, grouping, begin):
    """Find prices at which as many loose rows of each group from one on are expected as wanted."""
    end = cap.first[grouping + 1]
    for column in range(cap.first[grouping], end):
        deal.price[column] = 0.0
        deal.price_range[column, 0], deal.price_range[column, 1] = -math.inf, math.inf
    for _ in range(MAX_STEPS):
        expect_in_a(cap, deal, grouping)
        is_found = True
        for column in range(begin, end):
            if not step_price(deal, column):
                is_found = False
        if is_found:
            break


@kernel
def expect_in_a(cap, deal, grouping):
    """Add up the loose rows of each group that are to be expected in A."""
    for column in range(cap.first[grouping], cap.first[grouping + 1]):
        deal.expected[column, 0], deal.expected[column, 1] = 0.0, 1e-9
    for member in range(deal.loose_end[0]):
        column = cap.columns[deal.rows[member], grouping]
        chance = sigmoid(anchor_logit(deal, member) + deal.price[column])
        deal.expected[column, 0] += chance
        deal.expected[column, 1] += chance * (1.0 - chance)


@kernel
def step_price(deal, column):
    """Bring a price nearer to where it should be; tell whether it was there."""
    excess = deal.expected[column, 0] - deal.expected[column, 2]
    price = deal.price[column]
    if abs(excess) < ENOUGH or abs(price) >= MAX_LOGIT:
        return True
    deal.price_range[column, 1 if excess > 0.0 else 0] = price
    price -= min(max(excess / deal.expected[column, 1], -5.0), 5.0)
    low, high = deal.price_range[column, 0], deal.price_range[column, 1]
    if not low < price < high:
        price = 0.5 * (low + high)
    deal.price[column] = min(max(price, -MAX_LOGIT), MAX_LOGIT)
    return False
