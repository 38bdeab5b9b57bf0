"""Toy data: six clusters without fairness, three with; and the literal text's version."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from experiments.data import Table
from experiments.fits import OURS, PAPER, fit, measure, sampler
from experiments.pictures import make_panels
from experiments.protocol import Claim, Effort, Experiment, Part, Row, where
from fairmix.baselines import MixtureOfFiniteMixtures
from fairmix.datasets import load_toy
from fairmix.plots.palette import COLOURS, MARKERS

#: How the second group is placed: is it as the text says?
VERSIONS = {"as in the figure": False, "as in the text": True}
MFM, FBC, FBC_PAPER = "MFM", f"FBC, {OURS}", f"FBC, {PAPER}"


def parts(effort: Effort) -> list[Part]:
    return [
        Part(f"{version}, {method}", partial(run, version, method, effort))
        for version in VERSIONS
        for method in (MFM, FBC, FBC_PAPER)
    ]


def make_table(version: str, n_rows: int, seed: int) -> Table:
    toy = load_toy(n_rows=n_rows, literal=VERSIONS[version], random_state=seed)
    return Table(toy.data, toy.sensitive_features)


def run(version: str, method: str, effort: Effort) -> list[Row]:
    table = make_table(version, effort.choose(600, 1200), effort.seed)
    if method == MFM:
        model: Any = MixtureOfFiniteMixtures(
            n_chains=effort.n_chains,
            n_warmup=effort.n_warmup,
            n_draws=effort.n_draws,
            n_jobs=effort.n_jobs,
            random_state=effort.seed,
            verbose=0,
        )
    else:
        model = sampler(PAPER if method == FBC_PAPER else OURS, effort)
    model, seconds = fit(model, table)
    about = {"data": version, "method": method, "seed": effort.seed}
    return [about | measure(model, table, seconds=seconds) | {"labels": model.labels_.tolist()}]


def draw(rows: list[Row]) -> Any:
    from matplotlib.patches import Ellipse

    figure, axes = make_panels([MFM, FBC, FBC_PAPER], len(VERSIONS))
    for line, version in zip(axes, VERSIONS, strict=True):
        line[0].set_ylabel(version)
        for ax, method in zip(line, (MFM, FBC, FBC_PAPER), strict=True):
            for row in where(rows, data=version, method=method):
                labels = np.array(row["labels"])
                table = make_table(version, len(labels), row["seed"])
                points, groups = table.X.to_numpy(), table.groups.to_numpy()
                for cluster in range(labels.max() + 1):
                    colour = COLOURS[cluster % len(COLOURS)]
                    own = labels == cluster
                    for group in np.unique(groups):
                        chosen = points[own & (groups == group)]
                        ax.scatter(*chosen.T, s=8, marker=MARKERS[group], color=colour, lw=0)
                    if own.sum() > 2:  # two standard deviations
                        values, axes_of = np.linalg.eigh(np.cov(points[own].T))
                        angle = np.degrees(np.arctan2(*axes_of[::-1, 1]))
                        width, height = 4 * np.sqrt(np.maximum(values[::-1], 0))
                        shape = Ellipse(points[own].mean(axis=0), width, height, angle=angle)
                        shape.set(fill=False, edgecolor=colour)
                        ax.add_patch(shape)
    return figure


def claims(rows: list[Row]) -> list[Claim]:
    (plain,) = where(rows, data="as in the figure", method=MFM)
    (fair,) = where(rows, data="as in the figure", method=FBC)
    (literal,) = where(rows, data="as in the text", method=MFM)
    return [
        Claim(
            f"As in the figure, MFM finds {plain['n_clusters']} clusters with a gap of "
            f"{plain['gap']:.3f}: six that are perfectly unfair.",
            plain["n_clusters"] == 6 and plain["gap"] > 0.999,
        ),
        Claim(
            f"As in the figure, FBC with {OURS} finds {fair['n_clusters']} clusters with a gap of "
            f"{fair['gap']:.3f}: three that are perfectly fair.",
            fair["n_clusters"] == 3 and fair["largest_gap"] < 1e-9,
        ),
        Claim(
            f"Drawn as the text says, the data has {literal['n_clusters']} clusters without "
            "fairness, so the paper's figure cannot be of it.",
            literal["n_clusters"] == 3,
        ),
    ]


def findings(rows: list[Row]) -> list[Claim]:
    (row,) = where(rows, data="as in the figure", method=FBC_PAPER)
    return [
        Claim(
            f"FBC with {PAPER} finds 3 clusters; it found {row['n_clusters']}, with a mean log "
            f"posterior of {row['log_posterior']:,.0f}.",
            row["n_clusters"] == 3,
        )
    ]


EXPERIMENT = Experiment(
    number=1,
    title="Toy data",
    place="Figure in the section on the toy dataset",
    about=(
        "Six Gaussian clumps, three of each of two groups. The text puts both groups at x = -5, "
        "where each clump of one group lies on one of the other; the figure needs them apart, so "
        "the second group is at x = +5 for it. Ellipses are two standard deviations, the shape of "
        "a mark is the group."
    ),
    parts=parts,
    by=("data", "method"),
    figures=("n_clusters", "gap", "balance", "cost", "log_posterior", "seconds"),
    draw=draw,
    claims=claims,
    findings=findings,
    paper=(
        {"data": "as in the figure", "method": "MFM", "n_clusters": 6},
        {"data": "as in the figure", "method": "FBC", "n_clusters": 3},
    ),
    paper_says="MFM is perfectly unfair (K = 6), FBC perfectly fair (K = 3).",
)
