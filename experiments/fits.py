"""Fits and what is measured of them, the same for all experiments."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from experiments.data import Table
from experiments.protocol import Effort, Row
from fairmix import FairBayesianClustering, metrics
from fairmix.posterior.diagnostics import r_hat

#: What samplers are called.
PAPER, OURS = "the paper's sampler", "the default sampler"
SAMPLERS = (PAPER, OURS)


def sampler(name: str, effort: Effort, **given: Any) -> FairBayesianClustering:
    """Give the paper's sampler, with its own numbers of sweeps, or the default one."""
    settings = {"n_chains": effort.n_chains, "n_jobs": effort.n_jobs, "verbose": 0} | given
    settings.setdefault("random_state", effort.seed)
    if name == PAPER:
        return FairBayesianClustering.paper(**settings)
    settings = {"n_warmup": effort.n_warmup, "n_draws": effort.n_draws} | settings
    return FairBayesianClustering(**settings)


def fit(model: Any, table: Table) -> tuple[Any, float]:
    """Fit a model; give it, and the seconds that it took. What is warned of is in the verdict."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(table.X, sensitive_features=table.groups)
    return model, time.perf_counter() - began


def measure(model: Any, table: Table, labels: Any = None, seconds: float = float("nan")) -> Row:
    """Measure labels (``labels_`` if there are none) and draws of a model."""
    labels = model.labels_ if labels is None else labels
    posterior = model.posterior_
    read = posterior.training.table
    if read.is_category.all():
        price = metrics.cost(table.X, labels, family="categorical")
    else:
        price = metrics.cost(read.points, labels)
    return {
        "n_clusters": len(np.unique(labels)),
        "cost": price,
        "gap": metrics.fairness_gap(labels, table.groups),
        "balance": metrics.balance(labels, table.groups),
        "gap_bound": getattr(model, "gap_bound_", 1.0),
        "mean_gap": posterior.fairness_gap.mean(),
        "largest_gap": posterior.fairness_gap.max(),
        "mean_balance": posterior.balance.mean(),
        "mean_n_clusters": posterior.n_clusters.mean(),
        "log_posterior": posterior.log_posterior.mean(),
        "r_hat_log_posterior": r_hat(posterior.log_posterior),
        "r_hat_n_clusters": r_hat(posterior.n_clusters),
        "verdict": posterior.verdict().word,
        "seconds": seconds,
    }


def fit_and_measure(model: Any, table: Table) -> Row:
    """Fit a model and measure ``labels_`` and draws."""
    model, seconds = fit(model, table)
    return measure(model, table, seconds=seconds)


def fit_as_in_the_paper(effort: Effort, table: Table, seed: int, **given: Any) -> Row:
    """Fit one chain of the paper's sampler, and measure one of its draws, chosen at random."""
    model = sampler(PAPER, effort, n_chains=1, random_state=seed, **given)
    model, seconds = fit(model, table)
    chosen = model.posterior_.point_estimate("random", random_state=seed)
    return measure(model, table, chosen.labels, seconds)


def is_within_bound(row: Row) -> bool:
    """Tell whether no draw has a larger gap than is certain of the model."""
    return bool(row["largest_gap"] <= row["gap_bound"] + 1e-9)


def shares_by_chain(values: Any) -> list[dict[str, float]]:
    """Give the posterior of a number by chain: the share of draws that have each value."""
    every = []
    for chain in values:
        numbers, counts = np.unique(chain, return_counts=True)
        shares = (counts / counts.sum()).tolist()
        every.append(dict(zip(map(str, numbers.tolist()), shares, strict=True)))
    return every


def mode_of(shares: list[dict[str, float]]) -> int:
    """Give the most frequent number over all chains."""
    totals: dict[int, float] = {}
    for chain in shares:
        for number, share in chain.items():
            totals[int(number)] = totals.get(int(number), 0.0) + share
    return max(totals, key=lambda number: totals[number])
