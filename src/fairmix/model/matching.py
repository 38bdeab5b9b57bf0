r"""The matching: who takes an extra follower, and the first map of a chain.

Group :math:`b` has :math:`n_b = \beta_b n_0 + r_b` rows. The map :math:`\mathbf T_b` sends
:math:`\beta_b` of them to every anchor and one more to each anchor in :math:`R_b`
(``extra``). Its prior is proportional to
:math:`e(\mathbf T_b) = \exp(-\sum_j D(X_{\mathbf T_b(j)}, X_j) / (n_b \tau))`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from fairmix.model.grouping import Grouping
from fairmix.model.medoids import k_medoids

IntArray = NDArray[np.int64]

#: Transport and medoids are solved in random blocks of this many rows, so that they stay linear.
BLOCK_SIZE = 1000


def choose_extra(
    extra: Any, grouping: Grouping, distance: Any, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Choose the anchors that take one follower more (the paper's R).

    Parameters
    ----------
    extra : {"random", "medoids"}, rows, or dict group -> rows
        Random anchors, the medoids of the anchors, or rows of X.
    grouping : Grouping
        The groups.
    distance : distance
        Distance between rows, for the medoids.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of bool, shape (n_groups, n_anchors)
        Whether an anchor takes an extra follower of a group.
    """
    chosen = np.zeros((grouping.n_groups, grouping.n_anchors), dtype=bool)
    given = None if isinstance(extra, str) else _extra_by_group(extra, grouping)
    for group in range(1, grouping.n_groups):
        remainder = int(grouping.remainder[group])
        if given is not None:
            chosen[group, _given_anchors(given, group, grouping)] = True
        elif extra == "random":
            chosen[group, rng.choice(grouping.n_anchors, remainder, replace=False)] = True
        elif extra == "medoids":
            chosen[group, _medoids(distance, grouping.n_anchors, remainder, rng)] = True
        else:
            raise ValueError(
                f"extra must be 'auto', 'random', 'medoids', 'free' or rows of X (0-based; for "
                f"several follower groups a dict group -> rows), got {extra!r}."
            )
    return chosen


def _extra_by_group(extra: Any, grouping: Grouping) -> Mapping[Any, Any]:
    """Normalise rows or a dict of rows to a dict by group name."""
    if isinstance(extra, Mapping):
        unknown = [name for name in extra if name not in grouping.names[1:]]
        if unknown:
            raise ValueError(
                f"extra names {unknown[0]!r}, which is not a follower group; "
                f"the follower groups are {list(grouping.names[1:])}."
            )
        return extra
    if grouping.n_groups != 2:
        raise ValueError(
            f"extra = {extra!r}: with {grouping.n_groups - 1} follower groups, pass a dict "
            f"group -> rows with the keys {list(grouping.names[1:])}."
        )
    return {grouping.names[1]: extra}


def _given_anchors(given: Mapping[Any, Any], group: int, grouping: Grouping) -> IntArray:
    """Check the rows that the user gives for a group; give them as anchors."""
    name, remainder = grouping.names[group], int(grouping.remainder[group])
    rows = np.asarray(given.get(name, ()))
    if rows.size == 0:
        rows = rows.astype(np.int64)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise TypeError(f"extra must hold row numbers (0-based integers), got {given[name]!r}.")
    if len(np.unique(rows)) != remainder or len(rows) != remainder:
        raise ValueError(
            f"extra must name {remainder} different rows for group {name!r} "
            f"({grouping.sizes[group]} rows = {grouping.multiplicity[group]} x "
            f"{grouping.n_anchors} + {remainder}), got {rows.tolist()}."
        )
    anchor_of_row = np.full(grouping.n_rows, -1)
    anchor_of_row[grouping.order[: grouping.n_anchors]] = np.arange(grouping.n_anchors)
    inside = (rows >= 0) & (rows < grouping.n_rows)
    anchors = np.where(inside, anchor_of_row[np.where(inside, rows, 0)], -1)
    if (anchors < 0).any():
        raise ValueError(
            f"extra = {rows.tolist()}: row {rows[anchors < 0][0]} is not in the smallest group "
            f"{grouping.names[0]!r}; extra followers go to rows of that group."
        )
    return anchors


def _medoids(distance: Any, n_anchors: int, n_medoids: int, rng: np.random.Generator) -> IntArray:
    """Give medoids of the anchors, found in random blocks that each get their share."""
    blocks = np.array_split(rng.permutation(n_anchors), -(-n_anchors // BLOCK_SIZE))
    ends = np.cumsum([0, *(len(block) for block in blocks)])
    shares = np.diff(n_medoids * ends // n_anchors)
    found = [
        block[k_medoids(distance.matrix(block, block), int(share), rng)]
        for block, share in zip(blocks, shares, strict=True)
    ]
    return np.concatenate(found)


def initial_match(
    method: str,
    grouping: Grouping,
    extra: NDArray[np.bool_],
    distance: Any,
    rng: np.random.Generator,
) -> IntArray:
    """Make a chain's first matching map.

    Parameters
    ----------
    method : {"transport", "random"}
        Least total distance (in random blocks if there are many rows), or at random.
    grouping : Grouping
        The groups.
    extra : ndarray of bool, shape (n_groups, n_anchors)
        Anchors that take an extra follower.
    distance : distance
        Distance between rows.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape (n_rows,)
        The anchor of each internal row; anchors have themselves.
    """
    match = np.arange(grouping.n_rows)
    for group in range(1, grouping.n_groups):
        capacity = grouping.multiplicity[group] + extra[group]
        seats = rng.permutation(np.repeat(np.arange(grouping.n_anchors), capacity))
        rows = grouping.rows_of(group)
        if method == "transport":
            n_blocks = -(-len(rows) // BLOCK_SIZE)
            shuffled = rng.permutation(rows)
            for block_rows, block_seats in zip(
                np.array_split(shuffled, n_blocks), np.array_split(seats, n_blocks), strict=True
            ):
                costs = distance.matrix(block_rows, block_seats)
                chosen_rows, chosen_seats = linear_sum_assignment(costs)
                match[block_rows[chosen_rows]] = block_seats[chosen_seats]
        else:
            match[rows] = seats
    return match
