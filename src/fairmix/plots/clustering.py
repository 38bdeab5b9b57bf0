"""Pictures of a clustering and its fairness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fairmix.distances import Gower
from fairmix.family_choice import choose_family
from fairmix.features import read_features
from fairmix.inputs import read_groups, split_sensitive
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
    "#000000",
    "#999999",
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
        The data it was fitted to; more than two columns of numbers, and categories, are shown by
        their two leading principal components.
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

    check_is_fitted(model, "labels_")
    X, sensitive_features = split_sensitive(X, sensitive_features)
    points, axis_names = _project(X, choose_family(model.family, X), model.n_features_in_)
    if len(points) != len(model.labels_):
        raise ValueError(
            f"X has {len(points)} rows, but the model was fitted to {len(model.labels_)}; "
            "pass the same X."
        )
    groups = read_groups(sensitive_features, len(points))
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    figure.suptitle(title or f"{type(model).__name__}: {model.n_clusters_} clusters")
    rows_axes, shares_axes, number_axes = figure.subplots(1, 3, width_ratios=(1.3, 1.0, 0.9))
    _draw_rows(rows_axes, points, axis_names, model.labels_, groups)
    _draw_shares(shares_axes, model.labels_, groups)
    _draw_number(number_axes, model.posterior_.n_clusters)
    return figure


def plot_trade_off(runs: Any) -> Figure:
    """Draw cost against the fairness gap, one line for each method as its setting changes.

    Parameters
    ----------
    runs : pandas.DataFrame
        Runs of a :class:`fairmix.comparison.Comparison`.

    Returns
    -------
    matplotlib.figure.Figure
        Means over seeds as points (filled at the strictest setting, the first), their ranges as
        thin bars.
    """
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure(figsize=(9.2, 5.0), layout="constrained")
    entries = []
    axes = figure.subplots()
    finished = runs[runs["error"] == ""]
    for number, method in enumerate(runs["method"].unique()):
        colour = COLOURS[number % len(COLOURS)]
        marker = MARKERS[(number + number // len(COLOURS)) % len(MARKERS)]  # no pair comes twice
        mine = finished[finished["method"] == method].groupby("setting", sort=False)
        figures = mine[["gap", "cost", "n_clusters"]].agg(["mean", "min", "max"])
        label = _describe_numbers(figures["n_clusters"]) if len(figures) else "failed"
        style: dict[str, Any] = {"color": colour, "marker": marker}
        entries.append(Line2D([], [], **style, mfc="white", label=f"{method} ({label})"))
        if not len(figures):
            continue
        gap, cost = figures["gap"], figures["cost"]
        axes.errorbar(
            gap["mean"],
            cost["mean"],
            xerr=_ranges(gap),
            yerr=_ranges(cost),
            **style,
            markerfacecolor="white",
            elinewidth=0.7,
        )
        axes.plot(gap["mean"].iloc[0], cost["mean"].iloc[0], **style, zorder=5)
    # Most of what matters is near zero, which a logarithm cannot show.
    axes.set_xscale("function", functions=(np.sqrt, np.square))
    axes.set_xlim(left=0.0)
    highest = axes.get_xlim()[1]
    ticks = [
        tick for tick in (0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1) if tick <= highest
    ]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xlabel("Fairness gap \u0394 (0 is fair; square-root scale)")
    axes.set_ylabel("Cost: mean squared distance to the cluster mean")
    axes.set_title("Towards the lower left is better; filled: each method at its strictest")
    axes.grid(alpha=0.3)
    figure.legend(handles=entries, loc="outside right upper", frameon=False)
    return figure


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


def _project(X: Any, family: Any, n_features: int) -> tuple[Any, list[str]]:
    """Give two coordinates of each row, and their names."""
    kinds = getattr(family, "values", "numbers")
    features = read_features(X, kinds, allow_missing=True)
    n_columns = features.rows.shape[1]
    if n_columns != n_features:
        raise ValueError(
            f"X has {n_columns} features, but the model was fitted to {n_features}; "
            "pass the same X, and the sensitive columns as sensitive_features."
        )
    if not features.is_category.any() and n_columns <= 2:
        points = np.zeros((len(features.rows), 2))
        points[:, :n_columns] = features.rows
        names = [features.names[k] if features.names else f"column {k}" for k in range(n_columns)]
        return points, [*names, ""][:2]
    values = Gower(features.rows, features.is_category, np.ones(n_columns)).coordinates()
    left, scale, _ = np.linalg.svd(standardise(values), full_matrices=False)
    points = left[:, :2] * scale[:2]
    return points, ["principal component 1", "principal component 2"]


def _draw_rows(axes: Axes, points: Any, axis_names: list[str], labels: Any, groups: Any) -> None:
    """Draw the rows, a colour a cluster and a marker a group."""
    if not axis_names[1]:
        axes.set_yticks([])
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
            label=_name(groups.names[code]),
        )
    axes.set(
        xlabel=axis_names[0], ylabel=axis_names[1], title="Clusters (colours as in the next panel)"
    )
    if len(groups.names) > 1:
        axes.legend(title="group", loc="best", fontsize="small", framealpha=0.9)


def _draw_shares(axes: Axes, labels: Any, groups: Any) -> None:
    """Draw each cluster's shares of the groups, and a last bar for all rows."""
    group_of_row = groups.codes
    shares = group_shares(labels, group_of_row).to_numpy()
    overall = np.bincount(group_of_row) / len(group_of_row)
    table = np.vstack([shares, overall])
    places = np.arange(len(table))
    bottom = np.zeros(len(table))
    for code, grey in enumerate(np.linspace(0.35, 0.85, len(overall))):
        axes.bar(
            places,
            table[:, code],
            bottom=bottom,
            color=str(grey),
            edgecolor="white",
            label=_name(groups.names[code]),
        )
        bottom += table[:, code]
    axes.set_xticks(places, [*(str(k) for k in range(len(shares))), "all"])
    for k, tick in enumerate(axes.get_xticklabels()[:-1]):
        colour = COLOURS[k % len(COLOURS)]
        tick.set(color="white", weight="bold")
        tick.set_bbox({"facecolor": colour, "edgecolor": "none", "boxstyle": "round,pad=0.25"})
    if len(overall) > 1:
        gap, ratio = fairness_gap(labels, group_of_row), balance(labels, group_of_row)
        title = f"Who is in them\n(gap {gap:.3f}, balance {ratio:.3f})"
    else:
        title = "Who is in them\n(one group: no fairness to see)"
    axes.set(xlabel="cluster", ylabel="share of each group", ylim=(0, 1), title=title)
    axes.legend(
        title="group", fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False
    )


def _name(group: Any) -> str:
    """Write a group's name; crossed groups are tuples."""
    return ", ".join(map(str, group)) if isinstance(group, tuple) else str(group)


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
