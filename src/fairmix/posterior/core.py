r"""A sure core: many rows whose clusters are probably these, all at once.

After Dahl et al. (CHiPS, 2025). Any one row may be sure of its place while hardly any
draw has all rows in their places. For a set of rows :math:`S` and a partition :math:`c` of it, the
joint probability is

.. math::
   P(c_S) = \frac1M \sum_m 1[\text{draw } m \text{, restricted to } S \text{, is } c_S],

which falls as rows are added. Wanted is a largest set with :math:`P(c_S) \ge p`. To find one for
certain would mean trying all subsets. Here rows are added one at a time, each time the row and the
place for it (a cluster of the core, or a new one) that most of the draws agree with that agree with
the core so far. That is *greedy*: the set may be smaller than the largest one. What is *exact*: its
joint probability is the share of draws, counted; and no row can be added without falling below
:math:`p`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairmix.posterior.matched import count_shared, match_clusters
from fairmix.posterior.thinning import MAX_COMPARISONS, choose_step
from fairmix.tables.checks import check_probability

if TYPE_CHECKING:  # it has this as a method
    from fairmix.posterior.posterior import Posterior

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: A label is looked at about so often while a core grows.
LOOKS = 20
#: Cores are grown from so many first rows, fewer if there is much to look at.
MAX_STARTS = 10
#: A probability is reached if it is missed by less.
ROUNDING = 1e-9


@dataclass(frozen=True, repr=False)
class SureCore:
    """Rows whose joint allocation is probable, and how near to them all rows are.

    Attributes
    ----------
    rows : ndarray of shape (n_core,)
        The rows of the core, in growing order.
    labels : ndarray of shape (n_core,)
        Their clusters, numbered as in the estimate of least expected variation of information;
        a part of the core that is none of these has a number of its own, past the last.
    probability : float
        Share of draws that, restricted to these rows, are this partition.
    n_draws : int
        Of so many draws; fewer than all only if the rows are many.
    row_probabilities : ndarray of shape (n_rows,)
        For every row of the table the probability of being with the core of its own cluster: the
        mean, over draws, of the share of those core rows that it is together with. NaN if no row
        of its cluster is in the core.
    """

    rows: IntArray
    labels: IntArray
    probability: float
    n_draws: int
    row_probabilities: FloatArray

    def __repr__(self) -> str:
        return (
            f"<SureCore: {len(self.rows):,} of {len(self.row_probabilities):,} rows in "
            f"{len(np.unique(self.labels))} clusters, all at once in {self.probability:.0%} of "
            f"{self.n_draws:,} draws>"
        )


def find_core(posterior: Posterior, probability: float = 0.5) -> SureCore:
    """Find many rows whose joint allocation has at least some probability.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    probability : float, default=0.5
        The least joint probability.

    Returns
    -------
    SureCore
        The rows, their clusters and the probability.
    """
    probability = check_probability("probability", probability)
    shape = posterior.labels.shape
    draws = posterior.labels[:, :: choose_step(shape, LOOKS)].reshape(-1, shape[2])
    n_needed = max(math.ceil(probability * len(draws) - ROUNDING), 1)
    estimate = posterior.point_estimate().labels
    sureness = posterior.probabilities(estimate)[np.arange(shape[2]), estimate]
    order = np.argsort(-sureness, kind="stable")
    ordered = np.ascontiguousarray(draws[:, order])
    # The surest row of each cluster first, then the surest of the rest.
    firsts = np.unique(estimate[order], return_index=True)[1]
    starts = np.concatenate([firsts, np.setdiff1d(np.arange(shape[2]), firsts)])
    n_starts = int(MAX_COMPARISONS / (LOOKS * draws.size))
    cores = [
        _grow(ordered, int(start), n_needed)
        for start in starts[: min(max(n_starts, 1), MAX_STARTS)]
    ]
    core = max(cores, key=lambda each: (each.is_in.sum(), each.is_alive.sum()))
    in_core = np.sort(order[core.is_in])
    grown = np.empty(shape[2], dtype=np.int64)
    grown[order] = core.place
    labels = grown[in_core] - 1
    matched = match_clusters(labels, estimate[in_core])
    is_alone = matched < 0
    matched[is_alone] = estimate.max() + 1 + np.arange(is_alone.sum())
    labels = matched[labels]
    own = estimate.copy()
    own[in_core] = labels
    return SureCore(
        rows=in_core,
        labels=labels,
        probability=float(core.is_alive.mean()),
        n_draws=len(draws),
        row_probabilities=_togetherness(draws, in_core, labels, own),
    )


@dataclass
class _Growing:
    """A core that grows; places are 0 for apart from it, and 1, 2, ... for its clusters.

    Attributes
    ----------
    draws : ndarray of shape (n_draws, n_rows)
        The draws.
    counts : ndarray of shape (n_rows, n_places)
        In how many of the draws that agree with the core each row has each place.
    place_of : ndarray of shape (n_draws, n_clusters)
        Place of each cluster of each draw.
    is_alive : ndarray of shape (n_draws,)
        Draws that agree with the core.
    is_in : ndarray of shape (n_rows,)
        Rows of the core.
    place : ndarray of shape (n_rows,)
        Their places.
    """

    draws: NDArray[Any]
    counts: IntArray
    place_of: IntArray
    is_alive: NDArray[np.bool_]
    is_in: NDArray[np.bool_]
    place: IntArray

    @property
    def n_alive(self) -> int:
        """How many draws agree with the core."""
        return int(self.is_alive.sum())

    def add_free(self) -> None:
        """Add the rows that all agreeing draws have in the same of the core's clusters."""
        is_free = ~self.is_in[:, None] & (self.counts[:, 1:] == self.n_alive)
        rows, clusters = np.nonzero(is_free)
        self.is_in[rows] = True
        self.place[rows] = clusters + 1

    def add(self, row: int, place: int) -> None:
        """Add a row at a place; draws that have it elsewhere do not agree any more."""
        agrees = self.place_of[np.arange(len(self.draws)), self.draws[:, row]] == place
        every_row = np.arange(len(self.is_in))
        for draw in np.flatnonzero(self.is_alive & ~agrees):
            self.counts[every_row, self.place_of[draw, self.draws[draw]]] -= 1
        self.is_alive &= agrees
        if place == 0:
            place = self._open(row)
        self.is_in[row] = True
        self.place[row] = place

    def _open(self, row: int) -> int:
        """Open a cluster with a row; where its companions were apart, they are in it."""
        opened = self.counts.shape[1]
        together = np.zeros(len(self.is_in), dtype=self.counts.dtype)
        for draw in np.flatnonzero(self.is_alive):
            cluster = self.draws[draw, row]
            together += self.draws[draw] == cluster
            self.place_of[draw, cluster] = opened
        self.counts[:, 0] -= together
        self.counts = np.column_stack([self.counts, together])
        return opened


