r"""Launch: a fair way to deal the rows of one or two clusters into two halves.

Members of :math:`S` (one cluster, or two together) are numbered in *parts*: anchors (part 0), then
the unmasked followers that sit in the slots, a part a group, then masked followers whose label
is in :math:`S` (the last part). They are shuffled, so that nothing knows the present halves or the
present matching. What comes out is a log preference (predictive in half A over that in half B) of
every *loose* member, and the terms that balance anchors and followers; ``allocation.py``
draws halves from them.

*launch*: all members are loose but two anchors, one for each half. A few rounds of hard EM
(anchors go to the half with the larger predictive, followers by preference within the halves'
capacities), starting from one of four first guesses, on no more than ``max_launched`` members, then
one round for all.

*condition*: a share of the members is loose; the others are *held*: they stay in their present
halves and say what these look like.
"""

from fairmix.sampler.kernels.decorator import inlined, kernel
from fairmix.sampler.kernels.group_prices import price_groups
from fairmix.sampler.kernels.random_choice import draw_index
from fairmix.sampler.kernels.seat_prices import price_seats

#: Rounds of hard EM at most.
HARD_ROUNDS = 5


@kernel
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
    deal.part_start[0] = 0
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


@kernel
def shuffle(rng, values, start, end):
    """Shuffle a stretch of an array."""
    for k in range(end - 1, start, -1):
        other = start + draw_index(rng, k - start + 1)
        values[k], values[other] = values[other], values[k]


@kernel
def launch(rng, likelihood, layout, row_stats, deal, pricing):
    """Free all members but the two anchors, and make halves by hard EM from a first guess."""
    place, other_place = deal.part_start[1] - 1, deal.part_start[1] - 2
    n_members = deal.part_start[-1]
    share = min(1.0, deal.max_launched / n_members)
    loosen(deal, share, 0.5)
    kind = draw_index(rng, 4)
    if kind == 0:
        seed_halves(row_stats, deal, place, other_place)
        likelihood.prefer_by_fit(row_stats, deal)
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
        add_up_loose(row_stats, deal)
        prefer(likelihood, layout, row_stats, deal, pricing)
        if not deal_hard(deal):
            break
    if share < 1.0:
        loosen(deal, 1.0, 0.5)
        prefer(likelihood, layout, row_stats, deal, pricing)
        deal_hard(deal)
        add_up_loose(row_stats, deal)
        likelihood.prefer_by_fit(row_stats, deal)
    price_seats(deal, True)
    if pricing > 0.0:
        price_groups(layout.cap, deal, pricing, deal.part_start[1] - 2)


@kernel
def prefer(likelihood, layout, row_stats, deal, pricing):
    """Let loose members prefer the half that fits them better, at the prices of their groups."""
    likelihood.prefer_by_fit(row_stats, deal)
    if pricing > 0.0:
        deal.border[:] = 0.0
        price_groups(layout.cap, deal, pricing, deal.part_start[1] - 2)


@kernel
def loosen(deal, share, fraction):
    """Free a share of every part (rounded up from this fraction on), never the two anchors."""
    for part in range(deal.loose_end.size):
        start, end = deal.part_start[part], deal.part_start[part + 1]
        n_loose = int(share * (end - start) + 1.0 - fraction)
        if part == 0:
            n_loose = min(n_loose, end - start - 2)
        deal.loose_end[part] = start + n_loose


@kernel
def part_anchors(deal):
    """Put the two anchors into one half each."""
    deal.in_a[deal.part_start[1] - 1] = True
    deal.in_a[deal.part_start[1] - 2] = False


@kernel
def condition(rng, likelihood, layout, row_stats, deal, share, pricing):
    """Free a share of the members; the others say what the halves look like."""
    n_parts = deal.part_start.size - 1
    loosen(deal, share, rng.random())  # so that the only one of a part may be loose, too
    deal.n_rows[:] = 0
    deal.stats[:] = 0.0
    for part in range(n_parts):
        for member in range(deal.loose_end[part], deal.part_start[part + 1]):
            add_to_half(row_stats, deal, member)
    likelihood.prefer_by_fit(row_stats, deal)
    price_seats(deal, False)
    if pricing > 0.0:
        price_groups(layout.cap, deal, pricing, deal.loose_end[0])


