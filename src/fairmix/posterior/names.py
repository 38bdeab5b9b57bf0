r"""A name for a cluster, from the features that set it apart most: plain, and true.

A feature gives a phrase if its effect is at least :data:`STRONG` and the phrase holds:

- "high x", "low x": a cell of the cluster is above, or below, one of the other rows in two of three
  pairs (ties count half); a few far rows make no high column;
- "x 2009": all of the cluster's cells are this number;
- "no x" for counts and amounts: 95 % of the cluster's cells are 0;
- "x first", "mostly x first": 80 %, or more than half, of the cluster's cells have this level;
- "x not first": at most 5 % of them have the level, which is more frequent elsewhere.

After these come "medium x" and "scattered x": the standard deviation is at most 0.4 times that of
all rows and the effect small, or it is at least 1.5 times that of all rows. "mostly x 40" takes
the place of "medium x" if nine of ten of the cluster's cells are this number.

The first two phrases make the name. Clusters of the same name get a third phrase, if there is one.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairmix.posterior.summaries import STRONG, order_of_parts, word_of_spread
from fairmix.posterior.wording import constant, short_text, text_of_column

if TYPE_CHECKING:
    from fairmix.posterior.traits import ClusterProfile, Feature, Trait

#: Share of pairs in which the cluster's cell is the larger one.
PAIRS = 2 / 3
#: Shares of a level.
NEARLY_ALL, MOST, HARDLY_ANY = 0.8, 0.5, 0.05
#: Phrases of a name, and of one that others would have, too.
USUAL, MOST_PHRASES = 2, 3
#: Letters of names and levels inside a name.
MAX_LETTERS = 24


def name_clusters(features: tuple[Feature, ...], clusters: list[ClusterProfile]) -> list[str]:
    """Make names for clusters.

    Parameters
    ----------
    features : tuple of Feature
        The columns.
    clusters : list of ClusterProfile
        All clusters.

    Returns
    -------
    list of str
        Their names.
    """
    if len(clusters) == 1:
        return ["all rows"]
    phrases = [_phrases_of(features, cluster) for cluster in clusters]
    short = [_join(each[:USUAL]) for each in phrases]
    counts = Counter(short)
    return [
        _join(each[:MOST_PHRASES]) if counts[name] > 1 else name
        for each, name in zip(phrases, short, strict=True)
    ]


def _join(phrases: list[str]) -> str:
    return ", ".join(phrases) or "no feature stands out"


def _phrases_of(features: tuple[Feature, ...], cluster: ClusterProfile) -> list[str]:
    """Give what can be said of a cluster, strongest first."""
    told = [(features[k], cluster.traits[k]) for k in cluster.order]
    said = [_phrase_of(feature, trait) for feature, trait in told]
    for (feature, trait), phrase in zip(told, list(said), strict=True):
        word = word_of_spread(trait.summary, feature.overall, trait.effect)
        if phrase is None and word is not None:
            said.append(_phrase_of_spread(feature, trait, word))
    return [phrase for phrase in said if phrase is not None]


def _phrase_of(feature: Feature, trait: Trait) -> str | None:
    """Give what can be said of a feature in a cluster, if anything."""
    if trait.effects is None or trait.summary.means is None:
        return None
    if feature.levels is not None:
        return _phrase_of_category(feature, trait)
    quantiles, above = trait.summary.quantiles, trait.share_above
    if abs(trait.effect) < STRONG or quantiles is None or above is None:
        return None
    name = text_of_column(feature.name, MAX_LETTERS)
    if feature.kind in ("counts", "amounts") and quantiles[-1] == 0:
        return f"no {name}"
    if trait.summary.sd == 0:
        return _phrase_of_constant(feature, trait)
    if trait.effect > 0 and above >= PAIRS:
        return f"high {name}"
    if trait.effect < 0 and above <= 1.0 - PAIRS:
        return f"low {name}"
    return None


def _phrase_of_spread(feature: Feature, trait: Trait, word: str) -> str:
    """Give what can be said of a feature whose mean is much as elsewhere, but not its spread."""
    quantiles = trait.summary.quantiles
    if trait.summary.sd == 0:
        return _phrase_of_constant(feature, trait)
    name = text_of_column(feature.name, MAX_LETTERS)
    if quantiles is not None and quantiles[0] == quantiles[-1]:
        return f"mostly {name} {constant(quantiles[0], feature.overall.spread())}"
    return f"{word} {name}"


def _phrase_of_constant(feature: Feature, trait: Trait) -> str:
    """Name the only number that a feature has in a cluster."""
    assert trait.summary.means is not None
    value = constant(trait.summary.means[0], feature.overall.spread())
    return f"{text_of_column(feature.name, MAX_LETTERS)} {value}"


def _phrase_of_category(feature: Feature, trait: Trait) -> str | None:
    """Give what can be said of the levels, that whose share differs most first."""
    effects, shares = trait.effects, trait.summary.means
    assert effects is not None
    assert shares is not None
    assert feature.levels is not None
    name = text_of_column(feature.name, MAX_LETTERS)
    for part in order_of_parts(effects, feature.overall):
        level = feature.levels[part]
        if abs(effects[part]) < STRONG:
            continue
        phrase = f"{name} {short_text(level, MAX_LETTERS)}"
        if isinstance(level, bool):
            phrase = name if level else f"not {name}"
        if effects[part] > 0 and shares[part] >= NEARLY_ALL:
            return phrase
        if effects[part] > 0 and shares[part] > MOST:
            return f"mostly {phrase}"
        if effects[part] < 0 and shares[part] <= HARDLY_ANY and len(shares) > 2:
            return f"{name} not {short_text(level, MAX_LETTERS)}"
    return None
