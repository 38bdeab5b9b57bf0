"""Scalable fair clustering: fairlets, then k-medoids on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from fairmix.baselines.fairlets import choose_ratio, decompose
from fairmix.baselines.partitioner import FairPartitioner
from fairmix.model.grouping import Grouping, describe_groups
from fairmix.model.medoids import k_medoids
from fairmix.tables.checks import check_integer

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: With more fairlets, medoids are chosen among so many random ones, the best of so many times.
MAX_FAIRLETS, N_SAMPLES = 2000, 3
#: No table has more rows than this, and so p and q are no larger.
MOST_ROWS = 10**12
#: When p and q are chosen, there should be so many fairlets for each cluster.
FAIRLETS_PER_CLUSTER = 2
#: Of so many random shifts of the grid, the one with the tightest fairlets counts.
N_SHIFTS = 5


class FairletClustering(FairPartitioner):
    """Scalable fair clustering (SFC) of two groups: k-medoids on fairlets.

    Rows are cut into fairlets, small sets with at least p rows of one group for q of the other, by
    a quadtree in near-linear time; fairlets are clustered by k-medoids of their centres. Every
    cluster is then a union of fairlets and has a balance of at least p / q.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    p, q : int or None, default=None
        The balance p / q of fairlets, p <= q. None chooses the tightest fraction that the
        data has with q up to 20 and at least two fairlets a cluster; a smaller fraction gives
        fairlets that are smaller and closer.
    standardize : bool, default=True
        Scale numerical columns to mean 0 and variance 1.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row, 0 the largest.
    n_clusters_ : int
        Number of clusters that are not empty.
    fairlets_ : ndarray of shape (n_rows,)
        Fairlet of each row.
    ratio_ : tuple of int
        p and q.
    groups_ : dict
        Number of rows of each group, the smallest first.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string column names.

    References
    ----------
    .. [1] A. Backurs, P. Indyk, K. Onak, B. Schieber, A. Vakilian and T. Wagner. Scalable fair
       clustering. International Conference on Machine Learning, 2019.
    .. [2] E. Schubert and P. J. Rousseeuw. Fast and eager k-medoids clustering. Information
       Systems 101:101804, 2021.

    Examples
    --------
    >>> from fairmix.baselines import FairletClustering
    >>> from fairmix.datasets import load_toy
    >>> from fairmix.metrics import balance
    >>> toy = load_toy()
    >>> sfc = FairletClustering(3, random_state=0)
    >>> balance(sfc.fit_predict(toy.data, sensitive_features=toy.sensitive_features),
    ...         toy.sensitive_features)
    1.0
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        p: int | None = None,
        q: int | None = None,
        standardize: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.p = p
        self.q = q
        self.standardize = standardize
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_ratio(self.p, self.q)

    def _partition(
        self, points: FloatArray, codes: IntArray, grouping: Grouping, rng: np.random.Generator
    ) -> IntArray:
        self.fairlets_, self.ratio_ = make_fairlets(
            points, codes, grouping, self.p, self.q, rng, FAIRLETS_PER_CLUSTER * self.n_clusters
        )
        centres, sizes = centres_of(points, self.fairlets_)
        if self.n_clusters > len(centres):
            raise ValueError(
                f"n_clusters = {self.n_clusters}, but rows were cut into {len(centres)} fairlets "
                f"of balance {self.ratio_[0]}/{self.ratio_[1]}; ask for fewer clusters, or pass a "
                f"smaller fraction p / q (there are at most {grouping.n_anchors} fairlets, the "
                "size of the smaller group)."
            )
        return _cluster_fairlets(points[centres], sizes, self.n_clusters, rng)[self.fairlets_]


def check_ratio(p: Any, q: Any) -> None:
    """Check p and q as far as that goes without the data.

    Parameters
    ----------
    p, q : object
        What was passed.
    """
    if (p is None) != (q is None):
        raise ValueError(f"p = {p!r} and q = {q!r}: pass both, or neither.")
    if p is not None:
        check_integer("p", p, 1, MOST_ROWS)
        check_integer("q", q, 1, MOST_ROWS)
        if p > q:
            raise ValueError(f"p = {p} is larger than q = {q}; the balance p / q is at most 1.")


