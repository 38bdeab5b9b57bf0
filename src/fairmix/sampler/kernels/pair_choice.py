r"""Which clusters are dealt anew: large ones, small ones, and pairs that are close.

To *re-deal* two clusters, or a part of them, the first cluster A is drawn with probability
:math:`\frac12 (\frac1t + \frac{|A_0|}{n_0})`. To *split* or *merge*, it is drawn four times out of
five with probability proportional to :math:`1 / (|A_0| + 30)`: small clusters come and go, and a
proposal takes about so much less time there. The second, B, is drawn with probability

.. math::
   \frac12 \Big(\frac{1}{t - 1} + \frac{e^{\kappa s_{AB}}}{\sum_c e^{\kappa s_{Ac}}}\Big), \qquad
   s_{Ac} = \log \frac{m(A \cup c)}{m(A)\, m(c)},

so that half of the time it is likely to be close to A. These probabilities differ before
and after a proposal, so they are part of its ratio.
"""

import math

from fairmix.sampler.kernels.decorator import kernel
from fairmix.sampler.kernels.random_choice import draw_index, draw_weighted, log_sum_exp

#: How much closeness counts (kappa); at 1 only the closest cluster would ever be drawn.
CLOSENESS = 0.1
#: How often splits and merges prefer small clusters, and the number of slots that make a proposal
#: take twice as long as it takes at least.
SMALL_SHARE, SMALL = 0.8, 30.0


@kernel
def smallness(n_slots):
    """Give the weight of a cluster of so many slots when small ones are preferred."""
    return 1.0 / (n_slots + SMALL)


@kernel
def draw_first(rng, state, prefers_small):
    """Draw the first cluster."""
    if prefers_small and rng.random() < SMALL_SHARE:
        total = 0.0
        for place in range(state.n_clusters[0]):
            total += smallness(state.cluster_slots[state.active[place]])
        left = rng.random() * total
        place = 0
        left -= smallness(state.cluster_slots[state.active[0]])
        while left >= 0.0 and place < state.n_clusters[0] - 1:
            place += 1
            left -= smallness(state.cluster_slots[state.active[place]])
        return state.active[place]
    if rng.random() < 0.5:
        return state.active[draw_index(rng, state.n_clusters[0])]
    return state.labels[draw_index(rng, state.labels.size)]


@kernel
def log_chance_of_first(state, n_clusters, n_slots, other_n_slots, pair, prefers_small):
    """Give the log probability that half A, of so many slots, is drawn first.

    The halves take the place of the two clusters (or the one) of ``pair``; half B may be empty.
    """
    chance = 0.5 / n_clusters + 0.5 * n_slots / state.labels.size
    if prefers_small:
        own = smallness(n_slots)
        total = own
        if other_n_slots > 0:
            total += smallness(other_n_slots)
        for place in range(state.n_clusters[0]):
            third = state.active[place]
            if third not in pair:
                total += smallness(state.cluster_slots[third])
        chance = SMALL_SHARE * own / total + (1.0 - SMALL_SHARE) * chance
    return math.log(chance)


@kernel
def draw_second(rng, likelihood, state, deal, first):
    """Draw another cluster, given the first one."""
    n_clusters = state.n_clusters[0]
    if rng.random() < 0.5:
        place = draw_index(rng, n_clusters - 1)
        place += place >= state.place[first]
        return state.active[place]
    for place in range(n_clusters):
        cluster = state.active[place]
        deal.log_weights[place] = -math.inf
        if cluster != first:
            deal.log_weights[place] = log_closeness(
                likelihood,
                state,
                deal,
                state.cluster_rows[first],
                state.cluster_stats[first],
                cluster,
            )
    return state.active[draw_weighted(rng, deal.log_weights, n_clusters)]


@kernel
def log_closeness(likelihood, state, deal, n_rows, stats, cluster):
    """Give the log weight of a cluster as the second, up to the first one's own term."""
    for k in range(stats.size):
        deal.joined[k] = stats[k] + state.cluster_stats[cluster, k]
    together = likelihood.log_marginal(n_rows + state.cluster_rows[cluster], deal.joined)
    return CLOSENESS * (together - likelihood.log_marginal_of(state, cluster))


@kernel
def log_chance_of_second(likelihood, state, deal, n_clusters, cluster, other_cluster):
    """Give the log probability that half B is drawn second, given half A.

    The halves' statistics are in ``deal.stats``; all clusters but the given two are as they are.
    """
    for k in range(deal.joined.size):
        deal.joined[k] = deal.stats[0, k] + deal.stats[1, k]
    together = likelihood.log_marginal(deal.n_rows[0] + deal.n_rows[1], deal.joined)
    own = CLOSENESS * (together - likelihood.log_marginal(deal.n_rows[1], deal.stats[1]))
    deal.log_weights[0] = own
    n_weights = 1
    for place in range(state.n_clusters[0]):
        third = state.active[place]
        if third not in (cluster, other_cluster):
            deal.log_weights[n_weights] = log_closeness(
                likelihood, state, deal, deal.n_rows[0], deal.stats[0], third
            )
            n_weights += 1
    chance = math.exp(own - log_sum_exp(deal.log_weights, n_weights))
    return math.log(0.5 / (n_clusters - 1.0) + 0.5 * chance)
