"""Who takes a follower more (R): random rows, medoids, or any, sampled with all the rest."""

from __future__ import annotations

from functools import partial
from typing import Any

from experiments.data import THREE, TITLES, load
from experiments.fits import (
    OURS,
    PAPER,
    fit_and_measure,
    fit_as_in_the_paper,
    is_within_bound,
    sampler,
)
from experiments.pictures import make_panels
from experiments.protocol import Claim, Effort, Experiment, Part, Row, mean_of, values_of, where
from fairmix.plots.palette import mark_line

RULES = ("random", "medoids", "free")
PAPER_FIGURES = (
    ("diabetes", (4, 6.795, 0.012, 0.910), (4, 6.719, 0.007, 0.892)),
    ("adult", (3, 4.989, 0.006, 0.429), (3, 4.986, 0.012, 0.375)),
    ("bank", (7, 5.947, 0.020, 0.500), (5, 5.988, 0.040, 0.549)),
)


def parts(effort: Effort) -> list[Part]:
    return [
        Part(f"{TITLES[data]}, {rule}, draw {k}", partial(run, data, rule, k, effort), data)
        for data in THREE
        for rule in RULES
        for k in range(effort.choose(1, 3))
    ]


def run(data: str, rule: str, k: int, effort: Effort) -> list[Row]:
    table, seed = load(data, effort, k), effort.seed + k
    about = {"data": TITLES[data], "R": rule}
    ours = fit_and_measure(sampler(OURS, effort, extra=rule, random_state=seed), table)
    rows = [about | {"method": OURS} | ours]
    if rule != "free":  # the paper has no such rule
        paper = fit_as_in_the_paper(effort, table, seed, extra=rule)
        rows.append(about | {"method": PAPER} | paper)
    return rows


def draw(rows: list[Row]) -> Any:
    every_data = values_of(rows, "data")
    figure, axes = make_panels(every_data, 2)
    for k, data in enumerate(every_data):
        for line, name in enumerate(("mean_gap", "mean_balance")):
            ax = axes[line, k]
            for number, method in enumerate((PAPER, OURS)):
                mark = mark_line(number)
                own = where(rows, data=data, method=method)
                places = [RULES.index(row["R"]) for row in own]
                values = [row[name] for row in own]
                ax.plot(places, values, mark.marker, color=mark.colour, mfc="none", label=method)
            ax.set_xticks(range(len(RULES)), RULES)
            ax.set(ylabel=name.replace("_", " ") + " of draws", xlim=(-0.5, 2.5))
    axes[0, 0].legend(frameon=False, fontsize="small")
    return figure


def claims(rows: list[Row]) -> list[Claim]:
    return [
        Claim(
            f"R {rule}: no draw has a larger gap than is certain of the model (largest "
            f"{max(row['largest_gap'] for row in where(rows, R=rule)):.4f}).",
            all(map(is_within_bound, where(rows, R=rule))),
        )
        for rule in values_of(rows, "R")
    ]


def findings(rows: list[Row]) -> list[Claim]:
    found = []
    for data in values_of(rows, "data"):
        gaps = {rule: mean_of(rows, "mean_gap", data=data, method=OURS, R=rule) for rule in RULES}
        figures = ", ".join(f"{rule} {gap:.4f}" for rule, gap in gaps.items())
        found.append(
            Claim(
                f"{data}: random rows and medoids differ by less than .01 in the mean gap of the "
                f"draws; it is {figures}.",
                abs(gaps["random"] - gaps["medoids"]) < 0.01,
            )
        )
    return found


EXPERIMENT = Experiment(
    number=9,
    title="Choice of R",
    place="Table on the choice of R (appendix)",
    about=(
        "When the larger group is no multiple of the smaller one, some anchors (R) take one "
        "follower more: random rows, the rows nearest to medoids, or, which the paper does not "
        "have, any rows, sampled with all the rest. R is part of the model, so all chains of a "
        "fit share it."
    ),
    parts=parts,
    by=("data", "method", "R"),
    figures=("n_clusters", "cost", "gap", "balance", "mean_gap", "mean_balance", "log_posterior"),
    draw=draw,
    claims=claims,
    findings=findings,
    paper=tuple(
        {"data": TITLES[data], "method": "FBC", "R": rule}
        | dict(zip(("n_clusters", "cost", "gap", "balance"), figures, strict=True))
        for data, *every in PAPER_FIGURES
        for rule, figures in zip(("random", "medoids"), every, strict=True)
    ),
    paper_says="The two rules are not much different.",
)
