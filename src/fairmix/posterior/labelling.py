"""Labels of new rows: by the model alone, or fairly, for a list of rows or one at a time.

* *batch*: each group's rows are shared out over the clusters exactly as ``labels_`` shares out all
  rows that were fitted, such that the total log predictive is largest. A row's label depends on the
  other rows.
* *prices*: a row goes where its log predictive less its group's price is largest, with prices that
  were learned from the rows that were fitted. A row's label depends on nothing else; shares are
  right on average.
* *match*: the paper's rule, see ``matched_rows.py``.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from fairmix.model.places import fill_places, share_out
from fairmix.posterior.matched_rows import Anchors, match_rows
from fairmix.posterior.new_rows import read_new_groups, read_new_rows
from fairmix.posterior.prediction import Prediction, costs_of, fingerprint_of
from fairmix.posterior.training import Training
from fairmix.tables.checks import check_choice, warn
from fairmix.tables.groups import split_sensitive

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

METHODS = ("auto", "batch", "prices", "match")
#: "auto" is "batch" if every group that is there has so many rows for each cluster: then whole
#: numbers of rows make a gap of some 0.025 at most.
ROWS_PER_CLUSTER = 10


class Predictor:
    """What predicts for an estimator; it learns how when it is first asked.

    Parameters
    ----------
    training : Training
        The table that was fitted.
    labels : ndarray of shape (n_rows,)
        Cluster of each row.
    log_weights : ndarray of shape (n_clusters + 1,)
        Log probability that the next row is in each cluster, and in a new one.
    makes_fair : bool
        Whether the estimator enforces fairness.
    owner : str
        Name of its class, for messages.
    """

    def __init__(
        self,
        training: Training | None,
        labels: IntArray,
        log_weights: FloatArray,
        *,
        makes_fair: bool,
        owner: str,
    ) -> None:
        self._training = training
        self._log_weights = log_weights
        self.labels = labels
        self.makes_fair = makes_fair
        self.owner = owner

    @classmethod
    def of(
        cls,
        prediction: Prediction,
        labels: IntArray,
        *,
        makes_fair: bool,
        owner: str,
        training: Training | None = None,
    ) -> Any:
        """Make one of what was learned.

        Parameters
        ----------
        prediction : Prediction
            What was learned.
        labels : ndarray of shape (n_rows,)
            Cluster of each row that was fitted.
        makes_fair : bool
            Whether the estimator enforces fairness.
        owner : str
            Name of its class.
        training : Training, optional
            The table that was fitted; without it, there are no rows to match others to.

        Returns
        -------
        Predictor
            The predictor.
        """
        made = cls(training, labels, prediction.log_weights, makes_fair=makes_fair, owner=owner)
        made.__dict__["prediction"] = prediction
        return made

    @cached_property
    def prediction(self) -> Prediction:
        """What prediction needs, learned now if need be."""
        assert self._training is not None
        return Prediction.learn(self._training, self.labels, self._log_weights)

    def labels_of(self, X: Any, sensitive_features: Any, method: str) -> IntArray:
        """Give the labels of new rows.

        Parameters
        ----------
        X : data frame or array-like
            The rows.
        sensitive_features : array-like, data frame, str, list of str or None
            Their groups.
        method : {"auto", "batch", "prices", "match"}
            How they are found.

        Returns
        -------
        ndarray of shape (n_rows,)
            Cluster of each row.
        """
        table, codes = self._read(X, sensitive_features, method)
        prediction = self.prediction
        if codes is None:
            log_predictive = prediction.log_predictive(table.rows)
            return np.asarray(prediction.log_probabilities(log_predictive).argmax(axis=1))
        if fingerprint_of(table.rows, codes) == prediction.fingerprint:
            return self.labels.copy()
        if self._chosen(method, codes) == "match":
            return self._matched(table.points, table.is_category, codes)
        return self._placed(table.rows, codes, method)[0]

    def probabilities_of(self, X: Any, sensitive_features: Any, method: str) -> FloatArray:
        """Give the probabilities that new rows are in each cluster.

        Parameters
        ----------
        X : data frame or array-like
            The rows.
        sensitive_features : array-like, data frame, str, list of str or None
            Their groups.
        method : {"auto", "batch", "prices"}
            How they are found.

        Returns
        -------
        ndarray of shape (n_rows, n_clusters)
            The probabilities.
        """
        if isinstance(method, str) and method == "match":
            raise ValueError(
                "method = 'match' gives labels, but no probabilities; pass method='prices' or "
                "'batch'."
            )
        table, codes = self._read(X, sensitive_features, method)
        if codes is None:
            log_predictive = self.prediction.log_predictive(table.rows)
            return np.exp(self.prediction.log_probabilities(log_predictive))
        _, costs = self._placed(table.rows, codes, method)
        return np.asarray(np.exp(log_softmax(-costs, axis=1)))

    def log_density_of(self, X: Any) -> FloatArray:
        """Give the log predictive density of new rows.

        Parameters
        ----------
        X : data frame or array-like
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            The log densities.
        """
        prediction = self.prediction
        return prediction.log_density(read_new_rows(prediction, X, self.owner).rows)

    def _read(self, X: Any, sensitive_features: Any, method: str) -> tuple[Any, IntArray | None]:
        """Read rows and their groups; no groups if the model is to decide alone."""
        check_choice("method", method, METHODS)
        group_names = self.prediction.schema.group_names
        if not self.makes_fair:
            if method != "auto":
                raise ValueError(
                    f"method = {method!r} makes labels fair, but {self.owner} enforces no "
                    "fairness: it labels rows by their log predictive alone. Leave method out, or "
                    "use FairBayesianClustering."
                )
            return read_new_rows(self.prediction, X, self.owner), None
        features, sensitive_features = split_sensitive(X, sensitive_features)
        table = read_new_rows(self.prediction, features, self.owner)
        if sensitive_features is not None:
            schema = self.prediction.schema
            return table, read_new_groups(schema, sensitive_features, len(table.rows))
        if len(group_names) == 1:
            one_group = np.zeros(len(table.rows), dtype=np.int64)
            return table, None if method == "auto" else one_group
        if method != "auto":
            raise ValueError(
                f"method = {method!r} needs the group of each row; pass sensitive_features."
            )
        warn(
            "sensitive_features was not passed, so rows are labelled by their log predictive alone "
            "and nothing is made fair; pass the sensitive attribute of these rows."
        )
        return table, None

    def _chosen(self, method: str, codes: IntArray) -> str:
        """Give the method that "auto" stands for."""
        if method != "auto":
            return method
        smallest = np.unique(codes, return_counts=True)[1].min()
        is_list = smallest >= ROWS_PER_CLUSTER * self.prediction.n_clusters
        return "batch" if is_list else "prices"

    def _placed(
        self, rows: FloatArray, codes: IntArray, method: str
    ) -> tuple[IntArray, FloatArray]:
        """Label rows by prices; give the labels, and costs with the prices in them."""
        prediction = self.prediction
        costs = costs_of(prediction.log_predictive(rows)[:, :-1])
        if self._chosen(method, codes) == "prices":
            costs += prediction.prices[codes]
            return np.asarray(costs.argmin(axis=1)), costs
        labels = np.empty(len(rows), dtype=np.int64)
        for group in np.unique(codes):
            own = np.flatnonzero(codes == group)
            placement = fill_places(costs[own], share_out(prediction.shares, len(own)))
            labels[own] = placement.labels
            costs[own] += placement.prices
        return labels, costs

    def _matched(
        self, points: FloatArray, is_category: NDArray[np.bool_], codes: IntArray
    ) -> IntArray:
        """Label rows by matching them to rows that were fitted."""
        if self._training is None:
            raise ValueError(
                "method = 'match' matches rows to those that were fitted, which this model was "
                "kept without; pass method='batch', or keep the model with its data."
            )
        anchors = Anchors.of(self._training, self.labels)
        names = self.prediction.schema.group_names
        anchor_group = names.index(anchors.name)
        if not np.any(codes == anchor_group):
            raise ValueError(
                f"method = 'match' matches rows to those of the group {anchors.name!r}, of which X "
                "has none; pass method='batch' or 'prices'."
            )
        # The anchors' group comes first.
        rank = np.arange(len(names)) + (np.arange(len(names)) < anchor_group)
        rank[anchor_group] = 0
        return match_rows(anchors, points, is_category, rank[codes])
