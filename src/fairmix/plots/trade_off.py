"""Cost against the fairness gap, for several methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairmix.plots.broken_axis import break_y_axis
from fairmix.plots.palette import Line, mark_line
from fairmix.plots.panels import one_panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Where the axis of gaps may have ticks.
TICKS = (0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1)


def plot_trade_off(runs: Any, *, ax: Axes | None = None) -> Axes:
    """Draw cost against the fairness gap, one line for each method as its setting changes.

    Parameters
    ----------
    runs : pandas.DataFrame
        Runs of a :class:`fairmix.Comparison`.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default a new figure is made through pyplot.

    Returns
    -------
    matplotlib.axes.Axes
        Means over seeds as points (filled at the strictest setting, the first), their ranges as
        thin bars. If a few costs are far above all others, the axis is broken. Save the picture
        with ``ax.figure.savefig``.
    """
    ax = one_panel(ax, 9.2, 5.0)
    entries = [
        _draw_method(ax, runs[runs["method"] == method], method, mark_line(number))
        for number, method in enumerate(runs["method"].unique())
    ]
    # Most of what matters is near zero, which a logarithm cannot show.
    ax.set_xscale("function", functions=(np.sqrt, np.square))
    ax.set_xlim(left=0.0)
    highest = ax.get_xlim()[1]
    ticks = [tick for tick in TICKS if tick <= highest]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_xlabel("Fairness gap \u0394 (0 is fair; square-root scale)")
    costs = runs["cost"].dropna().to_numpy(dtype=np.float64)
    is_broken = break_y_axis(ax, costs)
    ax.set_ylabel(
        "Cost: mean squared distance to the cluster mean" + (" (broken axis)" if is_broken else "")
    )
    ax.set_title("Towards the lower left is better; filled: each method at its strictest")
    ax.grid(alpha=0.3)
    where: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    ax.legend(handles=entries, frameon=False, handlelength=3.0, **where)
    return ax


def _draw_method(ax: Axes, runs: Any, method: str, mark: Line) -> Any:
    """Draw one line, and give its entry in the legend."""
    from matplotlib.lines import Line2D

    finished = runs[runs["cost"].notna()].groupby("setting", sort=False)
    figures = finished[["gap", "cost", "n_clusters"]].agg(["mean", "min", "max"])
    style: dict[str, Any] = {"color": mark.colour, "marker": mark.marker, "linestyle": mark.dashes}
    if len(figures):
        gap, cost = figures["gap"], figures["cost"]
        ax.errorbar(
            gap["mean"],
            cost["mean"],
            xerr=_ranges(gap),
            yerr=_ranges(cost),
            **style,
            markerfacecolor="white",
            elinewidth=0.7,
        )
        ax.plot(gap["mean"].iloc[0], cost["mean"].iloc[0], **style, zorder=5)
    without = "failed" if (runs["error"] != "").any() else "left out"
    label = _describe_numbers(figures["n_clusters"]) if len(figures) else without
    return Line2D([], [], **style, mfc="white", label=f"{method} ({label})")


def _ranges(figures: Any) -> Any:
    """Give the lengths of bars from mean to least and to largest; a mean may be rounded."""
    below, above = figures["mean"] - figures["min"], figures["max"] - figures["mean"]
    return np.maximum([below, above], 0.0)


def _describe_numbers(numbers: Any) -> str:
    """Give the range of numbers of clusters, in words."""
    least, most = numbers["min"].min(), numbers["max"].max()
    if least == most:
        return f"{least:g} cluster" + ("s" if least != 1 else "")
    return f"{least:g} to {most:g} clusters"
