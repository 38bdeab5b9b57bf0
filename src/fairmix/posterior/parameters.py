r"""What the draws say about the mean of each column in each cluster: posterior mean and interval.

The clusters of every draw are matched to those of a reference partition, so that numbers do not
switch. A draw *has* a cluster of the reference if the partner shares more than half of the rows
that are in either of the two; others would tell of another cluster. For each draw that has it, the
mean :math:`\mu` of the column in the cluster is drawn given the partner's rows, so that the
spread of these means has both parts of what is not known: which rows belong, and the mean given
these. With :math:`n` cells of mean :math:`\bar x` and sum of squared deviations :math:`S`, in the
family's units, :math:`D = S + \frac{n}{n + 1} \bar x^2` and hyperparameters as in
:mod:`fairmix.families`,

============== ====================================================================================
Gaussian       :math:`N(\frac{n}{n+1} \bar x, \frac{1}{(n+1)\lambda})`,
               :math:`\lambda \sim \mathrm{Gamma}(a + \frac n2, b + \frac12 D)`
spherical      likewise, with :math:`n` and :math:`D` added up over its columns
full           likewise, :math:`\lambda \sim \mathrm{Gamma}(\frac{a + 2 + n}{2}, \frac{b + D}{2})`
Poisson        :math:`\mathrm{Gamma}(a + n \bar x, b + n)`
exponential    :math:`1 / \theta`, :math:`\theta \sim \mathrm{Gamma}(a + n, b + n \bar x)`
categories     :math:`\mathrm{Dirichlet}(\alpha + n_1, \dots, \alpha + n_L)`, Bernoulli likewise
============== ====================================================================================

is the posterior of that mean under the model. For any other family (Student's t, skew-normal,
tied, your own) it is normal with the mean and the standard error of the rows,
:math:`N(\bar x, S / (n (n + 1)))`, and Dirichlet with weights :math:`1 + n_l` for categories.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.families import (
    Bernoulli,
    Categorical,
    Exponential,
    Gaussian,
    GaussianFull,
    GaussianSpherical,
    Poisson,
    Product,
    prepare,
)
from fairmix.posterior.matched import match_clusters
from fairmix.posterior.training import Training

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: So many draws are looked at, thinned evenly over all chains ...
MAX_DRAWS = 500
#: ... and fewer, but not fewer than these, if there are many cells: about so many look-ups.
MIN_DRAWS, MAX_CELLS = 50, 2e8
#: What an interval leaves out at either side.
TAIL = 0.05


@dataclass(frozen=True)
class Estimate:
    """What the draws say about one number.

    Attributes
    ----------
    mean : float
        Posterior mean.
    low, high : float
        Ends of the 90 % interval.
    """

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Moments:
    """Cells of a number in the clusters of all draws: arrays of shape (n_draws, n_clusters).

    Attributes
    ----------
    counts, means, squares : ndarray
        Number of cells, their mean, and the sum of squared deviations from it.
    """

    counts: FloatArray
    means: FloatArray
    squares: FloatArray

    @property
    def deviations(self) -> FloatArray:
        """The sum of squares about a prior mean of 0 that weighs as much as one cell."""
        return self.squares + self.counts / (self.counts + 1.0) * self.means**2


def families_of(family: Any, n_columns: int) -> tuple[Any, ...]:
    """Give the family of each column.

    Parameters
    ----------
    family : family
        One for all columns, or a ``Product``.
    n_columns : int
        Number of columns.

    Returns
    -------
    tuple of family
        The families.
    """
    return family.families if isinstance(family, Product) else (family,) * n_columns


def has_known_posterior(family: Any) -> bool:
    """Tell whether means are drawn from the posterior of this family, not from a normal one."""
    return type(family) in (*MEANS, GaussianSpherical, Bernoulli, Categorical)


def estimate_means(
    training: Training, labels: NDArray[Any], reference: IntArray
) -> tuple[list[list[tuple[Estimate, ...] | None]], FloatArray, int]:
    """Estimate the mean of each column in each cluster of a reference partition.

    Parameters
    ----------
    training : Training
        The table.
    labels : ndarray of shape (n_chains, n_draws, n_rows)
        The draws.
    reference : ndarray of shape (n_rows,)
        Cluster of each row, 0, 1, ..., in the reference partition.

    Returns
    -------
    estimates : list of list of tuple or None
        For each column and cluster, in the user's units, one estimate of a number and one of each
        level of a category; None where no draw has a cell.
    shares : ndarray of shape (n_clusters,)
        Share of the draws that have each cluster.
    n_used : int
        Number of draws that were looked at.
    """
    rows = training.table.rows
    n_clusters = int(reference.max()) + 1
    cells = [
        _Cells(rows[:, k], None if column.levels is None else len(column.levels))
        for k, column in enumerate(training.schema.kept)
    ]
    n_sums = n_clusters * sum(each.width for each in cells)  # of a draw; all are kept
    used = choose_draws(labels.shape[0] * labels.shape[1], max(rows.size, 10 * n_sums))
    sums = [np.empty((len(used), n_clusters, each.width)) for each in cells]
    has_cluster = np.empty((len(used), n_clusters), dtype=bool)
    for draw, place in enumerate(used):
        own = labels[divmod(place, labels.shape[1])]
        home, has_cluster[draw] = bring_home(own, reference)
        for of_column, each in zip(sums, cells, strict=True):
            of_column[draw] = each.add_up(home + 1, n_clusters + 1)[1:]  # the first has no partner
    centres = [each.centre for each in cells]
    means = _draw_means(training, sums, centres, np.random.default_rng(0))  # always the same
    estimates = [
        [_estimate(of_column[has_cluster[:, c], c]) for c in range(n_clusters)]
        for of_column in means
    ]
    return estimates, has_cluster.mean(axis=0), len(used)


def choose_draws(n_draws: int, n_cells: int) -> list[int]:
    """Choose the draws that are looked at, evenly over all chains.

    Parameters
    ----------
    n_draws : int
        Number of draws of all chains together.
    n_cells : int
        Number of cells to look up in each.

    Returns
    -------
    list of int
        Their places.
    """
    most = min(MAX_DRAWS, max(MIN_DRAWS, int(MAX_CELLS / n_cells)))
    return np.unique(np.linspace(0, n_draws - 1, min(n_draws, most)).round().astype(int)).tolist()


def bring_home(labels: NDArray[Any], reference: IntArray) -> tuple[IntArray, NDArray[np.bool_]]:
    """Find the cluster of the reference that the cluster of each row is.

    Parameters
    ----------
    labels, reference : ndarray of shape (n_rows,)
        Labels 0, 1, ... of a draw and of the reference.

    Returns
    -------
    home : ndarray of shape (n_rows,)
        The partner of the row's cluster in the draw, -1 if it has none.
    has_cluster : ndarray of bool, shape (n_clusters of the reference,)
        Whether the draw has each cluster: more than half of the rows that are in the cluster or
        in its partner are in both.
    """
    n_clusters = int(reference.max()) + 1
    home = match_clusters(labels, reference)[labels]
    shared = np.bincount(reference[home == reference], minlength=n_clusters)
    either = np.bincount(reference, minlength=n_clusters) - shared
    either += np.bincount(home[home >= 0], minlength=n_clusters)
    return home, 2 * shared > either


class _Cells:
    """The cells of a column, ready to be added up again and again."""

    def __init__(self, values: FloatArray, n_levels: int | None) -> None:
        missing = np.isnan(values)
        self.n_levels = n_levels
        self.centre = 0.0
        self.present = (~missing).astype(np.float64) if missing.any() else None
        if n_levels is None:
            self.centre = float(np.nanmean(values))
            self.values = np.where(missing, 0.0, values - self.centre)
        else:
            self.codes = np.where(missing, n_levels, values).astype(np.int64)

    @property
    def width(self) -> int:
        """Number of sums: moments of a number, or counts of the levels."""
        return 3 if self.n_levels is None else self.n_levels

    def add_up(self, places: IntArray, n_places: int) -> FloatArray:
        """Add up the cells at each place: count, sum and sum of squares, or counts of levels."""
        if self.n_levels is not None:
            width = self.n_levels + 1  # the last one is a missing cell
            counts = np.bincount(places * width + self.codes, minlength=n_places * width)
            return counts.reshape(n_places, width)[:, :-1].astype(np.float64)
        sums = np.empty((n_places, 3))
        sums[:, 0] = np.bincount(places, self.present, minlength=n_places)
        sums[:, 1] = np.bincount(places, self.values, minlength=n_places)
        sums[:, 2] = np.bincount(places, self.values**2, minlength=n_places)
        return sums


def _draw_means(
    training: Training, sums: list[FloatArray], centres: list[float], rng: np.random.Generator
) -> list[FloatArray]:
    """Draw the means of all columns, (n_draws, n_clusters, n_parts); NaN without a cell."""
    rows, columns = training.table.rows, training.schema.kept
    families = families_of(training.family, len(columns))
    moments = {
        k: _moments_of(sums[k], centres[k]) for k, each in enumerate(columns) if each.levels is None
    }
    means = []
    for k, (column, family) in enumerate(zip(columns, families, strict=True)):
        if column.levels is not None:
            alpha = family.alpha if isinstance(family, (Bernoulli, Categorical)) else 1.0
            means.append(_draw_shares(sums[k], alpha, rng))
            continue
        if isinstance(family, GaussianSpherical):  # one precision for all its columns
            block = [moments[j] for j, each in enumerate(families) if _are_same(each, family)]
            drawn = _spherical(family, moments[k], block, rng)
        elif type(family) in MEANS:
            prepared = prepare(family, np.ascontiguousarray(rows[:, [k]]))
            drawn = MEANS[type(family)](family, prepared, moments[k], rng)
        else:
            drawn = _near_normal(moments[k], rng)
        drawn = np.where(moments[k].counts > 0, drawn, np.nan)
        if column.units is not None and column.is_scaled:
            drawn = column.units.undo(drawn)
        means.append(drawn[..., None])
    return means


def _moments_of(sums: FloatArray, centre: float) -> Moments:
    """Turn sums about a centre into moments."""
    counts, totals, squares = np.moveaxis(sums, -1, 0)
    offset = totals / np.maximum(counts, 1.0)
    return Moments(counts, centre + offset, np.maximum(squares - totals * offset, 0.0))


def _are_same(family: Any, other: Any) -> bool:
    return type(family) is type(other) and family == other


def _draw_shares(counts: FloatArray, alpha: float, rng: np.random.Generator) -> FloatArray:
    """Draw from a Dirichlet posterior."""
    drawn = rng.standard_gamma(counts + alpha)
    total = drawn.sum(axis=-1, keepdims=True)
    is_known = (counts.sum(axis=-1, keepdims=True) > 0) & (total > 0)
    return np.where(is_known, drawn / np.where(total > 0, total, 1.0), np.nan)


def _about(moments: Moments, precision: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw a mean given the precision, a priori as if one cell of 0 had been seen."""
    weight = moments.counts + 1.0
    mean = moments.counts / weight * moments.means
    return mean + rng.standard_normal(mean.shape) / np.sqrt(weight * precision)


