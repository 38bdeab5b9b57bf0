r"""Fairlets by a quadtree: small sets in which two groups are balanced (Backurs et al. 2019).

A set with :math:`r` rows of one group and :math:`b` of the other is *(p, q)-balanced* if it
is empty or :math:`\min(r/b, b/r) \ge p/q`. All rows are cut into balanced *fairlets* of at most
p + q rows. Rows are put into cells of a grid with a random shift, whose side halves from level to
level. From the top on, each cell's children give up as few rows as possible such that what is left
in every child is balanced and so is what was given up (the *heavy* rows). Heavy rows become
fairlets at this level, where they are no further apart than the cell is wide; the children
go on with the rest. Time is near-linear in rows.
"""

from __future__ import annotations

from math import gcd

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: Cells are halved so many times at most; rows that are together then are as good as equal.
MAX_LEVELS = 40
#: The fraction p / q is chosen with a denominator of at most this.
LARGEST_Q = 20


def choose_ratio(n_small: int, n_large: int, n_fairlets: int = 1) -> tuple[int, int]:
    """Choose p and q: the tightest balance that the data has, with a small denominator.

    Parameters
    ----------
    n_small, n_large : int
        Rows of the smaller and of the larger group.
    n_fairlets : int, default=1
        How many fairlets there should be, at least about.

    Returns
    -------
    p, q : int
        The largest fraction up to ``n_small / n_large`` with ``q`` at most 20 and small enough for
        so many fairlets (or, if there is none, with p = 1).
    """
    largest_q = min(LARGEST_Q, n_large // n_fairlets)
    if n_large > largest_q * n_small:
        return 1, -(-n_large // n_small)
    fractions = [(q * n_small // n_large, q) for q in range(1, largest_q + 1)]
    p, q = max(fractions, key=lambda fraction: (fraction[0] / fraction[1], -fraction[1]))
    return p, q


def is_balanced(n_red: int, n_blue: int, p: int, q: int) -> bool:
    """Tell whether so many rows of two groups are (p, q)-balanced."""
    return q * n_red >= p * n_blue and q * n_blue >= p * n_red


def decompose(
    points: FloatArray, is_red: NDArray[np.bool_], p: int, q: int, rng: np.random.Generator
) -> IntArray:
    """Cut rows into (p, q)-fairlets.

    Parameters
    ----------
    points : ndarray of shape (n_rows, n_columns)
        The rows.
    is_red : ndarray of bool, shape (n_rows,)
        Which rows are in the first of the two groups.
    p, q : int
        The balance, p <= q; all rows together must have it.
    rng : numpy.random.Generator
        Source of the random shift.

    Returns
    -------
    ndarray of shape (n_rows,)
        Fairlet of each row, numbered from 0.
    """
    divisor = gcd(p, q)
    p, q = p // divisor, q // divisor
    if not is_balanced(int(is_red.sum()), int((~is_red).sum()), p, q):
        raise ValueError(f"rows are not ({p}, {q})-balanced")
    cells = _cells_of_levels(points, rng)
    order = np.lexsort(cells[::-1])  # by the first level, then by the second, ...
    cutter = _Cutter([level[order] for level in cells], is_red[order], p, q)
    cutter.cut(np.arange(len(points)))
    fairlet_of = np.empty(len(points), dtype=np.int64)
    for number, members in enumerate(cutter.fairlets):
        fairlet_of[order[members]] = number
    return fairlet_of


def _cells_of_levels(points: FloatArray, rng: np.random.Generator) -> list[IntArray]:
    """Give the child cell that each row is in, level by level, of a grid with a random shift."""
    low = points.min(axis=0)
    width = max(float((points.max(axis=0) - low).max()), np.finfo(float).tiny)
    # The grid's cube is twice as wide as the data, and shifted by up to that.
    place = (points - low) / (2 * width) + rng.random(points.shape[1]) / 2
    levels = []
    together = np.zeros(len(points), dtype=np.int64)
    for _ in range(MAX_LEVELS):
        place = place * 2
        bits = (place >= 1).astype(np.int8)
        place -= bits
        if points.shape[1] <= 62:
            child = bits @ (1 << np.arange(points.shape[1], dtype=np.int64))
        else:
            child = np.unique(bits, axis=0, return_inverse=True)[1].reshape(-1)
        levels.append(child)
        # Rows that were together and have the same child are together still.
        cells = np.unique(np.stack([together, child], axis=1), axis=0, return_inverse=True)[1]
        together = cells.reshape(-1)
        if together.max() == len(points) - 1:
            break
    return levels


class _Cutter:
    """Cut rows, which are sorted by cell, into fairlets."""

    def __init__(self, levels: list[IntArray], is_red: NDArray[np.bool_], p: int, q: int) -> None:
        self.levels = levels
        self.is_red = is_red
        self.p, self.q = p, q
        self.fairlets: list[IntArray] = []

    def cut(self, rows: IntArray) -> None:
        """Cut a balanced set, and the cells below it one after the other."""
        waiting = [(rows, 0)]
        while waiting:
            rows, level = waiting.pop()
            children: list[IntArray] = []
            while len(children) < 2 and level < len(self.levels):
                child = self.levels[level][rows]
                children = np.split(rows, np.flatnonzero(np.diff(child)) + 1)
                level += 1
            n_red = int(self.is_red[rows].sum())
            if len(children) < 2 or n_red in (1, len(rows) - 1):
                self._make_fairlets(rows)
                continue
            heavy, rests = self._give_up(children)
            if len(heavy):
                self._make_fairlets(heavy)
            waiting.extend((rest, level) for rest in rests if len(rest))

    def _give_up(self, children: list[IntArray]) -> tuple[IntArray, list[IntArray]]:
        """Let each child give up rows; give those, and what is left of each child."""
        red = np.array([self.is_red[child].sum() for child in children])
        blue = np.array([len(child) for child in children]) - red
        kept_red, kept_blue = fewest_heavy(red, blue, self.p, self.q)
        heavy, rests = [], []
        for child, keep_red, keep_blue in zip(children, kept_red, kept_blue, strict=True):
            stays = self._choose_rest(child, int(keep_red), int(keep_blue))
            heavy.append(child[~stays])
            rests.append(child[stays])
        return np.concatenate(heavy), rests

    def _choose_rest(self, child: IntArray, n_red: int, n_blue: int) -> NDArray[np.bool_]:
        """Choose who stays: rows that have rows of the other group near them in the grid."""
        is_red = self.is_red[child]
        stays = np.ones(len(child), dtype=bool)
        for colour, n_kept in ((True, n_red), (False, n_blue)):
            own = np.flatnonzero(is_red == colour)
            others = np.flatnonzero(is_red != colour)
            if n_kept == len(own):
                continue
            stays[own] = False
            if n_kept:
                after = np.searchsorted(others, own)
                padded = np.concatenate([[-len(child)], others, [2 * len(child)]])
                distance = np.minimum(own - padded[after], padded[after + 1] - own)
                stays[own[np.argsort(distance, kind="stable")[:n_kept]]] = True
        return stays

    def _make_fairlets(self, rows: IntArray) -> None:
        """Cut a balanced set into fairlets of neighbours in the grid's order."""
        is_red = self.is_red[rows]
        reds, blues = rows[is_red], rows[~is_red]
        few, many = (reds, blues) if len(reds) <= len(blues) else (blues, reds)
        first, second = 0, 0
        for n_few, n_many in fairlet_sizes(len(few), len(many), self.p, self.q):
            self.fairlets.append(
                np.concatenate([few[first : first + n_few], many[second : second + n_many]])
            )
            first, second = first + n_few, second + n_many


def fairlet_sizes(n_few: int, n_many: int, p: int, q: int) -> list[tuple[int, int]]:
    r"""Give the make-up of small fairlets that a balanced set can be cut into.

    What is left must stay balanced: of the set's slack :math:`q r - p b \ge 0` a fairlet uses its
    own, so the smallest fairlet whose slack the set can afford comes next. One
    with p and q rows uses none, so there always is one.

    Parameters
    ----------
    n_few, n_many : int
        Rows of the group that has fewer, and of the other.
    p, q : int
        The balance, without a common divisor.

    Returns
    -------
    list of tuple
        Rows of both groups in each fairlet.
    """
    sizes = []
    while n_few > 0:
        slack = q * n_few - p * n_many
        for size in range(1, min(p, n_few) + 1):
            if size == n_few:
                partners = n_many
                break
            partners = min(q * size // p, -(-n_many * size // n_few))
            if 0 <= q * size - p * partners <= slack:
                break
        sizes.append((size, partners))
        n_few, n_many = n_few - size, n_many - partners
    return sizes


def fewest_heavy(red: IntArray, blue: IntArray, p: int, q: int) -> tuple[IntArray, IntArray]:
    """Choose how many rows each child keeps; it and what all give up must be balanced.

    Parameters
    ----------
    red, blue : ndarray of shape (n_children,)
        Rows of both groups in each child; balanced in all.
    p, q : int
        The balance.

    Returns
    -------
    kept_red, kept_blue : ndarray of shape (n_children,)
        Rows that each child keeps.
    """
    kept_red = np.minimum(red, blue * q // p)
    kept_blue = np.minimum(blue, red * q // p)
    given_red, given_blue = int((red - kept_red).sum()), int((blue - kept_blue).sum())
    if p * given_blue > q * given_red:  # reds are wanted
        _ask_for_more(kept_red, kept_blue, p * given_blue - q * given_red, p, q)
    elif p * given_red > q * given_blue:
        _ask_for_more(kept_blue, kept_red, p * given_red - q * given_blue, p, q)
    return kept_red, kept_blue


def _ask_for_more(wanted: IntArray, other: IntArray, deficit: int, p: int, q: int) -> None:
    """Let children give up wanted rows (in place) until the deficit p b - q r is gone."""
    spare = wanted - -(-other * p // q)  # these can go alone
    for child in np.argsort(-spare, kind="stable"):
        taken = min(int(spare[child]), -(-deficit // q))
        if taken <= 0:
            break
        wanted[child] -= taken
        deficit -= q * taken
    while deficit > 0:
        # Now others must go along. How much do so many wanted rows of a child bring, and at what
        # price? The pattern repeats after p of them.
        going = np.minimum(np.arange(1, p + 1)[:, None], wanted)
        along = np.maximum(other - (wanted - going) * q // p, 0)
        gain = q * going - p * along
        rate = np.where(gain > 0, gain / np.maximum(going + along, 1), 0.0)
        row, child = np.unravel_index(np.argmax(rate), rate.shape)
        wanted[child] -= going[row, child]
        other[child] -= along[row, child]
        deficit -= int(gain[row, child])
