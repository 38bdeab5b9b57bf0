r"""The support that a cap leaves: states with a small enough gap and a large enough balance.

The gap is additive over clusters: with :math:`N_{cb}` rows of group b in cluster c,

.. math::
   \Delta = \sum_b w_b \sum_c |n_0 N_{cb} - n_b N_{c0}|, \qquad w_b = 1 / (2 n_0 n_b (B - 1)),

where b runs over the :math:`B - 1` follower groups. The inner sums are integers, kept in
``state.imbalance``, so nothing drifts. Balance is a matter of each cluster alone.
"""

from fairmix.kernels.decorator import kernel


@kernel
def imbalance_of(layout, counts, group):
    """Give a cluster's part in the imbalance of a group."""
    n_anchors = layout.group_start[1]
    n_rows = layout.group_start[group + 1] - layout.group_start[group]
    return abs(n_anchors * counts[group] - n_rows * counts[0])


@kernel
def balance_is_allowed(layout, counts, n_groups):
    """Tell whether a cluster is balanced enough, as far as the first groups go."""
    smallest = counts[0]
    largest = counts[0]
    for group in range(1, n_groups):
        smallest = min(smallest, counts[group])
        largest = max(largest, counts[group])
    return smallest >= layout.least_balance * largest


@kernel
def gap_is_allowed(layout, state):
    """Tell whether the gap is small enough."""
    return gap_of_state(layout, state) <= layout.largest_gap


@kernel
def gap_of_state(layout, state):
    """Give the fairness gap."""
    gap = 0.0
    for group in range(1, layout.gap_weight.size):
        gap += layout.gap_weight[group] * state.imbalance[group]
    return gap


@kernel
def add_rows_of_group(layout, state, cluster, group, n_rows):
    """Add rows of one group to a cluster's counts."""
    counts = state.cluster_groups[cluster]
    first, last = group, group
    if group == 0:
        first, last = 1, layout.gap_weight.size - 1
    for changed in range(first, last + 1):
        state.imbalance[changed] -= imbalance_of(layout, counts, changed)
    counts[group] += n_rows
    for changed in range(first, last + 1):
        state.imbalance[changed] += imbalance_of(layout, counts, changed)


@kernel
def add_groups(layout, state, cluster, counts, sign):
    """Add counts by group to a cluster's, or subtract them."""
    for group in range(layout.gap_weight.size):
        add_rows_of_group(layout, state, cluster, group, sign * counts[group])


@kernel
def is_allowed_in(layout, state, cluster):
    """Tell whether the state is inside, as far as the gap and this cluster's balance go."""
    return gap_is_allowed(layout, state) and balance_is_allowed(
        layout, state.cluster_groups[cluster], layout.gap_weight.size
    )
