r"""The cap: how unfair a draw may be, which caps are possible, and what is certain without one.

A cap cuts the prior to states with :math:`\Delta \le` ``max_gap`` and balance at least
``min_balance``. One cluster always has :math:`\Delta = 0` and the largest balance there is, so
every cap allows something; the functions here say when it allows nothing else.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairmix.matching import Grouping

FloatArray = NDArray[np.float64]

#: A gap or balance this close (relatively) to the cap is taken to obey it: rounding only.
SLACK = 1e-9


class Cap(NamedTuple):
    """The limits that every draw obeys.

    Parameters
    ----------
    max_gap : float, default=inf
        The largest fairness gap.
    min_balance : float, default=0.0
        The least balance.
    """

    max_gap: float = np.inf
    min_balance: float = 0.0

    @property
    def is_tight(self) -> bool:
        """Whether there is any limit."""
        return self.max_gap < np.inf or self.min_balance > 0

    def allows(self, gap: Any, balance: Any) -> Any:
        """Tell whether states are inside.

        Parameters
        ----------
        gap : float or ndarray
            Fairness gap of the states.
        balance : float or ndarray
            Their balance.

        Returns
        -------
        bool or ndarray of bool
            Whether they obey both limits.
        """
        return (gap <= self.largest_gap) & (balance >= self.least_balance)

    @property
    def largest_gap(self) -> float:
        """The largest gap, with room for rounding."""
        return self.max_gap * (1 + SLACK)

    @property
    def least_balance(self) -> float:
        """The least balance, with room for rounding."""
        return self.min_balance * (1 - SLACK)


def smallest_gap_of_two(grouping: Grouping) -> float:
    r"""Give the smallest gap that two clusters can have.

    It is :math:`\min_{1 \le a < n_0} \mathrm{mean}_b\, d(a r_b / n_0) / n_b`, where d is the
    distance to the nearest integer; for two groups 0 if their sizes have a common divisor, else
    :math:`1 / (n_0 n_1)`.

    Parameters
    ----------
    grouping : Grouping
        The groups.

    Returns
    -------
    float
        The gap.
    """
    n_anchors = grouping.n_anchors
    anchors = np.arange(1, n_anchors)
    gaps = np.zeros(len(anchors))
    for remainder, size in zip(grouping.remainder[1:], grouping.sizes[1:], strict=True):
        left = anchors * int(remainder) % n_anchors
        gaps += np.minimum(left, n_anchors - left) / (n_anchors * size)
    return float(gaps.min() / (grouping.n_groups - 1))


def largest_balance(grouping: Grouping) -> float:
    """Give the largest balance of any clustering: that of all rows in one cluster.

    Parameters
    ----------
    grouping : Grouping
        The groups.

    Returns
    -------
    float
        Size of the smallest group over that of the largest.
    """
    return float(grouping.sizes.min() / grouping.sizes.max())


def largest_balance_of_two(grouping: Grouping) -> float:
    """Give a bound on the balance that two clusters can have, from two of the groups.

    With a anchors and k rows of the largest group in one of the clusters, the worse of the two
    ratios is best if k is next to its proportional value. For two groups this is exact.

    Parameters
    ----------
    grouping : Grouping
        The groups.

    Returns
    -------
    float
        The bound.
    """
    small, large = grouping.n_anchors, int(grouping.sizes.max())
    anchors = np.arange(1, small)
    best = np.zeros(len(anchors))
    for rounded in (anchors * large // small, -(-anchors * large // small)):
        best = np.maximum(
            best, np.minimum(anchors / rounded, (small - anchors) / (large - rounded))
        )
    return float(best.max())


def certain_gap(grouping: Grouping, n_masked: NDArray[np.int64]) -> float:
    r"""Give a bound on the gap of every draw without a cap.

    It is :math:`\mathrm{mean}_b [m_b / n_b + r_b (n_0 - r_b) / (n_0 n_b)]`.

    Parameters
    ----------
    grouping : Grouping
        The groups.
    n_masked : ndarray of shape (n_groups,)
        Masked rows of each group.

    Returns
    -------
    float
        The bound, 0 with one group.
    """
    if grouping.n_groups == 1:
        return 0.0
    n_anchors, sizes = grouping.n_anchors, grouping.sizes[1:]
    remainder = grouping.remainder[1:]
    by_group = n_masked[1:] / sizes + remainder * (n_anchors - remainder) / (n_anchors * sizes)
    return float(np.mean(by_group))


def resolve_cap(max_gap: Any, min_balance: Any, grouping: Grouping) -> Cap:
    """Check the limits against the groups, and put them together.

    Parameters
    ----------
    max_gap, min_balance : float or None
        The estimator's parameters.
    grouping : Grouping
        The groups.

    Returns
    -------
    Cap
        The cap.
    """
    _check_share("max_gap", max_gap)
    _check_share("min_balance", min_balance)
    if grouping.n_groups == 1 or grouping.n_anchors == 1:
        return Cap()
    cap = Cap(
        np.inf if max_gap is None else float(max_gap),
        0.0 if min_balance is None else float(min_balance),
    )
    smallest = smallest_gap_of_two(grouping)
    if smallest > cap.largest_gap:
        raise ValueError(
            f"max_gap = {max_gap!r} allows one cluster only: with groups of "
            f"{_sizes(grouping)} rows, two clusters have a gap of at least {smallest:.6g}. "
            f"Pass max_gap={_round_up(smallest)} or more."
        )
    possible = largest_balance(grouping)
    if cap.least_balance > possible:
        raise ValueError(
            f"min_balance = {min_balance!r} is more than any clustering has: with groups of "
            f"{_sizes(grouping)} rows, the largest possible balance is {possible:.6g} (smallest "
            "group over largest)."
        )
    if cap.least_balance > (possible := largest_balance_of_two(grouping)):
        raise ValueError(
            f"min_balance = {min_balance!r} allows one cluster only: with groups of "
            f"{_sizes(grouping)} rows, two clusters have a balance of at most {possible:.6g}. "
            f"Pass min_balance={_round_down(possible)} or less."
        )
    return cap


def _check_share(name: str, value: Any) -> None:
    if value is None:
        return
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name} must be None or a number from 0 to 1, got {value!r}.")
    if not 0 <= float(value) <= 1:
        raise ValueError(f"{name} must be None or a number from 0 to 1, got {value!r}.")


def _sizes(grouping: Grouping) -> str:
    shown = [str(size) for size in grouping.sizes[:10]]
    return ", ".join(shown) + (", ..." if grouping.n_groups > 10 else "")


def _round_up(value: float) -> str:
    return np.format_float_positional(value * (1 + 1e-4), precision=5, fractional=False)


def _round_down(value: float) -> str:
    return np.format_float_positional(value * (1 - 1e-4), precision=5, fractional=False)
