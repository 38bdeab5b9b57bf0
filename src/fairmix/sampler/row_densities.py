r"""Log densities of any rows given clusters, by the code that the sampler runs.

Given the rows of cluster c, the density of one more row of a conjugate family is

.. math::
   p(x \mid X_c) = \frac{m(X_c \cup \{x\})}{m(X_c)} ,

and of any other family, given parameters of the cluster, :math:`f(x \mid \phi_c)`. The sampler has
a verb for both (``predict_row``), compiled for every family that was fitted. Here a state is made
that has nothing but clusters, and the verb is asked for row after row.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.model.cap import no_cap
from fairmix.model.distances import euclidean
from fairmix.model.grouping import arrange_groups
from fairmix.model.model import Model
from fairmix.model.partition_prior import Geometric, PartitionPrior

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


class RowDensities:
    """Densities of rows given clusters.

    Parameters
    ----------
    family : family
        The prepared family; tables of a conjugate one must be long enough for a cluster's rows and
        one more.
    n_columns : int
        Number of columns.
    n_clusters : int
        Number of clusters.
    """

    def __init__(self, family: Any, n_columns: int, n_clusters: int) -> None:
        from fairmix.sampler.arrays import (
            Start,
            make_deal,
            make_layout,
            make_likelihood,
            make_state,
            make_workspace,
        )

        every = np.arange(n_clusters)
        nobody = np.zeros(n_clusters, dtype=np.int64)
        # One row a cluster, so that there is room for so many; it is never looked at.
        model = Model(
            rows=np.zeros((n_clusters, n_columns)),
            family=copy.deepcopy(family),  # it may have room of its own to work in
            distance=euclidean(np.zeros((n_clusters, n_columns))),
            grouping=arrange_groups(["all"], nobody),
            extra=np.zeros((1, n_clusters), dtype=bool),
            n_masked=nobody[:1],
            temperature=1.0,
            partition_prior=PartitionPrior(n_clusters, 1.0, Geometric()),
            cap=no_cap(n_clusters),
        )
        self._state = make_state(model, make_layout(model), Start(every, every, nobody[:0], every))
        self._work = make_workspace(model)
        self._deal = make_deal(model)
        self._likelihood: Any = make_likelihood(model)
        self._rng = np.random.default_rng(0)  # its type is asked for, nothing is drawn

    @property
    def n_shared(self) -> int:
        """Number of parameters that all clusters share."""
        return len(getattr(self._likelihood, "shared", ()))

    def share(self, shared: FloatArray) -> None:
        """Set the parameters that all clusters share.

        Parameters
        ----------
        shared : ndarray
            The parameters; none, if the family has none.
        """
        self._likelihood.shared[...] = shared

    def given_rows(self, counts: IntArray, stats: FloatArray, row_stats: FloatArray) -> FloatArray:
        """Give log densities given the rows of clusters, for a conjugate family.

        Parameters
        ----------
        counts : ndarray of shape (n_clusters,)
            Number of rows of each cluster; it may be 0.
        stats : ndarray of shape (n_clusters, n_statistics)
            Their sufficient statistics.
        row_stats : ndarray of shape (n_rows, n_statistics)
            Statistics of the rows whose densities are wanted.

        Returns
        -------
        ndarray of shape (n_rows, n_clusters)
            The log densities.
        """
        return self._given_rows(counts, stats, self._log_marginals(counts, stats), row_stats)

    def given_other_rows(
        self, counts: IntArray, stats: FloatArray, row_stats: FloatArray, labels: IntArray
    ) -> FloatArray:
        """Give log densities of rows of the clusters themselves, each given all the others.

        Parameters
        ----------
        counts : ndarray of shape (n_clusters,)
            Number of rows of each cluster.
        stats : ndarray of shape (n_clusters, n_statistics)
            Their sufficient statistics.
        row_stats : ndarray of shape (n_rows, n_statistics)
            Statistics of the rows whose densities are wanted.
        labels : ndarray of shape (n_rows,)
            The cluster that each of these is counted in.

        Returns
        -------
        ndarray of shape (n_rows, n_clusters)
            The log densities; in its own cluster, a row is left out of what is given.
        """
        log_marginals = self._log_marginals(counts, stats)
        log_densities = self._given_rows(counts, stats, log_marginals, row_stats)
        for cluster in np.unique(labels):
            own = np.flatnonzero(labels == cluster)
            # Adding a row with minus its statistics to a cluster with two rows less gives the
            # log marginal of the cluster without the row.
            alone = [cluster]
            without = self._given_rows(
                counts[alone] - 2, stats[alone], np.zeros(1), -row_stats[own]
            )
            log_densities[own, cluster] = log_marginals[cluster] - without[:, 0]
        return log_densities

    def given_parameters(self, parameters: FloatArray, rows: FloatArray) -> FloatArray:
        """Give log densities given the parameters of clusters, for any other family.

        Parameters
        ----------
        parameters : ndarray of shape (n_clusters, n_parameters)
            Parameters of each cluster.
        rows : ndarray of shape (n_rows, n_columns)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows, n_clusters)
            The log densities.
        """
        likelihood = self._likelihood._replace(rows=np.ascontiguousarray(rows))
        likelihood.parameters[: len(parameters)] = parameters
        self._state.n_clusters[0] = len(parameters)
        n_stats = self._state.cluster_stats.shape[1]
        return self._write(likelihood, np.zeros((1, n_stats)), len(rows), len(parameters))

    def _log_marginals(self, counts: IntArray, stats: FloatArray) -> FloatArray:
        family = self._likelihood.family
        pairs = zip(counts.tolist(), stats, strict=True)
        return np.array([family.log_marginal(count, of_cluster) for count, of_cluster in pairs])

    def _given_rows(
        self, counts: IntArray, stats: FloatArray, log_marginals: FloatArray, row_stats: FloatArray
    ) -> FloatArray:
        n_clusters = len(counts)
        state = self._state
        state.n_clusters[0] = n_clusters
        state.cluster_rows[:n_clusters] = counts
        state.cluster_stats[:n_clusters] = stats
        state.cluster_log_likelihood[:n_clusters] = log_marginals
        return self._write(self._likelihood, row_stats, len(row_stats), n_clusters)

    def _write(
        self, likelihood: Any, row_stats: FloatArray, n_rows: int, n_clusters: int
    ) -> FloatArray:
        """Let compiled code write the log densities."""
        from fairmix.sampler.compilation import link, pack, write_log_densities

        log_densities = np.empty((n_rows, n_clusters))
        row_stats = np.ascontiguousarray(row_stats)
        state, work, deal = pack(self._state), pack(self._work), pack(self._deal)
        linked = link(likelihood, self._rng, row_stats, state, work, deal)
        write_log_densities(linked, row_stats, state, work, log_densities)
        return log_densities
