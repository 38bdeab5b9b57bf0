"""A fitted model in three panels: the rows, who is in each cluster, how many clusters there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from fairmix.plots.how_many import plot_number_of_clusters
from fairmix.plots.numbers import draw_numbers
from fairmix.plots.palette import MARKERS, mark_cluster
from fairmix.plots.panels import some_panels
from fairmix.plots.projection import project
from fairmix.plots.shares import BAR_HEIGHT, draw_shares
from fairmix.posterior.verdict import CANNOT_TELL
from fairmix.tables.cells import shorten
from fairmix.tables.groups import Groups, read_groups, split_sensitive

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Width of the figure, its least and largest height in inches.
WIDTH, LEAST_HEIGHT, LARGEST_HEIGHT = 13.0, 4.2, 12.0
#: Area of the mark of a row, in square points, if there are few and if there are many rows.
LARGEST_MARK, SMALLEST_MARK = 24.0, 4.0
#: A cluster's centre is looked for among so many of its rows.
CENTRE_ROWS = 500


def plot_clustering(
    model: Any,
    X: Any,
    sensitive_features: Any = None,
    *,
    ax: Any = None,
    title: str | None = None,
) -> NDArray[np.object_]:
    """Show a fitted model: where the clusters are, who is in them, and how many there are.

    Clusters have a colour and a number, groups have a shape. With more clusters than colours, the
    marks that share a colour are filled, hollow, with a black rim, or pale.

    Parameters
    ----------
    model : FairBayesianClustering
        A fitted estimator.
    X : data frame or array-like
        The data it was fitted to; more than two columns of numbers, and categories, are shown by
        their two leading principal components.
    sensitive_features : array-like, data frame, str or list of str, optional
        The sensitive features it was fitted with (or others, to look at these).
    ax : sequence of three matplotlib.axes.Axes, optional
        Where to draw; ``plt.subplots(1, 3, layout="constrained")`` leaves room for the legend. By
        default a new figure is made through pyplot, which notebooks show.
    title : str, optional
        Title of the figure. By default a new figure tells the number of clusters, and a figure of
        yours keeps its title.

    Returns
    -------
    ndarray of three matplotlib.axes.Axes
        The panels: the rows, each cluster's shares of the groups, and the posterior of the number
        of clusters. Save the picture with ``plt.savefig`` or ``axes[0].figure.savefig``.
    """
    check_is_fitted(model, "labels_")
    panels = None if ax is None else some_panels(ax, 3, 0.0, 0.0)
    X, sensitive_features = split_sensitive(X, sensitive_features)
    points, axis_names = project(X, model.schema_)
    if sensitive_features is None and len(model.schema_.group_names) > 1:
        raise ValueError(
            f"sensitive_features is None, but the model was fitted to the groups "
            f"{shorten(list(map(repr, model.schema_.group_names)))}; pass the same "
            "sensitive_features."
        )
    if len(points) != len(model.labels_):
        raise ValueError(
            f"X has {len(points)} rows, but the model was fitted to {len(model.labels_)}; "
            "pass the same X."
        )
    groups = read_groups(sensitive_features, len(points))
    if panels is None:
        panels = _make_axes(model.n_clusters_)
        title = title or _title_of(model)
    if title is not None:
        panels[0].figure.suptitle(title)
    draw_shares(panels[1], model.labels_, groups)
    plot_number_of_clusters(model.posterior_, ax=panels[2])
    _draw_rows(panels[0], points, axis_names, model.labels_, groups)
    return panels


def _title_of(model: Any) -> str:
    """Say how many clusters there are, and whether the chains agree."""
    title = f"{type(model).__name__}: {model.n_clusters_} clusters"
    word = model.posterior_.verdict().word
    return title if word == CANNOT_TELL else f"{title}; the chains {word}"


def _make_axes(n_clusters: int) -> NDArray[np.object_]:
    """Make a figure that is high enough for a bar for each cluster, and one for all rows."""
    height = np.clip(1.5 + BAR_HEIGHT * (n_clusters + 1), LEAST_HEIGHT, LARGEST_HEIGHT)
    return some_panels(None, 3, WIDTH, float(height), width_ratios=(1.3, 1.0, 0.8))


def _draw_rows(ax: Axes, points: Any, axis_names: list[str], labels: Any, groups: Groups) -> None:
    """Draw the rows, a colour a cluster and a marker a group, and the clusters' numbers."""
    marks = [mark_cluster(int(k)) for k in range(labels.max() + 1)]
    size = np.clip(LARGEST_MARK * np.sqrt(500 / len(labels)), SMALLEST_MARK, LARGEST_MARK)
    for code in range(len(groups.names)):
        members = groups.codes == code
        ax.scatter(
            points[members, 0],
            points[members, 1],
            c=[marks[k].face for k in labels[members]],
            edgecolors=[marks[k].edge for k in labels[members]],
            marker=MARKERS[code % len(MARKERS)],
            s=size,
            linewidths=0.12 * np.sqrt(size),
            alpha=0.85,
        )
    if not axis_names[1]:
        ax.set_yticks([])
    ax.set(xlabel=axis_names[0], ylabel=axis_names[1], title="Where the clusters are")
    extent = np.ptp(points, axis=0)
    scale = np.where(extent > 0, extent, 1.0)  # distances as they are seen
    draw_numbers(ax, [scale * _find_centre(points[labels == k] / scale) for k in range(len(marks))])


def _find_centre(points: Any) -> Any:
    """Give the point in the densest place: the one whose nearest third of the others is nearest.

    A fair cluster often lies in several places, one for each group, with nothing at its mean.
    """
    some = points[:: -(-len(points) // CENTRE_ROWS)]
    distances = np.linalg.norm(some[:, None] - some[None], axis=2)
    return some[np.argmin(np.partition(distances, len(some) // 3, axis=1)[:, len(some) // 3])]
