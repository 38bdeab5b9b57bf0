"""Where chains start: the first partition of the anchors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from fairmix.inputs import read_labels
from fairmix.model import Model
from fairmix.parameters import check_choice, check_integer

IntArray = NDArray[np.int64]

#: K-means starts with this many clusters, if there are so many different bundles.
KMEANS_CLUSTERS = 10


def initial_labels(
    method: Any, model: Model, match: IntArray, rng: np.random.Generator
) -> IntArray:
    """Make a chain's first partition of the anchors.

    Parameters
    ----------
    method : {"one", "singletons", "kmeans"}, int or array-like
        One cluster, every anchor its own, k-means on the means of bundles, that many random
        clusters, or labels of the user's rows (those of the anchors count).
    model : Model
        What is sampled.
    match : ndarray of shape (n_rows,)
        Anchor of each row.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape (n_anchors,)
        Label of each anchor.
    """
    n_anchors = model.grouping.n_anchors
    if isinstance(method, str):
        check_choice("init_partition", method, ("one", "singletons", "kmeans"))
        if method == "one":
            labels = np.zeros(n_anchors, dtype=np.int64)
        elif method == "singletons":
            labels = np.arange(n_anchors)
        else:
            labels = _kmeans_labels(model, match, rng)
    elif np.ndim(method) == 0:
        n_clusters = check_integer("init_partition", method, 1)
        if n_clusters > n_anchors:
            raise ValueError(
                f"init_partition = {n_clusters} clusters, but the smallest group has {n_anchors} "
                "rows, and there can be no more clusters than that."
            )
        labels = rng.permutation(np.arange(n_anchors) % n_clusters)
    else:
        row_labels = read_labels(method, model.grouping.n_rows, "init_partition")
        labels = row_labels[model.grouping.order[:n_anchors]]
    _check_possible(labels, method, model)
    return labels


def _kmeans_labels(model: Model, match: IntArray, rng: np.random.Generator) -> IntArray:
    """Cluster the means of bundles by k-means."""
    points = model.distance.coordinates()
    n_anchors = model.grouping.n_anchors
    means = np.zeros((n_anchors, points.shape[1]))
    np.add.at(means, match, points)
    means /= np.bincount(match, minlength=n_anchors)[:, None]
    n_different = len(np.unique(means, axis=0))
    n_clusters = min(KMEANS_CLUSTERS, n_different, _most_clusters(model))
    seed = int(rng.integers(2**31 - 1))
    with threadpool_limits(1):  # sums of several threads differ in the last digit
        kmeans = KMeans(n_clusters=n_clusters, n_init=1, random_state=seed).fit(means)
    return kmeans.labels_.astype(np.int64)


def _most_clusters(model: Model) -> int:
    """Give the largest number of clusters that the prior allows."""
    return int(np.flatnonzero(np.isfinite(model.partition_prior.log_v))[-1])


def _check_possible(labels: IntArray, method: Any, model: Model) -> None:
    """Raise an error if the prior gives this number of clusters no probability."""
    n_clusters, most = len(np.unique(labels)), _most_clusters(model)
    if n_clusters > most:
        shown = repr(method) if np.ndim(method) == 0 else "labels"
        raise ValueError(
            f"init_partition = {shown} starts with {n_clusters} clusters, but components_prior "
            f"allows at most {most}; start with fewer."
        )
