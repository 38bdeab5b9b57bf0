r"""What prediction needs of a fit, as one object without the rows that it learned from.

Given the partition ``labels_``, a new row x comes from cluster c, or from a new one, with the
probabilities of the model's prior on partitions,

.. math::
   P(c) \propto n_c + \gamma, \qquad P(\text{new}) \propto \gamma \frac{V_{n+1}(t+1)}{V_{n+1}(t)},

where :math:`n_c` counts the units that the prior is on (rows; under a matching, rows of the
smallest group), and it has the density

.. math::
   p(x) = \sum_c P(c)\, p(x \mid X_c) + P(\text{new})\, m(x), \qquad
   p(x \mid X_c) = \frac{m(X_c \cup \{x\})}{m(X_c)} ,

its *log predictive*. A conjugate family needs counts and sufficient statistics of the clusters for
that. Where parameters are not integrated out, densities are means over draws of these given
``labels_``.

Fairness comes in by *prices*. Among all ways to give a group's rows labels such that cluster c gets
the share of ``labels_`` that it has of all rows, one has the largest total log predictive; its
prices :math:`u_{gc}`, one for each group and cluster, give a row the label with the largest
:math:`\log p(x \mid X_c) - u_{gc}`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from fairmix.families import Product, is_conjugate, prepare
from fairmix.families.plain import prepared_from_plain, prepared_to_plain
from fairmix.model.partition_prior import ComponentsPrior, PartitionPrior
from fairmix.model.places import fill_places, share_out
from fairmix.posterior.training import Training
from fairmix.sampler.parameter_draws import draw_parameters
from fairmix.sampler.row_densities import RowDensities
from fairmix.tables.schema import Schema

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: Draws of parameters that predictive densities are means over.
N_DRAWS = 100
#: For each of these, draws from the prior that stand for a new cluster.
N_NEW = 10
#: Prices are learned from so many rows of a group at most.
MAX_PRICED = 20_000
#: Densities are computed for so many rows at a time.
BLOCK = 50_000


@dataclass(frozen=True)
class Prediction:
    """What prediction needs of a fit.

    Attributes
    ----------
    schema : Schema
        How the table was read, with the names of the groups.
    family : family
        Prepared, with tables that are long enough for more rows.
    can_miss : ndarray of bool, shape (n_columns,)
        Columns whose family leaves missing cells out.
    counts : ndarray of shape (n_clusters,)
        Rows of each cluster of ``labels_``.
    stats : ndarray of shape (n_clusters, n_statistics)
        Their sufficient statistics; no statistics if the family is not conjugate.
    log_weights : ndarray of shape (n_clusters + 1,)
        Log probability that the next row is in each cluster, and in a new one.
    shared : ndarray of shape (n_draws, n_shared)
        Draws of the parameters that all clusters share; a single empty one if there are none.
    parameters : ndarray of shape (n_draws, n_clusters + n_new, n_parameters)
        Draws of the clusters' parameters, and of some from their prior; no parameters if the family
        is conjugate.
    prices : ndarray of shape (n_groups, n_clusters)
        What a row of each group pays in each cluster.
    fingerprint : str
        A hash of the rows and groups that were fitted.
    """

    schema: Schema
    family: Any
    can_miss: NDArray[np.bool_]
    counts: IntArray
    stats: FloatArray
    log_weights: FloatArray
    shared: FloatArray
    parameters: FloatArray
    prices: FloatArray
    fingerprint: str

    @classmethod
    def learn(cls, training: Training, labels: IntArray, log_weights: FloatArray) -> Self:
        """Learn what prediction needs.

        Parameters
        ----------
        training : Training
            The table that was fitted.
        labels : ndarray of shape (n_rows,)
            Cluster of each row, 0, 1, ...
        log_weights : ndarray of shape (n_clusters + 1,)
            What :func:`log_weights_of` gives.

        Returns
        -------
        Prediction
            What was learned.
        """
        table, schema = training.table, training.schema
        rows, counts = table.rows, np.bincount(labels)
        can_miss = _can_miss(training.family, rows.shape[1]) & schema.allows_missing
        family = _prepare_for_more(training.family, rows, can_miss)
        shared, parameters = np.empty((1, 0)), np.empty((1, len(counts) + N_NEW, 0))
        # A generator of its own: predictions do not depend on when they are asked for.
        rng = np.random.default_rng(0)
        if not is_conjugate(family):
            drawn = draw_parameters(table, training.family, labels, N_DRAWS, rng).of_clusters
            new = np.empty((N_DRAWS, N_NEW, drawn.shape[-1]))
            for each in new.reshape(-1, drawn.shape[-1]):
                family.sample_prior(rng, each)
            parameters = np.concatenate([drawn, new], axis=1)
        elif RowDensities(family, rows.shape[1], len(counts)).n_shared:
            shared = draw_parameters(table, training.family, labels, N_DRAWS, rng).shared
            if np.all(shared == shared[0]):  # they were given
                shared = shared[:1]
        groups = np.array([schema.group_names.index(name) for name in training.groups.names])
        codes = groups[training.groups.codes]
        learned = cls(
            schema,
            family,
            can_miss,
            counts,
            _sums_by_label(family, rows, labels),
            np.asarray(log_weights),
            shared,
            parameters,
            np.zeros((len(schema.group_names), len(counts))),
            fingerprint_of(rows, codes),
        )
        learned._learn_prices(rows, codes, labels)
        return learned

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.counts)

    @property
    def shares(self) -> FloatArray:
        """Share of each cluster in all rows that were fitted."""
        return np.asarray(self.counts / self.counts.sum())

    def log_predictive(self, rows: FloatArray) -> FloatArray:
        """Give the log predictive density of rows in each cluster.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_columns)
            Rows as the schema reads them.

        Returns
        -------
        ndarray of shape (n_rows, n_clusters + 1)
            The log densities in standard units; the last is that of a new cluster.
        """
        blocks = [rows[first : first + BLOCK] for first in range(0, len(rows), BLOCK)]
        return np.concatenate([self._log_predictive(block) for block in blocks])

    def log_probabilities(self, log_predictive: FloatArray) -> FloatArray:
        """Give log probabilities that rows are in each cluster, if they are in one of these.

        Parameters
        ----------
        log_predictive : ndarray of shape (n_rows, n_clusters + 1)
            Log predictive densities.

        Returns
        -------
        ndarray of shape (n_rows, n_clusters)
            Log probabilities, without any regard to fairness.
        """
        joint = (log_predictive + self.log_weights)[:, :-1]
        return np.asarray(joint - logsumexp(joint, axis=1, keepdims=True))

    def log_density(self, rows: FloatArray) -> FloatArray:
        """Give the log predictive density of rows, a new cluster included.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_columns)
            Rows as the schema reads them.

        Returns
        -------
        ndarray of shape (n_rows,)
            Log densities in the user's own units.
        """
        log_density = logsumexp(self.log_predictive(rows) + self.log_weights, axis=1)
        for column, values in zip(self.schema.kept, rows.T, strict=True):
            if column.units is not None and column.is_scaled:
                log_unit = np.log(column.units.scale) + column.units.exponent * np.log(2.0)
                log_density -= np.where(np.isnan(values), 0.0, log_unit)
        return np.asarray(log_density)

    def to_plain(self) -> dict[str, Any]:
        """Give everything as arrays and texts, which can be kept in any file.

        Returns
        -------
        dict of str to ndarray or str
            By name; arrays of the family begin with "family/".
        """
        text, arrays = prepared_to_plain(self.family)
        own = {name: getattr(self, name) for name in ARRAYS}
        of_family = {f"family/{name}": values for name, values in arrays.items()}
        texts = {"schema": self.schema.to_json(), "family": text, "fingerprint": self.fingerprint}
        return {**own, **of_family, **texts}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """Make the object of what :meth:`to_plain` gave.

        Parameters
        ----------
        plain : mapping
            Arrays and texts by name.

        Returns
        -------
        Prediction
            The object.
        """
        lacking = [n for n in (*ARRAYS, "schema", "family", "fingerprint") if n not in plain]
        if lacking:
            raise ValueError(f"plain lacks {lacking[0]!r}; pass what Prediction.to_plain gave.")
        arrays = {
            name.removeprefix("family/"): values
            for name, values in plain.items()
            if name.startswith("family/")
        }
        made = cls(
            schema=Schema.from_json(plain["schema"]),
            family=prepared_from_plain(plain["family"], arrays),
            fingerprint=plain["fingerprint"],
            **{name: np.ascontiguousarray(plain[name]) for name in ARRAYS},
        )
        made._check()
        return made

    def _check(self) -> None:
        """Refuse arrays that do not fit together: compiled code does not look whether they do."""
        n_columns, n_clusters = len(self.schema.kept), len(self.counts)
        n_groups = len(self.schema.group_names)
        shapes: dict[str, tuple[int, ...]] = {
            "can_miss": (n_columns,),
            "counts": (n_clusters,),
            "log_weights": (n_clusters + 1,),
            "prices": (n_groups, n_clusters),
        }
        try:
            if is_conjugate(self.family):
                shapes["stats"] = (n_clusters, self.family.n_statistics(n_columns))
                # As plain Python it looks at every index; a row more is the most there can be.
                more = _statistics(self.family, np.zeros((1, n_columns)))[0]
                for count, stats in zip(self.counts.tolist(), self.stats, strict=True):
                    self.family.log_marginal(count + 1, stats + more)
            else:
                n_parameters = self.family.n_parameters(n_columns)
                shapes["parameters"] = (
                    len(self.parameters), n_clusters + N_NEW, n_parameters
                )  # fmt: skip
            found = {name: getattr(self, name).shape for name in shapes}
        except (IndexError, TypeError, ValueError, ArithmeticError) as error:
            raise ValueError(
                f"what was learned for predictions does not fit together ({error})."
            ) from error
        if found != shapes or (self.counts < 1).any():
            raise ValueError(
                f"what was learned for predictions has arrays of the shapes {found}, but needs "
                f"{shapes}, and a row in each cluster."
            )

    def _densities(self) -> RowDensities:
        """Give room to compute densities in: of each call's own, for calls from threads."""
        return RowDensities(self.family, len(self.schema.kept), self.parameters.shape[1])

    def _log_predictive(self, rows: FloatArray) -> FloatArray:
        if not is_conjugate(self.family):
            return self._mean_over_parameters(rows)
        densities = self._densities()
        counts, stats = np.append(self.counts, 0), np.vstack([self.stats, 0 * self.stats[:1]])
        row_stats = _statistics(self.family, rows)
        total = np.full((len(rows), len(counts)), -np.inf)
        for shared in self.shared:
            densities.share(shared)
            total = np.logaddexp(total, densities.given_rows(counts, stats, row_stats))
        return np.asarray(total - np.log(len(self.shared)))

    def _mean_over_parameters(self, rows: FloatArray) -> FloatArray:
        """Average densities over draws of parameters, and those of new clusters over all."""
        densities, t = self._densities(), self.n_clusters
        total = np.full((len(rows), t + 1), -np.inf)
        for parameters in self.parameters:
            found = densities.given_parameters(parameters, rows)
            new = logsumexp(found[:, t:], axis=1) - np.log(N_NEW)
            total = np.logaddexp(total, np.column_stack([found[:, :t], new]))
        return np.asarray(total - np.log(len(self.parameters)))

    def _learn_prices(self, rows: FloatArray, codes: IntArray, labels: IntArray) -> None:
        """Find the prices of each group's own rows, or of evenly spaced ones of these."""
        for group, prices in enumerate(self.prices):
            chosen = np.flatnonzero(codes == group)
            n_priced = min(len(chosen), MAX_PRICED)
            chosen = chosen[np.linspace(0, len(chosen) - 1, n_priced).astype(np.int64)]
            log_predictive = self._given_others(rows[chosen], labels[chosen])
            places = share_out(self.shares, n_priced)
            prices[:] = fill_places(costs_of(log_predictive), places).prices

    def _given_others(self, rows: FloatArray, labels: IntArray) -> FloatArray:
        """Give log predictive densities of rows that were fitted, each without itself.

        A row that its own cluster has counted likes it there better than a new row would.
        Draws of parameters are taken as they are: a single row hardly changes them.
        """
        if not is_conjugate(self.family):
            return self.log_predictive(rows)[:, :-1]
        densities, row_stats = self._densities(), _statistics(self.family, rows)
        total = np.full((len(rows), self.n_clusters), -np.inf)
        for shared in self.shared:
            densities.share(shared)
            found = densities.given_other_rows(self.counts, self.stats, row_stats, labels)
            total = np.logaddexp(total, found)
        return np.asarray(total - np.log(len(self.shared)))


