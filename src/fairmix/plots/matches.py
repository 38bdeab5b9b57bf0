"""Who was matched with whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairmix.plots.palette import mark_cluster
from fairmix.plots.panels import one_panel
from fairmix.plots.projection import project
from fairmix.tables.checks import check_integer
from fairmix.tables.groups import split_sensitive

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_matches(
    model: Any, X: Any, sensitive_features: Any = None, n_pairs: int = 100, *, ax: Any = None
) -> Axes:
    """Draw who was matched with whom, in the last draw of the first chain.

    Parameters
    ----------
    model : FairBayesianClustering
        A fitted estimator whose rows were matched (``constraint_ == "matching"``).
    X : data frame or array-like
        The data it was fitted to.
    sensitive_features : array-like, data frame, str or list of str, optional
        The sensitive features, if X has them as columns.
    n_pairs : int, default=100
        Number of pairs to draw, evenly chosen; all would be a block of lines.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default a new figure is made through pyplot, which notebooks show.

    Returns
    -------
    matplotlib.axes.Axes
        Lines from rows to the row of the smallest group that they went with, in the colour of
        their cluster in that draw. Short lines are matches of rows that are alike.
    """
    check_integer("n_pairs", n_pairs, 1)
    matches = getattr(model, "matches_", None)
    if matches is None:
        raise ValueError(
            "model has no matches_: rows are matched by constraint='matching' with two groups or "
            "more; fit it so."
        )
    points, names = project(split_sensitive(X, sensitive_features)[0], model.schema_)
    if len(points) != len(matches):
        raise ValueError(
            f"X has {len(points)} rows, but the model was fitted to {len(matches)}; "
            "pass the same X."
        )
    ax = one_panel(ax, 6.4, 5.2)
    ax.scatter(*points.T, s=6, color="0.8", linewidths=0)
    rows = np.flatnonzero(matches != np.arange(len(matches)))
    chosen = rows[np.unique(np.linspace(0, len(rows) - 1, n_pairs).round().astype(int))]
    labels = model.posterior_.labels[0, -1]
    for row in chosen:
        mark = mark_cluster(int(labels[matches[row]]))
        colour = mark.edge if mark.face == "white" else mark.face
        ends = points[[row, matches[row]]]
        ax.plot(*ends.T, color=colour, lw=0.8, alpha=0.8)
        ax.plot(*ends[0], "D", color=colour, ms=3.5)
        ax.plot(*ends[1], "o", color=colour, ms=4.5)
    if not names[1]:
        ax.set_yticks([])
    anchor = next(iter(model.groups_))
    ax.set(xlabel=names[0], ylabel=names[1])
    ax.set_title(f"Who was matched with whom\n({len(chosen)} of {len(rows)} pairs; dots: {anchor})")
    return ax
