"""Fair k-means: optimal transport and centres in turn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.baselines.partitioner import FairPartitioner, kmeans_centres, squared_distances
from fairmix.model.cost import squared_distance_cost
from fairmix.model.grouping import Grouping
from fairmix.model.transport import assign_fairly
from fairmix.tables.checks import check_integer

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


class FairKMeans(FairPartitioner):
    """Fair k-means: rows are assigned by optimal transport, then centres move, in turn.

    Every group is transported onto the clusters with the same shares, which are found with the
    transport, at the least total squared distance; centres become the means of their rows. Counts
    are whole numbers, so a group's number of rows in a cluster is off its share by less than 2.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_init : int, default=10
        Number of starts from k-means; the one that ends with the least cost counts.
    max_iter : int, default=100
        Updates of the centres at most.
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
    cost_ : float
        Mean squared distance to the cluster means.
    n_iter_ : int
        Number of assignments in the best start.
    groups_ : dict
        Number of rows of each group, the smallest first.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string column names.

    References
    ----------
    .. [1] K. Kim, J. Lee, S. Park and Y. Kim. Fair clustering via alignment. International
       Conference on Machine Learning, 2025.

    Examples
    --------
    >>> from fairmix.baselines import FairKMeans
    >>> from fairmix.datasets import load_toy
    >>> from fairmix.metrics import fairness_gap
    >>> toy = load_toy()
    >>> labels = FairKMeans(3, random_state=0).fit_predict(
    ...     toy.data, sensitive_features=toy.sensitive_features)
    >>> fairness_gap(labels, toy.sensitive_features)
    0.0
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = 10,
        max_iter: int = 100,
        standardize: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.standardize = standardize
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_integer("n_init", self.n_init, 1)
        check_integer("max_iter", self.max_iter, 1)

    def _partition(
        self, points: FloatArray, codes: IntArray, grouping: Grouping, rng: np.random.Generator
    ) -> IntArray:
        tried = [self._alternate(points, codes, rng) for _ in range(self.n_init)]
        labels, self.cost_, self.n_iter_ = min(tried, key=lambda result: result[1])
        return labels

    def _alternate(
        self, points: FloatArray, codes: IntArray, rng: np.random.Generator
    ) -> tuple[IntArray, float, int]:
        """Assign rows and move centres until the cost no longer falls; count the assignments."""
        centres = kmeans_centres(points, self.n_clusters, rng, n_init=1)
        labels, cost, prices = np.zeros(len(points), dtype=np.int64), np.inf, None
        n_assignments = 0
        while n_assignments < self.max_iter:
            n_assignments += 1
            assignment = assign_fairly(squared_distances(points, centres), codes, prices=prices)
            new_cost = float(squared_distance_cost(points, assignment.labels[None])[0])
            if not new_cost < cost:
                break
            labels, cost, prices = assignment.labels, new_cost, assignment.prices
            present, place = np.unique(labels, return_inverse=True)
            sums = np.stack([np.bincount(place, weights=column) for column in points.T], axis=1)
            # An empty cluster keeps its centre.
            centres[present] = sums / np.bincount(place)[:, None]
        return labels, cost, n_assignments
