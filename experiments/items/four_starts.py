"""Convergence: do chains from four different starts tell the same story."""

from __future__ import annotations

from functools import partial
from typing import Any

from experiments.data import THREE, TITLES, load
from experiments.fits import OURS, PAPER, SAMPLERS, fit, measure, sampler
from experiments.pictures import make_panels
from experiments.protocol import Claim, Effort, Experiment, Part, Row, values_of, where
from fairmix.plots.palette import mark_line

STARTS = ("one", "singletons", "kmeans", 20)
#: The sweeps of the default sampler that the paper's gets, too, in a third run.
LONGER = f"{PAPER}, as many sweeps"
METHODS = (PAPER, LONGER, OURS)


def parts(effort: Effort) -> list[Part]:
    return [
        Part(f"{TITLES[data]}, {method}", partial(run, data, method, effort), data)
        for data in THREE
        for method in (METHODS if effort.name == "full" else SAMPLERS)
    ]


def run(data: str, method: str, effort: Effort) -> list[Row]:
    table = load(data, effort)
    given = {"init_partition": STARTS, "n_chains": len(STARTS)}
    if method == LONGER:
        given |= {"n_warmup": effort.n_warmup, "n_draws": effort.n_draws}
    model, seconds = fit(sampler(OURS if method == OURS else PAPER, effort, **given), table)
    reached = model.posterior_.log_posterior.mean(axis=1)
    row = {"data": TITLES[data], "method": method} | measure(model, table, seconds=seconds)
    return [
        row
        | {
            "reached": reached,
            "log posterior, range of chains": reached.max() - reached.min(),
            "t by chain": model.posterior_.n_clusters.mean(axis=1),
        }
    ]


def draw(rows: list[Row]) -> Any:
    every_data = values_of(rows, "data")
    figure, axes = make_panels(every_data)
    methods = values_of(rows, "method")
    for ax, data in zip(axes[0], every_data, strict=True):
        for k, method in enumerate(methods):
            for row in where(rows, data=data, method=method):
                for chain, (start, level) in enumerate(zip(STARTS, row["reached"], strict=True)):
                    mark = mark_line(chain)
                    label = f"from {start}" if k == 0 else None
                    style = {"color": mark.colour, "mfc": "none", "label": label}
                    ax.plot(k + 0.1 * (chain - 1.5), level, mark.marker, **style)
        ax.set_xticks(range(len(methods)), methods, rotation=20, ha="right", fontsize="small")
        ax.set(ylabel="mean log posterior", xlim=(-0.5, len(methods) - 0.5))
    axes[0, 0].legend(frameon=False, fontsize="small")
    return figure


def claims(rows: list[Row]) -> list[Claim]:
    found = []
    for data in values_of(rows, "data"):
        (paper,), (ours,) = (where(rows, data=data, method=method) for method in SAMPLERS)
        apart = "log posterior, range of chains"
        found.append(
            Claim(
                f"{data}: chains of {OURS} from four starts are {ours[apart]:.1f} apart in log "
                f"posterior, those of {PAPER} {paper[apart]:.1f}.",
                ours[apart] < paper[apart],
            )
        )
    return found


def findings(rows: list[Row]) -> list[Claim]:
    return [
        Claim(
            f"{row['data']}, {row['method']}: chains from four starts agree; R-hat of the log "
            f"posterior is {row['r_hat_log_posterior'] or float('inf'):.3f}, of the number of "
            f"clusters {row['r_hat_n_clusters'] or float('inf'):.3f}; the verdict is: "
            f"{row['verdict']}.",
            row["verdict"] == "agree",
        )
        for row in rows
    ]


EXPERIMENT = Experiment(
    number=13,
    title="Convergence from four starts",
    place="Asked for by readers; the paper's claim is in its section on convergence",
    about=(
        "One chain each from one cluster, from every anchor on its own, from k-means and from 20 "
        "random clusters. The paper's sampler with its own 1,200 sweeps and, in the full form, "
        "with as many as the default one. Marks are the mean log posterior of each chain."
    ),
    parts=parts,
    by=("data", "method"),
    figures=(
        "log_posterior",
        "log posterior, range of chains",
        "r_hat_log_posterior",
        "r_hat_n_clusters",
        "mean_n_clusters",
        "verdict",
        "seconds",
    ),
    draw=draw,
    claims=claims,
    findings=findings,
    paper_says="The sampler converges well and finds good clusters.",
)
