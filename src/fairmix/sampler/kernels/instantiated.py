r"""A family without a conjugate prior as the sampler sees it: every cluster has parameters.

Parameters :math:`\phi_c \sim H` are part of the state (Algorithm 8 of Neal 2000), so a cluster's
log likelihood is :math:`\sum_{x \in c} \log f(x \mid \phi_c)`. It is raised to a power, which is 1
but in an annealed warm-up.

*Gibbs step*: a bundle may open a cluster with one of a few auxiliary parameters, drawn from
:math:`H`. If it was alone, its own :math:`\phi` is the first of them: were all drawn afresh, the
chain would have another law. :math:`p(X^{\{i\}})` is the mean over auxiliaries.

*Deals*: preferences come from a conjugate stand-in, whose statistics the state keeps. The halves'
parameters are drawn from a normal density :math:`g` that is fitted to each half
(``fit`` of ``cluster_parameters.py``), and in place of :math:`m(A)` the ratio has
:math:`H(\phi_A) \prod_{x \in A} f(x \mid \phi_A) / g(\phi_A)`, an unbiased estimate of it (Jain &
Neal 2007). A partial re-deal keeps both parameters.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from fairmix.sampler.kernels.cluster_parameters import (
    copy_into,
    draw_fitted,
    fit,
    log_density_of,
    log_density_of_row,
    slice_update,
)
from fairmix.sampler.kernels.decorator import kernel
from fairmix.sampler.kernels.preferences import prefer_by_fit, weigh_others
from fairmix.sampler.kernels.random_choice import draw_weighted, log_sum_exp
from fairmix.sampler.kernels.state import home_slot

#: The reference is the best of so many draws from the prior, fitted to so many rows so often.
REFERENCE_DRAWS, REFERENCE_ROWS, REFERENCE_FITS = 50, 200, 4


@kernel
def key_of(state, row, by_cluster):
    """Give the place of a row's cluster, or its slot."""
    slot = home_slot(state, row)
    return state.place[state.labels[slot]] if by_cluster else slot


