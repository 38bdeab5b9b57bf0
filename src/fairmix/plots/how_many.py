"""How many clusters there are: the posterior of their number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairmix.plots.palette import COLOURS
from fairmix.plots.panels import one_panel
from fairmix.posterior import Posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_number_of_clusters(posterior: Posterior, *, ax: Any = None) -> Axes:
    """Draw the posterior of the number of clusters, and what each chain says of it.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default a new figure is made through pyplot, which notebooks show.

    Returns
    -------
    matplotlib.axes.Axes
        Bars for all chains together, short lines for each chain: if these are far apart, the chains
        disagree.
    """
    ax = one_panel(ax, 5.0, 3.8)
    from matplotlib.ticker import MaxNLocator  # whoever lacks it has been told

    n_clusters = np.atleast_2d(posterior.n_clusters)
    values, counts = np.unique(n_clusters, return_counts=True)
    shares = counts / counts.sum()
    ax.bar(values, shares, color=COLOURS[0], width=0.7)
    highest = shares.max()
    if len(n_clusters) > 1:
        by_chain = np.array([(n_clusters == value).mean(axis=1) for value in values])
        for value, chains in zip(values, by_chain, strict=True):
            ax.hlines(chains, value - 0.35, value + 0.35, color="black", lw=0.8, alpha=0.6)
        highest = by_chain.max()
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(
        xlabel="number of clusters",
        ylabel="posterior probability",
        xlim=(values.min() - 1.5, values.max() + 1.5),
        ylim=(0, min(1.2 * highest, 1.05)),
        title="How many there are",
    )
    return ax
