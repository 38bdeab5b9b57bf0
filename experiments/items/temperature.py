"""The temperature of the matching's prior: the paper's three, and where it starts to matter."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from experiments.data import THREE, TITLES, load
from experiments.fits import (
    OURS,
    fit,
    fit_as_in_the_paper,
    is_within_bound,
    measure,
    sampler,
)
from experiments.pictures import draw_lines, make_panels
from experiments.protocol import Claim, Effort, Experiment, Part, Row, mean_of, values_of, where

#: The paper's, and the coldest of all.
PAPER_TEMPERATURES = (0.1, 1.0, 10.0)
COLDEST = 1e-5
TEMPERATURES = {
    "quick": (COLDEST, 0.1, 10.0),
    "full": (COLDEST, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, *PAPER_TEMPERATURES),
}
#: A mean distance that is smaller by this share than at the highest temperature matters.
MATTERS = 0.05
PAPER_METHOD, METHOD = "the paper's sampler, a draw", OURS
PAPER_FIGURES = (
    ("diabetes", (4, 6.776, 0.007, 0.917), (4, 6.795, 0.012, 0.910), (4, 6.795, 0.012, 0.910)),
    ("adult", (3, 4.991, 0.003, 0.433), (3, 4.989, 0.006, 0.429), (3, 4.989, 0.006, 0.429)),
    ("bank", (7, 5.947, 0.020, 0.500), (7, 5.947, 0.020, 0.500), (7, 5.947, 0.020, 0.500)),
)


def parts(effort: Effort) -> list[Part]:
    return [
        Part(f"{TITLES[data]}, tau = {tau:g}", partial(run, data, tau, effort), data)
        for data in THREE
        for tau in TEMPERATURES[effort.name]
    ]


def run(data: str, tau: float, effort: Effort) -> list[Row]:
    table = load(data, effort)
    model, seconds = fit(sampler(OURS, effort, temperature=tau), table)
    ours = {"method": METHOD, "matched_distance": matched_distance(model)}
    ours |= measure(model, table, seconds=seconds)
    paper = fit_as_in_the_paper(effort, table, effort.seed, temperature=tau)
    about = {"data": TITLES[data], "tau": tau}
    return [about | ours, about | {"method": PAPER_METHOD} | paper]


def matched_distance(model: Any) -> float:
    """Give the mean distance of rows to their matches in the last draw of the first chain."""
    points = model.posterior_.training.table.points
    matches = model.matches_
    is_follower = matches != np.arange(len(matches))
    apart = points[is_follower] - points[matches[is_follower]]
    return float(np.linalg.norm(apart, axis=1).mean())


def draw(rows: list[Row]) -> Any:
    figures = ("matched_distance", "gap", "cost", "n_clusters")
    every_data = values_of(rows, "data")
    figure, axes = make_panels(every_data, len(figures))
    for k, data in enumerate(every_data):
        for line, name in enumerate(figures):
            shown = [row for row in where(rows, data=data) if name in row]
            draw_lines(axes[line, k], shown, "tau", name, "method")
            axes[line, k].set(xscale="log", xlabel="temperature", ylabel=name.replace("_", " "))
    axes[1, 0].legend(frameon=False, fontsize="small")
    return figure


def claims(rows: list[Row]) -> list[Claim]:
    found = [
        Claim(
            "No draw has a larger gap than is certain of the model, at any temperature.",
            all(map(is_within_bound, rows)),
        )
    ]
    for data in values_of(rows, "data"):
        own = where(rows, data=data, method=METHOD)
        cold, tenth, hot = (
            mean_of(own, "matched_distance", tau=tau) for tau in (COLDEST, 0.1, 10.0)
        )
        found.append(
            Claim(
                f"{data}: matched rows are {cold:.2f} apart at temperature {COLDEST:g}, "
                f"{tenth:.2f} at 0.1 and {hot:.2f} at 10: the temperature matters, but not where "
                "the paper looked.",
                cold < 0.8 * hot and abs(tenth - hot) < 0.2 * hot,
            )
        )
    return found


def findings(rows: list[Row]) -> list[Claim]:
    found = []
    for data in values_of(rows, "data"):
        own = where(rows, data=data, method=METHOD)
        hot = mean_of(own, "matched_distance", tau=10.0)
        mattering = [row["tau"] for row in own if row["matched_distance"] < (1 - MATTERS) * hot]
        found.append(
            Claim(
                f"{data}: the temperature does not matter from 0.1 to 10; matched rows come "
                f"{100 * MATTERS:.0f} % closer than at 10 up to "
                f"{max(mattering):g}."
                if mattering
                else f"{data}: no temperature matters.",
                not mattering or max(mattering) < min(PAPER_TEMPERATURES),
            )
        )
    return found


EXPERIMENT = Experiment(
    number=8,
    title="Temperature",
    place="Table on the temperature (appendix)",
    about=(
        "The prior of the matching is exp(- mean distance / tau), and the mean is over all rows of "
        "a group: only a tau of the order of one over their number can have an effect on single "
        "rows. So colder ones than the paper's are run, too. No row is masked. The "
        "matched distance is that of the last draw of the first chain."
    ),
    parts=parts,
    by=("data", "method", "tau"),
    figures=("n_clusters", "cost", "gap", "balance", "matched_distance", "log_posterior"),
    draw=draw,
    claims=claims,
    findings=findings,
    paper=tuple(
        {"data": TITLES[data], "method": "FBC", "tau": tau}
        | dict(zip(("n_clusters", "cost", "gap", "balance"), figures, strict=True))
        for data, *every in PAPER_FIGURES
        for tau, figures in zip(PAPER_TEMPERATURES, every, strict=True)
    ),
    paper_says="Varying tau does not affect the performance much.",
)
