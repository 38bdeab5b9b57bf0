r"""The cap: what it leaves of a state's probability, and counts of rows that say so.

``model/cap.py`` says what the limits are. ``state.imbalance`` has the imbalance of each column of
the table of counts, ``state.lack`` what clusters lack of balance; both are sums over clusters of
whole numbers, so nothing drifts.

A state outside has no probability, or, at a finite *price*, less: its *excess* is the gap beyond
the limit, plus what it lacks of balance as a share of all rows, and its probability is multiplied
by :math:`e^{-\text{price} \cdot \text{excess}}`. At any price the law of the states inside is the
same up to a factor: draws that are taken inside only follow the capped law, and the chain
may go round through the outside.
"""

from fairmix.sampler.kernels.decorator import inlined, kernel


@inlined
def skew_of(cap, counts, column):
    """Give by how much too many rows of a column's group are among these, signed."""
    other = cap.reference[column]
    return cap.sizes[other] * counts[column] - cap.sizes[column] * counts[other]


@inlined
def imbalance_of(cap, counts, column):
    """Give a cluster's part in the imbalance of a column."""
    return abs(skew_of(cap, counts, column))


@kernel
def lack_of(cap, counts, grouping):
    """Give what a cluster lacks of balance, in parts of a row."""
    return lack_among(cap, counts, grouping, cap.first[grouping], cap.first[grouping + 1])


@kernel
def lack_among(cap, counts, grouping, begin, end):
    """Give what a cluster lacks of balance between some columns of a grouping."""
    smallest, largest = counts[begin], counts[begin]
    for column in range(begin + 1, end):
        smallest = min(smallest, counts[column])
        largest = max(largest, counts[column])
    if largest == 0:
        return 0
    lack = cap.balance_of[grouping, 0] * largest + cap.balance_of[grouping, 2]
    return max(lack - cap.balance_of[grouping, 1] * smallest, 0)


@kernel
def change_lacks(cap, state, counts, sign):
    """Add what a cluster lacks of balance to the sums, or subtract it."""
    for grouping in range(cap.largest.size):
        state.lack[grouping] += sign * lack_of(cap, counts, grouping)


@kernel
def add_counts(cap, state, cluster, counts, sign):
    """Add counts to a cluster's, or subtract them."""
    own = state.cluster_groups[cluster]
    if cap.has_balance:
        change_lacks(cap, state, own, -1)
    for column in range(cap.weight.size):
        if cap.weight[column] > 0:
            skew = skew_of(cap, own, column)
            changed = skew + sign * skew_of(cap, counts, column)
            state.imbalance[column] += abs(changed) - abs(skew)
    for column in range(own.size):
        own[column] += sign * counts[column]
    if cap.has_balance:
        change_lacks(cap, state, own, 1)


@kernel
def add_row(cap, state, cluster, row, sign):
    """Add a row to a cluster's counts, or subtract it."""
    own = state.cluster_groups[cluster]
    if cap.has_balance:
        change_lacks(cap, state, own, -1)
    for column in range(cap.weight.size):
        state.imbalance[column] -= imbalance_of(cap, own, column)
    for grouping in range(cap.largest.size):
        own[cap.columns[row, grouping]] += sign
    own[own.size - 1] += sign
    for column in range(cap.weight.size):
        state.imbalance[column] += imbalance_of(cap, own, column)
    if cap.has_balance:
        change_lacks(cap, state, own, 1)


@kernel
def set_counts(cap, state, cluster, counts):
    """Replace a cluster's counts."""
    own = state.cluster_groups[cluster]
    if cap.has_balance:
        change_lacks(cap, state, own, -1)
        change_lacks(cap, state, counts, 1)
    for column in range(cap.weight.size):
        state.imbalance[column] += imbalance_of(cap, counts, column)
        state.imbalance[column] -= imbalance_of(cap, own, column)
    for column in range(own.size):
        own[column] = counts[column]


@kernel
def log_allowance(cap, state):
    """Give the log of what the cap leaves of the state's probability."""
    excess = 0.0
    for grouping in range(cap.largest.size):
        total = 0
        for column in range(cap.first[grouping], cap.first[grouping + 1]):
            own = cap.weight[column] * state.imbalance[column]
            total = max(total, own) if cap.takes_worst[grouping] else total + own
        excess += excess_of(cap, grouping, total, state.lack[grouping])
    return at_price(state, excess)


@kernel
def weigh_options(cap, state, work, counts, n_options):
    """Multiply the weights of the first clusters by what the cap leaves if one gets these counts.

    The same as ``log_allowance_if`` for each, in the innermost loop of a sweep.
    """
    for grouping in range(cap.largest.size):
        begin, end = cap.first[grouping], cap.first[grouping + 1]
        for column in range(begin, end):
            work.added[column] = skew_of(cap, counts, column)
        total = 0
        for column in range(begin, end):
            total += cap.weight[column] * state.imbalance[column]
        for place in range(n_options):
            cluster = state.active[place]
            change, worst = 0, 0
            for column in range(begin, end):
                skew = skew_of(cap, state.cluster_groups[cluster], column)
                part = abs(skew + work.added[column]) - abs(skew)
                change += cap.weight[column] * part
                worst = max(worst, cap.weight[column] * (state.imbalance[column] + part))
            reached = worst if cap.takes_worst[grouping] else total + change
            lack = 0
            if cap.has_balance:
                lack = lack_with(cap, state, work, cluster, counts, grouping)
            if lack > 0 or reached > cap.largest[grouping]:
                excess = excess_of(cap, grouping, reached, lack)
                work.log_weights[place] += at_price(state, excess)


@kernel
def lack_with(cap, state, work, cluster, counts, grouping):
    """Give what all clusters lack of balance if one of them gets these counts."""
    own = state.cluster_groups[cluster]
    for column in range(cap.first[grouping], cap.first[grouping + 1]):
        work.joined_groups[column] = own[column] + counts[column]
    lack = state.lack[grouping] - lack_of(cap, own, grouping)
    return lack + lack_of(cap, work.joined_groups, grouping)


@kernel
def log_allowance_if(cap, state, cluster, counts, other_cluster, other_counts):
    """Give the log of what the cap leaves if two clusters had these counts."""
    own, other_own = state.cluster_groups[cluster], state.cluster_groups[other_cluster]
    excess = 0.0
    for grouping in range(cap.largest.size):
        total = 0
        for column in range(cap.first[grouping], cap.first[grouping + 1]):
            part = state.imbalance[column]
            part += imbalance_of(cap, counts, column) - imbalance_of(cap, own, column)
            part += imbalance_of(cap, other_counts, column)
            part -= imbalance_of(cap, other_own, column)
            part *= cap.weight[column]
            total = max(total, part) if cap.takes_worst[grouping] else total + part
        lack = state.lack[grouping]
        lack += lack_of(cap, counts, grouping) - lack_of(cap, own, grouping)
        lack += lack_of(cap, other_counts, grouping) - lack_of(cap, other_own, grouping)
        excess += excess_of(cap, grouping, total, lack)
    return at_price(state, excess)


@kernel
def excess_of(cap, grouping, total, lack):
    """Give the excess that a grouping's sums are."""
    excess = max(total - cap.largest[grouping], 0) * cap.gap_of_one[grouping]
    if lack > 0:
        excess += lack / (cap.balance_of[grouping, 1] * cap.sizes[cap.sizes.size - 1])
    return excess


@kernel
def at_price(state, excess):
    """Give the log probability that an excess leaves."""
    if excess == 0.0:
        return 0.0
    return -state.cap_price[0] * excess  # -inf at an infinite price