#: The arrays among the attributes.
ARRAYS = ("can_miss", "counts", "stats", "log_weights", "shared", "parameters", "prices")


def log_weights_of(
    units_of_cluster: IntArray, concentration: float, components_prior: ComponentsPrior
) -> FloatArray:
    """Give the log probability that the next unit is in each cluster, and in a new one.

    Parameters
    ----------
    units_of_cluster : ndarray of shape (n_clusters,)
        Number of units of each cluster, as the prior on partitions counts them.
    concentration : float
        Dirichlet parameter of the mixture's weights.
    components_prior : ComponentsPrior
        Prior on the number of components.

    Returns
    -------
    ndarray of shape (n_clusters + 1,)
        The log probabilities.
    """
    n_units, n_clusters = int(units_of_cluster.sum()), len(units_of_cluster)
    prior = PartitionPrior(n_units + 1, concentration, components_prior, n_clusters + 1)
    log_open = np.log(concentration) + prior.log_ratio[n_clusters]
    log_weights = np.append(np.log(units_of_cluster + concentration), log_open)
    return np.asarray(log_weights - logsumexp(log_weights))


def costs_of(log_predictive: FloatArray) -> FloatArray:
    """Give what rows cost in clusters: minus the log predictive, and finite."""
    return np.asarray(np.minimum(-log_predictive, 1e100))


