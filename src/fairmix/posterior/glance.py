"""What notebooks show of a fitted model, a posterior and a profile: the answer at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fairmix.posterior.verdict import CANNOT_TELL
from fairmix.posterior.wording import percent, short_text, tell_groups, tell_traits
from fairmix.tables.as_html import show_lines, show_table

if TYPE_CHECKING:  # they have these as methods
    from fairmix.posterior.posterior import Posterior
    from fairmix.posterior.profile import Profile

#: Sizes of so many clusters are told.
MAX_SIZES = 10


def show_model(model: Any) -> str:
    """Show the answer of a fitted model: clusters, fairness and whether chains agree.

    Parameters
    ----------
    model : estimator
        A fitted model.

    Returns
    -------
    str
        HTML.
    """
    posterior = model.posterior_
    sizes = np.bincount(model.labels_)
    told = ", ".join(f"{size:,}" for size in sizes[:MAX_SIZES])
    n_more = len(sizes) - MAX_SIZES
    told += f" and those of {n_more} more" if n_more > 0 else ""
    what = "1 cluster" if len(sizes) == 1 else f"{len(sizes)} clusters"
    lines = []
    if posterior.group_gaps.shape[2]:
        bound = getattr(model, "gap_bound_", None)
        certain = "" if bound is None else f"; it was certain to be at most {bound:.4f}"
        lines.append(
            f"The fairness gap of the draws is {posterior.fairness_gap.mean():.4f} on average and "
            f"{posterior.fairness_gap.max():.4f} at most (0 is perfectly fair){certain}."
        )
    lines.append(_tell_verdict(posterior))
    return show_lines(f"{what} of {len(model.labels_):,} rows; sizes: {told}", lines)


def show_posterior(posterior: Posterior) -> str:
    """Show the scalars of the draws and whether chains agree.

    Parameters
    ----------
    posterior : Posterior
        The draws.

    Returns
    -------
    str
        HTML.
    """
    summary = posterior.summary().reset_index(names="scalar")
    return show_table(summary, repr(posterior)[1:-1], [_tell_verdict(posterior)])


def show_profile(profile: Profile) -> str:
    """Show a row a cluster: how large it is, its groups, and what sets it apart.

    Parameters
    ----------
    profile : Profile
        The profile.

    Returns
    -------
    str
        HTML.
    """
    rows = [
        {
            "cluster": short_text(cluster.label),
            "name": cluster.name,
            "rows": f"{cluster.size:,} ({percent(cluster.size / profile.n_rows)})",
            "groups": "; ".join(tell_groups(profile, cluster)),
            "what sets it apart": "; ".join(tell_traits(profile, cluster)),
            "in draws": percent(cluster.share_of_draws),
        }
        for cluster in profile.clusters
    ]
    table = pd.DataFrame(rows).map(_glue)
    if not profile.attributes:
        table = table.drop(columns="groups")
    n_clusters = len(rows)
    what = "1 cluster" if n_clusters == 1 else f"{n_clusters} clusters"
    note = "Numbers: mean +- standard deviation; categories: a share. In brackets: all rows."
    return show_table(table, f"{what} of {profile.n_rows:,} rows", [note])


def _glue(text: str) -> str:
    """Keep on one line what belongs together."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%").replace(
        " +- ", "\N{NO-BREAK SPACE}+-\N{NO-BREAK SPACE}"
    )


def _tell_verdict(posterior: Posterior) -> str:
    verdict = posterior.verdict()
    if verdict.word == CANNOT_TELL:
        return f"It cannot be told whether the chains agree: {verdict.grounds}."
    return f"The chains {verdict.word}."