def _grow(draws: NDArray[Any], start: int, n_needed: int) -> _Growing:
    """Grow a core from a row for as long as enough draws agree; rows are in order of preference."""
    n_draws, n_rows = draws.shape
    core = _Growing(
        draws,
        np.full((n_rows, 1), n_draws, dtype=np.int64),
        np.zeros((n_draws, int(draws.max()) + 1), dtype=np.int64),
        np.ones(n_draws, dtype=bool),
        np.zeros(n_rows, dtype=bool),
        np.zeros(n_rows, dtype=np.int64),
    )
    core.add(start, 0)
    while True:
        core.add_free()
        counts = np.where(core.is_in[:, None], -1, core.counts)
        row, place = divmod(int(np.argmax(counts)), counts.shape[1])
        if counts[row, place] < n_needed:  # or no row is left
            return core
        core.add(row, place)


def _togetherness(
    draws: NDArray[Any], rows: IntArray, labels: IntArray, own: IntArray
) -> FloatArray:
    """Give the mean share of the core rows of its cluster that each row is together with."""
    n_labels = int(max(labels.max(), own.max())) + 1
    sizes = np.bincount(labels, minlength=n_labels)
    sums = np.zeros(len(own))
    for draw in draws:
        shared = np.zeros((int(draw.max()) + 1, n_labels))
        counted = count_shared(draw[rows], labels)
        shared[: counted.shape[0], : counted.shape[1]] = counted
        sums += shared[draw, own]
    n_core = sizes[own] * float(len(draws))
    return np.divide(sums, n_core, out=np.full_like(sums, np.nan), where=n_core > 0)
