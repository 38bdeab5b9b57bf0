r"""STEP 2 of the paper: Algorithm 3 of Neal (2000) over bundles.

Bundle :math:`i` leaves its cluster and joins cluster :math:`c` with probability
proportional to :math:`(|c| + \gamma)\, m(X^c \cup X^{\{i\}}) / m(X^c)`, or opens
one with probability proportional to
:math:`\gamma\, V(t+1)/V(t)\, m(X^{\{i\}})`, where :math:`|c|` counts bundles and
:math:`t` the clusters that are left. It sees bundles only through their
statistics, so a bundle may be made of anything. Under a cap, a choice that leads outside
has probability zero.
"""

import math

from fairmix.kernels.decorator import kernel
from fairmix.kernels.random_choice import draw_weighted
from fairmix.kernels.state import close_cluster, open_cluster, rebuild, refresh
from fairmix.kernels.support import add_groups, balance_is_allowed, is_allowed_in


@kernel
def gibbs_step(rng, family, layout, tables, row_stats, state, work):
    """Relabel every slot in turn; give the number of slots that moved."""
    rebuild(family, layout, row_stats, state)
    n_moved = 0
    for slot in range(state.labels.size):
        source = state.labels[slot]
        source_log_marginal = state.cluster_log_marginal[source]
        was_alone = remove_bundle(family, layout, state, slot, source)
        n_options = weigh_clusters(family, tables, state, work, slot)
        if was_alone:
            opened_log_marginal = source_log_marginal
        else:
            # Exactly what it was before: no need to evaluate it again.
            set_candidate(tables, state, work, state.place[source], source_log_marginal)
            opened_log_marginal = family.log_marginal(
                state.bundle_rows[slot], state.bundle_stats[slot]
            )
        work.log_weights[n_options] = tables.log_open[n_options] + opened_log_marginal
        work.candidates[n_options] = opened_log_marginal
        if layout.is_capped:
            forbid_outside(layout, state, work, slot, source, was_alone, n_options)
        choice = draw_weighted(rng, work.log_weights, n_options + 1)
        target = open_cluster(state) if choice == n_options else state.active[choice]
        insert_bundle(layout, state, slot, target, work.candidates[choice])
        n_moved += target != source  # a lone bundle that opens one gets its own back
    return n_moved


@kernel
def remove_bundle(family, layout, state, slot, cluster):
    """Take a slot out of its cluster; tell whether that closed the cluster."""
    if layout.is_capped:
        add_groups(layout, state, cluster, state.bundle_groups[slot], -1)
    state.cluster_slots[cluster] -= 1
    if state.cluster_slots[cluster] == 0:
        close_cluster(state, cluster)
        return True
    state.cluster_rows[cluster] -= state.bundle_rows[slot]
    for k in range(state.bundle_stats.shape[1]):
        state.cluster_stats[cluster, k] -= state.bundle_stats[slot, k]
    refresh(family, state, cluster)
    return False


@kernel
def weigh_clusters(family, tables, state, work, slot):
    """Fill the log weight of every cluster for this slot; give their number."""
    n_clusters = state.n_clusters[0]
    n_stats = state.bundle_stats.shape[1]
    source = state.labels[slot]
    for place in range(n_clusters):
        cluster = state.active[place]
        if cluster == source:
            continue
        for k in range(n_stats):
            work.stats[k] = state.cluster_stats[cluster, k] + state.bundle_stats[slot, k]
        rows = state.cluster_rows[cluster] + state.bundle_rows[slot]
        set_candidate(tables, state, work, place, family.log_marginal(rows, work.stats))
    return n_clusters


@kernel
def set_candidate(tables, state, work, place, joined_log_marginal):
    """Note a cluster's log marginal with the bundle in it, and the weight that gives."""
    cluster = state.active[place]
    work.candidates[place] = joined_log_marginal
    work.log_weights[place] = (
        tables.log_join[state.cluster_slots[cluster]]
        + joined_log_marginal
        - state.cluster_log_marginal[cluster]
    )


@kernel
def forbid_outside(layout, state, work, slot, source, was_alone, n_options):
    """Give clusters that lead outside the cap no weight; the way back always stays inside."""
    counts = state.bundle_groups[slot]
    way_back = n_options if was_alone else state.place[source]
    source_is_allowed = balance_is_allowed(layout, state.cluster_groups[source], counts.size)
    for place in range(n_options + 1):
        if place == way_back:
            continue
        cluster = state.active[place]
        allowed = source_is_allowed
        if allowed:
            add_groups(layout, state, cluster, counts, 1)
            allowed = is_allowed_in(layout, state, cluster)
            add_groups(layout, state, cluster, counts, -1)
        if not allowed:
            work.log_weights[place] = -math.inf


@kernel
def insert_bundle(layout, state, slot, cluster, log_marginal):
    """Put a slot into a cluster whose log marginal with it is known."""
    state.labels[slot] = cluster
    state.cluster_slots[cluster] += 1
    if layout.is_capped:
        add_groups(layout, state, cluster, state.bundle_groups[slot], 1)
    state.cluster_rows[cluster] += state.bundle_rows[slot]
    state.cluster_log_marginal[cluster] = log_marginal
    for k in range(state.bundle_stats.shape[1]):
        state.cluster_stats[cluster, k] += state.bundle_stats[slot, k]
