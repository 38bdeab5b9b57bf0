"""The posterior of the number of clusters, by several chains, and whether these agree."""

from __future__ import annotations

from functools import partial
from typing import Any

from experiments.data import THREE, TITLES, load
from experiments.fits import SAMPLERS, fit, measure, mode_of, sampler, shares_by_chain
from experiments.pictures import draw_shares, make_panels
from experiments.protocol import Claim, Effort, Experiment, Part, Row, mean_of, values_of, where

#: The paper's modes, by dataset.
PAPER_K = {"diabetes": 4, "adult": 3, "bank": 7}
BY_NAME = {"t": "n_clusters", "K": "n_components"}


def parts(effort: Effort) -> list[Part]:
    return [
        Part(f"{TITLES[data]}, {method}", partial(run, data, method, effort), data)
        for data in THREE
        for method in SAMPLERS
    ]


def run(data: str, method: str, effort: Effort) -> list[Row]:
    table = load(data, effort)
    model, seconds = fit(sampler(method, effort), table)
    row = {"data": TITLES[data], "method": method} | measure(model, table, seconds=seconds)
    for name, scalar in BY_NAME.items():
        shares = shares_by_chain(getattr(model.posterior_, scalar))
        row |= {f"shares of {name}": shares, f"mode of {name}": mode_of(shares)}
    return [row]


def draw(rows: list[Row]) -> Any:
    every_data = values_of(rows, "data")
    figure, axes = make_panels(every_data, 2 * len(SAMPLERS))
    lines = [(method, name) for method in SAMPLERS for name in BY_NAME]
    for line, (method, name) in enumerate(lines):
        axes[line, 0].set_ylabel(f"{name}, {method}", fontsize="small")
        for k, data in enumerate(every_data):
            (row,) = where(rows, data=data, method=method)
            draw_shares(axes[line, k], row[f"shares of {name}"])
    return figure


def claims(rows: list[Row]) -> list[Claim]:
    found = []
    for data in values_of(rows, "data"):
        paper, ours = (mean_of(rows, "log_posterior", data=data, method=each) for each in SAMPLERS)
        found.append(
            Claim(
                f"{data}: the draws of {SAMPLERS[1]} have a mean log posterior of {ours:,.1f}, "
                f"those of {SAMPLERS[0]} {paper:,.1f}: chains of the latter end at worse "
                "clusterings.",
                ours > paper,
            )
        )
    return found


def findings(rows: list[Row]) -> list[Claim]:
    found = []
    for data in THREE:
        for row in where(rows, data=TITLES[data]):
            at = [chain.get(str(row["mode of K"]), 0.0) for chain in row["shares of K"]]
            share = sum(at) / len(at)
            found.append(
                Claim(
                    f"{row['data']}, {row['method']}: the posterior of K has its mode at "
                    f"{PAPER_K[data]}, as in the paper, and more than half of its mass there; "
                    f"measured: mode {row['mode of K']} with {100 * share:.0f} %. On whether the "
                    f"chains agree: {row['verdict']}.",
                    row["mode of K"] == PAPER_K[data] and share > 0.5,
                )
            )
    return found


EXPERIMENT = Experiment(
    number=5,
    title="Posterior of the number of clusters",
    place="Figure in the section on the inference of K",
    about=(
        "Several chains of each sampler: those of the paper's start from one cluster, those of the "
        "default one from four different places. K is the number of components of the mixture, t "
        "the number of clusters that have rows. Bars are all chains together, short lines single "
        "chains. R-hat and the verdict say whether the chains tell the same story."
    ),
    parts=parts,
    by=("data", "method"),
    figures=(
        "mode of K",
        "mode of t",
        "mean_n_clusters",
        "log_posterior",
        "r_hat_log_posterior",
        "r_hat_n_clusters",
        "verdict",
        "seconds",
    ),
    draw=draw,
    claims=claims,
    findings=findings,
    paper=tuple({"data": TITLES[data], "mode of K": mode} for data, mode in PAPER_K.items()),
    paper_says="The posteriors are well concentrated around their modes.",
)
