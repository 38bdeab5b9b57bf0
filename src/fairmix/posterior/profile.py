"""What each cluster is: sizes, groups and features in the user's own units, beside all rows.

A :class:`Profile` is plain data, without the rows it was made from: it can be kept as JSON. It is
made by ``posterior/profiling.py``; what an effect is stands in ``posterior/summaries.py``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import pandas as pd

from fairmix.posterior.glance import show_profile
from fairmix.posterior.summaries import QUANTILES, Summary, round_by
from fairmix.posterior.traits import (
    Attribute,
    ClusterProfile,
    Feature,
    Trait,
    attribute_from,
    cluster_from,
    feature_from,
)
from fairmix.posterior.wording import (
    describe_profile,
    percent,
    short_text,
    text_of_column,
    text_of_group,
)
from fairmix.tables.as_json import to_plain

#: Version of what ``Profile.to_plain`` gives.
FORMAT = 1
#: Digits of numbers in a table, counted from the first one of the standard deviation.
DIGITS = 3


@dataclass(frozen=True, repr=False)
class Profile:
    """What each cluster of a partition is; printed, it reads as text.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    n_draws : int
        Number of draws that estimates and shares of draws come from.
    columns : tuple of Feature
        The columns that were clustered by.
    attributes : tuple of Attribute
        What was to be fair: the sensitive attribute; of several, the crossed groups and then each
        attribute; empty with one group.
    clusters : tuple of ClusterProfile
        The clusters.
    """

    n_rows: int
    n_draws: int
    columns: tuple[Feature, ...]
    attributes: tuple[Attribute, ...]
    clusters: tuple[ClusterProfile, ...]

    def __repr__(self) -> str:
        return describe_profile(self)

    def _repr_html_(self) -> str:
        """Give what a notebook shows."""
        return show_profile(self)

    def named(self, names: Mapping[Any, str]) -> Self:
        """Give some clusters names of your own.

        Parameters
        ----------
        names : mapping
            Names by label of the cluster.

        Returns
        -------
        Profile
            The same with these names.
        """
        labels = [cluster.label for cluster in self.clusters]
        for label, name in names.items():
            if label not in labels:
                raise ValueError(
                    f"names has {label!r}, which is no cluster; the clusters are {labels}."
                )
            if not isinstance(name, str):
                raise TypeError(f"names[{label!r}] must be text, got {name!r}.")
        return replace(
            self,
            clusters=tuple(
                replace(cluster, name=names.get(cluster.label, cluster.name))
                for cluster in self.clusters
            ),
        )

    def table(self) -> pd.DataFrame:
        """Give the clusters as a table to read.

        Returns
        -------
        pandas.DataFrame
            A row a cluster, and one for all rows: name, size, shares of rows and of draws, shares
            of the groups, the mean of each number, the most frequent level of each category (and
            its share). Rounded by the spread of each column.
        """
        rows = {cluster.label: self._row_of(cluster) for cluster in self.clusters}
        overall: list[Any] = ["all rows", self.n_rows, 1.0, 1.0]
        overall += [round(share, DIGITS) for each in self.attributes for share in each.shares]
        overall += [_to_read(feature, feature.overall) for feature in self.columns]
        columns = ["name", "size", "share", "share of draws"]
        for each in self.attributes:
            names = [text_of_group(each.name, level) for level in each.levels]
            columns += [f"share of {name}" for name in names]
        for feature in self.columns:
            what = "mean of" if feature.levels is None else "most frequent"
            columns.append(f"{what} {text_of_column(feature.name)}")
        table = pd.DataFrame([*rows.values(), overall], columns=columns)
        table.index = pd.Index([*rows, "all"], dtype=object, name="cluster")
        return table

    def features(self) -> pd.DataFrame:
        """Give every feature in every cluster, to compute with.

        Returns
        -------
        pandas.DataFrame
            A row for each cluster and number, or each level of a category, whose ``mean`` is its
            share. ``effect`` is the distance to the mean of the other rows in standard deviations
            of all rows, ``share_above`` the share of pairs of a cell of the cluster and one of
            the other rows in which the cluster's is the larger number. ``rank`` is the place of
            the feature in the order of what sets the cluster apart, ``estimate`` the posterior
            mean of ``mean``, with its 90 % interval.
        """
        rows = []
        for cluster in self.clusters:
            rank = {k: place + 1 for place, k in enumerate(cluster.order)}
            for k, (feature, trait) in enumerate(zip(self.columns, cluster.traits, strict=True)):
                for part, level in enumerate(feature.levels or (None,)):
                    of_cluster = {"cluster": cluster.label, "cluster_name": cluster.name}
                    of_feature = {"feature": feature.name, "level": level}
                    figures = _figures_of(trait, feature.overall, part)
                    rows.append(of_cluster | of_feature | figures | {"rank": rank[k]})
        return pd.DataFrame(rows)

    def to_plain(self) -> dict[str, Any]:
        """Give the profile as JSON has it.

        Returns
        -------
        dict
            Dicts, lists, text and finite numbers.
        """
        written = asdict(self)
        for each in [*written["columns"], *written["attributes"]]:
            each["name"] = to_plain(each["name"])
            each["levels"] = None if each["levels"] is None else to_plain(each["levels"])
        for each in written["clusters"]:
            each["label"] = to_plain(each["label"])
        # What was read of text has no tuples and no types of its own.
        plain: dict[str, Any] = json.loads(json.dumps(written, allow_nan=False))
        return {"format": FORMAT} | plain

    @classmethod
    def from_plain(cls, written: Mapping[str, Any]) -> Self:
        """Make a profile of what :meth:`to_plain` gave.

        Parameters
        ----------
        written : mapping
            What it gave.

        Returns
        -------
        Profile
            The profile.
        """
        if written.get("format") != FORMAT:
            raise ValueError(
                f"the profile has format {written.get('format')!r}, but this version of fairmix "
                f"reads {FORMAT}; make it anew."
            )
        try:
            return cls(
                n_rows=int(written["n_rows"]),
                n_draws=int(written["n_draws"]),
                columns=tuple(feature_from(each) for each in written["columns"]),
                attributes=tuple(attribute_from(each) for each in written["attributes"]),
                clusters=tuple(cluster_from(each) for each in written["clusters"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(
                f"this is not a whole profile ({type(error).__name__}: {error}); give what "
                "to_plain gave."
            ) from error

    def _row_of(self, cluster: ClusterProfile) -> list[Any]:
        """Give the row of a cluster in the table."""
        shares = [share for each in cluster.group_shares for share in each]
        figures = [cluster.size / self.n_rows, cluster.share_of_draws, *shares]
        pairs = zip(self.columns, cluster.traits, strict=True)
        told = [_to_read(feature, trait.summary) for feature, trait in pairs]
        return [cluster.name, cluster.size, *(round(x, DIGITS) for x in figures), *told]


def _to_read(feature: Feature, summary: Summary) -> Any:
    """Give the mean of a number, rounded, or the most frequent level and its share."""
    if summary.means is None:
        return None
    if feature.levels is None:
        return round_by(summary.means[0], feature.overall.spread(), DIGITS)
    share = max(summary.means)
    level = feature.levels[summary.means.index(share)]
    return f"{short_text(level)} ({percent(share)})"


def _figures_of(trait: Trait, overall: Summary, part: int) -> dict[str, Any]:
    """Give the figures of a number, or of a level, in a cluster."""
    summary = trait.summary
    quantiles = summary.quantiles or (None,) * len(QUANTILES)
    estimate = None if trait.estimates is None else trait.estimates[part]
    return {
        "mean": None if summary.means is None else summary.means[part],
        "sd": None if summary.means is None else summary.spread(part),
        **{f"{q:.0%}": value for q, value in zip(QUANTILES, quantiles, strict=True)},
        "n_missing": summary.n_missing,
        "mean_of_all": None if overall.means is None else overall.means[part],
        "sd_of_all": overall.spread(part),
        "n_missing_of_all": overall.n_missing,
        "effect": None if trait.effects is None else trait.effects[part],
        "share_above": trait.share_above,
        "estimate": None if estimate is None else estimate.mean,
        "estimate_5%": None if estimate is None else estimate.low,
        "estimate_95%": None if estimate is None else estimate.high,
    }
