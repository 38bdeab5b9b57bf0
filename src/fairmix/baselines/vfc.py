r"""Variational fair clustering: k-means with a penalty for unfair clusters (Ziko et al. 2021).

With soft assignments :math:`s_{ik}`, centres :math:`c_k` and the groups' shares :math:`\mu_b`,

.. math::
   E(s) = \sum_{i,k} s_{ik} \|x_i - c_k\|^2
        + \lambda \sum_k \sum_b \mu_b \log \frac{\mu_b}{P(b \mid k)}, \qquad
   P(b \mid k) = \frac{\sum_{i \in b} s_{ik}}{\sum_i s_{ik}}.

The penalty is bounded at the present :math:`s` by its tangent plus :math:`L` times the KL
divergence from it, so that the next assignment is :math:`s_{ik} \exp(-g_{ik} / L)`, normalised,
with :math:`g` the gradient of E. That is a bound, and E goes down, if L is large enough. With a
large :math:`\lambda` and a fixed L it is not, and E runs away; here L is raised until E does go
down.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from fairmix.baselines.partitioner import FairPartitioner, kmeans_centres, squared_distances
from fairmix.model.grouping import Grouping
from fairmix.model.transport import round_shares
from fairmix.tables.checks import check_integer, check_positive, warn

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: Steps with the centres fixed, and the relative gain at which they end.
INNER_STEPS, LEAST_GAIN = 5, 1e-7
#: Part of each row that starts in all clusters alike.
SPREAD = 0.01
#: L is doubled so many times at most before a step is given up.
MAX_DOUBLINGS = 60
#: A row is split if more than this share of it is outside its cluster.
SPLIT = 0.01
#: Clusters hold no less than this, in rows of a group.
LEAST_MASS = 1e-9


class VariationalFairClustering(FairPartitioner):
    """Variational fair clustering (VFC): k-means with a penalty for unfair clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    fairness_weight : float, default=1000.0
        Weight of the penalty, the authors' lambda. What it does depends on the number of rows and
        on their units: turn it up until the gap is small.
    lipschitz : float, default=2.0
        The bound's constant L to begin with. It is doubled as often as needed for the objective
        to go down, and halved again when that is possible.
    normalize_rows : bool, default=False
        Scale every row to length 1, as the authors do.
    n_init : int, default=10
        Number of starts from k-means; the one that reaches the lowest objective counts.
    max_iter : int, default=1000
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
    objective_ : ndarray
        The objective E after every step; it never goes up.
    lipschitz_ : float
        The largest L that was needed.
    n_iter_ : int
        Number of updates of the centres in the best start.
    groups_ : dict
        Number of rows of each group, the smallest first.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has string column names.

    References
    ----------
    .. [1] I. M. Ziko, J. Yuan, E. Granger and I. Ben Ayed. Variational fair clustering. AAAI
       Conference on Artificial Intelligence 35:11202-11209, 2021.

    Examples
    --------
    >>> from fairmix.baselines import VariationalFairClustering
    >>> from fairmix.datasets import load_toy
    >>> toy = load_toy()
    >>> vfc = VariationalFairClustering(3, random_state=0)
    >>> vfc.fit(toy.data, sensitive_features=toy.sensitive_features).n_clusters_
    3
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        fairness_weight: float = 1000.0,
        lipschitz: float = 2.0,
        normalize_rows: bool = False,
        n_init: int = 10,
        max_iter: int = 1000,
        standardize: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.fairness_weight = fairness_weight
        self.lipschitz = lipschitz
        self.normalize_rows = normalize_rows
        self.n_init = n_init
        self.max_iter = max_iter
        self.standardize = standardize
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if self.fairness_weight != 0:
            check_positive("fairness_weight (or 0)", self.fairness_weight)
        check_positive("lipschitz", self.lipschitz)
        check_integer("n_init", self.n_init, 1)
        check_integer("max_iter", self.max_iter, 1)

    def _partition(
        self, points: FloatArray, codes: IntArray, grouping: Grouping, rng: np.random.Generator
    ) -> IntArray:
        if self.normalize_rows:
            lengths = np.linalg.norm(points, axis=1, keepdims=True)
            points = points / np.where(lengths > 0, lengths, 1.0)
        penalty = _Penalty(codes, grouping, float(self.fairness_weight))
        starts = [
            kmeans_centres(points, self.n_clusters, rng, n_init=1) for _ in range(self.n_init)
        ]
        tried = [self._descend(points, penalty, centres) for centres in starts]
        best = min(tried, key=lambda descent: descent.objective[-1])
        self.objective_ = np.array(best.objective)
        self.lipschitz_ = best.largest_lipschitz
        self.n_iter_ = best.n_moves
        if not best.has_settled:
            warn(
                f"max_iter = {self.max_iter} updates of the centres were not enough; pass a larger "
                "max_iter or a smaller fairness_weight.",
                ConvergenceWarning,
            )
        # Rows that are split must not spoil the balance.
        costs = squared_distances(points, _means(points, best.assignment))
        labels = round_shares(costs, codes, best.assignment, SPLIT)
        self._warn_if_broken(penalty, best.assignment, points, starts)
        return labels

    def _descend(self, points: FloatArray, penalty: _Penalty, centres: FloatArray) -> _Descent:
        """Move assignments and centres in turn, from these centres on."""
        costs = squared_distances(points, centres)
        descent = _Descent(penalty, costs, float(self.lipschitz))
        before = np.inf
        for _ in range(self.max_iter):
            descent.settle(costs)
            if before - descent.objective[-1] < LEAST_GAIN * abs(before):
                descent.has_settled = True
                break
            before = descent.objective[-1]
            descent.n_moves += 1
            costs = squared_distances(points, _means(points, descent.assignment))
        return descent

    def _warn_if_broken(
        self,
        penalty: _Penalty,
        assignment: FloatArray,
        points: FloatArray,
        starts: list[FloatArray],
    ) -> None:
        """Say so if the soft clusters are less fair than all those of k-means at the start.

        Labels are not looked at: with few rows, whole numbers alone may be a little less fair.
        """
        plain = [squared_distances(points, centres).argmin(axis=1) for centres in starts]
        reached = penalty(assignment)
        started = max(penalty.of_labels(each, self.n_clusters) for each in plain)
        if self.fairness_weight > 0 and reached > started + 1e-9:
            warn(
                f"fairness_weight = {self.fairness_weight:g}: the clusters are less fair (penalty "
                f"{reached:.4g}) than those of k-means ({started:.4g}), so the descent did not "
                "work; pass a smaller fairness_weight or a larger lipschitz.",
                ConvergenceWarning,
            )