def _gaussian(family: Any, _: Any, moments: Moments, rng: np.random.Generator) -> FloatArray:
    drawn = rng.standard_gamma(family.shape + moments.counts / 2)
    return _about(moments, drawn / (family.rate + moments.deviations / 2), rng)


def _full(family: Any, _: Any, moments: Moments, rng: np.random.Generator) -> FloatArray:
    drawn = rng.standard_gamma((family.shape + 2.0 + moments.counts) / 2)
    return _about(moments, drawn / ((family.rate + moments.deviations) / 2), rng)


def _spherical(
    family: Any, moments: Moments, block: list[Moments], rng: np.random.Generator
) -> FloatArray:
    counts = np.sum([each.counts for each in block], axis=0)
    deviations = np.sum([each.deviations for each in block], axis=0)
    drawn = rng.standard_gamma(family.shape + counts / 2)
    return _about(moments, drawn / (family.rate + deviations / 2), rng)


def _poisson(family: Any, prepared: Any, moments: Moments, rng: np.random.Generator) -> FloatArray:
    drawn = rng.standard_gamma(family.shape + moments.counts * moments.means)
    return np.asarray(drawn / (prepared.rates[0] + moments.counts))


def _exponential(
    family: Any, prepared: Any, moments: Moments, rng: np.random.Generator
) -> FloatArray:
    drawn = rng.standard_gamma(family.shape + moments.counts)
    return np.asarray((prepared.rates[0] + moments.counts * moments.means) / drawn)


def _near_normal(moments: Moments, rng: np.random.Generator) -> FloatArray:
    counts = np.maximum(moments.counts, 1.0)
    error = np.sqrt(moments.squares / (counts * (counts + 1.0)))
    return np.asarray(moments.means + error * rng.standard_normal(error.shape))


def _estimate(drawn: FloatArray) -> tuple[Estimate, ...] | None:
    """Summarise draws of shape (n_draws, n_parts), those without a cell left out."""
    known = drawn[~np.isnan(drawn).any(axis=1)]
    if not len(known):
        return None
    lows, highs = np.quantile(known, [TAIL, 1.0 - TAIL], axis=0)
    parts = zip(known.mean(axis=0).tolist(), lows.tolist(), highs.tolist(), strict=True)
    return tuple(Estimate(*part) for part in parts)


#: How the mean of a column is drawn, by family; "spherical" looks at other columns, too.
MEANS: dict[type, Callable[[Any, Any, Moments, np.random.Generator], FloatArray]] = {
    Gaussian: _gaussian,
    GaussianFull: _full,
    Poisson: _poisson,
    Exponential: _exponential,
}
