"""The kernel of predictions: plain Python as it stands, compiled by ``compilation.py``.

It is no part of ``kernels``, whose files the sampler depends on: it only asks a likelihood for a
verb that the sampler has compiled for every family anyway.
"""

from __future__ import annotations

from typing import Any


def write_log_densities(
    likelihood: Any, row_stats: Any, state: Any, work: Any, log_densities: Any
) -> None:
    """Write the log density of each row given each cluster.

    Parameters
    ----------
    likelihood : Likelihood
        The likelihood, which may know rows by their numbers.
    row_stats : ndarray of shape (n_rows, n_statistics)
        Sufficient statistics of each row.
    state : State
        The clusters.
    work : Workspace
        Room for one row's densities.
    log_densities : ndarray of shape (n_rows, n_clusters)
        Where they are written, by the places of clusters.
    """
    for row in range(log_densities.shape[0]):
        likelihood.predict_row(row_stats, state, work, row)
        for place in range(log_densities.shape[1]):
            log_densities[row, place] = work.candidates[place]
