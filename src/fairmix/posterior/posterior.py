"""The draws of a fit, and what they say."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from fairmix.diagnostics import bulk_ess, r_hat

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Chains disagree if R-hat is larger.
MAX_R_HAT = 1.05
#: With fewer draws of a chain, R-hat is mostly noise.
MIN_DRAWS = 100
#: Scalars of each draw that do not depend on how clusters are numbered.
SCALARS = (
    "n_clusters",
    "n_components",
    "log_likelihood",
    "log_posterior",
    "fairness_gap",
    "balance",
    "cost",
)


@dataclass(frozen=True)
class Posterior:
    r"""Draws from the posterior; every array has leading axes (chain, draw).

    Attributes
    ----------
    labels : ndarray of shape (n_chains, n_draws, n_rows)
        Cluster of each row, canonical: 0 is the largest cluster, ties by first row.
    n_clusters : ndarray of shape (n_chains, n_draws)
        Number of occupied clusters, the paper's t.
    n_components : ndarray of shape (n_chains, n_draws)
        Number of components of the mixture, the paper's K, drawn given t.
    log_likelihood : ndarray of shape (n_chains, n_draws)
        Sum of the clusters' log marginal likelihoods, on the data as sampled.
    log_posterior : ndarray of shape (n_chains, n_draws)
        :math:`\log V_n(t) + \sum_c \log \gamma^{(|c|)}` plus log likelihood plus
        :math:`\sum_b \log e(\mathbf T_b)`: the log posterior up to a constant. For families whose
        parameters are sampled, the log prior density of these is in it: a density whose
        dimension changes with the number of clusters.
    fairness_gap, balance, cost : ndarray of shape (n_chains, n_draws)
        As in :mod:`fairmix.metrics`, on the data as sampled.
    group_gaps : ndarray of shape (n_chains, n_draws, n_groups - 1)
        Gap of each group to the smallest one; the fairness gap is their mean.
    masked_rows : ndarray of shape (n_chains, n_draws, n_masked)
        Rows of X that were exempt from matching (the paper's E).
    group_names : tuple
        Names of the groups in ``group_gaps``.
    acceptance : dict of str to ndarray of shape (n_chains, n_draws)
        Share of proposals accepted since the draw before, for each kind of move that was made
        (for the Gibbs moves, the share that changed a label); NaN where nothing was proposed.
    """

    labels: NDArray[np.unsignedinteger]
    n_clusters: IntArray
    n_components: IntArray
    log_likelihood: FloatArray
    log_posterior: FloatArray
    fairness_gap: FloatArray
    balance: FloatArray
    cost: FloatArray
    group_gaps: FloatArray
    masked_rows: IntArray
    group_names: tuple[Any, ...]
    acceptance: dict[str, FloatArray]

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return int(self.labels.shape[0])

    @property
    def n_draws(self) -> int:
        """Number of draws of each chain."""
        return int(self.labels.shape[1])

    def summary(self) -> pd.DataFrame:
        """Summarise the scalars of the draws, with R-hat and bulk effective sample size.

        Returns
        -------
        pandas.DataFrame
            A row a scalar: mean, sd, 5 % and 95 % quantiles, ess_bulk, r_hat; rounded, to read.
            With several groups, the gap of each to the smallest one comes last.
        """
        scalars = {name: getattr(self, name) for name in SCALARS}
        if len(self.group_names) > 1:
            for k, group in enumerate(self.group_names):
                scalars[f"gap of {group}"] = self.group_gaps[..., k]
        rows = {}
        for name, values in scalars.items():
            low, high = np.quantile(values, [0.05, 0.95])
            rows[name] = {
                "mean": float(np.mean(values)),
                "sd": float(np.std(values)),
                "5%": float(low),
                "95%": float(high),
                "ess_bulk": bulk_ess(values),
                "r_hat": r_hat(values),
            }
        return pd.DataFrame.from_dict(rows, orient="index").round(
            {"mean": 4, "sd": 4, "5%": 4, "95%": 4, "ess_bulk": 0, "r_hat": 3}
        )

    def __repr__(self) -> str:
        counts = np.bincount(self.n_clusters.ravel())
        return (
            f"<Posterior: {self.n_chains} chains x {self.n_draws} draws of "
            f"{self.labels.shape[2]} rows; most often {int(np.argmax(counts))} clusters>"
        )


def warn_if_chains_disagree(posterior: Posterior) -> None:
    """Warn if chains tell different stories.

    Parameters
    ----------
    posterior : Posterior
        The draws; with one chain, or too few draws to tell, nothing is said.
    """
    if posterior.n_chains < 2 or posterior.n_draws < MIN_DRAWS:
        return
    figures = {name: r_hat(getattr(posterior, name)) for name in ("log_posterior", "n_clusters")}
    if max(figures.values()) > MAX_R_HAT:
        by_chain = ", ".join(f"{mean:.1f}" for mean in posterior.n_clusters.mean(axis=1))
        warnings.warn(
            f"The chains disagree: R-hat is {figures['log_posterior']:.2f} for the log posterior "
            f"and {figures['n_clusters']:.2f} for n_clusters (1 is converged; mean n_clusters by "
            f"chain: {by_chain}). The result depends on the start: take more n_warmup and n_draws, "
            "or more split_merge_moves.",
            ConvergenceWarning,
            stacklevel=5,
        )


def canonical_labels(labels: IntArray, n_identifiers: int) -> IntArray:
    """Renumber clusters: 0 is the largest, ties by their first row.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Cluster identifiers from 0 to ``n_identifiers - 1``.
    n_identifiers : int
        Number of possible identifiers.

    Returns
    -------
    ndarray of shape (n_rows,)
        Canonical labels.
    """
    n_rows = len(labels)
    sizes = np.bincount(labels, minlength=n_identifiers)
    first_row = np.full(n_identifiers, n_rows)
    first_row[labels[::-1]] = np.arange(n_rows)[::-1]  # the last one written stays
    rank = np.empty(n_identifiers, dtype=np.int64)
    rank[np.lexsort((first_row, -sizes))] = np.arange(n_identifiers)
    return rank[labels]
