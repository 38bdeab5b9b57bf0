"""The answer of a fit in five lines, and its exit code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fairmix.cli.run_folder import RunFolder
from fairmix.cli.settings import Settings
from fairmix.cli.telling import DISAGREE, DONE
from fairmix.metrics import balance, fairness_gap
from fairmix.posterior import verdict
from fairmix.posterior.wording import percent, short_text

#: So many clusters are named.
MOST_NAMED = 6
#: What the chains' word means for use.
MEANING = {
    verdict.AGREE: "use the labels and all probabilities",
    verdict.AGREE_BUT_NOT_ON_NUMBER: "use the labels, but not how probable each number is",
    verdict.DISAGREE: "do not rely on these labels yet",
    verdict.CANNOT_TELL: "take these labels for a first look",
}


def tell_answer(
    model: Any, summary: Mapping[str, Any], settings: Settings, folder: RunFolder, part: str
) -> Any:
    """Tell the answer.

    Parameters
    ----------
    model : FairBayesianClustering
        The fitted model.
    summary : mapping
        Its summary.
    settings : Settings
        What was asked for.
    folder : RunFolder
        Where the files are.
    part : str
        What to say if draws are lacking.

    Returns
    -------
    rich.table.Table
        Five lines.
    """
    from rich.table import Table
    from rich.text import Text

    lines = [
        ("Clusters", f"{_tell_number(model)} {_tell_certainty(summary)}"),
        ("Sizes", _tell_sizes(model)),
        ("Fairness", _tell_fairness(model, settings)),
        ("Chains", " ".join(filter(None, [_tell_chains(model, summary), part]))),
        ("Files", _tell_files(folder)),
    ]
    grid = Table.grid(padding=(0, 2, 0, 0))
    for title, told in lines:
        grid.add_row(Text(title, "bold"), Text(told))
    return grid


def exit_code_of(model: Any) -> int:
    """Give the exit code of a fit.

    Parameters
    ----------
    model : FairBayesianClustering
        The fitted model.

    Returns
    -------
    int
        3 if the chains disagree, else 0.
    """
    return DISAGREE if _verdict_of(model).word == verdict.DISAGREE else DONE


def _verdict_of(model: Any) -> Any:
    return model.posterior_.verdict(model.get_params(deep=False))


def _tell_number(model: Any) -> str:
    """Say how many clusters there are, and how sure that is."""
    counts = model.posterior_.n_clusters
    share = float(np.mean(counts == model.n_clusters_))
    low, high = np.quantile(counts, [0.05, 0.95]).astype(int)
    between = f"{low}" if low == high else f"{low} to {high}"
    return f"{model.n_clusters_}, in {percent(share)} of the draws; most draws have {between}."


def _tell_certainty(summary: Mapping[str, Any]) -> str:
    """Say how many rows are sure of their cluster."""
    certainty, n_rows = summary["certainty"], summary["table"]["n_rows"]
    sure, unsure = (percent(certainty[name] / n_rows) for name in ("n_sure", "n_unsure"))
    there = f"{sure} of the rows are in theirs in at least 9 of 10 draws"
    return f"{there}; {unsure} are mostly elsewhere."


def _tell_sizes(model: Any) -> str:
    """Say how large the clusters are, and what they are."""
    clusters = sorted(model.profile().clusters, key=lambda cluster: -cluster.size)
    told = [
        f"{cluster.label} {short_text(cluster.name)!r} {percent(cluster.size / len(model.labels_))}"
        for cluster in clusters[:MOST_NAMED]
    ]
    n_more = len(clusters) - MOST_NAMED
    return ", ".join(told) + (f" and {n_more} more." if n_more > 0 else ".")


def _tell_fairness(model: Any, settings: Settings) -> str:
    """Say how fair the clusters are beside what was asked."""
    groups = model.posterior_.training.groups
    gap = fairness_gap(model.labels_, groups.codes, kind=settings.gap_kind)
    if settings.max_gap is not None:
        asked = (
            f"as asked, no draw has more than {settings.max_gap:g}"
            if not isinstance(settings.max_gap, dict)
            else "asked was "
            + ", ".join(
                f"at most {cap:g} by {short_text(name)}" for name, cap in settings.max_gap.items()
            )
        )
    elif settings.min_balance is not None:
        least = balance(model.labels_, groups.codes)
        asked = f"the balance {least:.3f}, asked was at least {settings.min_balance:g}"
    else:
        asked = f"no draw has more than {model.posterior_.fairness_gap.max():.3f}"
    return f"the gap between groups is {gap:.3f} (0 is the same shares); {asked}."


def _tell_chains(model: Any, summary: Mapping[str, Any]) -> str:
    """Say whether the chains agree, and what to do."""
    word, advice = _verdict_of(model).word, summary["chains"]["advice"]
    said = "it cannot be told whether they agree" if word == verdict.CANNOT_TELL else f"they {word}"
    remedies = [step for step in advice if not step.startswith("Use the labels")]
    # Only the first is told of; the others are in the report.
    first = "".join(remedies[:1]).replace("what follows first", "first what else the report says")
    return f"{said}: {MEANING[word]}. {first}".rstrip()


def _tell_files(folder: RunFolder) -> str:
    """Say where the files are."""
    first = [folder.report] if folder.report.exists() else []
    others = [folder.labels, folder.clusters, folder.model, folder.summary, folder.config]
    names = ", ".join(path.name for path in others)
    opened = f"open {first[0]}; beside it {names}" if first else f"{names} in {folder.path}/"
    return f"{opened}."
