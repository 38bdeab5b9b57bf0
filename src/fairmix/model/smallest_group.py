"""What the smallest group allows: few rows mean few clusters, and what can be done about it.

With a matching, every cluster has a row of the smallest group, so there are at most :math:`n_0`
clusters, and each such row takes its followers along: :math:`n / n_0` rows on average. A cap on the
paper's gap, on the worst group's or on the balance asks for much the same; only the mean gap weighs
a group by its rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.model.grouping import (
    Grouping,
    arrange_groups,
    describe_groups,
    warn_about_one_group,
)
from fairmix.tables.cells import shorten
from fairmix.tables.checks import warn
from fairmix.tables.groups import Groups
from fairmix.tables.rare_groups import largest_min_size, rare_groups

IntArray = NDArray[np.int64]

#: With fewer rows than this in the smallest group, a warning is given.
SMALL_GROUP = 10
#: ... or if a row of the smallest group and its followers are more rows than this.
LARGE_BUNDLE = 50
#: ... or, after the fit, if a cluster has no more rows of the smallest group than this on average.
CROWDED = 2
#: It is suggested to have so many for each cluster, for so many clusters at least (the default
#: prior's mean), unless that were more than this share of all rows.
ROOMY, USUAL_CLUSTERS, ROOMY_SHARE = 5, 10, 0.1
#: More different numbers than this may be groups, or something that is measured.
MANY_GROUPS = 20
#: What can be done about a small group, whatever the method.
BY_HAND = "merge rare groups or drop their rows."


def check_groups(grouping: Grouping, remedy: str = BY_HAND) -> None:
    """Refuse or warn about groups that rows cannot be matched to.

    Parameters
    ----------
    grouping : Grouping
        The groups.
    remedy : str, optional
        What to do about a small group.
    """
    if grouping.n_groups == 1:
        warn_about_one_group()
    elif grouping.n_anchors == 1:
        raise ValueError(
            f"{_describe_smallest(grouping)}. Every cluster needs a row of each group, so there "
            f"could be only one cluster; {remedy}"
        )
    elif _is_small(grouping):
        n_others = grouping.n_rows / grouping.n_anchors - 1
        warn(
            f"{_describe_smallest(grouping)}. Every cluster needs a row of each group, so there "
            f"can be no more clusters than {grouping.n_anchors:,}, and each of its rows takes "
            f"{n_others:,.0f} others along. To change that, {remedy}"
        )
    if grouping.n_groups > MANY_GROUPS and all(isinstance(g, Real) for g in grouping.names):
        warn(
            f"sensitive_features holds {grouping.n_groups} different numbers, each of which is a "
            "group; if it measures something, such as an age, cut it into a few groups, for "
            "example by pandas.cut."
        )


def check_capped_groups(capped: Sequence[Groups], given: Mapping[str, Any], remedy: str) -> None:
    """Warn about groups so small that hardly any clusters are inside a cap.

    Parameters
    ----------
    capped : sequence of Groups
        The groups that there is a cap on.
    given : mapping
        Parameters of the estimator by name.
    remedy : str
        What to do about a small group.
    """
    for grouping in map(_arranged, capped):
        if grouping.n_groups > 1 and grouping.n_anchors < SMALL_GROUP and limits_clusters(given):
            warn(
                f"{_describe_smallest(grouping)}. Under this cap every large cluster needs a row "
                f"of each group, so there are few large clusters. To change that, {remedy}"
            )


def warn_if_crowded(n_clusters: IntArray, enforced: Sequence[Groups], remedy: str) -> None:
    """Warn if there are nearly as many clusters as the smallest group allows.

    Parameters
    ----------
    n_clusters : ndarray
        Number of clusters of each draw.
    enforced : sequence of Groups
        The groups that draws are fair to.
    remedy : str
        What to do about a small group.
    """
    for grouping in map(_arranged, enforced):
        n_anchors = grouping.n_anchors
        is_crowded = (n_clusters > 1) & (CROWDED * n_clusters >= n_anchors)
        if grouping.n_groups > 1 and is_crowded.mean() > 0.5:
            warn(
                f"The draws have {n_clusters.mean():.3g} clusters on average, but the smallest "
                f"group, {grouping.names[0]!r}, has only {n_anchors:,} rows for all of them: the "
                f"data may want more clusters, or others. To let them, {remedy}"
            )


def limits_clusters(given: Mapping[str, Any]) -> bool:
    """Tell whether a cap asks for rows of the smallest group in every large cluster.

    Parameters
    ----------
    given : mapping
        Parameters of the estimator by name.

    Returns
    -------
    bool
        False only if there is no cap but on the mean gap.
    """
    return given["min_balance"] is not None or given["gap_kind"] != "mean"


def remedies(
    groups: Groups, given: Mapping[str, Any], constraint: str, n_clusters: float = 0.0
) -> str:
    """Say what a user can do about a small group, with numbers.

    Parameters
    ----------
    groups : Groups
        The groups, and those of each attribute.
    given : mapping
        Parameters of the estimator by name.
    constraint : {"matching", "gap"}
        How fairness is enforced.
    n_clusters : float, default=0.0
        Number of clusters that there must be room for.

    Returns
    -------
    str
        The end of a sentence.
    """
    counts, n_rows = groups.counts, len(groups.codes)
    is_by_attribute = isinstance(given["max_gap"], Mapping)
    found = []
    wanted = min(ROOMY * max(n_clusters, USUAL_CLUSTERS), ROOMY_SHARE * n_rows)
    wanted = math.ceil(max(wanted, SMALL_GROUP, n_rows / LARGE_BUNDLE))
    wanted = min(wanted, largest_min_size(counts))
    if wanted > counts.min() and not is_by_attribute:
        joined = rare_groups(counts, wanted)
        names = shorten([repr(groups.names[code]) for code in joined])
        found.append(
            f"min_group_size={wanted} (puts {names} together: {counts[joined].sum():,} rows)"
        )
    is_capped = constraint == "gap" and given["min_balance"] is None
    cap = "gap_kind='mean'" if is_capped else "max_gap=0.05 with gap_kind='mean'"
    found.append(f"{cap} (groups count by their rows, so rare ones hardly do)")
    attributes = list(groups.attributes.values())
    if (
        len(attributes) > 1
        and not is_by_attribute
        and not any(_is_small(_arranged(each)) for each in attributes)
    ):
        caps = dict.fromkeys(groups.attributes, 0.05)
        found.append(f"max_gap={caps} (fair to each attribute, not to their combinations)")
    return f"pass {', or '.join(found)}; or drop the rows of rare groups."


def _arranged(groups: Groups) -> Grouping:
    return arrange_groups(groups.names, groups.codes)


def _is_small(grouping: Grouping) -> bool:
    """Tell whether the smallest group has few rows, in number or beside all others."""
    n_anchors = grouping.n_anchors
    return n_anchors < SMALL_GROUP or grouping.n_rows > LARGE_BUNDLE * n_anchors


def _describe_smallest(grouping: Grouping) -> str:
    """Say how small the smallest group is beside the others."""
    n_anchors = grouping.n_anchors
    has = "a single row" if n_anchors == 1 else f"{n_anchors:,} rows"
    return (
        f"sensitive_features: the smallest group, {grouping.names[0]!r}, has {has} of "
        f"{grouping.n_rows:,} ({describe_groups(grouping)})"
    )
