"""The answer in words: how many clusters and how sure, how fair, and what may be done with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairmix.posterior.verdict import AGREE, AGREE_BUT_NOT_ON_NUMBER, CANNOT_TELL
from fairmix.posterior.wording import percent

#: A number of clusters that so many draws have is told of alone.
NEARLY_ALL = 0.9
#: A smaller difference of shares is none.
HARDLY_ANY = 0.0005


def tell_answer(summary: Mapping[str, Any]) -> list[dict[str, str]]:
    """Say in a few sentences what was found.

    Parameters
    ----------
    summary : mapping
        All other figures.

    Returns
    -------
    list of dict
        A paragraph each: what it is ``about`` ("number", "certainty", "fairness", "use") and its
        ``text``.
    """
    told = {
        "number": _tell_number(summary),
        "certainty": _tell_certainty(summary),
        "fairness": " ".join([*_tell_shares(summary), *_tell_what_was_asked(summary)]),
        "use": _tell_use(summary),
    }
    return [{"about": about, "text": text} for about, text in told.items()]


def _tell_number(summary: Mapping[str, Any]) -> str:
    """Say how many clusters there are."""
    number, chains = summary["n_clusters"], summary["chains"]
    n_draws = chains["n_chains"] * chains["n_draws"]
    first = f"The {summary['table']['n_rows']:,} rows fall into {_clusters(number['labels'])}."
    how = (
        f"They were chosen as the most central of {n_draws:,} clusterings that are probable "
        "given the table (“draws”)"
    )
    [share] = [e["share"] for e in number["distribution"] if e["n"] == number["labels"]]
    if share >= NEARLY_ALL:
        rest = f"; {percent(share)} of these have {_clusters(number['labels'])}, too."
    else:
        fewest, most = number["likely"]
        rest = f"; nine in ten of these have {fewest} to {most}."
    return f"{first} {how}{rest}"


def _clusters(n: int) -> str:
    return "1 cluster" if n == 1 else f"{n} clusters"


def _tell_certainty(summary: Mapping[str, Any]) -> str:
    """Say how many rows are sure of their place."""
    certainty, n_rows = summary["certainty"], summary["table"]["n_rows"]
    sure, unsure = certainty["n_sure"], certainty["n_unsure"]
    return (
        f"{sure:,} rows ({percent(sure / n_rows)}) are sure of their cluster: they are in it in at "
        f"least 9 of 10 draws. {unsure:,} ({percent(unsure / n_rows)}) are not: they are elsewhere "
        "in more than half of the draws."
    )


def _tell_shares(summary: Mapping[str, Any]) -> list[str]:
    """Say where the shares of two groups differ most."""
    found = []
    for attribute in summary["fairness"]["attributes"]:
        names = [group["name"] for group in attribute["groups"]]
        pairs = zip(summary["clusters"], attribute["shares_by_cluster"], strict=True)
        for cluster, shares in pairs:
            known = [(s, name) for s, name in zip(shares, names, strict=True) if s is not None]
            if len(known) > 1 and not attribute["is_crossed"]:
                found.append((max(known)[0] - min(known)[0], cluster["number"], known))
    if not found:
        return []
    difference, number, known = max(found, key=lambda each: each[0])
    if difference < HARDLY_ANY:
        return ["In every cluster, all groups have the same share."]
    (low, least), (high, most) = min(known), max(known)
    told = [percent(high), percent(low)]
    if told[0] == told[1]:
        told = [f"{100 * share:.1f} %" for share in (high, low)]
    return [
        f"Groups differ most in cluster {number}: it has {told[0]} of all “{most}” rows and "
        f"{told[1]} of all “{least}” rows."
    ]


def _tell_what_was_asked(summary: Mapping[str, Any]) -> list[str]:
    """Say what fairness was asked for, and whether it is kept."""
    fairness = summary["fairness"]
    asked, gap, largest = fairness["asked"], fairness["gap"], fairness["largest_gap_of_draws"]
    if not fairness["attributes"]:
        return ["There was one group only, so nothing was made fair."]
    found = f"The gap, which sums up such differences, is {gap:.3f} (0 is perfectly fair)"
    if asked["by"] == "nothing":
        return [f"{found}. Fairness was measured here, but not asked for."]
    if isinstance(asked["max_gap"], dict):
        bounds = ", ".join(f"{bound:g} for {name}" for name, bound in asked["max_gap"].items())
        return [f"Asked for were gaps of at most {bounds}; no draw is above."]
    if asked["max_gap"] is not None:
        return [f"{found}; asked for was at most {asked['max_gap']:g}, and no draw is above."]
    if asked["min_balance"] is not None:
        return [
            f"{found}; asked for was a balance of at least {asked['min_balance']:g}, which all "
            "draws have."
        ]
    if fairness["certain_gap"] is None:
        return [f"{found}; that of the least fair draw is {largest:.3f}."]
    return [
        f"{found}; that of the least fair draw is {largest:.3f}, and by how it was made none could "
        f"be above {fairness['certain_gap']:.3f}."
    ]


def _tell_use(summary: Mapping[str, Any]) -> str:
    """Say whether the chains agree, and what that means."""
    chains = summary["chains"]
    n_chains = chains["n_chains"]
    who = f"The {n_chains} chains (searches for clusterings that began in different places)"
    if chains["verdict"] == CANNOT_TELL:
        return (
            "It cannot be told whether the search has found all there is: that takes two chains "
            "and 100 draws of each, or more. Take this as a first look."
        )
    if chains["verdict"] == AGREE:
        return (
            f"{who} agree, so another run would tell much the same probabilities. It may put rows "
            "that are not sure of their cluster elsewhere. Nor does that make the clusters fair "
            "enough for what you want to do."
        )
    if chains["verdict"] == AGREE_BUT_NOT_ON_NUMBER:
        return (
            f"{who} agree on the clusters, but not on how many there are: small ones come and go. "
            "Another run would find much the same clusters, but it might tell other probabilities "
            "of how many there are."
        )
    return (
        f"{who} disagree: each found other clusters, so another run might find others again. Do "
        "not build on these clusters before the fit is repeated as advised below."
    )
