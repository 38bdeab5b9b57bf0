"""Where chains start: the first partition of the anchors, and repairs to get inside a cap."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from fairmix.model.cap import Cap
from fairmix.model.grouping import Grouping
from fairmix.model.model import Model
from fairmix.tables.checks import check_choice, check_integer
from fairmix.tables.groups import read_labels

IntArray = NDArray[np.int64]

#: K-means starts with this many clusters, if there are so many different bundles.
KMEANS_CLUSTERS = 10
#: A random start has this many clusters, if there are so many anchors.
RANDOM_CLUSTERS = 20
#: Beyond so many anchors no chain starts from singletons unless told to: that sweep is quadratic.
MAX_SINGLETONS = 1000
#: Held by the chain that has limited the threads of numerical libraries.
LIMITING = threading.Lock()


def start_of_chain(init_partition: Any, chain: int, model: Model) -> Any:
    """Give the start of one chain: chains of one fit start from different places.

    Parameters
    ----------
    init_partition : "auto", tuple of starts, or a start
        The estimator's parameter; a tuple's entries are taken in turn.
    chain : int
        Number of the chain.
    model : Model
        What is sampled.

    Returns
    -------
    object
        A start, as :func:`initial_labels` takes it.
    """
    if isinstance(init_partition, str) and init_partition == "auto":
        most = min(model.grouping.n_anchors, _most_clusters(model))
        starts: tuple[Any, ...] = ("kmeans", "one", min(RANDOM_CLUSTERS, most))
        if model.grouping.n_anchors <= min(MAX_SINGLETONS, most):
            starts = (*starts, "singletons")
    elif isinstance(init_partition, tuple):
        starts = init_partition
        if not starts:
            raise ValueError("init_partition is an empty tuple; name a start for each chain.")
    else:
        starts = (init_partition,)
    return starts[chain % len(starts)]


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
                f"init_partition = {n_clusters} clusters, but there can be no more than "
                f"{n_anchors}, the number of rows of the smallest group (or of fairlets)."
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
    n_different = len(np.unique(means.astype(np.float32), axis=0))  # as far as k-means can tell
    n_clusters = min(KMEANS_CLUSTERS, n_different, _most_clusters(model))
    seed = int(rng.integers(2**31 - 1))
    # Sums of several threads differ in the last digit. The limit is the whole process's: a chain
    # that ends its k-means would lift it under the hands of another.
    with LIMITING, threadpool_limits(1):
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


def repair_start(
    model: Model, labels: IntArray, match: IntArray, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Bring a start inside the cap.

    Extra followers are dealt over the clusters by largest remainder; while that is still outside,
    the smaller half of the clusters is merged two by two.

    Parameters
    ----------
    model : Model
        What is sampled, with R free.
    labels : ndarray of shape (n_anchors,)
        Label of each anchor.
    match : ndarray of shape (n_rows,)
        Anchor of each row.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    labels : ndarray of shape (n_anchors,)
        Label of each anchor.
    match : ndarray of shape (n_rows,)
        Anchor of each row.
    """
    if not model.cap.is_tight or model.may_leave_cap:
        return labels, match
    labels = np.unique(labels, return_inverse=True)[1]
    while not _is_inside(model.cap, model.grouping, np.bincount(labels)):
        sizes = np.bincount(labels)
        by_size = np.argsort(sizes, kind="stable")
        n_pairs = max(len(sizes) // 4, 1)
        into = np.arange(len(sizes))
        into[by_size[:n_pairs]] = by_size[n_pairs : 2 * n_pairs]
        labels = np.unique(into[labels], return_inverse=True)[1]
    match = match.copy()
    for group in range(1, model.grouping.n_groups):
        _move_extra_followers(model.grouping, group, labels, match, rng)
    return labels, match


def _is_inside(cap: Cap, grouping: Grouping, sizes: IntArray) -> bool:
    """Tell whether clusters of so many anchors are inside with extra seats dealt evenly."""
    counts = np.empty((len(sizes), grouping.n_groups + 1), dtype=np.int64)
    counts[:, 0] = sizes
    for group in range(1, grouping.n_groups):
        counts[:, group] = grouping.multiplicity[group] * sizes
        counts[:, group] += _even_shares(int(grouping.remainder[group]), sizes)
    counts[:, -1] = counts[:, :-1].sum(axis=1)
    return cap.allows(counts)


def _even_shares(n_extra: int, sizes: IntArray) -> IntArray:
    """Share extra seats out by largest remainder; no cluster gets more than its size."""
    shares, left = np.divmod(n_extra * sizes, sizes.sum())
    most_left = np.argsort(-left, kind="stable")[: n_extra - shares.sum()]
    shares[most_left] += 1
    return np.asarray(shares)


def _move_extra_followers(
    grouping: Grouping, group: int, labels: IntArray, match: IntArray, rng: np.random.Generator
) -> None:
    """Move followers of a group until clusters have even shares of extra ones."""
    rows = grouping.rows_of(group)
    seats = np.bincount(match[rows], minlength=grouping.n_anchors)
    has_extra = seats > grouping.multiplicity[group]
    present = np.bincount(labels[has_extra], minlength=labels.max() + 1)
    surplus = present - _even_shares(int(grouping.remainder[group]), np.bincount(labels))
    givers: list[int] = []
    takers: list[int] = []
    for cluster, n_more in enumerate(surplus):
        wanted = has_extra if n_more > 0 else ~has_extra
        anchors = np.flatnonzero(wanted & (labels == cluster))
        (givers if n_more > 0 else takers).extend(rng.choice(anchors, abs(n_more), replace=False))
    first_follower = dict(zip(match[rows][::-1], rows[::-1], strict=True))
    for giver, taker in zip(givers, takers, strict=True):
        match[first_follower[giver]] = taker
