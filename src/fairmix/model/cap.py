r"""The cap: how unfair a draw may be at most, in whole numbers.

A cap cuts the prior to clusterings with a gap of at most ``max_gap`` and a balance of at least
``min_balance``. The clusterings of one *grouping* of the rows may be capped, or those of several,
such as by sex and by age. The groups of all groupings are the *columns* of a table of counts by
cluster; its last column counts all rows.

Every gap is a sum over clusters. With :math:`N_{cb}` rows of group b in cluster c, and a reference
r that b is compared with (the smallest group, or all rows), the *imbalance* of b is

.. math::
   I_b = \sum_c |n_r N_{cb} - n_b N_{cr}|, \qquad d(b, r) = I_b / (2 n_r n_b),

a whole number, and so is the sum of all :math:`I_b` (or the largest of them), each times the weight
of its group. That is what is compared with a limit, so no rounding ever matters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairmix.model.feasible import largest_balance, largest_balance_of_two
from fairmix.tables.groups import Groups

IntArray = NDArray[np.int64]

#: Whole numbers are to stay below this, so that sums of them fit into 64 bits.
LARGEST_WHOLE = 2**61


class Cap(NamedTuple):
    """The limits that every draw obeys, as compiled code takes them.

    Attributes
    ----------
    columns : ndarray of shape (n_rows, n_groupings)
        Column of each internal row's group.
    first : ndarray of shape (n_groupings + 1,)
        First column of each grouping.
    sizes : ndarray of shape (n_columns + 1,)
        Rows of each column's group; the last entry is all rows.
    reference : ndarray of shape (n_columns,)
        Column that each is compared with.
    weight : ndarray of shape (n_columns,)
        Weight of a column's imbalance, 0 if it is not compared.
    largest : ndarray of shape (n_groupings,)
        The largest weighted imbalance that is allowed.
    takes_worst : ndarray of bool, shape (n_groupings,)
        Whether that is the largest of the columns', rather than their sum.
    gap_of_one : ndarray of shape (n_groupings,)
        The gap that a weighted imbalance of 1 is.
    balance_of : ndarray of shape (n_groupings, 3)
        A cluster lacks balance if ``p * largest + s > q * smallest`` of its counts: p, q and s.
    has_balance : bool
        Whether there is a limit on the balance.
    is_tight : bool
        Whether anything is ruled out.
    """

    columns: IntArray
    first: IntArray
    sizes: IntArray
    reference: IntArray
    weight: IntArray
    largest: IntArray
    takes_worst: NDArray[np.bool_]
    gap_of_one: NDArray[np.float64]
    balance_of: IntArray
    has_balance: bool
    is_tight: bool

    @property
    def n_columns(self) -> int:
        """Number of columns of a table of counts, the one of all rows included."""
        return len(self.sizes)

    def counts_of(self, labels: IntArray) -> IntArray:
        """Count the rows of each cluster and column.

        Parameters
        ----------
        labels : ndarray of shape (n_rows,)
            Codes of clusters of the internal rows.

        Returns
        -------
        ndarray of shape (n_clusters, n_columns)
            The counts.
        """
        counts = np.zeros((int(labels.max()) + 1, self.n_columns), dtype=np.int64)
        for columns in (*self.columns.T, np.full(len(labels), self.n_columns - 1)):
            np.add.at(counts, (labels, columns), 1)
        return counts

    def allows(self, counts: IntArray) -> bool:
        """Tell whether a clustering is inside: plain Python, what compiled code is tested against.

        Parameters
        ----------
        counts : ndarray of shape (n_clusters, n_columns)
            Rows of each cluster and column.

        Returns
        -------
        bool
            Whether it obeys all limits.
        """
        for grouping, (begin, end) in enumerate(zip(self.first, self.first[1:], strict=False)):
            total = 0
            for column in range(begin, end):
                other = self.reference[column]
                crossed = (
                    self.sizes[other] * counts[:, column] - self.sizes[column] * counts[:, other]
                )
                own = int(self.weight[column]) * int(np.abs(crossed).sum())
                total = max(total, own) if self.takes_worst[grouping] else total + own
            p, q, s = self.balance_of[grouping]
            smallest, most = counts[:, begin:end].min(axis=1), counts[:, begin:end].max(axis=1)
            lacks = (p * most + s > q * smallest) & (most > 0)
            if total > self.largest[grouping] or lacks.any():
                return False
        return True


def make_cap(
    groupings: Sequence[Groups],
    max_gap: Sequence[float | None] | float | None = None,
    min_balance: float | None = None,
    gap_kind: str = "paper",
) -> Cap:
    """Put a cap in whole numbers.

    Parameters
    ----------
    groupings : sequence of Groups
        Groups of the rows, in internal order; the smallest group of each comes first.
    max_gap : float, None or sequence of these, default=None
        The largest gap; for several groupings one for each.
    min_balance : float or None, default=None
        The least balance in every grouping.
    gap_kind : {"paper", "mean", "worst"}, default="paper"
        What the gap is.

    Returns
    -------
    Cap
        The cap.
    """
    n_rows = len(groupings[0].codes)
    sizes = [groups.counts for groups in groupings]
    first = np.concatenate([[0], np.cumsum([len(each) for each in sizes])])
    n_columns = int(first[-1])
    every_gap = max_gap if isinstance(max_gap, Sequence) else [max_gap] * len(groupings)
    reference = np.full(n_columns, n_columns)
    weight = np.zeros(n_columns, dtype=np.int64)
    largest, gap_of_one, balance_of = [], [], []
    least = 0.0 if min_balance is None else float(min_balance)
    is_tight = False
    for start, counts, gap in zip(first, sizes, every_gap, strict=False):
        compared, scale = _weigh(counts, gap_kind)
        weight[start : start + len(counts)] = compared
        if gap_kind == "paper":
            reference[start : start + len(counts)] = start
        limit = scale
        if gap is not None and len(counts) > 1:
            limit = min(math.floor(_upper(gap) * scale), scale)
        balance = _least_ratio(least, n_rows)
        largest.append(limit)
        gap_of_one.append(1.0 / scale)
        balance_of.append(balance)
        is_tight |= len(counts) > 1 and (limit < scale or least > 0.0)
    return Cap(
        columns=np.stack([s + g.codes for s, g in zip(first, groupings, strict=False)], axis=1),
        first=first.astype(np.int64),
        sizes=np.concatenate([*sizes, [n_rows]]).astype(np.int64),
        reference=reference.astype(np.int64),
        weight=weight,
        largest=np.array(largest, dtype=np.int64),
        takes_worst=np.full(len(groupings), gap_kind == "worst"),
        gap_of_one=np.array(gap_of_one),
        balance_of=np.array(balance_of, dtype=np.int64),
        has_balance=least > 0.0,
        is_tight=bool(is_tight),
    )


def no_cap(n_rows: int) -> Cap:
    """Give a cap that allows everything.

    Parameters
    ----------
    n_rows : int
        Number of rows.

    Returns
    -------
    Cap
        The cap.
    """
    return make_cap([Groups(["all"], np.zeros(n_rows, dtype=np.int64))])


def _weigh(sizes: IntArray, gap_kind: str) -> tuple[list[int], int]:
    """Give the weight of each group's imbalance, and the weighted sum that is a gap of 1.

    If the sizes have no common multiple that is small enough, weights are rounded up: what obeys
    the cap by them does obey it.
    """
    n_rows, counts = int(sizes.sum()), [int(size) for size in sizes]
    if len(counts) == 1:
        return [0], 1
    if gap_kind == "mean":
        return [1] * len(counts), 2 * n_rows * n_rows
    if gap_kind == "paper":
        of_reference, compared = 2 * counts[0] * (len(counts) - 1), counts[1:]
    else:
        of_reference, compared = 2 * n_rows, counts
    multiple = min(math.lcm(*compared), LARGEST_WHOLE // of_reference)
    weights = [-(-multiple // size) for size in compared]
    return [0] * (len(counts) - len(compared)) + weights, of_reference * multiple


def _upper(share: float) -> Fraction:
    """Give the largest number that is rounded to this one: a gap of 3/10 obeys a cap of 0.3."""
    value = float(share)
    return (Fraction(value) + Fraction(math.nextafter(value, 2.0))) / 2


def _least_ratio(share: float, n_rows: int) -> tuple[int, int, int]:
    """Give p, q and s: a ratio a/b of counts is at least the share if ``p * b + s <= q * a``."""
    value = Fraction(float(share))
    nearest = value.limit_denominator(n_rows)
    is_below = nearest < value and float(nearest) != float(share)  # and the next one is above
    return nearest.numerator, nearest.denominator, int(is_below)


def resolve_cap(
    groupings: Sequence[Groups],
    max_gap: Sequence[Any],
    min_balance: Any,
    gap_kind: str,
    smallest_gaps: Sequence[float],
) -> Cap:
    """Check the limits against the groups, and put them together.

    Parameters
    ----------
    groupings : sequence of Groups
        Groups of the rows, in internal order; the smallest group of each comes first.
    max_gap : sequence of float or None
        The largest gap of each grouping.
    min_balance : float or None
        The least balance.
    gap_kind : {"paper", "mean", "worst"}
        What the gap is.
    smallest_gaps : sequence of float
        The smallest gap that two clusters can have, in each grouping.

    Returns
    -------
    Cap
        The cap.
    """
    _check_share("min_balance", min_balance)
    for groups, gap, smallest in zip(groupings, max_gap, smallest_gaps, strict=True):
        _check_share("max_gap", gap)
        sizes = groups.counts
        if len(sizes) == 1:
            continue
        if gap is not None and smallest > _upper(gap):
            raise ValueError(
                f"max_gap = {gap!r} allows one cluster only: with groups of {_shown(sizes)} rows, "
                f"two clusters have a gap of at least {smallest:.6g}. Pass "
                f"max_gap={_round_up(smallest)} or more."
            )
        if min_balance is not None:
            _check_balance(min_balance, sizes)
    return make_cap(groupings, list(max_gap), min_balance, gap_kind)


def _check_balance(min_balance: float, sizes: IntArray) -> None:
    possible = largest_balance(sizes)
    if min_balance > possible:
        raise ValueError(
            f"min_balance = {min_balance!r} is more than any clustering has: with groups of "
            f"{_shown(sizes)} rows, the largest possible balance is {possible:.6g} (smallest "
            "group over largest)."
        )
    if min_balance > (possible := largest_balance_of_two(sizes)):
        raise ValueError(
            f"min_balance = {min_balance!r} allows one cluster only: with groups of "
            f"{_shown(sizes)} rows, two clusters have a balance of at most {possible:.6g}. "
            f"Pass min_balance={_round_down(possible)} or less."
        )


def _check_share(name: str, value: Any) -> None:
    if value is None:
        return
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name} must be None or a number from 0 to 1, got {value!r}.")
    number: Any = value
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must be None or a number from 0 to 1, got {value!r}.")


def _shown(sizes: IntArray) -> str:
    shown = [str(size) for size in sizes[:10]]
    return ", ".join(shown) + (", ..." if len(sizes) > 10 else "")


def _round_up(value: float) -> str:
    return np.format_float_positional(value * (1 + 1e-4), precision=5, fractional=False)


def _round_down(value: float) -> str:
    return np.format_float_positional(value * (1 - 1e-4), precision=5, fractional=False)