def fingerprint_of(rows: FloatArray, codes: IntArray) -> str:
    """Give a hash of rows and their groups, by which a table is known again.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        Rows as the schema reads them.
    codes : ndarray of shape (n_rows,)
        Group of each row.

    Returns
    -------
    str
        The hash.
    """
    digest = hashlib.sha256(json.dumps(rows.shape).encode())
    digest.update(np.ascontiguousarray(rows).tobytes())
    digest.update(np.ascontiguousarray(codes, dtype=np.int64).tobytes())
    return digest.hexdigest()


def _can_miss(family: Any, n_columns: int) -> NDArray[np.bool_]:
    """Tell which columns' families leave missing cells out."""
    every = family.families if isinstance(family, Product) else [family] * n_columns
    return np.array([bool(getattr(each, "allows_missing", False)) for each in every])


def _prepare_for_more(family: Any, rows: FloatArray, can_miss: NDArray[np.bool_]) -> Any:
    """Prepare a family for more rows than were fitted.

    Tables are as long as there are rows, and hyperparameters may follow from the columns' means: so
    it is shown all rows twice. Where cells may be missing it is shown such a row as well.
    """
    shown = [rows, rows]
    if can_miss.any():
        shown.append(np.where(can_miss, np.nan, rows[:1]))
    return prepare(family, np.concatenate(shown))


def _statistics(family: Any, rows: FloatArray) -> FloatArray:
    stats = np.empty((len(rows), family.n_statistics(rows.shape[1])))
    family.write_statistics(np.ascontiguousarray(rows), stats)
    return stats


def _sums_by_label(family: Any, rows: FloatArray, labels: IntArray) -> FloatArray:
    """Add up the sufficient statistics of each cluster's rows."""
    n_clusters = int(labels.max()) + 1
    if not is_conjugate(family):
        return np.empty((n_clusters, 0))
    sums = np.zeros((n_clusters, family.n_statistics(rows.shape[1])))
    for first in range(0, len(rows), BLOCK):
        stats = _statistics(family, rows[first : first + BLOCK])
        of_block = labels[first : first + BLOCK]
        for cluster in range(n_clusters):
            sums[cluster] += stats[of_block == cluster].sum(axis=0)
    return sums
