"""A profile in words: numbers rounded by their spread, shares in per cent, text from anywhere."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

from fairmix.posterior.summaries import word_of_spread

if TYPE_CHECKING:
    from fairmix.posterior.profile import Profile
    from fairmix.posterior.traits import ClusterProfile, Feature, Trait

#: Features with a smaller effect are not told of ...
NOTICEABLE = 0.2
#: ... nor more than so many a cluster.
MAX_TOLD = 5
#: Letters of a name or a level, and groups of an attribute, that are shown.
MAX_LETTERS, MAX_GROUPS = 40, 4
#: Width of a line.
WIDTH = 88


def describe_profile(profile: Profile) -> str:
    """Tell what each cluster is.

    Parameters
    ----------
    profile : Profile
        The profile.

    Returns
    -------
    str
        A paragraph a cluster.
    """
    n_clusters = len(profile.clusters)
    what = "1 cluster" if n_clusters == 1 else f"{n_clusters} clusters"
    head = (
        f"{what} of {profile.n_rows:,} rows. Numbers: mean +- standard deviation; categories: the "
        "level whose share differs most from that of the other rows. In brackets: all rows."
    )
    told = [head, *(describe_cluster(profile, cluster) for cluster in profile.clusters)]
    # What belongs together stays on one line.
    glued = [text.replace(" %", "\xa0%").replace(" +- ", "\xa0+-\xa0") for text in told]
    filled = [
        textwrap.fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False) for text in glued
    ]
    return "\n".join(filled).replace("\xa0", " ")


def describe_cluster(profile: Profile, cluster: ClusterProfile) -> str:
    """Tell what one cluster is.

    Parameters
    ----------
    profile : Profile
        The profile.
    cluster : ClusterProfile
        One of its clusters.

    Returns
    -------
    str
        Size, groups, what sets it apart, and how many draws have it.
    """
    rows = "1 row" if cluster.size == 1 else f"{cluster.size:,} rows"
    head = f'Cluster {short_text(cluster.label)} "{short_text(cluster.name, 3 * MAX_LETTERS)}": '
    head += f"{rows} ({percent(cluster.size / profile.n_rows)})"
    parts = [head, *tell_groups(profile, cluster), *tell_traits(profile, cluster)]
    parts.append(f"in {percent(cluster.share_of_draws)} of {profile.n_draws} draws")
    return "; ".join(parts) + "."


def tell_traits(profile: Profile, cluster: ClusterProfile) -> list[str]:
    """Tell what sets a cluster apart, feature by feature.

    Parameters
    ----------
    profile : Profile
        The profile.
    cluster : ClusterProfile
        One of its clusters.

    Returns
    -------
    list of str
        A part of a sentence for each feature that is told of, and how many there are more.
    """
    told = [k for k in cluster.order if _is_told(profile, cluster, k)]
    if not told:
        return ["no feature sets it apart"]
    parts = [_tell_trait(profile.columns[k], cluster.traits[k]) for k in told[:MAX_TOLD]]
    n_more = len(told) - MAX_TOLD
    if n_more > 0:
        parts.append(f"and {n_more} more feature{'s' if n_more > 1 else ''}")
    return parts


def tell_groups(profile: Profile, cluster: ClusterProfile) -> list[str]:
    """Tell the shares of the groups; of several attributes, those of each rather than crossed.

    Parameters
    ----------
    profile : Profile
        The profile.
    cluster : ClusterProfile
        One of its clusters.

    Returns
    -------
    list of str
        A part of a sentence for each group that is told of.
    """
    first = 1 if len(profile.attributes) > 1 else 0
    told = []
    pairs = zip(profile.attributes[first:], cluster.group_shares[first:], strict=True)
    for attribute, shares in pairs:
        n_levels = len(attribute.levels)
        # One of two groups says it all.
        by_share = sorted(range(n_levels), key=lambda k: -attribute.shares[k])
        shown = [0] if n_levels == 2 else by_share[:MAX_GROUPS]
        told += [
            f"{text_of_group(attribute.name, attribute.levels[k])} {percent(shares[k])} (all: "
            f"{percent(attribute.shares[k])})"
            for k in shown
        ]
    return told


def percent(share: float) -> str:
    """Give a share in per cent; only none is 0 %, and only all is 100 %."""
    if 0.0 < share < 0.001:
        return "<0.1 %"
    if 0.999 < share < 1.0:
        return ">99.9 %"
    is_near_an_end = 0.0 < share < 0.01 or 0.99 < share < 1.0
    return f"{100 * share:.1f} %" if is_near_an_end else f"{100 * share:.0f} %"


def number(value: float, spread: float) -> str:
    """Give a number with two digits of a spread, such as 46 or 1.23."""
    if not spread > 0:
        return f"{value:.6g}"
    n_decimals = 1 - math.floor(math.log10(spread))
    rounded = round(value, n_decimals) + 0.0  # no -0
    if abs(rounded) >= 1e15 or n_decimals > 6:
        return f"{value:.3g}" if abs(value) < 100 * spread else f"{value:.12g}"
    text = f"{rounded:.{max(n_decimals, 0)}f}"
    return f"{rounded:,.0f}" if n_decimals <= 0 and abs(rounded) >= 10_000 else text


def constant(value: float, spread: float) -> str:
    """Give a number that all cells are, with the digits that it has."""
    text = number(value, spread / 1000)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def short_text(value: Any, most: int = MAX_LETTERS) -> str:
    """Give a name or a level as one short line of text, whatever it holds.

    Parameters
    ----------
    value : object
        Text, a number, or a tuple of these.
    most : int, optional
        Number of letters.

    Returns
    -------
    str
        The text; what cannot be printed is escaped, and what is too long is cut.
    """
    if isinstance(value, tuple):
        text = ", ".join(short_text(each, most) for each in value)
    elif isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        text = str(int(value))
    else:
        text = str(value)
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return plain if len(plain) <= most else plain[: most - 3] + "..."


def text_of_column(name: Any, most: int = MAX_LETTERS) -> str:
    """Name a column: by its name, or as such if that is a number.

    Parameters
    ----------
    name : object
        Its name, or its position.
    most : int, optional
        Number of letters.

    Returns
    -------
    str
        Text for a sentence.
    """
    text = short_text(name, most)
    return text if isinstance(name, str) else f"column {text}"


def text_of_group(name: Any, level: Any) -> str:
    """Name a group by its attribute, if that has a name, and its level.

    Parameters
    ----------
    name : object
        The attribute, or a tuple of several that are crossed; "" has no name.
    level : object
        The group.

    Returns
    -------
    str
        Its name.
    """
    if isinstance(name, tuple) and isinstance(level, tuple) and len(name) == len(level):
        return ", ".join(text_of_group(*each) for each in zip(name, level, strict=True))
    return f"{short_text(name)} {short_text(level)}".lstrip()


def _is_told(profile: Profile, cluster: ClusterProfile, k: int) -> bool:
    """Tell whether a feature is worth telling of."""
    trait, overall = cluster.traits[k], profile.columns[k].overall
    is_apart = abs(trait.effect) >= NOTICEABLE
    has_spread = word_of_spread(trait.summary, overall, trait.effect) is not None
    return len(profile.clusters) == 1 or is_apart or has_spread


def _tell_trait(feature: Feature, trait: Trait) -> str:
    """Tell what a feature is like in a cluster."""
    name, summary, overall = text_of_column(feature.name), trait.summary, feature.overall
    missing = f"; {summary.n_missing:,} missing" if summary.n_missing else ""
    if summary.means is None or overall.means is None:
        return f"{name} always missing"
    if feature.levels is not None:
        part = trait.strongest
        if part is None:
            part = summary.means.index(max(summary.means))
        level = short_text(feature.levels[part])
        shares = f"{percent(summary.means[part])} (all: {percent(overall.means[part])}"
        return f"{name} {level} {shares}{missing})"
    own, of_all = summary.spread(), overall.spread()
    mean_of_all, sd_of_all = number(overall.means[0], of_all), number(of_all, of_all)
    if own == 0:
        always = constant(summary.means[0], of_all)
        return f"{name} always {always} (all: {mean_of_all} +- {sd_of_all}{missing})"
    # A narrow cluster needs more digits than all rows do, but not any number of them.
    spread = max(min(own, of_all), of_all / 100)
    mean, sd = number(summary.means[0], spread), number(own, spread)
    return f"{name} {mean} +- {sd} (all: {mean_of_all} +- {sd_of_all}{missing})"
