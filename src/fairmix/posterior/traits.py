"""What a profile is made of: features, what they are like in a cluster, clusters, attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairmix.posterior.parameters import Estimate
from fairmix.posterior.summaries import Summary
from fairmix.tables.as_json import from_plain


@dataclass(frozen=True)
class Feature:
    """A column that was clustered by.

    Attributes
    ----------
    name : object
        Its name, or its position.
    kind : str
        What it holds: "numbers", "counts", "amounts", "categories" or "binary".
    levels : tuple or None
        The levels of a category; None for a number.
    overall : Summary
        The column on all rows.
    has_known_posterior : bool
        Whether its means are drawn from the posterior of its family; otherwise they are near
        normal (``posterior/parameters.py`` has the formulas).
    """

    name: Any
    kind: str
    levels: tuple[Any, ...] | None
    overall: Summary
    has_known_posterior: bool


@dataclass(frozen=True)
class Trait:
    """A feature in a cluster.

    Attributes
    ----------
    summary : Summary
        The column on the rows of the cluster.
    effects : tuple of float or None
        How far the mean of a number, or the share of each level of a category, is from that of
        all other rows, in standard deviations of all rows; None if there is nothing to compare.
    strongest : int or None
        The level whose share differs most from that of the other rows; 0 for a number.
    share_above : float or None
        Share of the pairs of a cell of the cluster and one of the other rows in which that of the
        cluster is the larger number (a tie is half a pair); None for categories.
    estimates : tuple of Estimate or None
        Posterior mean and 90 % interval of the mean, or of the share of each level; None if no
        draw has a cell.
    """

    summary: Summary
    effects: tuple[float, ...] | None
    strongest: int | None
    share_above: float | None
    estimates: tuple[Estimate, ...] | None

    @property
    def effect(self) -> float:
        """The effect that counts; 0 if there is nothing to compare."""
        if self.effects is None or self.strongest is None:
            return 0.0
        return self.effects[self.strongest]


@dataclass(frozen=True)
class ClusterProfile:
    """One cluster.

    Attributes
    ----------
    label : object
        Its label, such as the number in ``labels_``.
    name : str
        A name from its strongest features, or the user's own.
    size : int
        Number of rows.
    group_shares : tuple of tuple of float
        Share of each level of each sensitive attribute.
    share_of_draws : float
        Share of the draws that have the cluster.
    traits : tuple of Trait
        The features in it, in the order of the columns.
    """

    label: Any
    name: str
    size: int
    group_shares: tuple[tuple[float, ...], ...]
    share_of_draws: float
    traits: tuple[Trait, ...]

    @property
    def order(self) -> list[int]:
        """Places of the features, that which sets the cluster apart most first."""
        return sorted(range(len(self.traits)), key=lambda k: -abs(self.traits[k].effect))


@dataclass(frozen=True)
class Attribute:
    """A sensitive attribute, or several crossed.

    Attributes
    ----------
    name : object
        Its name, a tuple of names for crossed groups, or "" for one attribute without a name.
    levels : tuple
        Its groups.
    shares : tuple of float
        Share of each among all rows.
    """

    name: Any
    levels: tuple[Any, ...]
    shares: tuple[float, ...]


def _tuple_of(values: Any) -> Any:
    return None if values is None else tuple(values)


def _summary_from(written: Mapping[str, Any]) -> Summary:
    tuples = {name: _tuple_of(written[name]) for name in ("means", "quantiles")}
    return Summary(**{**written, **tuples})


def feature_from(written: Mapping[str, Any]) -> Feature:
    """Make a feature of what ``Profile.to_plain`` gave."""
    levels = written["levels"]
    own = {
        "name": from_plain(written["name"]),
        "levels": None if levels is None else from_plain(levels),
        "overall": _summary_from(written["overall"]),
    }
    return Feature(**{**written, **own})


def attribute_from(written: Mapping[str, Any]) -> Attribute:
    """Make an attribute of what ``Profile.to_plain`` gave."""
    name, levels = from_plain(written["name"]), from_plain(written["levels"])
    return Attribute(name, levels, tuple(written["shares"]))


def _trait_from(written: Mapping[str, Any]) -> Trait:
    estimates = written["estimates"]
    own = {
        "summary": _summary_from(written["summary"]),
        "effects": _tuple_of(written["effects"]),
        "estimates": estimates and tuple(Estimate(**each) for each in estimates),
    }
    return Trait(**{**written, **own})


def cluster_from(written: Mapping[str, Any]) -> ClusterProfile:
    """Make a cluster of what ``Profile.to_plain`` gave."""
    own = {
        "label": from_plain(written["label"]),
        "group_shares": tuple(map(tuple, written["group_shares"])),
        "traits": tuple(map(_trait_from, written["traits"])),
    }
    return ClusterProfile(**{**written, **own})