def make_fairlets(
    points: FloatArray,
    codes: IntArray,
    grouping: Grouping,
    p: int | None,
    q: int | None,
    rng: np.random.Generator,
    n_fairlets: int,
) -> tuple[IntArray, tuple[int, int]]:
    """Cut the rows of two groups (or one) into fairlets.

    Parameters
    ----------
    points : ndarray of shape (n_rows, n_columns)
        The rows.
    codes : ndarray of shape (n_rows,)
        Group of each row, 0 for the smallest one.
    grouping : Grouping
        The groups.
    p, q : int or None
        The balance; None chooses it.
    rng : numpy.random.Generator
        Source of randomness.
    n_fairlets : int
        How many fairlets there should be, at least about, when p and q are chosen.

    Returns
    -------
    fairlets : ndarray of shape (n_rows,)
        Fairlet of each row; with one group every row is its own.
    ratio : tuple of int
        p and q.
    """
    if grouping.n_groups == 1:
        return np.arange(len(points)), (1, 1)
    if grouping.n_groups > 2:
        raise ValueError(
            f"sensitive_features has {grouping.n_groups} groups ({describe_groups(grouping)}), but "
            "fairlets are made of two; merge groups, or use FairKMeans, FairAssignment or "
            "FairBayesianClustering."
        )
    n_small, n_large = grouping.sizes.tolist()
    if p is None or q is None:
        p, q = choose_ratio(n_small, n_large, n_fairlets)
    elif p * n_large > q * n_small:
        best = "/".join(map(str, choose_ratio(n_small, n_large)))
        raise ValueError(
            f"p = {p} and q = {q} ask for a balance of {p / q:.4g}, but the groups' sizes "
            f"({describe_groups(grouping)}) allow at most {n_small / n_large:.4g}; "
            f"pass p / q = {best}."
        )
    tried = [decompose(points, codes == 0, p, q, rng) for _ in range(N_SHIFTS)]
    return min(tried, key=lambda fairlets: _spread(points, fairlets)), (p, q)


def _spread(points: FloatArray, fairlets: IntArray) -> float:
    """Sum of squared distances to the fairlets' means, up to a constant."""
    sizes = np.bincount(fairlets)
    means = [np.bincount(fairlets, weights=column) ** 2 / sizes for column in points.T]
    return -float(np.sum(means))


def centres_of(points: FloatArray, fairlets: IntArray) -> tuple[IntArray, IntArray]:
    """Give the row at the centre of each fairlet (its medoid), and the fairlets' sizes.

    Parameters
    ----------
    points : ndarray of shape (n_rows, n_columns)
        The rows.
    fairlets : ndarray of shape (n_rows,)
        Fairlet of each row.

    Returns
    -------
    centres : ndarray of shape (n_fairlets,)
        Rows.
    sizes : ndarray of shape (n_fairlets,)
        Rows in each fairlet.
    """
    order = np.argsort(fairlets, kind="stable")
    sizes = np.bincount(fairlets)
    centres = np.empty(len(sizes), dtype=np.int64)
    for number, members in enumerate(np.split(order, np.cumsum(sizes)[:-1])):
        within = cdist(points[members], points[members])
        centres[number] = members[np.argmin(within.sum(axis=0))]
    return centres, sizes


def _cluster_fairlets(
    centres: FloatArray, sizes: IntArray, n_clusters: int, rng: np.random.Generator
) -> IntArray:
    """Cluster fairlets by k-medoids of their centres, weighted by their sizes."""
    n_fairlets = len(centres)
    is_large = n_fairlets > MAX_FAIRLETS
    best_loss, best = np.inf, np.zeros(n_fairlets, dtype=np.int64)
    for _ in range(N_SAMPLES if is_large else 1):
        sample = np.arange(n_fairlets)
        if is_large:
            least = max(MAX_FAIRLETS, 2 * n_clusters)
            sample = rng.choice(n_fairlets, min(least, n_fairlets), replace=False)
        medoids = k_medoids(
            cdist(centres[sample], centres[sample]), n_clusters, rng, sizes[sample].astype(float)
        )
        distances = cdist(centres, centres[sample[medoids]])
        loss = float(sizes @ distances.min(axis=1))
        if loss < best_loss:
            best_loss, best = loss, distances.argmin(axis=1)
    return best