class _Penalty:
    """The fairness penalty and its gradient."""

    def __init__(self, codes: IntArray, grouping: Grouping, weight: float) -> None:
        self.indicators = np.eye(grouping.n_groups)[codes]
        self.codes = codes
        self.shares = grouping.sizes / grouping.n_rows
        self.weight = weight

    def __call__(self, assignment: FloatArray) -> float:
        """Evaluate the penalty of a soft assignment."""
        mass = np.maximum(self.indicators.T @ assignment, LEAST_MASS)
        inside = mass / mass.sum(axis=0)
        return self.weight * float(self.shares @ np.log(self.shares[:, None] / inside).sum(axis=1))

    def gradient(self, assignment: FloatArray) -> FloatArray:
        """Give the gradient with respect to every row's assignment."""
        mass = np.maximum(self.indicators.T @ assignment, LEAST_MASS)
        by_group = 1.0 / mass.sum(axis=0) - self.shares[:, None] / mass
        return np.asarray(self.weight * by_group[self.codes])

    def of_labels(self, labels: IntArray, n_clusters: int) -> float:
        """Evaluate the penalty of a hard assignment; clusters that are empty do not count."""
        assignment = np.eye(n_clusters)[labels]
        return self(assignment[:, assignment.any(axis=0)])


class _Descent:
    """Steps that lower the objective, given the costs of rows in clusters."""

    def __init__(self, penalty: _Penalty, costs: FloatArray, lipschitz: float) -> None:
        self.penalty = penalty
        # Assignments prefer near centres, on the scale of the mean cost; a part of every row goes
        # everywhere, or a cluster without a group would push with no end. Their logs are kept: a
        # share that is too small for a number may be needed again.
        scale = max(float(costs.min(axis=1).mean()), np.finfo(float).tiny)
        nearby = np.exp(_log_softmax(-costs / scale))
        self.assignment = (1.0 - SPREAD) * nearby + SPREAD / costs.shape[1]
        self.logs = np.log(self.assignment)
        self.lipschitz = self.largest_lipschitz = lipschitz
        self.objective: list[float] = []
        self.n_moves = 0  # of the centres
        self.has_settled = False

    def settle(self, costs: FloatArray) -> None:
        """Make steps until they hardly gain anything."""
        value = float((self.assignment * costs).sum()) + self.penalty(self.assignment)
        began_anew = False
        for _ in range(INNER_STEPS):
            new_value = self._step(costs, value)
            gain, value = value - new_value, new_value
            self.objective.append(value)
            is_small = gain <= LEAST_GAIN * abs(value)
            if is_small and began_anew:
                break
            if is_small:  # L may be far larger than it has to be
                self.lipschitz /= 2**10
            began_anew = is_small

    def _step(self, costs: FloatArray, value: float) -> float:
        """Make the longest step (smallest L) that lowers the objective, if there is one."""
        gradient = costs + self.penalty.gradient(self.assignment)
        self.lipschitz /= 2
        for _ in range(MAX_DOUBLINGS):
            logs = _log_softmax(self.logs - gradient / self.lipschitz)
            assignment = np.exp(logs)
            new_value = float((assignment * costs).sum()) + self.penalty(assignment)
            if new_value <= value:
                self.largest_lipschitz = max(self.largest_lipschitz, self.lipschitz)
                self.logs, self.assignment = logs, assignment
                return new_value
            self.lipschitz *= 2
        return value


def _log_softmax(logs: FloatArray) -> FloatArray:
    logs = logs - logs.max(axis=1, keepdims=True)
    return np.asarray(logs - np.log(np.exp(logs).sum(axis=1, keepdims=True)))


def _means(points: FloatArray, assignment: FloatArray) -> FloatArray:
    """Give the centres of soft clusters."""
    mass = np.maximum(assignment.sum(axis=0), np.finfo(float).tiny)
    return np.asarray((assignment.T @ points) / mass[:, None])
