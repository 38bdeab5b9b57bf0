"""What each cluster is: a heat map of effects, and the spread of the strongest features."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairmix.plots.palette import mark_cluster
from fairmix.plots.panels import one_panel, some_panels
from fairmix.posterior.profile import Profile
from fairmix.posterior.wording import text_of_column
from fairmix.tables.checks import check_integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Effects beyond this many standard deviations have the full colour.
STRONG = 2.0
#: Cells have their figure written in them up to so many clusters.
MAX_WRITTEN = 12
#: Names of columns are broken into lines of so many letters.
NAME_WIDTH = 16


def plot_profile(profile: Profile, n_features: int = 20, *, ax: Any = None) -> Axes:
    """Draw how far each cluster is from the other rows, feature by feature.

    Parameters
    ----------
    profile : Profile
        What ``model.profile()`` gives.
    n_features : int, default=20
        Number of features and levels to show, those that set clusters apart most first.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default a new figure is made through pyplot, which notebooks show.

    Returns
    -------
    matplotlib.axes.Axes
        A heat map: a row a feature (of categories, a level), a column a cluster. Red is more than
        elsewhere, blue less, in standard deviations of all rows.
    """
    check_integer("n_features", n_features, 1)
    chosen = _strongest_parts(profile, n_features)
    effects = np.array([_effects_of(profile, k, part) for k, part in chosen])
    n_clusters = len(profile.clusters)
    ax = one_panel(ax, 3.2 + 0.42 * n_clusters, 1.6 + 0.3 * len(chosen))
    image = ax.imshow(effects, cmap="RdBu_r", vmin=-STRONG, vmax=STRONG, aspect="auto")
    ax.set_xticks(range(n_clusters), [str(c.label) for c in profile.clusters])
    ax.set_yticks(range(len(chosen)), [_name_of(profile, *each) for each in chosen])
    if n_clusters <= MAX_WRITTEN:
        for (row, column), effect in np.ndenumerate(effects):
            colour = "white" if abs(effect) > 0.65 * STRONG else "black"
            text = f"{effect:+.1f}".replace("-", "\u2212")
            ax.text(column, row, text, ha="center", va="center", fontsize=7.5, color=colour)
    ax.set(xlabel="cluster", title="What sets clusters apart")
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8)
    bar.set_label("difference to the other rows\n(standard deviations)")
    return ax


def plot_features(profile: Profile, n_features: int = 4, *, ax: Any = None) -> NDArray[np.object_]:
    """Draw the strongest features, cluster by cluster beside all rows, in the data's own units.

    Parameters
    ----------
    profile : Profile
        What ``model.profile()`` gives.
    n_features : int, default=4
        Number of features to show, those that set clusters apart most first; at most as many
        as there are.
    ax : sequence of matplotlib.axes.Axes, optional
        Where to draw, one a feature. By default a new figure is made through pyplot.

    Returns
    -------
    ndarray of matplotlib.axes.Axes
        A panel a feature. Of numbers the median, the middle half (thick) and the middle nine tenths
        (thin); of categories the share of each level.
    """
    check_integer("n_features", n_features, 1)
    chosen = _strongest(profile, n_features)
    n_bars = len(profile.clusters) + 1
    height = float(np.clip(1.4 + 0.22 * n_bars, 3.0, 10.0))
    panels = some_panels(ax, len(chosen), 1.2 + 2.9 * len(chosen), height)
    for k, panel in zip(chosen, panels, strict=True):
        if profile.columns[k].levels is None:
            _draw_spread(panel, profile, k)
        else:
            _draw_levels(panel, profile, k)
        names = [str(c.label) for c in profile.clusters]
        panel.set_yticks(range(n_bars), [*names, "all"])
        panel.set_ylim(n_bars - 0.4, -0.6)
        title = "\n".join(textwrap.wrap(text_of_column(profile.columns[k].name), 2 * NAME_WIDTH))
        panel.set_title(title, fontsize="medium")
    panels[0].set_ylabel("cluster")
    return panels


def _effects_of(profile: Profile, k: int, part: int) -> list[float]:
    """Give the effect of a number, or of a level of a category, in each cluster."""
    every = (cluster.traits[k].effects for cluster in profile.clusters)
    return [0.0 if effects is None else effects[part] for effects in every]


def _strongest_parts(profile: Profile, n_wanted: int) -> list[tuple[int, int]]:
    """Give the numbers and levels with the largest effect in any cluster.

    Of two levels the second one says it all.
    """
    parts = []
    for k, feature in enumerate(profile.columns):
        n_levels = len(feature.levels or (None,))
        parts += [(k, part) for part in range(1 if n_levels == 2 else 0, n_levels)]
    strength = {each: max(map(abs, _effects_of(profile, *each))) for each in parts}
    return sorted(parts, key=lambda each: -strength[each])[:n_wanted]


def _strongest(profile: Profile, n_features: int) -> list[int]:
    """Give the places of the features with the largest effect in any cluster."""
    parts = _strongest_parts(profile, sum(len(c.levels or (None,)) for c in profile.columns))
    return list(dict.fromkeys(k for k, _ in parts))[:n_features]


def _name_of(profile: Profile, k: int, part: int) -> str:
    """Name a number, or a level of a category."""
    feature = profile.columns[k]
    name = text_of_column(feature.name)
    if feature.levels is not None:
        name = f"{name}: {feature.levels[part]}"
    return textwrap.shorten(name, 2 * NAME_WIDTH, placeholder="\u2026") or name[: 2 * NAME_WIDTH]


def _draw_spread(ax: Any, profile: Profile, k: int) -> None:
    """Draw quantiles of a number in each cluster and in all rows."""
    summaries = [c.traits[k].summary for c in profile.clusters] + [profile.columns[k].overall]
    for place, summary in enumerate(summaries):
        if summary.quantiles is None:
            continue
        low, first, middle, third, high = summary.quantiles
        is_all = place == len(summaries) - 1
        colour = "0.4" if is_all else mark_cluster(place).edge
        if colour in ("white", "black"):
            colour = mark_cluster(place).face
        ax.hlines(place, low, high, color=colour, lw=1)
        ax.hlines(place, first, third, color=colour, lw=5)
        ax.plot([middle], [place], "o", color="white", mec="black", ms=4.5, zorder=3)
        if is_all:
            ax.axvline(middle, color="0.6", lw=0.8, ls=(0, (2, 2)), zorder=0)


def _draw_levels(ax: Any, profile: Profile, k: int) -> None:
    """Draw the share of each level in each cluster and in all rows."""
    feature = profile.columns[k]
    summaries = [c.traits[k].summary for c in profile.clusters] + [feature.overall]
    levels = feature.levels or ()
    greys = [str(grey) for grey in np.linspace(0.3, 0.9, len(levels))]
    for place, summary in enumerate(summaries):
        left = 0.0
        for share, grey in zip(summary.means or (), greys, strict=False):
            ax.barh(place, share, left=left, height=0.8, color=grey, ec="white", lw=0.5)
            if share > 0.18:
                level = str(levels[greys.index(grey)])
                ax.text(
                    left + share / 2,
                    place,
                    textwrap.shorten(level, 10, placeholder="\u2026") or level[:9],
                    ha="center",
                    va="center",
                    fontsize=6.5,
                    color="white" if float(grey) < 0.55 else "black",
                )
            left += share
    ax.set(xlim=(0, 1), xlabel="share")
