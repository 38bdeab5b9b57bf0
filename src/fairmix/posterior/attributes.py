"""Gaps of each sensitive attribute by itself, beside the gap of all of them crossed.

Draws may be fair to crossed groups, or to the groups that rare ones were put into; how fair they
are to an attribute's own groups is measured on their labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.model.fairness import count_groups, gap_of_counts
from fairmix.model.problem import groups_of_attributes
from fairmix.tables.groups import Groups

FloatArray = NDArray[np.float64]

#: So many labels are counted for each attribute, unless that were too few draws of a chain.
MAX_LABELS, MIN_DRAWS = 5e7, 100
#: So many are counted at a time.
BLOCK = 2**20


def measured_attributes(groups: Groups) -> list[Any]:
    """Name the attributes whose groups are not those that draws are measured on.

    Parameters
    ----------
    groups : Groups
        The groups that draws are measured on, and those of each attribute.

    Returns
    -------
    list
        All if they are crossed; a single one if rare groups of it were put together, else none.
    """
    return [
        name
        for name, own in groups.attributes.items()
        if len(groups.attributes) > 1 or len(own.names) != len(groups.names)
    ]


def gaps_of_attributes(
    labels: NDArray[np.unsignedinteger], groups: Groups, kind: str
) -> tuple[dict[Any, FloatArray], int]:
    """Measure the gap of each attribute on the draws, or on one in so many of them.

    Parameters
    ----------
    labels : ndarray of shape (n_chains, n_draws, n_rows)
        The draws.
    groups : Groups
        The groups that draws are measured on, and those of each attribute.
    kind : {"paper", "mean", "worst"}
        Kind of the gap.

    Returns
    -------
    gaps : dict of ndarray of shape (n_chains, n_measured)
        Gaps by attribute.
    thin : int
        One draw in so many was measured: 1 unless there are millions of labels.
    """
    n_chains, n_draws, n_rows = labels.shape
    n_measured = min(n_draws, max(MIN_DRAWS, int(MAX_LABELS / (n_chains * n_rows))))
    thin = n_draws // n_measured
    used = labels[:, thin - 1 :: thin]
    n_together = max(BLOCK // n_rows, 1)
    names = measured_attributes(groups)
    gaps = {name: np.empty(used.shape[:2]) for name in names}
    # The smallest group of each comes first, as the gap wants it.
    attributes = groups_of_attributes(groups, dict.fromkeys(names))
    for name, own in zip(names, attributes, strict=True):
        for chain in range(n_chains):
            for begin in range(0, used.shape[1], n_together):
                block = slice(begin, begin + n_together)
                codes = used[chain, block].astype(np.int64)
                counts = count_groups(codes, own.codes, len(own.names))
                gaps[name][chain, block] = gap_of_counts(counts, kind)
    return gaps, thin
