"""How sure it is: rows by how probable their place is, the sure core, and other arrangements."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.posterior.matched import match_clusters
from fairmix.posterior.particles import Particles
from fairmix.posterior.posterior import Posterior
from fairmix.report.disclosure import LEAST_CELL

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: A row is sure of its cluster from this probability on, and unsure below that one.
SURE, UNSURE = 0.9, 0.5
#: Pairs of clusters that rows are between, those with most rows.
MAX_PAIRS = 6


def tell_certainty(posterior: Posterior, labels: IntArray) -> dict[str, Any]:
    """Tell how sure the clusters are.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    labels : ndarray of shape (n_rows,)
        Cluster of each row, in the estimate.

    Returns
    -------
    dict
        Plain values; ``docs/summary.md`` says which.
    """
    probabilities = posterior.probabilities(labels)
    own = probabilities[np.arange(len(labels)), labels]
    core, ball = posterior.sure_core(), posterior.credible_ball(estimate=labels)
    return {
        "n_sure": int((own >= SURE).sum()),
        "n_unsure": int((own < UNSURE).sum()),
        "n_rows_by_probability": np.histogram(own, np.linspace(0, 1, 11))[0].tolist(),
        "by_cluster": [
            {
                "mean_probability": float(own[labels == k].mean()),
                "n_sure": int((own[labels == k] >= SURE).sum()),
                "n_unsure": int((own[labels == k] < UNSURE).sum()),
            }
            for k in range(probabilities.shape[1])
        ],
        "between": _pairs_of_clusters(probabilities, own, labels),
        "core": {
            "n_rows": len(core.rows),
            "n_clusters": len(np.unique(core.labels)),
            "probability": core.probability,
        },
        "ball": {
            "level": ball.level,
            "bits": ball.radius,
            "fewest_clusters": int(ball.upper_vertical.max()) + 1,
            "most_clusters": int(ball.lower_vertical.max()) + 1,
        },
        "arrangements": _tell_arrangements(posterior.particles()),
    }


def _pairs_of_clusters(
    probabilities: FloatArray, own: FloatArray, labels: IntArray
) -> list[dict[str, int]]:
    """Count rows that are not sure of their cluster by the other one that they are most often in.

    Pairs of a few rows only are left out.
    """
    n_clusters = probabilities.shape[1]
    if n_clusters == 1:
        return []
    others = probabilities.copy()
    others[np.arange(len(labels)), labels] = -1.0
    second = np.argmax(others, axis=1)
    has_second = others[np.arange(len(labels)), second] > 0
    is_between = (own < SURE) & has_second
    low, high = np.minimum(labels, second), np.maximum(labels, second)
    counts = np.bincount((low * n_clusters + high)[is_between], minlength=n_clusters**2)
    largest = np.argsort(-counts, kind="stable")[:MAX_PAIRS].tolist()
    return [
        {"one": k // n_clusters, "other": k % n_clusters, "n_rows": int(counts[k])}
        for k in largest
        if counts[k] >= LEAST_CELL
    ]


def _tell_arrangements(particles: Particles) -> dict[str, Any]:
    """Tell of the draws that stand for all of them."""
    first = particles.usual_labels[0]
    told = []
    for k, name in enumerate(particles.names):
        usual = particles.usual_labels[k]
        told.append(
            {
                "name": name,
                "weight": float(particles.weights[k]) if particles.are_weights_known else None,
                "shares_by_chain": particles.shares[k].tolist(),
                "n_clusters": int(particles.n_clusters[k]),
                "gap": float(particles.fairness_gaps[k]),
                "log_posterior": float(particles.log_posteriors[k]),
                "n_rows_elsewhere": int((match_clusters(usual, first)[usual] != first).sum()),
            }
        )
    return {"mean_bits": particles.mean_distance, "each": told}
