"""Balance: log odds of anchors and followers that expect as many seats as there are followers."""

import math

from fairmix.sampler.kernels.decorator import kernel

#: Steps at most to balance anchors and followers, and how exact the balance has to be, in rows.
MAX_STEPS, ENOUGH = 20, 0.1
#: Log odds are cut to this range before they are exponentiated.
MAX_LOGIT = 30.0


@kernel
def price_seats(deal, all_tell):
    r"""Balance anchors and followers: as many seats in A are to be expected as followers there.

    Given parameters, an anchor's log odds of A are its preference, plus the log odds of
    the halves' sizes, plus for every seat it brings along what that seat is worth,
    :math:`c_b + \log (N_A / N_B)`: with one seat more, the ways to choose A's followers are
    multiplied by about :math:`e^{c_b}`, where :math:`\sum_j \sigma(\mathrm{preference}_j - c_b)`
    is the number of seats, and the ways to seat them by :math:`N_A / N_B`. Sizes are those of
    all members, or of the ones that are held.
    """
    n_groups = deal.centre.size
    for group in range(n_groups):
        deal.centre[group] = 0.0
        deal.border[group] = log_odds_of_sizes(deal, group, all_tell)
    for group in range(1, n_groups):
        held = 0.0  # followers that stay in A, less the seats that stay there
        for member in range(deal.loose_end[group], deal.part_start[group + 1]):
            held += deal.in_a[member]
        for k in range(deal.loose_end[0], deal.part_start[1]):
            if deal.in_a[k]:
                held -= deal.lift[group, k]
        base = deal.border[group]
        deal.centre[group] = solve_centre(deal, group, held, True, base)
        deal.border[group] = base + deal.centre[group]


@kernel
def log_odds_of_sizes(deal, part, all_tell):
    """Compare the halves' sizes in one part."""
    first = deal.part_start[part] if all_tell else deal.loose_end[part]
    n_in_a, n_in_b = 0.5, 0.5
    for member in range(first, deal.part_start[part + 1]):
        if deal.in_a[member]:
            n_in_a += 1.0
        else:
            n_in_b += 1.0
    return math.log(n_in_a / n_in_b)


@kernel
def solve_centre(deal, group, held, with_anchors, base):
    """Find the centre at which the expected followers in A match the (expected) seats there."""
    centre = deal.centre[group]
    low, high = -math.inf, math.inf
    for _ in range(MAX_STEPS):
        excess, slope = held, 1e-9
        for member in range(deal.part_start[group], deal.loose_end[group]):
            chance = sigmoid(deal.preference[member] - centre)
            excess += chance
            slope += chance * (1.0 - chance)
        if with_anchors:
            deal.border[group] = base + centre
            for k in range(deal.loose_end[0]):
                chance = sigmoid(anchor_logit(deal, k))
                lift = deal.lift[group, k]
                excess -= lift * chance
                slope += lift * lift * chance * (1.0 - chance)
        if abs(excess) < ENOUGH:
            break
        if excess > 0.0:
            low = centre
        else:
            high = centre
        centre += min(max(excess / slope, -MAX_LOGIT), MAX_LOGIT)
        if not low < centre < high:
            centre = 0.5 * (low + high)
    return centre


@kernel
def anchor_logit(deal, k):
    """Give an anchor's log odds of half A."""
    logit = deal.preference[k] + deal.border[0]
    for group in range(1, deal.border.size):
        logit += deal.lift[group, k] * deal.border[group]
    return logit


@kernel
def sigmoid(logit):
    """Turn log odds into a probability, never quite 0 or 1."""
    return 1.0 / (1.0 + math.exp(min(max(-logit, -MAX_LOGIT), MAX_LOGIT)))
