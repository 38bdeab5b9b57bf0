r"""The model: what is fixed during a fit, and its log posterior in plain NumPy.

``Model`` puts together the data, a family, the prior on partitions and the prior on
matchings. ``Model.log_joint`` is the reference: slow, obvious, and what the compiled
sampler is tested against.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairmix.families import Gaussian, is_conjugate
from fairmix.model.cap import Cap
from fairmix.model.grouping import Grouping
from fairmix.model.partition_prior import PartitionPrior

IntArray = NDArray[np.int64]


class LogJoint(NamedTuple):
    """The terms of the log posterior (up to a constant) of one state."""

    log_likelihood: float
    log_prior: float
    log_energy: float

    @property
    def log_posterior(self) -> float:
        """Sum of all terms."""
        return self.log_likelihood + self.log_prior + self.log_energy


@dataclass(frozen=True)
class Model:
    """Data, family and priors of one fit, rows in internal order.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        The data as sampled.
    family : family
        The prepared family.
    distance : distance
        Distance between rows, for the energy.
    grouping : Grouping
        The groups.
    extra : ndarray of bool, shape (n_groups, n_anchors), or None
        Anchors that take an extra follower of each group (the paper's R); None if R is free.
    n_masked : ndarray of shape (n_groups,)
        Masked rows of each group (the paper's m); 0 for the anchors.
    temperature : float
        The paper's tau.
    partition_prior : PartitionPrior
        The prior on partitions of the anchors.
    cap : Cap
        How unfair a draw may be.
    """

    rows: NDArray[np.float64]
    family: Any
    distance: Any
    grouping: Grouping
    extra: NDArray[np.bool_] | None
    n_masked: IntArray
    temperature: float
    partition_prior: PartitionPrior
    cap: Cap

    @property
    def may_leave_cap(self) -> bool:
        """Whether chains may go outside the cap, at a price, and take draws inside only.

        They may if rows are clustered one by one, so that they find their way back.
        """
        return self.cap.is_tight and self.grouping.n_groups == 1

    @cached_property
    def stand_in(self) -> Any:
        """The family if it is conjugate, else a Gaussian that says which rows look alike."""
        return self.family if is_conjugate(self.family) else Gaussian().prepare(self._standard_rows)

    @cached_property
    def row_stats(self) -> NDArray[np.float64]:
        """Sufficient statistics of each row, as the family or its stand-in wants them."""
        n_rows, n_columns = self.rows.shape
        stats = np.empty((n_rows, self.stand_in.n_statistics(n_columns)))
        rows = self.rows if is_conjugate(self.family) else self._standard_rows
        self.stand_in.write_statistics(rows, stats)
        return stats

    @cached_property
    def _standard_rows(self) -> NDArray[np.float64]:
        """The rows in standard units."""
        spread = np.nanstd(self.rows, axis=0)
        centred = self.rows - np.nanmean(self.rows, axis=0)
        return np.asarray(centred / np.where(spread > 0, spread, 1.0))

    @property
    def energy_weight(self) -> NDArray[np.float64]:
        """Weight of a group's total distance in the log energy, 1 / (n_b tau)."""
        return np.asarray(1.0 / (self.grouping.sizes * self.temperature), dtype=np.float64)

    def log_joint(self, row_labels: IntArray, match: IntArray) -> LogJoint:
        """Evaluate the log posterior of a state, up to a constant; for conjugate families.

        Parameters
        ----------
        row_labels : ndarray of shape (n_rows,)
            Label of each internal row.
        match : ndarray of shape (n_rows,)
            Anchor of each internal row.

        Returns
        -------
        LogJoint
            Log likelihood, log prior of the partition and log energy.
        """
        n_anchors = self.grouping.n_anchors
        log_likelihood = 0.0
        for label in np.unique(row_labels):
            members = row_labels == label
            log_likelihood += self.family.log_marginal(
                int(members.sum()), self.row_stats[members].sum(axis=0)
            )
        sizes = np.unique(row_labels[:n_anchors], return_counts=True)[1]
        log_energy = 0.0
        for row in range(n_anchors, self.grouping.n_rows):
            weight = self.energy_weight[self.grouping.group_of[row]]
            log_energy -= weight * self.distance.between(match[row], row)
        return LogJoint(log_likelihood, self.partition_prior.log_prob(sizes), log_energy)
