r"""What a column is like on some rows, and how far a cluster is from the other rows.

A number has a mean, a standard deviation and quantiles. A category is looked at as columns of zeros
and ones, one for each level, whose means are the shares of the levels. So both have *means*, and
one measure of how far a cluster is from all other rows serves both: the **effect**, the difference
of the means in standard deviations of the column over all rows,

.. math::
   \frac{\bar x_c - \bar x_{-c}}{s} = \frac{\bar x_c - \bar x}{s} \cdot \frac{n}{n - n_c},
   \qquad s^2 = p (1 - p) \text{ for a level of share } p.

It is the same whether a column of two values is taken for a number or for a category, and it is
always finite, unlike a difference in standard deviations within clusters, which may be zero. Of a
category that level counts whose share differs most. Missing cells are left out.

A cluster in the middle of a column has no effect there, but little spread: of a number it is said
whether it is *medium* or *scattered* (:func:`word_of_spread`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from fairmix.tables.column_schema import ColumnSchema

FloatArray = NDArray[np.float64]

#: Which quantiles a number has.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
#: Digits that are kept, counted from the first one of the standard deviation: the others are what
#: going from the user's units into others and back has left.
DIGITS = 12
#: The least effect that a name tells of.
STRONG = 0.5
#: Standard deviations, by that of all rows, of a cluster in the middle, and of a scattered one; of
#: fewer cells than that, nothing is said.
NARROW, WIDE, FEW_CELLS = 0.4, 1.5, 5


@dataclass(frozen=True)
class Summary:
    """A column on some rows, in the user's own units.

    Attributes
    ----------
    n_present, n_missing : int
        Number of cells that are there, and that are not.
    means : tuple of float or None
        The mean of a number, or the share of each level of a category; None without any cell.
    sd : float or None
        (Population) standard deviation of a number.
    quantiles : tuple of float or None
        5 %, 25 %, 50 %, 75 % and 95 % quantiles of a number.
    """

    n_present: int
    n_missing: int
    means: tuple[float, ...] | None = None
    sd: float | None = None
    quantiles: tuple[float, ...] | None = None

    def spread(self, part: int = 0) -> float:
        """Give the standard deviation of a number, or of the indicator of a level."""
        if self.sd is not None:
            return self.sd
        if self.means is None:
            return 0.0
        share = self.means[part]
        return math.sqrt(share * (1.0 - share))


def summarise(values: FloatArray, column: ColumnSchema, overall: Summary | None = None) -> Summary:
    """Summarise a column on some rows.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Numbers in the user's units, or codes; NaN where missing.
    column : ColumnSchema
        The column.
    overall : Summary, optional
        The column on all rows, whose standard deviation says how many digits are kept.

    Returns
    -------
    Summary
        The summary.
    """
    present = values[~np.isnan(values)]
    n_present, n_missing = len(present), len(values) - len(present)
    if not n_present:
        return Summary(n_present, n_missing)
    if column.levels is not None:
        counts = np.bincount(present.astype(np.int64), minlength=len(column.levels))
        return Summary(n_present, n_missing, tuple((counts / n_present).tolist()))
    exponent = int(np.frexp(np.abs(present).max())[1])
    scaled = np.ldexp(present, -exponent)  # so that no sum overflows
    mean = scaled.mean()
    sd = math.sqrt(np.mean((scaled - mean) ** 2))
    spread = math.ldexp(sd, exponent) if overall is None else overall.spread()
    mean, sd, *quantiles = (
        round_by(math.ldexp(float(x), exponent), spread, DIGITS)
        for x in (mean, sd, *np.quantile(scaled, QUANTILES))
    )
    return Summary(n_present, n_missing, (mean,), sd, tuple(quantiles))


def round_by(number: float, spread: float, digits: int) -> float:
    """Round a number to so many digits, counted from the first one of a spread.

    Parameters
    ----------
    number : float
        The number.
    spread : float
        Something of the size of the differences that matter; with 0 nothing is rounded.
    digits : int
        Number of digits.

    Returns
    -------
    float
        The rounded number.
    """
    if not spread > 0:
        return number
    return round(number, digits - 1 - math.floor(math.log10(spread)))


def effects_of(summary: Summary, overall: Summary) -> tuple[float, ...] | None:
    """Give how far a cluster is from all other rows.

    Parameters
    ----------
    summary, overall : Summary
        The column in the cluster, and on all rows.

    Returns
    -------
    tuple of float or None
        The effect of a number, or of each level of a category; None if the cluster or all the
        other rows have no cell.
    """
    n_others = overall.n_present - summary.n_present
    if summary.means is None or overall.means is None or not n_others:
        return None
    effects = []
    for part, (mean, mean_of_all) in enumerate(zip(summary.means, overall.means, strict=True)):
        spread = overall.spread(part)
        ratio = (mean / spread - mean_of_all / spread) if spread > 0 else 0.0
        effects.append(ratio * (overall.n_present / n_others))
    return tuple(effects)


def word_of_spread(summary: Summary, overall: Summary, effect: float) -> str | None:
    """Say whether a cluster is set apart by how much a number spreads in it.

    Parameters
    ----------
    summary, overall : Summary
        The column in the cluster, and on all rows.
    effect : float
        The effect of the column.

    Returns
    -------
    str or None
        "medium" if the mean is near that of the other rows and the standard deviation small,
        "scattered" if that is large.
    """
    if summary.sd is None or overall.sd is None or summary.n_present < FEW_CELLS:
        return None
    if summary.sd >= WIDE * overall.sd:
        return "scattered"
    is_near = abs(effect) < STRONG
    return "medium" if is_near and summary.sd <= NARROW * overall.sd else None


def shares_above(values: FloatArray, labels: NDArray[np.int64]) -> list[float | None]:
    """Give how often a cell of each cluster is larger than one of the other rows.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Numbers; NaN where missing.
    labels : ndarray of shape (n_rows,)
        Cluster of each row, 0, 1, ...

    Returns
    -------
    list of float or None
        For each cluster the share of pairs, a tie counting half; None if there is no pair.
    """
    is_there = ~np.isnan(values)
    n_clusters = int(labels.max()) + 1
    counts = np.bincount(labels[is_there], minlength=n_clusters)
    ranks = np.bincount(labels[is_there], rankdata(values[is_there]), minlength=n_clusters)
    n_pairs = counts * (counts.sum() - counts)
    n_above = ranks - counts * (counts + 1) / 2
    return [
        float(above / pairs) if pairs else None
        for above, pairs in zip(n_above, n_pairs, strict=True)
    ]


def order_of_parts(effects: tuple[float, ...], overall: Summary) -> list[int]:
    """Order the levels of a category by how much their shares differ; a number has one part.

    Parameters
    ----------
    effects : tuple of float
        What :func:`effects_of` gave.
    overall : Summary
        The column on all rows.

    Returns
    -------
    list of int
        Places of the levels, that of the largest difference first; of two that differ as much,
        that which is more frequent in the cluster.
    """
    differences = [effect * overall.spread(part) for part, effect in enumerate(effects)]
    keys: list[Any] = [(-round(abs(each), DIGITS), -each) for each in differences]
    return sorted(range(len(effects)), key=keys.__getitem__)
