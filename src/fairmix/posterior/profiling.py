"""Makes the profile of a partition: the table, the groups and the draws, cluster by cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.posterior.names import name_clusters
from fairmix.posterior.parameters import (
    estimate_means,
    families_of,
    has_known_posterior,
)
from fairmix.posterior.profile import Profile
from fairmix.posterior.summaries import effects_of, order_of_parts, shares_above, summarise
from fairmix.posterior.training import Training
from fairmix.posterior.traits import Attribute, ClusterProfile, Feature, Trait
from fairmix.tables.groups import Groups

IntArray = NDArray[np.int64]


def make_profile(
    training: Training, draws: NDArray[Any], levels: list[Any], labels: IntArray
) -> Profile:
    """Tell what each cluster of a partition is.

    Parameters
    ----------
    training : Training
        The table.
    draws : ndarray of shape (n_chains, n_draws, n_rows)
        Labels of all draws.
    levels : list
        Labels of the partition's clusters, as the user knows them.
    labels : ndarray of shape (n_rows,)
        Cluster of each row: its place among these.

    Returns
    -------
    Profile
        The profile.
    """
    n_clusters, values = len(levels), training.values()
    columns = training.schema.kept
    families = families_of(training.family, len(columns))
    features = tuple(
        Feature(
            name=column.name,
            kind=column.kind,
            levels=column.levels,
            overall=summarise(values[:, k], column),
            has_known_posterior=has_known_posterior(family),
        )
        for k, (column, family) in enumerate(zip(columns, families, strict=True))
    )
    attributes = known_attributes(training.groups)
    shares = [_shares_by_cluster(groups, labels, n_clusters) for _, groups in attributes]
    estimates, shares_of_draws, n_draws = estimate_means(training, draws, labels)
    above = [
        shares_above(values[:, k], labels) if column.levels is None else [None] * n_clusters
        for k, column in enumerate(columns)
    ]
    clusters = []
    for c, level in enumerate(levels):
        rows = values[labels == c]
        traits = []
        for k, (column, feature) in enumerate(zip(columns, features, strict=True)):
            summary = summarise(rows[:, k], column, feature.overall)
            effects = effects_of(summary, feature.overall)
            strongest = None if effects is None else order_of_parts(effects, feature.overall)[0]
            # What the cluster itself has no cell of is not told of from other draws.
            estimate = None if summary.means is None else estimates[k][c]
            traits.append(Trait(summary, effects, strongest, above[k][c], estimate))
        cluster = ClusterProfile(
            label=level,
            name="",
            size=len(rows),
            group_shares=tuple(tuple(each[c].tolist()) for each in shares),
            share_of_draws=float(shares_of_draws[c]),
            traits=tuple(traits),
        )
        clusters.append(cluster)
    names = name_clusters(features, clusters)
    return Profile(
        n_rows=len(values),
        n_draws=n_draws,
        columns=features,
        attributes=tuple(
            Attribute(name, tuple(groups.names), tuple((groups.counts / len(values)).tolist()))
            for name, groups in attributes
        ),
        clusters=tuple(
            replace(cluster, name=name) for cluster, name in zip(clusters, names, strict=True)
        ),
    )


def known_attributes(groups: Groups) -> list[tuple[Any, Groups]]:
    """Give the groups that shares are told of, with their names.

    Parameters
    ----------
    groups : Groups
        Groups of the rows, with their attributes.

    Returns
    -------
    list of tuple
        The groups; of several attributes, the crossed ones first and then those of each. Nothing
        if there is one group.
    """
    if len(groups.names) < 2:
        return []
    if len(groups.attributes) > 1:
        return [(tuple(groups.attributes), groups), *groups.attributes.items()]
    name = next(iter(groups.attributes), "")
    return [("" if isinstance(name, int) else name, groups)]


def _shares_by_cluster(groups: Groups, labels: IntArray, n_clusters: int) -> NDArray[np.float64]:
    """Give the share of each group in each cluster."""
    n_groups = len(groups.names)
    counts = np.bincount(labels * n_groups + groups.codes, minlength=n_clusters * n_groups)
    table = counts.reshape(n_clusters, n_groups)
    return np.asarray(table / table.sum(axis=1, keepdims=True))
