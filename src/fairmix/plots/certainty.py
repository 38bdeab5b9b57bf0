"""How sure: which rows are together in how many draws, and which partitions stand for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairmix.plots.palette import COLOURS, mark_cluster
from fairmix.plots.panels import one_panel
from fairmix.posterior import Posterior
from fairmix.posterior.particles import Particles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: So many rows are drawn at most; of more, evenly many of each cluster.
MAX_ROWS = 1000
#: Share of an axis that the number of a cluster takes, side by side.
ROOM_OF_NUMBER = 0.05
#: Width of a column of clusters, where the distance of two columns is 1.
COLUMN = 0.16
#: Clusters below this share of the rows have no number written.
LEAST_WRITTEN = 0.02


def plot_similarity(posterior: Posterior, *, ax: Any = None) -> Axes:
    """Draw the share of draws in which two rows are together, ordered by cluster.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default a new figure is made through pyplot, which notebooks show.

    Returns
    -------
    matplotlib.axes.Axes
        A dark square is a cluster that hardly changes. In each, rows of the sure core (see
        ``posterior.sure_core()``) come first; a bar along the left edge marks them.
    """
    core = posterior.sure_core()
    labels = posterior.point_estimate().labels
    is_core = np.zeros(len(labels), dtype=bool)
    is_core[core.rows] = True
    order = np.lexsort((-core.row_probabilities, ~is_core, labels))
    if len(order) > MAX_ROWS:
        order = order[np.linspace(0, len(order) - 1, MAX_ROWS).round().astype(int)]
    ax = one_panel(ax, 6.0, 5.2)
    shares = posterior.similarity(rows=order)
    n_rows = len(order)
    image = ax.imshow(shares, cmap="Greys", vmin=0, vmax=1, interpolation="nearest")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    ends = np.append(starts[1:], n_rows)
    for start in starts[1:]:
        ax.axhline(start - 0.5, color="white", lw=0.6)
        ax.axvline(start - 0.5, color="white", lw=0.6)
    middles = (starts + ends - 1) / 2
    names = labels[order][starts]
    for axis, least in ((ax.xaxis, ROOM_OF_NUMBER), (ax.yaxis, ROOM_OF_NUMBER / 2)):
        is_wide = (ends - starts) >= least * n_rows
        axis.set_ticks(middles[is_wide], [str(name) for name in names[is_wide]])
        axis.set_tick_params(length=0)
    ax.tick_params(axis="y", pad=9)
    for start, end in _runs(is_core[order]):
        bar = ax.vlines(-0.012 * n_rows, start - 0.5, end - 0.5, color=COLOURS[4], lw=3)
        bar.set_clip_on(False)
    ax.set(xlim=(-0.5, n_rows - 0.5), ylim=(n_rows - 0.5, -0.5), xlabel="rows by cluster")
    ax.set_title(
        f"Which rows are together\n(orange: the sure core, {is_core.mean():.0%} of the rows)"
    )
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label="share of draws")
    return ax


def _runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Give begin and end of each run of true flags."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def plot_particles(particles: Particles, *, ax: Any = None) -> Axes:
    """Draw the partitions that stand for the posterior side by side, and who goes where.

    Parameters
    ----------
    particles : Particles
        What ``posterior.particles()`` gives.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default a new figure is made through pyplot, which notebooks show.

    Returns
    -------
    matplotlib.axes.Axes
        A column a particle, a block a cluster as high as its share of the rows; bands between
        columns are rows that both clusters have.
    """
    columns = _arrange(np.asarray(particles.labels))
    ax = one_panel(ax, 2.2 + 2.4 * len(columns), 4.8)
    for place, (labels, bottoms, sizes) in enumerate(columns):
        for cluster, (bottom, size) in enumerate(zip(bottoms, sizes, strict=True)):
            mark = mark_cluster(cluster)
            edge = "0.6" if mark.edge == "white" else mark.edge
            ax.bar(place, size, COLUMN, bottom=bottom, color=mark.face, ec=edge, lw=1.2, zorder=2)
            if size >= LEAST_WRITTEN:
                ax.text(
                    place,
                    bottom + size / 2,
                    str(cluster),
                    ha="center",
                    va="center",
                    fontsize=8,
                    weight="bold",
                    bbox={"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.8},
                    zorder=3,
                )
        if place > 0:
            _draw_bands(ax, place, columns[place - 1], (labels, bottoms, sizes))
    ax.set_xticks(range(len(columns)), _titles(particles), fontsize="small")
    ax.set(xlim=(-0.35, len(columns) - 0.65), ylim=(0, 1.0), ylabel="share of the rows")
    title = (
        "What the posterior wavers between" if len(columns) > 1 else "One partition stands for all"
    )
    if len(columns) > 1 and not particles.are_weights_known:
        title += "\n(how probable each is, is not known: chains disagree)"
    ax.set_title(title)
    for side in ("top", "right", "bottom"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="x", length=0)
    return ax


def _titles(particles: Particles) -> list[str]:
    """Give what stands below each column."""
    titles = []
    for k, n_clusters in enumerate(particles.n_clusters):
        weight = f"{particles.weights[k]:.0%} of draws"
        gap = f"gap {particles.fairness_gaps[k]:.3f}"
        titles.append(f"{particles.names[k]}\n{n_clusters} clusters\n{weight}\n{gap}")
    return titles


Column = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]


def _arrange(every_labels: NDArray[np.int64]) -> list[Column]:
    """Stack the clusters of each partition: the first by size, others near those they overlap."""
    columns: list[Column] = []
    for labels in every_labels:
        sizes = np.bincount(labels) / len(labels)
        order = np.arange(len(sizes))
        if columns:
            before, bottoms, heights = columns[-1]
            middle = (bottoms + heights / 2)[before]
            centre = np.bincount(labels, weights=middle) / (sizes * len(labels))
            order = np.argsort(centre, kind="stable")
        bottoms = np.empty(len(sizes))
        bottoms[order] = np.cumsum(sizes[order]) - sizes[order]
        columns.append((labels, bottoms, sizes))
    return columns


def _draw_bands(ax: Any, place: int, before: Column, after: Column) -> None:
    """Draw the rows that a cluster of one column shares with one of the next."""
    shared = np.zeros((len(before[2]), len(after[2])))
    np.add.at(shared, (before[0], after[0]), 1.0 / len(before[0]))
    left, right = before[1].copy(), after[1].copy()
    x = np.linspace(place - 1 + COLUMN / 2, place - COLUMN / 2, 30)
    bend = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, 30))
    # From bottom to top on both sides, so that bands cross as little as can be.
    leaving = {}
    for i in np.argsort(before[1]):
        for j in np.argsort(after[1]):
            leaving[i, j], left[i] = left[i], left[i] + shared[i, j]
    for j in np.argsort(after[1]):
        for i in np.argsort(before[1]):
            if shared[i, j] > 0.0:
                low = leaving[i, j] + bend * (right[j] - leaving[i, j])
                colour = mark_cluster(int(i))
                face = colour.edge if colour.face == "white" else colour.face
                ax.fill_between(x, low, low + shared[i, j], color=face, alpha=0.35, lw=0)
                right[j] += shared[i, j]
