r"""The groups: who is anchor and who follows, in which order.

Group :math:`b` has :math:`n_b = \beta_b n_0 + r_b` rows, group 0 (the anchors) the fewest.
Rows are numbered *internally*: anchors first, then the follower groups one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.tables.checks import check_integer, warn

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Grouping:
    """Who is anchor and who follows.

    Attributes
    ----------
    names : tuple
        Names of the groups, the anchor group first, then in sorted order.
    order : ndarray of shape (n_rows,)
        The user's row at each internal place.
    group_start : ndarray of shape (n_groups + 1,)
        Where each group starts among the internal rows.
    """

    names: tuple[Any, ...]
    order: IntArray
    group_start: IntArray

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.order)

    @property
    def n_groups(self) -> int:
        """Number of groups, the anchor group included."""
        return len(self.names)

    @property
    def sizes(self) -> IntArray:
        """Number of rows of each group."""
        return np.diff(self.group_start)

    @property
    def n_anchors(self) -> int:
        """Number of rows of the anchor group."""
        return int(self.sizes[0])

    @property
    def multiplicity(self) -> IntArray:
        """Followers of each group that every anchor has (the paper's beta); 0 for anchors."""
        followers = self.sizes // self.n_anchors
        followers[0] = 0
        return followers

    @property
    def remainder(self) -> IntArray:
        """Followers of each group that are left over (the paper's r)."""
        return self.sizes % self.n_anchors

    @property
    def group_of(self) -> IntArray:
        """Group of each internal row."""
        return np.repeat(np.arange(self.n_groups), self.sizes)

    @property
    def group_of_user_row(self) -> IntArray:
        """Group of each row in the user's order."""
        codes = np.empty(self.n_rows, dtype=np.int64)
        codes[self.order] = self.group_of
        return codes

    def rows_of(self, group: int) -> IntArray:
        """Give the internal rows of a group."""
        return np.arange(self.group_start[group], self.group_start[group + 1])


def arrange_groups(
    names: list[Any], codes: IntArray, rng: np.random.Generator | None = None
) -> Grouping:
    """Order the rows by group, the smallest group first.

    Parameters
    ----------
    names : list
        Group names in sorted order.
    codes : ndarray of shape (n_rows,)
        Each row's place in ``names``.
    rng : numpy.random.Generator, optional
        Shuffle the rows within groups, so that neighbours have nothing in common.

    Returns
    -------
    Grouping
        The groups; among equally small ones the first name is the anchor.
    """
    counts = np.bincount(codes, minlength=len(names))
    anchor = int(np.argmin(counts))
    group_order = [anchor] + [g for g in range(len(names)) if g != anchor]
    rank = np.empty(len(names), dtype=np.int64)
    rank[group_order] = np.arange(len(names))
    order = np.arange(len(codes)) if rng is None else rng.permutation(len(codes))
    order = order[np.argsort(rank[codes[order]], kind="stable")]
    return Grouping(
        names=tuple(names[g] for g in group_order),
        order=order,
        group_start=np.concatenate([[0], np.cumsum(counts[group_order])]),
    )


def warn_about_one_group() -> None:
    """Warn that there is nothing to be fair about."""
    warn(
        "sensitive_features has one group only, so nothing was made fair: this is ordinary "
        "clustering. Pass the sensitive attribute as sensitive_features.",
    )


def describe_groups(grouping: Grouping) -> str:
    """Give names and counts of the groups, for messages.

    Parameters
    ----------
    grouping : Grouping
        The groups.

    Returns
    -------
    str
        Such as ``'a': 3, 'b': 10``.
    """
    shown = [
        f"{name!r}: {size}"
        for name, size in zip(grouping.names[:20], grouping.sizes[:20], strict=True)
    ]
    rest = grouping.n_groups - len(shown)
    return ", ".join(shown) + (f", ... and {rest} more groups" if rest else "")


def resolve_masks(n_masked: Any, grouping: Grouping) -> IntArray:
    """Give the number of masked rows of each group, the anchor group first.

    Parameters
    ----------
    n_masked : int or dict
        One number for every follower group, or a dict by group name.
    grouping : Grouping
        The groups.

    Returns
    -------
    ndarray of shape (n_groups,)
        The numbers; 0 for the anchors.
    """
    anchor, followers = grouping.names[0], list(grouping.names[1:])
    if isinstance(n_masked, Mapping):
        for name in n_masked:
            if name == anchor:
                raise ValueError(
                    f"n_masked names {name!r}, the smallest group, which others are matched to; "
                    f"only rows of {followers} can be masked."
                )
            if name not in followers:
                raise ValueError(
                    f"n_masked names {name!r}, which is not a group; "
                    f"the groups whose rows can be masked are {followers}."
                )
        wanted = {name: n_masked.get(name, 0) for name in followers}
    else:
        check_integer("n_masked", n_masked, 0)
        if n_masked and not followers:
            raise ValueError(
                f"n_masked = {n_masked}, but there is one group only, so there is nothing to "
                "mask; pass n_masked=0 or sensitive_features with several groups."
            )
        wanted = dict.fromkeys(followers, n_masked)
    masks = np.zeros(grouping.n_groups, dtype=np.int64)
    for group, name in enumerate(followers, start=1):
        n_rows = check_integer(f"n_masked[{name!r}]", wanted[name], 0)
        if n_rows > grouping.sizes[group]:
            raise ValueError(
                f"n_masked = {n_rows} is more than the {grouping.sizes[group]} rows of group "
                f"{name!r}; pass a smaller number, or a dict group -> number."
            )
        masks[group] = n_rows
    return masks