class Instantiated(NamedTuple):
    """The likelihood of a family that has a density and a prior of its parameters."""

    family: Any
    stand_in: Any  # a conjugate family
    rows: np.ndarray
    n_blocks: int  # number of columns if these are independent, else 1
    power: np.ndarray  # one number
    parameters: np.ndarray  # (cluster, parameter)
    auxiliaries: np.ndarray  # (auxiliary, parameter)
    auxiliary_log_density: np.ndarray
    auxiliary_log_weights: np.ndarray
    has_begun: np.ndarray  # one bool
    adapts: np.ndarray  # one bool: whether widths are adapted
    widths: np.ndarray  # of the slice sampler, by parameter
    reference: np.ndarray  # where fits start
    proposed: np.ndarray  # (half, parameter)
    proposed_log_density: np.ndarray  # of a half
    centre: np.ndarray  # of a fitted density, by parameter
    factors: np.ndarray  # (block, parameter, parameter): Cholesky factors of its precision
    step: np.ndarray  # of a fit, by parameter of a block
    above: np.ndarray  # log target beside the centre, likewise
    first_listed: np.ndarray  # slot, or place of a cluster -> its first place in listed
    listed: np.ndarray  # rows

    @property
    def carried(self):
        """Parameters, and how they are sampled."""
        return ("parameters", "has_begun", "widths", "reference")

    @property
    def room(self):
        """Auxiliary and proposed parameters, fits and lists of rows."""
        return (
            "auxiliaries",
            "auxiliary_log_density",
            "auxiliary_log_weights",
            "proposed",
            "proposed_log_density",
            "centre",
            "factors",
            "step",
            "above",
            "first_listed",
            "listed",
        )

    @property
    def follows_rows(self):
        """Log likelihoods are sums over rows."""
        return True

    def begin(self, rng, state):
        """Fit first parameters to the clusters that a chain starts with."""
        if not self.has_begun[0]:
            self.has_begun[0] = True
            set_up(rng, self, state)

    def list_rows(self, state, by_cluster):
        """List the rows cluster by cluster (clusters by their places), or bundle by bundle."""
        n_keys = self.first_listed.size - 1
        self.first_listed[:] = 0
        for row in range(self.listed.size):
            self.first_listed[key_of(state, row, by_cluster) + 1] += 1
        for key in range(n_keys):
            self.first_listed[key + 1] += self.first_listed[key]
        for row in range(self.listed.size):
            key = key_of(state, row, by_cluster)
            self.listed[self.first_listed[key]] = row
            self.first_listed[key] += 1
        for key in range(n_keys, 0, -1):
            self.first_listed[key] = self.first_listed[key - 1]
        self.first_listed[0] = 0

    def list_bundles(self, state):
        """List the rows bundle by bundle."""
        self.list_rows(state, False)

    def log_density_of_bundle(self, slot, parameters):
        """Log density of a bundle's rows, which are listed."""
        return log_density_of(
            self, parameters, self.first_listed[slot], self.first_listed[slot + 1]
        )

    def log_marginal(self, count, stats):
        """Log marginal of the stand-in, times the power."""
        return self.power[0] * self.stand_in.log_marginal(count, stats)

    def log_marginal_of(self, state, cluster):
        """Log marginal of a cluster by the stand-in."""
        return self.log_marginal(state.cluster_rows[cluster], state.cluster_stats[cluster])

    def add_row(self, state, row, cluster, sign):
        """Add a row to a cluster's log likelihood, or subtract it."""
        state.cluster_log_likelihood[cluster] += sign * log_density_of_row(self, cluster, row)

    def refresh(self, state, cluster):
        """Nothing to do: log likelihoods change row by row."""

    def refresh_trial(self, state, work):
        """Nothing to do, likewise."""

    def recompute(self, state):
        """Recompute the log likelihood of all clusters."""
        for place in range(state.n_clusters[0]):
            state.cluster_log_likelihood[state.active[place]] = 0.0
        for row in range(self.rows.shape[0]):
            self.add_row(state, row, state.labels[home_slot(state, row)], 1.0)

    def predict_row(self, row_stats, state, work, row):
        """Log density of a row given the parameters of each cluster."""
        for place in range(state.n_clusters[0]):
            work.candidates[place] = log_density_of_row(self, state.active[place], row)

    def drop_bundle(self, state, slot, cluster):
        """Subtract a bundle from a cluster's log likelihood."""
        log_density = self.log_density_of_bundle(slot, self.parameters[cluster])
        state.cluster_log_likelihood[cluster] -= log_density

    def join_bundle(self, state, work, slot):
        """Log likelihood of each cluster but the bundle's own with the bundle in it."""
        for place in range(state.n_clusters[0]):
            cluster = state.active[place]
            if cluster != state.labels[slot]:
                log_density = self.log_density_of_bundle(slot, self.parameters[cluster])
                work.candidates[place] = state.cluster_log_likelihood[cluster] + log_density

    def log_opened(self, rng, state, slot, source, was_alone, source_log_likelihood):
        """Log of a bundle's mean density over the auxiliary parameters."""
        n_auxiliary = self.auxiliaries.shape[0]
        for k in range(n_auxiliary):
            if k == 0 and was_alone:
                copy_into(self.parameters[source], self.auxiliaries[0])
            else:
                self.family.sample_prior(rng, self.auxiliaries[k])
            log_density = self.log_density_of_bundle(slot, self.auxiliaries[k])
            self.auxiliary_log_density[k] = log_density
            self.auxiliary_log_weights[k] = log_density
        return log_sum_exp(self.auxiliary_log_weights, n_auxiliary) - math.log(n_auxiliary)

    def open(self, rng, cluster, log_likelihood):
        """Give a new cluster one of the auxiliary parameters; give its log likelihood."""
        chosen = draw_weighted(rng, self.auxiliary_log_weights, self.auxiliaries.shape[0])
        copy_into(self.auxiliaries[chosen], self.parameters[cluster])
        return self.auxiliary_log_density[chosen]

    def prefer_by_fit(self, row_stats, deal):
        """Let loose members of a deal prefer the half that fits them better, by the stand-in."""
        prefer_by_fit(self, row_stats, deal)

    def weigh_others(self, row_stats, deal):
        """Let each loose member's preference be the log marginal of half A without it."""
        weigh_others(self, row_stats, deal)

    def weigh_half(self, rng, deal, half, cluster, is_new, keeps_parameters):
        """Log of the estimate of a half's marginal, or its density if parameters are kept."""
        n_listed = 0
        for member in range(deal.part_start[-1]):
            if deal.in_a[member] == (half == 0):
                self.listed[n_listed] = deal.rows[member]
                n_listed += 1
        parameters = self.proposed[half]
        copy_into(self.parameters[cluster], parameters)
        log_weight = 0.0
        if not keeps_parameters:
            fit(self, 0, n_listed)
            log_weight -= draw_fitted(rng, self, parameters, is_new)
            log_weight += self.family.log_prior(parameters)
        self.proposed_log_density[half] = log_density_of(self, parameters, 0, n_listed)
        return log_weight + self.proposed_log_density[half]

    def keep_half(self, state, deal, half, cluster):
        """Let a cluster be a half, with the parameters that were proposed for it."""
        copy_into(self.proposed[half], self.parameters[cluster])
        state.cluster_log_likelihood[cluster] = self.proposed_log_density[half]

    def update_parameters(self, rng, state):
        """Update every cluster's parameters given its rows."""
        self.list_rows(state, True)
        for place in range(state.n_clusters[0]):
            first, last = self.first_listed[place], self.first_listed[place + 1]
            slice_update(rng, self, self.parameters[state.active[place]], first, last)
        self.recompute(state)

    def log_prior_of_parameters(self, state):
        """Log prior density of all clusters' parameters."""
        total = 0.0
        for place in range(state.n_clusters[0]):
            total += self.family.log_prior(self.parameters[state.active[place]])
        return total


@kernel
def set_up(rng, likelihood, state):
    """Find the reference, and fit parameters to every cluster."""
    find_reference(rng, likelihood)
    likelihood.list_rows(state, True)
    for place in range(state.n_clusters[0]):
        fit(likelihood, likelihood.first_listed[place], likelihood.first_listed[place + 1])
        copy_into(likelihood.centre, likelihood.parameters[state.active[place]])


@kernel
def find_reference(rng, likelihood):
    """Fit parameters to all rows together, or to some of them; fits start there."""
    n_rows = likelihood.rows.shape[0]
    n_listed = min(n_rows, REFERENCE_ROWS)
    for k in range(n_listed):
        likelihood.listed[k] = k * n_rows // n_listed
    best = -math.inf
    for _ in range(REFERENCE_DRAWS):
        likelihood.family.sample_prior(rng, likelihood.centre)
        log_density = log_density_of(likelihood, likelihood.centre, 0, n_listed)
        if log_density > best:
            best = log_density
            copy_into(likelihood.centre, likelihood.reference)
    for _ in range(REFERENCE_FITS):
        fit(likelihood, 0, n_listed)
        copy_into(likelihood.centre, likelihood.reference)
