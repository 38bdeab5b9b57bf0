"""Traces of the negative log likelihood, from the first sweep on."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from experiments.data import THREE, TITLES, load
from experiments.fits import OURS, PAPER, SAMPLERS, fit, measure, sampler
from experiments.pictures import make_panels
from experiments.protocol import Claim, Effort, Experiment, Part, Row, values_of, where
from fairmix.plots.palette import mark_line

#: All sweeps of the paper's sampler, of which it throws 1,000 away.
ALL_SWEEPS = 1200
#: Points of a trace that are kept.
N_POINTS = 300


def parts(effort: Effort) -> list[Part]:
    return [
        Part(f"{TITLES[data]}, {method}", partial(run, data, method, effort), data)
        for data in THREE
        for method in SAMPLERS
    ]


def run(data: str, method: str, effort: Effort) -> list[Row]:
    table = load(data, effort)
    given = {"n_warmup": 0, "n_draws": ALL_SWEEPS} if method == PAPER else {}
    model, seconds = fit(sampler(method, effort, **given), table)
    nll = -model.posterior_.log_likelihood
    shown = np.unique(np.linspace(0, nll.shape[1] - 1, N_POINTS).astype(int))
    end = nll[:, -nll.shape[1] // 6 :].mean(axis=1)
    row = {"data": TITLES[data], "method": method} | measure(model, table, seconds=seconds)
    return [
        row
        | {
            "sweeps": shown,
            "traces": nll[:, shown],
            "NLL at the beginning": nll[:, 0].mean(),
            "NLL at the end": end.mean(),
            "range of chains at the end": end.max() - end.min(),
        }
    ]


def draw(rows: list[Row]) -> Any:
    every_data = values_of(rows, "data")
    figure, axes = make_panels(every_data, 2)
    for line, method in enumerate(SAMPLERS):
        axes[line, 0].set_ylabel(f"NLL, {method}", fontsize="small")
        for k, data in enumerate(every_data):
            for row in where(rows, data=data, method=method):
                for chain, trace in enumerate(row["traces"]):
                    colour = mark_line(chain).colour
                    axes[line, k].plot(row["sweeps"], trace, lw=0.8, color=colour)
            axes[line, k].set_xlabel("sweep" if method == PAPER else "sweep after the warm-up")
    return figure


def claims(rows: list[Row]) -> list[Claim]:
    found = []
    for data in values_of(rows, "data"):
        (paper,), (ours,) = (where(rows, data=data, method=method) for method in SAMPLERS)
        found += [
            Claim(
                f"{data}: {PAPER} goes down from {paper['NLL at the beginning']:,.0f} to "
                f"{paper['NLL at the end']:,.0f}.",
                paper["NLL at the end"] < paper["NLL at the beginning"],
            ),
            Claim(
                f"{data}: {OURS} is at {ours['NLL at the end']:,.0f}, below {PAPER} at its end.",
                ours["NLL at the end"] < paper["NLL at the end"],
            ),
        ]
    return found


def findings(rows: list[Row]) -> list[Claim]:
    return [
        Claim(
            f"{row['data']}, {row['method']}: all chains end within 10 of each other; they end "
            f"{row['range of chains at the end']:.1f} apart.",
            row["range of chains at the end"] <= 10,
        )
        for row in rows
    ]


EXPERIMENT = Experiment(
    number=12,
    title="Traces of the negative log likelihood",
    place="Figure on the convergence of MCMC (appendix)",
    about=(
        "NLL of the fitted rows given their clusters, with parameters integrated out, so it is not "
        "on the scale of the paper's figure. The paper's sampler is shown from its first sweep "
        "on, the default one after its warm-up; each line is a chain."
    ),
    parts=parts,
    by=("data", "method"),
    figures=(
        "NLL at the beginning",
        "NLL at the end",
        "range of chains at the end",
        "r_hat_log_posterior",
        "verdict",
        "seconds",
    ),
    draw=draw,
    claims=claims,
    findings=findings,
    paper_says="NLL falls in steps, and new optima are always better than the old ones.",
)
