"""A conjugate family as the sampler sees it: the parameters of clusters are integrated out.

A cluster's log likelihood is its log marginal, a function of its statistics. It is raised to a
power, which is 1 but in an annealed warm-up. Parameters that all clusters share are
part of the state and redrawn once a sweep, if the family has some.
"""

from typing import Any, NamedTuple

import numpy as np

from fairmix.sampler.kernels.preferences import prefer_by_fit, weigh_others
from fairmix.sampler.kernels.verbs import update_shared


class Collapsed(NamedTuple):
    """The likelihood of a conjugate family."""

    family: Any
    power: np.ndarray  # one number
    shared: np.ndarray  # what all clusters share; the family's field of that name
    shared_log_prior: np.ndarray  # one number
    counts: np.ndarray  # rows of the clusters in use, times the power
    stats: np.ndarray  # their statistics, likewise

    @property
    def carried(self):
        """What clusters share."""
        return ("shared",)

    @property
    def room(self):
        """What that is redrawn from, and its log prior, which comes with it."""
        return ("shared_log_prior", "counts", "stats")

    @property
    def follows_rows(self):
        """Log likelihoods follow from statistics."""
        return False

    def begin(self, rng, state):
        """Nothing to set up."""

    def log_marginal(self, count, stats):
        """Log marginal likelihood of ``count`` rows, times the power."""
        return self.power[0] * self.family.log_marginal(count, stats)

    def log_marginal_of(self, state, cluster):
        """Log marginal of a cluster."""
        return state.cluster_log_likelihood[cluster]

    def add_row(self, state, row, cluster, sign):
        """Nothing but statistics changes with a row."""

    def refresh(self, state, cluster):
        """Bring a cluster's log likelihood up to date with its statistics."""
        state.cluster_log_likelihood[cluster] = self.log_marginal(
            state.cluster_rows[cluster], state.cluster_stats[cluster]
        )

    def refresh_trial(self, state, work):
        """Bring the clusters that a trial has changed up to date."""
        for k in range(work.n_saved[0]):
            self.refresh(state, work.saved_cluster[k])

    def recompute(self, state):
        """Bring all clusters up to date."""
        for place in range(state.n_clusters[0]):
            self.refresh(state, state.active[place])

    def predict_row(self, row_stats, state, work, row):
        """Log density of a row given the rows of each cluster."""
        for place in range(state.n_clusters[0]):
            cluster = state.active[place]
            for k in range(work.stats.size):
                work.stats[k] = state.cluster_stats[cluster, k] + row_stats[row, k]
            joined = self.log_marginal(state.cluster_rows[cluster] + 1, work.stats)
            work.candidates[place] = joined - state.cluster_log_likelihood[cluster]

    def list_bundles(self, state):
        """Bundles are seen through their statistics alone."""

    def drop_bundle(self, state, slot, cluster):
        """Bring a cluster that a bundle has left up to date."""
        self.refresh(state, cluster)

    def join_bundle(self, state, work, slot):
        """Log likelihood of each cluster but the bundle's own with the bundle in it."""
        own, n_rows, added = state.labels[slot], state.bundle_rows[slot], state.bundle_stats[slot]
        joined = work.stats
        for place in range(state.n_clusters[0]):
            cluster = state.active[place]
            if cluster != own:
                for k in range(joined.size):
                    joined[k] = state.cluster_stats[cluster, k] + added[k]
                work.candidates[place] = self.log_marginal(
                    state.cluster_rows[cluster] + n_rows, joined
                )

    def log_opened(self, rng, state, slot, source, was_alone, source_log_likelihood):
        """Log likelihood of a bundle on its own."""
        if was_alone:
            return source_log_likelihood
        return self.log_marginal(state.bundle_rows[slot], state.bundle_stats[slot])

    def open(self, rng, cluster, log_likelihood):
        """Give the log likelihood of a cluster that a bundle has opened."""
        return log_likelihood

    def prefer_by_fit(self, row_stats, deal):
        """Let loose members of a deal prefer the half that fits them better."""
        prefer_by_fit(self, row_stats, deal)

    def weigh_others(self, row_stats, deal):
        """Let each loose member's preference be the log marginal of half A without it."""
        weigh_others(self, row_stats, deal)

    def weigh_half(self, rng, deal, half, cluster, is_new, keeps_parameters):
        """Log marginal of a half."""
        return self.log_marginal(deal.n_rows[half], deal.stats[half])

    def keep_half(self, state, deal, half, cluster):
        """Let a cluster be a half."""
        state.cluster_log_likelihood[cluster] = self.log_marginal(
            deal.n_rows[half], deal.stats[half]
        )

    def update_parameters(self, rng, state):
        """Redraw what all clusters share."""
        n_clusters = state.n_clusters[0]
        for place in range(n_clusters):
            cluster = state.active[place]
            self.counts[place] = self.power[0] * state.cluster_rows[cluster]
            for k in range(self.stats.shape[1]):
                self.stats[place, k] = self.power[0] * state.cluster_stats[cluster, k]
        self.shared_log_prior[0] = update_shared(
            self.family, rng, self.counts[:n_clusters], self.stats[:n_clusters]
        )
        self.recompute(state)

    def log_prior_of_parameters(self, state):
        """Log prior density of what all clusters share."""
        return self.shared_log_prior[0]
