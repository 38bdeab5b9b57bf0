"""What a cap on the gap costs, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fairmix.plots.palette import COLOURS
from fairmix.plots.panels import one_panel
from fairmix.tables.checks import check_choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_caps(measured: pd.DataFrame, figure: str = "log_posterior", *, ax: Any = None) -> Axes:
    """Draw a figure of merit against the gap that draws have, one point a cap.

    Parameters
    ----------
    measured : pandas.DataFrame
        What :func:`fairmix.measure_caps` gives.
    figure : {"log_posterior", "cost", "n_clusters"}, default="log_posterior"
        What is drawn.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default a new figure is made through pyplot, which notebooks show.

    Returns
    -------
    matplotlib.axes.Axes
        Means with one standard deviation of the draws; the number beside a point is its cap. A
        hollow point belongs to a fit whose chains do not agree.
    """
    check_choice("figure", figure, ("log_posterior", "cost", "n_clusters"))
    ax = one_panel(ax, 6.0, 4.2)
    gaps, means = measured["gap"], measured[figure]
    ax.errorbar(gaps, means, yerr=measured[f"{figure}_sd"], color=COLOURS[0], elinewidth=0.7)
    for gap, mean, cap, verdict in zip(
        gaps, means, measured["max_gap"], measured["verdict"], strict=True
    ):
        face = COLOURS[0] if verdict == "agree" else "white"
        ax.plot([gap], [mean], "o", mfc=face, mec=COLOURS[0], zorder=3)
        ax.annotate(f"{cap:g}", (gap, mean), (6, -10), textcoords="offset points", fontsize="small")
    ax.set_xscale("function", functions=(np.sqrt, np.square))  # what matters is near zero
    ax.set_xlim(left=0.0)
    ax.set(
        xlabel="mean fairness gap of the draws (square-root scale)",
        ylabel=figure.replace("_", " "),
        title="What a cap costs (beside each point: the cap)",
    )
    ax.grid(alpha=0.3)
    return ax
