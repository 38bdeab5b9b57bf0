"""Pictures of a clustering and its fairness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairmix.inputs import read_groups, read_numbers, split_sensitive
from fairmix.metrics import balance, fairness_gap, group_shares
from fairmix.preparation import standardise

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Okabe and Ito's colours, which colour-blind people can tell apart.
COLOURS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#F0E442",
    "#000000",
)
MARKERS = ("o", "D", "^", "s", "v", "P", "X", "*")


def plot_clustering(
    model: Any, X: Any, sensitive_features: Any = None, *, title: str | None = None
) -> Figure:
    """Show a fitted model: where the clusters are, who is in them, and how many there are.

    Parameters
    ----------
    model : FairBayesianClustering
        A fitted estimator.
    X : data frame or array-like
        The numbers it was fitted to; more than two columns are shown by their two leading
        principal components.
    sensitive_features : array-like, data frame, str or list of str, optional
        The sensitive features it was fitted with.
    title : str, optional
        Title of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        Three panels: the rows, each cluster's shares of the groups, and the posterior of the
        number of clusters.
    """
    from matplotlib.figure import Figure

    X, sensitive_features = split_sensitive(X, sensitive_features)
    features = read_numbers(X)
    if len(features.rows) != len(model.labels_):
        raise ValueError(
            f"X has {len(features.rows)} rows, but the model was fitted to {len(model.labels_)}; "
            "pass the same X."
        )
    groups = read_groups(sensitive_features, len(features.rows))
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    figure.suptitle(title or f"{type(model).__name__}: {model.n_clusters_} clusters")
    rows_axes, shares_axes, number_axes = figure.subplots(1, 3, width_ratios=(1.3, 1.0, 0.9))
    _draw_rows(rows_axes, features.rows, features.names, model.labels_, groups)
    _draw_shares(shares_axes, model.labels_, [groups.names[code] for code in groups.codes])
    _draw_number(number_axes, model.posterior_.n_clusters)
    return figure


def _draw_rows(axes: Axes, rows: Any, names: Any, labels: Any, groups: Any) -> None:
    """Draw the rows, a colour a cluster and a marker a group."""
    if rows.shape[1] == 1:
        points = np.column_stack([rows[:, 0], np.zeros(len(rows))])
        axis_names = [names[0] if names else "column 0", ""]
        axes.set_yticks([])
    elif rows.shape[1] == 2:
        points = rows
        axis_names = list(names) if names else ["column 0", "column 1"]
    else:
        centred = standardise(rows)
        left, scale, _ = np.linalg.svd(centred, full_matrices=False)
        points = left[:, :2] * scale[:2]
        axis_names = ["principal component 1", "principal component 2"]
    for code in range(len(groups.names)):
        members = groups.codes == code
        axes.scatter(
            points[members, 0],
            points[members, 1],
            c=[COLOURS[k % len(COLOURS)] for k in labels[members]],
            marker=MARKERS[code % len(MARKERS)],
            s=22,
            alpha=0.7,
            linewidths=0.4,
            edgecolors="white",
        )
        # An empty series gives the legend a marker without any cluster's colour.
        axes.scatter(
            [],
            [],
            c="none",
            edgecolors="black",
            marker=MARKERS[code % len(MARKERS)],
            label=str(groups.names[code]),
        )
    axes.set(xlabel=axis_names[0], ylabel=axis_names[1], title="Clusters (colour)")
    if len(groups.names) > 1:
        axes.legend(title="group", loc="best", fontsize="small", framealpha=0.9)


def _draw_shares(axes: Axes, labels: Any, group_of_row: list[Any]) -> None:
    """Draw each cluster's shares of the groups, and a last bar for all rows."""
    shares = group_shares(labels, group_of_row)
    overall = group_shares(np.zeros(len(labels), dtype=int), group_of_row).iloc[0]
    bars = [*(str(cluster) for cluster in shares.index), "all"]
    bottom = np.zeros(len(bars))
    greys = np.linspace(0.35, 0.85, len(shares.columns))
    for column, grey in zip(shares.columns, greys, strict=True):
        heights = np.append(shares[column].to_numpy(), overall[column])
        axes.bar(
            bars, heights, bottom=bottom, color=str(grey), edgecolor="white", label=str(column)
        )
        bottom += heights
    gap, ratio = fairness_gap(labels, group_of_row), balance(labels, group_of_row)
    axes.set(
        xlabel="cluster",
        ylabel="share of each group",
        ylim=(0, 1),
        title=f"Who is in them\n(gap {gap:.3f}, balance {ratio:.3f})",
    )
    axes.legend(
        title="group", fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False
    )


def _draw_number(axes: Axes, n_clusters: Any) -> None:
    """Draw the posterior of the number of clusters."""
    from matplotlib.ticker import MaxNLocator

    values, counts = np.unique(n_clusters, return_counts=True)
    axes.bar(values, counts / counts.sum(), color=COLOURS[0], width=0.7)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(
        xlabel="number of clusters",
        ylabel="posterior probability",
        xlim=(values.min() - 1.5, values.max() + 1.5),
        ylim=(0, 1.05),
        title="How many there are",
    )
