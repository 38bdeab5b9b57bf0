"""Rare groups put together: a group of a few rows cannot be in more clusters than that.

All groups of fewer than ``min_group_size`` rows become one. While that one is itself too small, the
next smallest group joins it, so that afterwards every group has at least so many rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fairmix.tables.cells import shorten
from fairmix.tables.groups import Groups

IntArray = NDArray[np.int64]

#: Name of the groups that were put together, unless one of the table has it.
MERGED_NAME = "other"


def merge_rare_groups(groups: Groups, min_group_size: int | None) -> Groups:
    """Put groups of a few rows together.

    Parameters
    ----------
    groups : Groups
        The groups.
    min_group_size : int or None
        The least number of rows of a group; None leaves all as they are.

    Returns
    -------
    Groups
        The groups, the one that was put together last; ``merged`` has what is in it.
    """
    if min_group_size is None or len(groups.names) == 1:
        return groups
    joined = rare_groups(groups.counts, min_group_size)
    if len(joined) == 0:
        return groups
    if len(joined) == len(groups.names):
        counted = [f"{n!r}: {size}" for n, size in zip(groups.names, groups.counts, strict=True)]
        raise ValueError(
            f"min_group_size = {min_group_size} makes one group of all of them "
            f"({shorten(counted)}), so nothing would be made fair; pass at most "
            f"{largest_min_size(groups.counts)}, or max_gap=0.05 with gap_kind='mean', "
            "where groups count by their rows."
        )
    kept = np.setdiff1d(np.arange(len(groups.names)), joined)
    new_codes = np.full(len(groups.names), len(kept))
    new_codes[kept] = np.arange(len(kept))
    name = _free_name(groups)
    return replace(
        groups,
        names=[*(groups.names[code] for code in kept), name],
        codes=new_codes[groups.codes],
        merged={groups.names[code]: name for code in joined},
    )


def rare_groups(counts: IntArray, min_size: int) -> IntArray:
    """Choose the groups to put together.

    Parameters
    ----------
    counts : ndarray of shape (n_groups,)
        Number of rows of each group.
    min_size : int
        The least number of rows that a group is to have.

    Returns
    -------
    ndarray of int
        Places of these groups, in order; none if every group is large enough.
    """
    by_size = np.argsort(counts, kind="stable")
    n_rare = int(np.sum(counts < min_size))
    if n_rare == 0:
        return by_size[:0]
    n_needed = int(np.searchsorted(np.cumsum(counts[by_size]), min_size)) + 1
    return np.sort(by_size[: max(n_rare, n_needed)])


def largest_min_size(counts: IntArray) -> int:
    """Give the largest least size that leaves two groups: all but the largest one together.

    Parameters
    ----------
    counts : ndarray of shape (n_groups,)
        Number of rows of each group.

    Returns
    -------
    int
        The size; with two groups, the number of rows of the smaller one.
    """
    largest = int(counts.max())
    return min(int(counts.sum()) - largest, largest)


def _free_name(groups: Groups) -> str:
    """Give a name that no group of the table has, however it is written."""
    taken = {str(name).casefold() for name in groups.names}
    name = MERGED_NAME
    while name in taken:
        name += " (merged)"
    return name