@kernel
def seed_halves(row_stats, deal, place, other_place):
    """Let each half be one anchor."""
    deal.n_rows[:] = 1
    for k in range(row_stats.shape[1]):
        deal.stats[0, k] = row_stats[deal.rows[place], k]
        deal.stats[1, k] = row_stats[deal.rows[other_place], k]


@kernel
def prefer_by_statistic(row_stats, deal, place, other_place, statistic):
    """Prefer the half whose anchor is nearer in one statistic."""
    seed = row_stats[deal.rows[place], statistic]
    other_seed = row_stats[deal.rows[other_place], statistic]
    for part in range(deal.loose_end.size):
        for member in range(deal.part_start[part], deal.loose_end[part]):
            value = row_stats[deal.rows[member], statistic]
            deal.preference[member] = abs(value - other_seed) - abs(value - seed)


@kernel
def prefer_by_projection(rng, row_stats, deal, place, other_place):
    """Prefer the half whose anchor is nearer in a random projection of the statistics."""
    for k in range(row_stats.shape[1]):
        deal.joined[k] = rng.standard_normal()
    seed = project(row_stats, deal, place)
    other_seed = project(row_stats, deal, other_place)
    for part in range(deal.loose_end.size):
        for member in range(deal.part_start[part], deal.loose_end[part]):
            value = project(row_stats, deal, member)
            deal.preference[member] = abs(value - other_seed) - abs(value - seed)


@inlined
def project(row_stats, deal, member):
    """Project a member's statistics on the direction that is in ``deal.joined``."""
    value = 0.0
    for k in range(row_stats.shape[1]):
        value += deal.joined[k] * row_stats[deal.rows[member], k]
    return value


@kernel
def prefer_by_misfit(rng, likelihood, row_stats, deal):
    """Let those prefer half A that fit the whole worse than a random anchor does."""
    deal.in_a[: deal.part_start[-1]] = True
    add_up_loose(row_stats, deal)
    likelihood.weigh_others(row_stats, deal)
    threshold = 0.0
    if deal.loose_end[0] > 0:
        threshold = deal.preference[draw_index(rng, deal.loose_end[0])]
    for part in range(deal.loose_end.size):
        for member in range(deal.part_start[part], deal.loose_end[part]):
            deal.preference[member] -= threshold


@kernel
def deal_hard(deal):
    """Deal loose members out by preference, within capacities; tell whether anyone changed half."""
    n_parts = deal.part_start.size - 1
    n_changed = deal_eager(deal, 0) + deal_eager(deal, n_parts - 1)
    for part in range(1, n_parts - 1):
        start, end = deal.part_start[part], deal.loose_end[part]
        seats = 0.5
        for k in range(deal.part_start[1]):
            if deal.in_a[k] and (k < deal.loose_end[0] or k >= deal.part_start[1] - 2):
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
    """Put each loose member of a part into the half it prefers; count the changes."""
    n_changed = 0
    for member in range(deal.part_start[part], deal.loose_end[part]):
        wanted = deal.preference[member] > 0.0
        n_changed += deal.in_a[member] != wanted
        deal.in_a[member] = wanted
    return n_changed


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
    deal.n_rows[:] = 0
    deal.stats[:] = 0.0
    for member in range(n_members):
        add_to_half(row_stats, deal, member)


@kernel
def add_up_loose(row_stats, deal):
    """Add up the statistics of both halves, as far as members are loose, and the two anchors."""
    deal.n_rows[:] = 0
    deal.stats[:] = 0.0
    for part in range(deal.loose_end.size):
        for member in range(deal.part_start[part], deal.loose_end[part]):
            add_to_half(row_stats, deal, member)
    add_to_half(row_stats, deal, deal.part_start[1] - 1)
    add_to_half(row_stats, deal, deal.part_start[1] - 2)


@inlined
def add_to_half(row_stats, deal, member):
    """Add a member to the statistics of its half."""
    half = 0 if deal.in_a[member] else 1
    row = deal.rows[member]
    deal.n_rows[half] += 1
    for k in range(row_stats.shape[1]):
        deal.stats[half, k] += row_stats[row, k]
