"""What the baselines that are given the number of clusters have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from fairmix.model.grouping import (
    Grouping,
    arrange_groups,
    describe_groups,
    warn_about_one_group,
)
from fairmix.model.problem import prepare_points
from fairmix.sampler.recorder import canonical_labels
from fairmix.tables.checks import check_flag, check_integer, check_seed, warn
from fairmix.tables.groups import read_groups, refuse_groups_as_y, split_sensitive

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


class FairPartitioner(ClusterMixin, BaseEstimator):
    """A fair way to cut rows into a given number of clusters.

    A subclass has the parameters ``n_clusters``, ``standardize`` and ``random_state`` and the
    method ``_partition``, which sees rows as points: numbers (in standard units, if asked for), and
    for each category an indicator.
    """

    # Lets Pipeline and searches hand the argument on without set_fit_request.
    __metadata_request__fit = {"sensitive_features": True}  # noqa: RUF012

    n_clusters: int
    standardize: bool
    random_state: Any

    def fit(self, X: Any, y: Any = None, *, sensitive_features: Any = None) -> Self:
        """Cluster the rows.

        Parameters
        ----------
        X : data frame or array-like of shape (n_rows, n_features)
            The data: numbers, and categories in a data frame.
        y : None
            Not used; scikit-learn's convention.
        sensitive_features : array-like, data frame, str or list of str, default=None
            Sensitive group of each row. Several columns are crossed. A string, or a list of
            strings that are all columns of X, names columns of X, which are then not
            features. None is one group: nothing is made fair.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        refuse_groups_as_y(y, sensitive_features)
        check_integer("n_clusters", self.n_clusters, 1)
        check_flag("standardize", self.standardize)
        self._check_parameters()
        X, sensitive_features = split_sensitive(X, sensitive_features)
        schema, points = prepare_points(X, standardize=self.standardize)
        groups = read_groups(sensitive_features, len(points))
        grouping = arrange_groups(groups.names, groups.codes)
        n_different = len(np.unique(points, axis=0))
        if self.n_clusters > n_different:
            raise ValueError(
                f"n_clusters = {self.n_clusters}, but X has {n_different} different rows; "
                "ask for at most as many clusters."
            )
        self._warn_about_groups(grouping)
        codes = grouping.group_of_user_row
        rng = np.random.default_rng(check_seed(self.random_state))
        labels = self._partition(points, codes, grouping, rng)
        self.labels_ = canonical_labels(labels, int(labels.max()) + 1)
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.groups_ = dict(zip(grouping.names, grouping.sizes.tolist(), strict=True))
        self.schema_ = replace(schema, group_names=tuple(groups.names))
        schema.note_on(self)
        return self

    def fit_predict(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None
    ) -> NDArray[np.int64]:
        """Cluster the rows and give ``labels_``.

        Parameters
        ----------
        X : data frame or array-like of shape (n_rows, n_features)
            The data.
        y : None
            Not used.
        sensitive_features : array-like, data frame, str or list of str, default=None
            Sensitive group of each row, as in :meth:`fit`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Cluster of each row.
        """
        return self.fit(X, y, sensitive_features=sensitive_features).labels_

    def _warn_about_groups(self, grouping: Grouping) -> None:
        """Say so if no clustering of this kind can be fair."""
        if grouping.n_groups == 1:
            warn_about_one_group()
        elif grouping.n_anchors < self.n_clusters:
            warn(
                f"sensitive_features: the smallest group, {grouping.names[0]!r}, has "
                f"{grouping.n_anchors} row(s) ({describe_groups(grouping)}), fewer than "
                f"n_clusters = {self.n_clusters}, so some clusters must lack it; merge rare "
                "groups, drop their rows, or ask for fewer clusters.",
            )

    def _check_parameters(self) -> None:
        """Check the parameters of the subclass."""
        raise NotImplementedError

    def _partition(
        self, points: FloatArray, codes: IntArray, grouping: Grouping, rng: np.random.Generator
    ) -> IntArray:
        """Give a label for each point; ``codes`` has its group, 0 for the smallest one."""
        raise NotImplementedError


def kmeans_centres(
    points: FloatArray, n_clusters: int, rng: np.random.Generator, n_init: int
) -> FloatArray:
    """Give the centres of plain k-means.

    Parameters
    ----------
    points : ndarray of shape (n_rows, n_columns)
        The points.
    n_clusters : int
        Number of centres.
    rng : numpy.random.Generator
        Source of randomness.
    n_init : int
        Number of starts; the best counts.

    Returns
    -------
    ndarray of shape (n_clusters, n_columns)
        The centres.
    """
    seed = int(rng.integers(2**31 - 1))
    with threadpool_limits(1):  # sums of several threads differ in the last digit
        kmeans = KMeans(n_clusters, n_init=n_init, random_state=seed).fit(points)
    return np.asarray(kmeans.cluster_centers_, dtype=np.float64)


def squared_distances(points: FloatArray, centres: FloatArray) -> FloatArray:
    """Give the squared distance of each point to each centre.

    Parameters
    ----------
    points : ndarray of shape (n_rows, n_columns)
        The points.
    centres : ndarray of shape (n_clusters, n_columns)
        The centres.

    Returns
    -------
    ndarray of shape (n_rows, n_clusters)
        Squared Euclidean distances.
    """
    distances = np.empty((len(points), len(centres)))
    for k, centre in enumerate(centres):
        np.einsum("ij,ij->i", points - centre, points - centre, out=distances[:, k])
    return distances
