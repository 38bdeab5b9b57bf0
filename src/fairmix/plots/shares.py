"""Who is in the clusters: each group's share of them."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from fairmix.metrics import balance, fairness_gap, group_shares
from fairmix.plots.palette import MARKERS, mark_cluster
from fairmix.plots.panels import one_panel
from fairmix.tables.groups import Groups, read_groups, read_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Room of a bar in inches.
BAR_HEIGHT = 0.17
#: Names of groups are broken into lines of so many letters, and cut after so many lines.
NAME_WIDTH, NAME_LINES = 24, 3
#: The smallest letters that can be read, in points.
SMALLEST_LETTERS = 6.0


def plot_shares(labels: Any, sensitive_features: Any, *, ax: Any = None) -> Axes:
    """Draw each cluster's shares of the groups, and those of all rows.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        Cluster of each row, of any method.
    sensitive_features : array-like or data frame
        Sensitive group of each row; several columns are crossed.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default a new figure is made through pyplot, which notebooks show.

    Returns
    -------
    matplotlib.axes.Axes
        A bar a cluster; dashed lines are where a fair cluster's shares end.
    """
    codes = read_labels(labels)
    height = float(np.clip(1.5 + BAR_HEIGHT * (codes.max() + 2), 4.2, 12.0))
    ax = one_panel(ax, 6.0, height)
    draw_shares(ax, codes, read_groups(sensitive_features, len(codes), "labels"))
    return ax


def draw_shares(ax: Axes, labels: Any, groups: Groups) -> None:
    """Draw a bar with each cluster's shares of the groups, and a last one for all rows."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    shares = group_shares(labels, groups.codes).to_numpy()
    overall = np.bincount(groups.codes) / len(groups.codes)
    table = np.vstack([shares, overall])
    ends = np.cumsum(table, axis=1)
    places = np.arange(len(table), dtype=float)
    places[-1] += 0.4  # all rows, apart from the clusters
    greys = [str(grey) for grey in np.linspace(0.4, 0.9, len(overall))]
    entries, names = [], []
    for code, grey in enumerate(greys):
        ax.barh(
            places,
            table[:, code],
            left=ends[:, code] - table[:, code],
            height=0.8,
            color=grey,
            edgecolor="white",
            linewidth=0.5,
        )
        marker = MARKERS[code % len(MARKERS)]
        shape = Line2D([], [], marker=marker, ls="none", mfc="white", mec="black", ms=5)
        entries.append((Patch(facecolor=grey), shape))
        names.append(_name(groups.names[code]))
    for end in ends[-1, :-1]:  # a fair cluster's shares end here
        ax.axvline(end, color="black", linewidth=0.8, linestyle=(0, (2, 2)))
    ax.set(xlabel="share of each group", ylabel="cluster", xlim=(0, 1))
    ax.set_ylim(places[-1] + 0.6, -0.6)
    _label_bars(ax, places)
    if len(overall) > 1:
        gap, ratio = fairness_gap(labels, groups.codes), balance(labels, groups.codes)
        ax.set_title(f"Who is in them\n(gap {gap:.3f}, balance {ratio:.3f})")
    else:
        ax.set_title("Who is in them\n(one group: no fairness to see)")
    ax.legend(
        entries,
        names,
        title="group",
        fontsize="small",
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        frameon=False,
    )


def _label_bars(ax: Axes, places: Any) -> None:
    """Write the clusters' numbers beside their bars, and draw their marks."""
    n_clusters = len(places) - 1
    room = 72.0 * ax.get_window_extent().height / ax.figure.dpi / (places[-1] + 1.2)  # in points
    letters = float(np.clip(0.75 * room, SMALLEST_LETTERS, 10.0))
    every = max(1, int(np.ceil(SMALLEST_LETTERS / room)))
    shown = [*range(0, n_clusters, every), n_clusters]
    names = [*map(str, range(n_clusters)), "all"]
    ax.set_yticks(places[shown], [names[k] for k in shown], fontsize=letters)
    ax.tick_params(axis="y", length=0, pad=12)
    for k in range(n_clusters):
        mark = mark_cluster(k)
        ax.plot(
            [-7.0 / 72.0],
            [places[k]],
            "o",
            mfc=mark.face,
            mec=mark.edge,
            ms=min(0.8 * room, 8.0),
            transform=_beside(ax),
            clip_on=False,
        )


def _beside(ax: Axes) -> Any:
    """Measure x in inches from the left edge of the panel, and y on its axis."""
    from matplotlib.transforms import ScaledTranslation, blended_transform_factory

    figure: Any = ax.figure.figure  # the whole figure, even from within a subfigure
    edge: Any = ax.transAxes
    return blended_transform_factory(
        figure.dpi_scale_trans + ScaledTranslation(0, 0, edge), ax.transData
    )


def _name(group: Any) -> str:
    """Write a group's name in short lines; crossed groups are tuples."""
    name = ", ".join(map(str, group)) if isinstance(group, tuple) else str(group)
    return textwrap.fill(name, NAME_WIDTH, max_lines=NAME_LINES, placeholder=" \u2026")
