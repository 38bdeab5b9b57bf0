"""The prior on the number of components: posteriors of K and t for several kappa."""

from __future__ import annotations

from functools import partial
from typing import Any

from experiments.data import THREE, TITLES, load
from experiments.fits import OURS, fit, measure, mode_of, sampler, shares_by_chain
from experiments.pictures import draw_shares, make_panels
from experiments.protocol import Claim, Effort, Experiment, Part, Row, mean_of, values_of, where
from fairmix import Geometric

KAPPAS = {"quick": (0.1, 0.9), "full": (0.1, 0.3, 0.5, 0.7, 0.9)}


def parts(effort: Effort) -> list[Part]:
    return [
        Part(f"{TITLES[data]}, kappa = {kappa:g}", partial(run, data, kappa, effort), data)
        for data in THREE
        for kappa in KAPPAS[effort.name]
    ]


def run(data: str, kappa: float, effort: Effort) -> list[Row]:
    table = load(data, effort)
    model, seconds = fit(sampler(OURS, effort, components_prior=Geometric(kappa)), table)
    posterior = model.posterior_
    shares = {
        "K": shares_by_chain(posterior.n_components),
        "t": shares_by_chain(posterior.n_clusters),
    }
    row = {"data": TITLES[data], "kappa": kappa} | measure(model, table, seconds=seconds)
    row |= {f"shares of {name}": each for name, each in shares.items()}
    row |= {f"mode of {name}": mode_of(each) for name, each in shares.items()}
    return [row | {"mean_n_components": posterior.n_components.mean()}]


def draw(rows: list[Row]) -> Any:
    every_data, kappas = values_of(rows, "data"), sorted(values_of(rows, "kappa"))
    figure, axes = make_panels(every_data, len(kappas))
    for line, kappa in enumerate(kappas):
        axes[line, 0].set_ylabel(f"kappa = {kappa:g}")
        for k, data in enumerate(every_data):
            for row in where(rows, data=data, kappa=kappa):
                draw_shares(axes[line, k], row["shares of K"])
    return figure


def claims(rows: list[Row]) -> list[Claim]:
    found = []
    low, high = min(values_of(rows, "kappa")), max(values_of(rows, "kappa"))
    for data in values_of(rows, "data"):
        many, few = (
            mean_of(rows, "mean_n_components", data=data, kappa=kappa) for kappa in (low, high)
        )
        found.append(
            Claim(
                f"{data}: a prior with fewer components gives fewer of them: {many:.2f} on average "
                f"with kappa = {low:g}, {few:.2f} with {high:g}.",
                few < many,
            )
        )
    return found


def findings(rows: list[Row]) -> list[Claim]:
    found = []
    for data in values_of(rows, "data"):
        own = sorted(where(rows, data=data), key=lambda row: row["kappa"])
        modes = [row["mode of K"] for row in own]
        found.append(
            Claim(
                f"{data}: the mode of K is the same for all kappa; from the lowest to the highest "
                f"it is {', '.join(map(str, modes))}.",
                len(set(modes)) == 1,
            )
        )
    return found


EXPERIMENT = Experiment(
    number=10,
    title="Prior on the number of components",
    place="Figure on kappa (appendix)",
    about=(
        "K has the prior Geometric(kappa) on 1, 2, ...; a large kappa wants few components. "
        "Posteriors of K by the default sampler; short lines are single chains."
    ),
    parts=parts,
    by=("data", "kappa"),
    figures=("mode of K", "mode of t", "mean_n_components", "mean_n_clusters", "verdict"),
    draw=draw,
    claims=claims,
    findings=findings,
    paper=({"data": "Adult", "mode of K": 3},),
    paper_says="FBC is not sensitive to kappa; the mode of K is 3 on Adult for all of them.",
)
