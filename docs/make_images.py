"""Draw the pictures of docs/ideas, from fits and figures of the code that they explain.

Run: python docs/make_images.py [FOLDER] (docs/images by default; the same bytes each time)
"""

import sys
import warnings
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from fairmix import FairBayesianClustering, metrics
from fairmix.baselines import MixtureOfFiniteMixtures
from fairmix.families import Gaussian
from fairmix.plots.palette import COLOURS, MARKERS

FOLDER = Path(__file__).parent / "images"
#: Heights of the three clumps, and where each group is on the other axis.
HEIGHTS = (-6.0, 0.0, 6.0)
SIDES = {"a": -2.5, "b": 2.5}
#: So few rows need a prior that expects tight clusters.
TIGHT = Gaussian(rate=0.01)
SETTINGS = {"family": TIGHT, "n_warmup": 200, "n_draws": 200, "random_state": 0, "verbose": 0}
GREY = "0.55"


def make_people(n_anchors, n_followers, seed=0):
    """Draw people of groups a and b: three clumps of both, and the groups side by side."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(["a", "b"], [n_anchors, n_followers])
    clumps = np.concatenate([np.arange(n_anchors) % 3, np.arange(n_followers) % 3])
    places = np.column_stack([[SIDES[group] for group in groups], np.take(HEIGHTS, clumps)])
    return places + rng.normal(0.0, 0.7, places.shape), groups


def draw_people(ax, points, groups, colours, title):
    """Draw a dot for each person: group a as discs, group b as diamonds."""
    for marker, group in zip(MARKERS, ("a", "b"), strict=False):
        of_group = groups == group
        some = [colour for colour, is_in in zip(colours, of_group, strict=True) if is_in]
        ax.scatter(*points[of_group].T, c=some, marker=marker, s=34, zorder=3, label=group)
    ax.set(title=title, xticks=[], yticks=[], xlim=(-5.2, 5.2))


def colours_of(labels):
    """Give each row the colour of its cluster."""
    return [COLOURS[label] for label in labels]


def draw_matches(ax, points, matches, colours):
    """Draw a line from each follower to its anchor."""
    for row, anchor in enumerate(matches):
        if row != anchor:
            ax.plot(*points[[row, anchor]].T, color=colours[row], lw=1.1, alpha=0.8)


def describe(what, model, groups):
    """Say how many clusters there are and how fair they are."""
    gap = metrics.fairness_gap(model.labels_, groups)
    return f"{what}:\n{model.n_clusters_} clusters, gap {gap:.2f}"


def panels(n_panels, width, height):
    """Give axes side by side."""
    return plt.subplots(1, n_panels, figsize=(width, height), layout="constrained")[1]


def draw_matching():
    """Draw the way of the matching: rows, a plain mixture, who goes with whom, fair clusters."""
    points, groups = make_people(24, 24)
    plain = MixtureOfFiniteMixtures(**SETTINGS).fit(points, sensitive_features=groups)
    fair = FairBayesianClustering(**SETTINGS).fit(points, sensitive_features=groups)
    grey = [GREY] * len(points)
    rows, apart, matched, together = panels(4, 10.4, 3.0)
    draw_people(rows, points, groups, grey, "The rows, of two groups")
    rows.legend(loc="upper center", ncols=2, frameon=False)
    rows.set_ylim(top=10.5)
    title = describe("A plain mixture", plain, groups)
    draw_people(apart, points, groups, colours_of(plain.labels_), title)
    draw_people(matched, points, groups, grey, "Each follower is matched\nto an anchor")
    draw_matches(matched, points, fair.matches_, grey)
    title = describe("Pairs are clustered", fair, groups)
    draw_people(together, points, groups, colours_of(fair.labels_), title)
    draw_matches(together, points, fair.matches_, colours_of(fair.labels_))


def draw_remainder():
    """Draw bundles of unequal size: 24 anchors take 60 followers, two each, and twelve one more."""
    points, groups = make_people(24, 60)
    model = FairBayesianClustering(extra="free", **SETTINGS).fit(points, sensitive_features=groups)
    n_taken = np.bincount(model.matches_[groups == "b"], minlength=len(points))
    colours = [COLOURS[4] if n_taken[anchor] == 3 else COLOURS[0] for anchor in model.matches_]
    ax = panels(1, 5.2, 3.8)
    draw_people(ax, points, groups, colours, "24 anchors, 60 followers")
    draw_matches(ax, points, model.matches_, colours)
    for colour, size in ((COLOURS[0], "two"), (COLOURS[4], "three")):
        ax.plot([], [], color=colour, label=f"{size} followers")
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(handles[2:], labels[2:], loc="upper center", ncols=2, frameon=False)
    ax.set_ylim(top=10.5)


def draw_gap():
    """Draw where the gap is seen: shares of two groups in three clusters, fair and less so."""
    groups = np.repeat(["a", "b"], [100, 200])
    counts = {"b": [100, 60, 40]}
    axes = panels(2, 9.0, 3.2)
    for ax, of_a in zip(axes, ([50, 30, 20], [35, 30, 35]), strict=True):
        labels = np.concatenate([np.repeat(range(3), of_a), np.repeat(range(3), counts["b"])])
        shares = metrics.group_shares(labels, groups)
        within = np.array([of_a, counts["b"]]) / np.array([[100], [200]])
        for place, (group, heights) in enumerate(zip("ab", within, strict=True)):
            x = np.arange(3) + 0.4 * place
            ax.bar(x, heights, 0.38, color=COLOURS[place], label=f"group {group}")
        gap, balance = metrics.fairness_gap(labels, groups), metrics.balance(labels, groups)
        ax.set_title(f"Gap {gap:.2f}, balance {balance:.2f}")
        ax.set_xticks(np.arange(3) + 0.2, [f"cluster {k}" for k in range(len(shares))])
        ax.set(ylim=(0, 0.62), ylabel="share of the group")
    axes[1].legend(frameon=False)


PICTURES = {"idea_matching": draw_matching, "idea_extra": draw_remainder, "idea_gap": draw_gap}


def main(folder):
    """Draw all of them."""
    for name, draw in PICTURES.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # so few rows would be odd elsewhere
            draw()
        plt.savefig(folder / f"{name}.png", dpi=110, metadata={"Software": None})
        plt.close("all")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
