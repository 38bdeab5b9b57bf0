r"""A few draws that stand for all of them: particles.

After Balocchi & Wade (2025). A posterior with several arrangements of the clusters is told badly
by one partition, or by means over partitions that have nothing in common. The best approximation
of the draws :math:`c_1, \dots, c_M` by a law on :math:`n` partitions, in the Wasserstein distance
that belongs to the variation of information :math:`d`, puts its partitions where

.. math::
   L(n) = \frac1M \sum_m \min_{k \le n} d(c_m, p_k)

is least, and gives each the share of draws that are nearest to it. Here partitions are *among the
draws* (medoids), so each is as fair as a draw. How many there should be is seen from :math:`L`: one
more as long as it takes off more than draws that merely scatter would let it.

A share of draws is a posterior probability only if the chains go to and fro between the
arrangements. Where R-hat of "nearest to this particle" is large, the weights are *unknown*.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairmix.model.medoids import k_medoids
from fairmix.posterior.diagnostics import bulk_ess, r_hat
from fairmix.posterior.differences import tell_difference
from fairmix.posterior.overlap import distances_between, distances_to
from fairmix.posterior.pairs import Pairs
from fairmix.posterior.similarity import count_places
from fairmix.posterior.thinning import choose_step
from fairmix.posterior.training import Training
from fairmix.posterior.verdict import MAX_R_HAT, MIN_DRAWS
from fairmix.tables.checks import check_integer

if TYPE_CHECKING:  # it has this as a method
    from fairmix.posterior.posterior import Posterior

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: At most so many particles are chosen by the elbow.
MAX_PARTICLES = 8
#: One more particle must lower the mean distance by this share of what it is with one. Draws of
#: many rows scatter: with one arrangement (Diabetes, Adult) a second particle takes off 1.6 %, with
#: several (Bank) 4 to 6 %.
LEAST_DROP = 0.03
#: ... and by so many bits: some 1 % of the rows.
LEAST_BITS = 0.02
#: So many of the draws nearest to a particle say where its rows usually are.
MAX_NEAREST = 100
#: The search for medoids begins anew so many times.
N_STARTS = 5


@dataclass(frozen=True, repr=False)
class Particles:
    """Draws that stand for all of them, the one with most draws first.

    Attributes
    ----------
    labels : ndarray of shape (n_particles, n_rows)
        Cluster of each row.
    chains, draws : ndarray of shape (n_particles,)
        Which draws they are.
    weights : ndarray of shape (n_particles,)
        Share of all draws that are nearest to each: its posterior probability, if
        ``are_weights_known``.
    weight_errors : ndarray of shape (n_particles,)
        Monte Carlo standard errors of these.
    are_weights_known : bool
        Whether chains agree on the shares: R-hat of each is at most 1.05. With one chain, or fewer
        than 100 draws of each, that cannot be told.
    shares : ndarray of shape (n_particles, n_chains)
        Share of each chain's draws.
    n_clusters : ndarray of shape (n_particles,)
        Number of clusters, the paper's t.
    fairness_gaps, balances, log_posteriors : ndarray of shape (n_particles,)
        Of these draws.
    usual_labels : ndarray of shape (n_particles, n_rows)
        Cluster, numbered as in ``labels``, that each row is in in most of the draws nearest to the
        particle (of at most 100 of them): what is left if what merely scatters is taken off.
    mean_distance : float
        Variation of information, in bits, of a draw to the nearest particle, on average.
    distances : ndarray of shape (n_particles, n_particles)
        Variation of information between particles, in bits.
    training : Training or None
        The table that was fitted.
    """

    labels: IntArray
    chains: IntArray
    draws: IntArray
    weights: FloatArray
    weight_errors: FloatArray
    are_weights_known: bool
    shares: FloatArray
    n_clusters: IntArray
    fairness_gaps: FloatArray
    balances: FloatArray
    log_posteriors: FloatArray
    usual_labels: IntArray
    mean_distance: float
    distances: FloatArray
    training: Training | None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def names(self) -> list[str]:
        """Letters, so that particles are not taken for clusters."""
        return list(ascii_uppercase[: len(self)])

    def table(self) -> pd.DataFrame:
        """Give a row a particle.

        Returns
        -------
        pandas.DataFrame
            Weight (NaN where weights are unknown), number of clusters, fairness gap, balance, log
            posterior, which chain and draw it is, and the share of each chain's draws.
        """
        columns: dict[str, Any] = {
            "weight": self.weights if self.are_weights_known else np.nan,
            "n_clusters": self.n_clusters,
            "fairness_gap": self.fairness_gaps,
            "balance": self.balances,
            "log_posterior": self.log_posteriors,
            "chain": self.chains,
            "draw": self.draws,
        }
        for chain, shares in enumerate(self.shares.T):
            columns[f"share of chain {chain}"] = shares
        return pd.DataFrame(columns, index=self.names)

    def describe(self) -> str:
        """Say in words what differs between the particles.

        Returns
        -------
        str
            Which rows go where, and by which features these stand out.
        """
        if len(self) == 1:
            return (
                f"One arrangement stands for all draws: {self.n_clusters[0]} clusters. A draw is "
                f"{self.mean_distance:.2f} bits from it on average."
            )
        lines = [
            f"{len(self)} arrangements stand for the draws; a draw is {self.mean_distance:.2f} "
            "bits from the nearest of them on average.",
            self._describe_weights(),
        ]
        for k, name in enumerate(self.names):
            lines.append(
                f"{name}: {self.n_clusters[k]} clusters, log posterior "
                f"{self.log_posteriors[k]:,.1f}, gap {self.fairness_gaps[k]:.4f}."
            )
            if k > 0:
                lines[-1] += f" It is {self.distances[0, k]:.2f} bits from A."
                lines += tell_difference(
                    self.usual_labels[0], self.usual_labels[k], name, self.training
                )
        return "\n".join(lines)

    def _describe_weights(self) -> str:
        if self.are_weights_known:
            each = (
                f"{name} {weight:.0%} (standard error {error:.0%})"
                for name, weight, error in zip(
                    self.names, self.weights, self.weight_errors, strict=True
                )
            )
            return f"Their weights: {', '.join(each)}."
        each = (
            f"{name} {', '.join(f'{share:.0%}' for share in shares)}"
            for name, shares in zip(self.names, self.shares, strict=True)
        )
        return (
            "Their weights are unknown: nothing shows that the chains go to and fro between them "
            f"often enough. Shares of the draws of each chain: {'; '.join(each)}."
        )

    def __repr__(self) -> str:
        known = (
            ", ".join(f"{weight:.0%}" for weight in self.weights)
            if self.are_weights_known
            else "unknown"
        )
        return f"<Particles: {len(self)} of {self.labels.shape[1]:,} rows; weights {known}>"


def find_particles(posterior: Posterior, n: int | None = None) -> Particles:
    """Choose draws that stand for all of them.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    n : int, optional
        How many; by default as many as the elbow of the mean distance says.

    Returns
    -------
    Particles
        The draws, their weights and what they are like.
    """
    if n is not None:
        n = check_integer("n", n, 1, len(ascii_uppercase))
    pairs = posterior.pairs
    medoids = _choose_medoids(pairs, _unlike(posterior, pairs), n)
    chains, draws = pairs.chains[medoids], pairs.draws[medoids]
    step = choose_step(posterior.labels.shape, len(medoids))
    looked_at = posterior.labels[:, ::step]
    distances = np.stack(
        [
            distances_to(looked_at, posterior.labels[where])
            for where in zip(chains, draws, strict=True)
        ]
    )
    nearest = np.argmin(distances, axis=0)
    weights = np.bincount(nearest.ravel(), minlength=len(medoids)) / nearest.size
    order = np.argsort(-weights, kind="stable")
    chains, draws = chains[order], draws[order]
    is_nearest = np.stack([nearest == k for k in order])
    errors = [
        np.sqrt(share * (1 - share) / bulk_ess(each))
        for share, each in zip(weights[order], is_nearest, strict=True)
    ]
    has_enough = posterior.n_chains > 1 and posterior.n_draws >= MIN_DRAWS
    do_agree = has_enough and max(r_hat(each) for each in is_nearest) <= MAX_R_HAT
    labels = posterior.labels[chains, draws].astype(np.int64)
    usual = [_usual(looked_at, *each) for each in zip(is_nearest, labels, strict=True)]
    return Particles(
        labels=labels,
        chains=chains,
        draws=draws,
        weights=weights[order],
        weight_errors=np.array(errors),
        are_weights_known=do_agree or len(order) == 1,
        shares=is_nearest.mean(axis=2),
        n_clusters=posterior.n_clusters[chains, draws],
        fairness_gaps=posterior.fairness_gap[chains, draws],
        balances=posterior.balance[chains, draws],
        log_posteriors=posterior.log_posterior[chains, draws],
        usual_labels=np.stack(usual),
        mean_distance=float(distances.min(axis=0).mean()),
        distances=distances_between(labels),
        training=posterior.training,
    )


def _usual(draws: NDArray[Any], is_nearest: NDArray[np.bool_], labels: IntArray) -> IntArray:
    """Give the cluster of a particle that each row is in in most of the draws nearest to it."""
    places = np.argwhere(is_nearest)
    chosen = places[np.unique(np.linspace(0, len(places) - 1, MAX_NEAREST).round().astype(int))]
    counts = count_places((draws[tuple(place)] for place in chosen), labels)
    counts[np.arange(len(labels)), labels] += 0.5  # of clusters equally often, the particle's own
    return np.asarray(np.argmax(counts, axis=1))


def _unlike(posterior: Posterior, pairs: Pairs) -> tuple[IntArray, IntArray]:
    """Give those of the draws that are no copies of earlier ones, and how often each comes."""
    first: dict[bytes, int] = {}
    for place, where in enumerate(zip(pairs.chains, pairs.draws, strict=True)):
        first.setdefault(posterior.labels[where].tobytes(), place)
    places = np.array(list(first.values()))
    # Copies are at distance 0, and only they.
    nearest = np.argmin(pairs.distances[:, places], axis=1)
    return places, np.bincount(nearest, minlength=len(places))


def _choose_medoids(pairs: Pairs, unlike: tuple[IntArray, IntArray], n: int | None) -> IntArray:
    """Choose so many medoids among different draws, or as many as the elbow says."""
    places, copies = unlike
    distances = pairs.distances[np.ix_(places, places)]
    weights = copies / copies.sum()
    if n is not None:
        if n > len(places):
            raise ValueError(
                f"n = {n} particles, but there are only {len(places)} different draws; pass a "
                "smaller n, or None."
            )
        return places[_best_medoids(distances, weights, n)[0]]
    medoids, first_loss = _best_medoids(distances, weights, 1)
    loss = first_loss
    for more in range(2, min(MAX_PARTICLES, len(places)) + 1):
        candidates, lower = _best_medoids(distances, weights, more)
        if loss - lower < max(LEAST_DROP * first_loss, LEAST_BITS):
            break
        medoids, loss = candidates, lower
    return places[medoids]


def _best_medoids(distances: FloatArray, weights: FloatArray, n: int) -> tuple[IntArray, float]:
    """Search medoids from several starts, always the same; give the best and their loss."""
    best, least = np.empty(0, dtype=np.int64), np.inf
    for seed in range(N_STARTS):
        medoids = k_medoids(distances, n, np.random.default_rng(seed), weights)
        loss = float(weights @ distances[:, medoids].min(axis=1))
        if loss < least:
            best, least = medoids, loss
    return best, least
