r"""How fair a clustering is: each group's shares of the clusters, and gaps beside what was asked.

Told is how a group is shared out, :math:`|C_k^{(b)}| / n_b`, since a clustering is fair when these
are the same for all groups: "cluster 3 has 44 % of the women and 45 % of the men".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.model.fairness import balance_of_counts, gap_of_counts
from fairmix.posterior.attributes import gaps_of_attributes
from fairmix.posterior.profile import Profile
from fairmix.posterior.traits import Attribute
from fairmix.posterior.wording import short_text
from fairmix.report.disclosure import LEAST_ROWS

IntArray = NDArray[np.int64]


def audit_fairness(model: Any, profile: Profile, chain: int, draw: int) -> dict[str, Any]:
    """Tell how fair the clusters of a model are.

    Parameters
    ----------
    model : estimator
        A fitted model.
    profile : Profile
        Of its clusters.
    chain, draw : int
        The draw that ``labels_`` is.

    Returns
    -------
    dict
        Plain values; ``docs/summary.md`` says which.
    """
    posterior, given = model.posterior_, model.get_params(deep=False)
    kind = given.get("gap_kind", "paper")
    sizes = np.array([cluster.size for cluster in profile.clusters])
    attributes = []
    for place, attribute in enumerate(profile.attributes):
        shares = np.array([cluster.group_shares[place] for cluster in profile.clusters])
        counts = np.rint(shares * sizes[:, None]).astype(np.int64)
        attributes.append(_audit_attribute(attribute, counts, kind))
    largest = _largest_gaps(posterior)
    for each in attributes:
        each["largest_gap_of_draws"] = largest.get(each["name"])
    return {
        "asked": _what_was_asked(model, given),
        "gap_kind": kind,
        "certain_gap": _plain_or_none(getattr(model, "gap_bound_", None)),
        "gap": float(posterior.fairness_gap[chain, draw]),
        "balance": float(posterior.balance[chain, draw]),
        "mean_gap_of_draws": float(posterior.fairness_gap.mean()),
        "largest_gap_of_draws": float(posterior.fairness_gap.max()),
        "attributes": attributes,
        "merged": {
            short_text(old): short_text(new)
            for old, new in getattr(model, "merged_groups_", {}).items()
        },
    }


def _what_was_asked(model: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Tell how fairness was enforced, and within which bounds."""
    max_gap = given.get("max_gap")
    if isinstance(max_gap, Mapping):
        max_gap = {short_text(name): float(bound) for name, bound in max_gap.items()}
    by = getattr(model, "constraint_", None)
    if by is None:
        by = "fairlets" if hasattr(model, "fairlets_") else "nothing"
    return {
        "by": by,
        "max_gap": max_gap if isinstance(max_gap, dict) else _plain_or_none(max_gap),
        "min_balance": _plain_or_none(given.get("min_balance")),
    }


def _plain_or_none(value: Any) -> float | None:
    return None if value is None else float(value)


def _largest_gaps(posterior: Any) -> dict[str, float]:
    """Give the largest gap of any draw by attribute, where that is not the gap of the draws."""
    if posterior.training is None:
        return {}
    training = posterior.training
    gaps, _ = gaps_of_attributes(posterior.labels, training.groups, training.gap_kind)
    return {short_text(name): float(values.max()) for name, values in gaps.items()}


def _audit_attribute(attribute: Attribute, counts: IntArray, kind: str) -> dict[str, Any]:
    """Tell how the groups of an attribute are shared out."""
    totals, sizes = counts.sum(axis=0), counts.sum(axis=1)
    smallest_first = np.argsort(totals, kind="stable")
    shares = counts / totals
    is_told = np.logical_and.outer(sizes >= LEAST_ROWS, totals >= LEAST_ROWS)
    return {
        "name": short_text(attribute.name),
        "is_crossed": isinstance(attribute.name, tuple),
        "groups": [
            {
                "name": short_text(level),
                "n_rows": int(total) if total >= LEAST_ROWS else None,
                "share": share if total >= LEAST_ROWS else None,
            }
            for level, total, share in zip(attribute.levels, totals, attribute.shares, strict=True)
        ],
        "gap": float(gap_of_counts(counts[:, smallest_first], kind)),
        "balance": float(balance_of_counts(counts)),
        "shares_by_cluster": [
            [float(share) if told else None for share, told in zip(*each, strict=True)]
            for each in zip(shares, is_told, strict=True)
        ],
    }
