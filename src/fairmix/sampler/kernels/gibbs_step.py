r"""STEP 2 of the paper: Algorithms 3 and 8 of Neal (2000) over bundles.

Bundle :math:`i` leaves its cluster and joins cluster :math:`c` with probability
proportional to :math:`(|c| + \gamma)\, p(X^{\{i\}} \mid X^c)`, or opens one with probability
proportional to :math:`\gamma\, V(t+1)/V(t)\, p(X^{\{i\}})`, where :math:`|c|` counts bundles and
:math:`t` the clusters that are left. With parameters integrated out, these densities are
:math:`m(X^c \cup X^{\{i\}}) / m(X^c)` and :math:`m(X^{\{i\}})`: Algorithm 3. With parameters
instantiated they are :math:`f(X^{\{i\}} \mid \phi_c)` and a mean over auxiliary parameters:
Algorithm 8. The likelihood (``collapsed.py``, ``instantiated.py``)
says which. A bundle may be made of anything. Under a cap, each choice has the weight that the cap
leaves it besides: none outside, or less at a price (``cap.py``).
"""

from fairmix.sampler.kernels.cap import add_counts, weigh_options
from fairmix.sampler.kernels.decorator import kernel
from fairmix.sampler.kernels.random_choice import draw_weighted
from fairmix.sampler.kernels.state import close_cluster, open_cluster, rebuild


@kernel
def gibbs_step(rng, likelihood, layout, tables, row_stats, state, work):
    """Relabel every slot in turn; give the number of slots that moved."""
    rebuild(likelihood, layout, row_stats, state)
    likelihood.list_bundles(state)
    n_moved = 0
    for slot in range(state.labels.size):
        source = state.labels[slot]
        source_log_likelihood = state.cluster_log_likelihood[source]
        was_alone = remove_bundle(likelihood, layout, state, slot, source)
        n_options = weigh_clusters(likelihood, tables, state, work, slot, source_log_likelihood)
        opened_log_likelihood = likelihood.log_opened(
            rng, state, slot, source, was_alone, source_log_likelihood
        )
        work.log_weights[n_options] = tables.log_open[n_options] + opened_log_likelihood
        work.candidates[n_options] = opened_log_likelihood
        if layout.cap.is_tight:
            counts = state.bundle_groups[slot]
            weigh_options(layout.cap, state, work, counts, n_options + 1)
        choice = draw_weighted(rng, work.log_weights, n_options + 1)
        log_likelihood = work.candidates[choice]
        if choice < n_options:
            target = state.active[choice]
        else:
            target = open_cluster(state)
            log_likelihood = likelihood.open(rng, target, log_likelihood)
        insert_bundle(layout, state, slot, target, log_likelihood)
        n_moved += target != source  # a lone bundle that opens one gets its own back
    return n_moved


@kernel
def remove_bundle(likelihood, layout, state, slot, cluster):
    """Take a slot out of its cluster; tell whether that closed the cluster."""
    if layout.cap.is_tight:
        add_counts(layout.cap, state, cluster, state.bundle_groups[slot], -1)
    state.cluster_slots[cluster] -= 1
    if state.cluster_slots[cluster] == 0:
        close_cluster(state, cluster)
        return True
    state.cluster_rows[cluster] -= state.bundle_rows[slot]
    for k in range(state.bundle_stats.shape[1]):
        state.cluster_stats[cluster, k] -= state.bundle_stats[slot, k]
    likelihood.drop_bundle(state, slot, cluster)
    return False


@kernel
def weigh_clusters(likelihood, tables, state, work, slot, source_log_likelihood):
    """Fill the log weight of every cluster for this slot; give their number."""
    n_clusters = state.n_clusters[0]
    source = state.labels[slot]
    likelihood.join_bundle(state, work, slot)
    for place in range(n_clusters):
        cluster = state.active[place]
        if cluster == source:  # exactly what it was before
            work.candidates[place] = source_log_likelihood
        work.log_weights[place] = (
            tables.log_join[state.cluster_slots[cluster]]
            + work.candidates[place]
            - state.cluster_log_likelihood[cluster]
        )
    return n_clusters


@kernel
def insert_bundle(layout, state, slot, cluster, log_likelihood):
    """Put a slot into a cluster whose log likelihood with it is known."""
    state.labels[slot] = cluster
    state.cluster_slots[cluster] += 1
    if layout.cap.is_tight:
        add_counts(layout.cap, state, cluster, state.bundle_groups[slot], 1)
    state.cluster_rows[cluster] += state.bundle_rows[slot]
    state.cluster_log_likelihood[cluster] = log_likelihood
    for k in range(state.bundle_stats.shape[1]):
        state.cluster_stats[cluster, k] += state.bundle_stats[slot, k]
