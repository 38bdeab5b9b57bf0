"""Fair assignment to the centres of k-means."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.baselines.partitioner import FairPartitioner, kmeans_centres, squared_distances
from fairmix.model.grouping import Grouping
from fairmix.model.transport import assign_fairly
from fairmix.tables.checks import check_integer

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


class FairAssignment(FairPartitioner):
    """Fair assignment: the centres of k-means, and the cheapest fair way to assign rows to them.

    The assignment is a linear program, solved to its optimum and rounded: the number of rows of
    each group in each cluster is off the bounds by less than 2.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    slack : float, default=0.0
        How far a group's share in a cluster may be from its share r in all rows: between
        r (1 - slack) and r / (1 - slack). The paper's delta; 0 asks for exact shares.
    n_init : int, default=10
        Number of starts of k-means.
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
    least_cost_ : float
        Mean squared distance to the centres of the program's solution: no assignment to these
        centres that keeps the bounds has less.
    groups_ : dict
        Number of rows of each group, the smallest first.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string column names.

    References
    ----------
    .. [1] S. Bera, D. Chakrabarty, N. Flores and M. Negahbani. Fair algorithms for clustering.
       Advances in Neural Information Processing Systems 32, 2019.
    .. [2] I. O. Bercea et al. On the cost of essentially fair clusterings. APPROX/RANDOM, 2019.

    Examples
    --------
    >>> from fairmix.baselines import FairAssignment
    >>> from fairmix.datasets import load_toy
    >>> from fairmix.metrics import fairness_gap
    >>> toy = load_toy()
    >>> labels = FairAssignment(3, random_state=0).fit_predict(
    ...     toy.data, sensitive_features=toy.sensitive_features)
    >>> round(fairness_gap(labels, toy.sensitive_features), 2)
    0.0
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        slack: float = 0.0,
        n_init: int = 10,
        standardize: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.slack = slack
        self.n_init = n_init
        self.standardize = standardize
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_integer("n_init", self.n_init, 1)
        is_number = isinstance(self.slack, Real) and not isinstance(self.slack, bool)
        if not is_number or not 0 <= self.slack < 1:
            raise ValueError(f"slack must be a number from 0 to below 1, got {self.slack!r}.")

    def _partition(
        self, points: FloatArray, codes: IntArray, grouping: Grouping, rng: np.random.Generator
    ) -> IntArray:
        centres = kmeans_centres(points, self.n_clusters, rng, self.n_init)
        assignment = assign_fairly(squared_distances(points, centres), codes, float(self.slack))
        self.least_cost_ = assignment.least_cost / len(points)
        return assignment.labels
