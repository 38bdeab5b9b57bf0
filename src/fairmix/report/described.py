"""What each cluster is, for the page: a profile with distributions, without what is too rare."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.posterior.profile import Profile
from fairmix.posterior.summaries import Summary
from fairmix.posterior.training import Training
from fairmix.posterior.traits import ClusterProfile, Feature, Trait
from fairmix.posterior.wording import short_text, text_of_column
from fairmix.report.disclosure import LEAST_ROWS, tell_counts
from fairmix.report.histograms import choose_edges, count_in_bins
from fairmix.tables.schema import Schema

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: At most so many levels of a category are told of; the others, and rare ones, are put together.
MAX_LEVELS = 12
OTHERS = "other levels"
#: The name of a cluster of which nothing is told.
TOO_SMALL = f"fewer than {LEAST_ROWS} rows"


def describe_features(
    profile: Profile, schema: Schema, training: Training | None
) -> list[dict[str, Any]]:
    """Tell what each column is like on all rows.

    Parameters
    ----------
    profile : Profile
        Of the clusters.
    schema : Schema
        How the table was read.
    training : Training or None
        The rows, for histograms, where they are at hand.

    Returns
    -------
    list of dict
        Plain values, a dict a column.
    """
    values = None if training is None else training.values()
    told = []
    for k, (feature, column) in enumerate(zip(profile.columns, schema.kept, strict=True)):
        histogram = None
        if values is not None and feature.levels is None:
            edges = choose_edges(values[:, k], feature.kind)
            if edges is not None:
                histogram = {"edges": edges, "counts": count_in_bins(values[:, k], edges)}
        levels = _told_levels(feature)
        told.append(
            {
                "name": text_of_column(feature.name),
                "kind": feature.kind,
                "family": column.family["name"] if column.family else "your own",
                "levels": None if levels is None else _names_of(feature, levels),
                "n_missing": feature.overall.n_missing,
                **_figures(feature.overall, levels),
                "histogram": histogram,
            }
        )
    return told


def describe_clusters(
    profile: Profile,
    features: list[dict[str, Any]],
    training: Training | None,
    labels: IntArray,
) -> list[dict[str, Any]]:
    """Tell what each cluster is like.

    Parameters
    ----------
    profile : Profile
        Of the clusters.
    features : list of dict
        What :func:`describe_features` gave.
    training : Training or None
        The rows, for histograms, where they are at hand.
    labels : ndarray of shape (n_rows,)
        Cluster of each row.

    Returns
    -------
    list of dict
        Plain values, a dict a cluster, its features in the order of what sets it apart.
    """
    values = None if training is None else training.values()
    told = []
    for cluster in profile.clusters:
        is_told = cluster.size >= LEAST_ROWS
        rows = values[labels == cluster.label] if values is not None and is_told else None
        told.append(
            {
                "number": int(cluster.label),
                "name": cluster.name if is_told else TOO_SMALL,
                "n_rows": cluster.size,
                "share": cluster.size / profile.n_rows,
                "share_of_draws": cluster.share_of_draws,
                "is_described": is_told,
                "traits": _describe_traits(profile, features, cluster, rows) if is_told else [],
            }
        )
    return told


def _describe_traits(
    profile: Profile,
    features: list[dict[str, Any]],
    cluster: ClusterProfile,
    rows: FloatArray | None,
) -> list[dict[str, Any]]:
    """Tell what the features of a cluster are like, that which sets it apart most first."""
    told = []
    for k in cluster.order:
        feature, trait = profile.columns[k], cluster.traits[k]
        levels, histogram = _told_levels(feature), features[k]["histogram"]
        counts = None
        if rows is not None and histogram is not None:
            counts = count_in_bins(rows[:, k], histogram["edges"])
        told.append(
            {
                "feature": k,
                "effect": trait.effect,
                "strongest": _place_of_strongest(trait, levels),
                **_figures(trait.summary, levels),
                "counts": counts,
            }
        )
    return told


def _told_levels(feature: Feature) -> list[int] | None:
    """Give the places of the levels that are told of: not the rare ones, nor more than so many."""
    shares = feature.overall.means
    if feature.levels is None or shares is None:
        return None
    n_rows = [round(share * feature.overall.n_present) for share in shares]
    by_number = np.argsort(-np.array(n_rows), kind="stable").tolist()
    kept = [k for k in by_number if n_rows[k] >= LEAST_ROWS]
    if len(kept) < len(shares) or len(kept) > MAX_LEVELS:
        kept = kept[: MAX_LEVELS - 1]  # one is for the others
    return sorted(kept)


def _names_of(feature: Feature, levels: list[int]) -> list[str]:
    """Name the levels that are told of, and what is put together."""
    assert feature.levels is not None
    names = [short_text(feature.levels[k]) for k in levels]
    return names if len(levels) == len(feature.levels) else [*names, OTHERS]


def _place_of_strongest(trait: Trait, levels: list[int] | None) -> int | None:
    """Give the place of the strongest level among those that are told of."""
    if levels is None or trait.strongest is None:
        return None
    return levels.index(trait.strongest) if trait.strongest in levels else None


def _figures(summary: Summary, levels: list[int] | None) -> dict[str, Any]:
    """Give mean, spread and middle half of a number, or shares of levels."""
    is_told = summary.n_present >= LEAST_ROWS
    told: dict[str, Any] = {"mean": None, "sd": None, "middle_half": None, "shares": None}
    if summary.means is None or not is_told:
        return told
    if summary.quantiles is not None:
        middle_half = [summary.quantiles[1], summary.quantiles[3]]
        return told | {"mean": summary.means[0], "sd": summary.sd, "middle_half": middle_half}
    if levels is None:
        return told
    n_rows = np.rint(np.array(summary.means) * summary.n_present).astype(np.int64)
    counts = n_rows[levels]
    if len(levels) < len(n_rows):
        counts = np.append(counts, n_rows.sum() - counts.sum())
    shares = [None if count is None else count / summary.n_present for count in tell_counts(counts)]
    return told | {"shares": shares}
