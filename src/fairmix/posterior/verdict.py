"""Do the chains agree, on what, and what to do if they do not: one verdict, the same everywhere.

Whether there is a difference between chains, however small, is asked by R-hat: of the log
posterior and of the number of clusters. How large a difference is for the clusters is seen from
pairs of draws: if those of different chains are hardly farther from each other than those of the
same chain, it matters little which chain's clusters are used. Chains of which all of this is true
*agree*. Chains that have the same clusters in this sense, but other numbers of them, *agree on the
clusters but not on their number*; all others *disagree*. R-hat of distances to reference draws is
told, too, and how long to sample follows from it; it decides nothing, since with many draws it sees
differences of the clusters that do not matter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairmix.posterior.diagnostics import bulk_ess, r_hat

if TYPE_CHECKING:  # it has this as a method
    from fairmix.posterior.posterior import Posterior

#: Chains disagree if R-hat is larger.
MAX_R_HAT = 1.05
#: Chains have the same clusters if draws of different ones are at most so many times as far from
#: each other as draws of the same one.
MAX_APART = 1.05
#: With fewer draws of a chain, R-hat is mostly noise.
MIN_DRAWS = 100
#: So many independent draws of each chain are enough for R-hat and for quantiles.
ENOUGH = 100
#: Sampling so many times as long is no remedy any more.
FAR_TOO_LONG = 10
#: A cap on the gap that is not worth less.
LEAST_CAP = 0.02

AGREE = "agree"
AGREE_BUT_NOT_ON_NUMBER = "agree on the clusters but not on their number"
DISAGREE = "disagree"
CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class Verdict:
    """What is to be thought of the chains.

    Attributes
    ----------
    word : str
        "agree", "agree on the clusters but not on their number" or "disagree"; or "cannot tell",
        with one chain, or fewer than 100 draws of each.
    figures : dict of str to float
        What it rests on: "r_hat" and "ess" of log_posterior, n_clusters and distance (the largest
        and the smallest over reference draws), such as "r_hat n_clusters"; and the mean distance
        in bits "between chains" and "within chains". Empty if it cannot tell.
    grounds : str
        The same in words.
    advice : list of str
        What to do, in this order.
    """

    word: str
    figures: dict[str, float]
    grounds: str
    advice: list[str]

    def __str__(self) -> str:
        if self.word == CANNOT_TELL:
            first = f"It cannot be told whether the chains agree: {self.grounds}."
        else:
            first = f"The chains {self.word}: {self.grounds}."
        if len(self.advice) < 2:
            return "\n".join([first, *self.advice])
        steps = (f"({k}) {sentence}" for k, sentence in enumerate(self.advice, start=1))
        return "\n".join([first, "What to do, in this order:", *steps])


def judge(posterior: Posterior, options: Mapping[str, Any] | None = None) -> Verdict:
    """Find out whether the chains agree.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    options : mapping, optional
        Parameters of the estimator by name, for advice that fits them.

    Returns
    -------
    Verdict
        The word, what it rests on, and what to do.
    """
    if posterior.n_chains < 2 or posterior.n_draws < MIN_DRAWS:
        return Verdict(
            CANNOT_TELL,
            {},
            f"there are {posterior.n_chains} of at least 2 chains and {posterior.n_draws:,} of at "
            f"least {MIN_DRAWS} draws of each",
            ["Take n_chains=4 and n_draws=1000."],
        )
    figures = _measure(posterior)
    has_same_clusters = figures["between chains"] <= MAX_APART * figures["within chains"]
    if has_same_clusters and figures["r_hat n_clusters"] > MAX_R_HAT:
        word = AGREE_BUT_NOT_ON_NUMBER
    elif has_same_clusters and figures["r_hat log_posterior"] <= MAX_R_HAT:
        word = AGREE
    else:
        word = DISAGREE
    by_chain = ", ".join(f"{mean:.1f}" for mean in posterior.n_clusters.mean(axis=1))
    grounds = (
        f"R-hat is {figures['r_hat log_posterior']:.2f} for the log posterior, "
        f"{figures['r_hat n_clusters']:.2f} for n_clusters and {figures['r_hat distance']:.2f} for "
        f"the distance to reference draws (1 is converged; mean n_clusters by chain: {by_chain}); "
        f"draws of different chains are {figures['between chains']:.2f} bits apart, draws of the "
        f"same chain {figures['within chains']:.2f}"
    )
    return Verdict(word, figures, grounds, _advise(posterior, word, figures, options))


def _measure(posterior: Posterior) -> dict[str, float]:
    """Compute what the verdict rests on."""
    figures: dict[str, float] = {}
    for name, series in (
        ("log_posterior", [posterior.log_posterior]),
        ("n_clusters", [posterior.n_clusters]),
        ("distance", list(posterior.reference_distances)),
    ):
        figures[f"r_hat {name}"] = max(r_hat(values) for values in series)
        figures[f"ess {name}"] = min(bulk_ess(values) for values in series)
    by_chain = posterior.pairs.by_chain()
    is_same = np.eye(len(by_chain), dtype=bool)
    figures["between chains"] = float(np.mean(by_chain[~is_same]))
    figures["within chains"] = float(np.mean(by_chain[is_same]))
    return figures


def _advise(
    posterior: Posterior,
    word: str,
    figures: Mapping[str, float],
    options: Mapping[str, Any] | None,
) -> list[str]:
    """Say what to do."""
    if word == AGREE:
        return []
    advice = []
    if word == AGREE_BUT_NOT_ON_NUMBER:
        fewest, most = np.quantile(posterior.n_clusters, [0.05, 0.95]).astype(int)
        advice.append(
            "Use the labels: from chain to chain they differ hardly more than from draw to draw. "
            f"Of the number of clusters say that it is mostly {fewest} to {most}, but not how "
            "probable each is."
        )
    advice.append(_advise_longer(posterior, figures, options))
    advice += _advise_fairness(posterior, options)
    advice.append(
        "Try another family: where clusters come and go, several may stand for one that has "
        "another shape (for numbers family='student-t' or 'skew-normal')."
    )
    return advice


def _advise_longer(
    posterior: Posterior, figures: Mapping[str, float], options: Mapping[str, Any] | None
) -> str:
    """Say how much longer to sample, by the effective sample size reached."""
    names = [name for name in figures if name.startswith("ess")]
    least = min(names, key=lambda name: figures[name])
    wanted = ENOUGH * posterior.n_chains
    times = max(math.ceil(wanted / figures[least]), 2)
    how = f"about {times} times as many sweeps"
    if options is not None:
        longer = {
            name: options[name] * times for name in ("n_warmup", "n_draws") if name in options
        }
        how += f" ({', '.join(f'{name}={value}' for name, value in longer.items())})"
    else:
        how += " (n_warmup and n_draws)"
    what = {"ess log_posterior": "log posterior", "ess n_clusters": "n_clusters"}
    sentence = (
        f"Sample longer, {how}: for {what.get(least, 'the distance to reference draws')} the draws "
        f"are worth {figures[least]:.0f} independent ones, and {wanted} would do."
    )
    if times > FAR_TOO_LONG:
        sentence += " That is long, and a rough guess: try what follows first."
    return sentence


def _advise_fairness(posterior: Posterior, options: Mapping[str, Any] | None) -> list[str]:
    """Say how to allow a little less fairness, which often is what keeps chains apart."""
    if posterior.group_gaps.shape[2] == 0 or (options is not None and "max_gap" not in options):
        return []  # nothing was made fair
    known = options or {}
    largest = float(posterior.fairness_gap.max())
    cap = max(LEAST_CAP, math.ceil(200 * largest) / 100)
    start = f"Allow a little less fairness: the largest gap of a draw is {largest:.4f};"
    if known.get("min_balance") is not None:
        return [f"{start} pass a smaller min_balance than {known['min_balance']!r}."]
    if known.get("max_gap") is not None:
        return [f"{start} pass a larger max_gap than {known['max_gap']!r}."]
    advice = [f"{start} pass a cap on it that leaves more room, such as max_gap={cap:.2f}."]
    if known.get("extra") != "free" and (some := _rows_with_extra(posterior)):
        advice.append(
            f"With matching, pass extra='free': {some} take one follower more than the others; "
            "which ones is then sampled, too, instead of fixed beforehand."
        )
    return advice


def _rows_with_extra(posterior: Posterior) -> str:
    """Say how many rows have an extra follower; nothing if none has."""
    if posterior.training is None:
        return "if group sizes are no multiples of the smallest one, some of its rows"
    counts = posterior.training.groups.counts
    remainders = counts[1:] % counts[0]
    if not remainders.any():
        return ""
    numbers = " and ".join(str(remainder) for remainder in remainders if remainder)
    return f"{numbers} of the {counts[0]} rows of the smallest group"
