"""Which half of a deal fits a member, by the likelihood's log marginals.

These loops are part of the likelihood, so that a call of the sampler's general part costs little
beside what is done there.
"""

from fairmix.sampler.kernels.decorator import kernel


@kernel
def prefer_by_fit(likelihood, row_stats, deal):
    """Let loose members prefer the half with the larger predictive density."""
    base = likelihood.log_marginal(deal.n_rows[0], deal.stats[0])
    other_base = likelihood.log_marginal(deal.n_rows[1], deal.stats[1])
    for part in range(deal.loose_end.size):
        for member in range(deal.part_start[part], deal.loose_end[part]):
            row = deal.rows[member]
            for k in range(row_stats.shape[1]):
                deal.joined[k] = deal.stats[0, k] + row_stats[row, k]
            fit = likelihood.log_marginal(deal.n_rows[0] + 1, deal.joined) - base
            for k in range(row_stats.shape[1]):
                deal.joined[k] = deal.stats[1, k] + row_stats[row, k]
            other_fit = likelihood.log_marginal(deal.n_rows[1] + 1, deal.joined) - other_base
            deal.preference[member] = fit - other_fit


@kernel
def weigh_others(likelihood, row_stats, deal):
    """Let each loose member's preference be the log marginal of half A without it."""
    n_others = deal.n_rows[0] - 1
    for part in range(deal.loose_end.size):
        for member in range(deal.part_start[part], deal.loose_end[part]):
            for k in range(row_stats.shape[1]):
                deal.joined[k] = deal.stats[0, k] - row_stats[deal.rows[member], k]
            deal.preference[member] = likelihood.log_marginal(n_others, deal.joined)
