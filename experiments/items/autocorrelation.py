"""How long chains remember the number of clusters: its autocorrelation."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from experiments.data import THREE, TITLES, load
from experiments.fits import SAMPLERS, fit, measure, sampler
from experiments.pictures import make_panels
from experiments.protocol import Claim, Effort, Experiment, Part, Row, values_of, where
from fairmix.plots.palette import mark_line
from fairmix.posterior.diagnostics import bulk_ess

MAX_LAG = 50
#: Draws that are looked at; the paper's own are too few for lags like these.
DRAWS = {"quick": 200, "full": 3000}


def parts(effort: Effort) -> list[Part]:
    return [
        Part(f"{TITLES[data]}, {method}", partial(run, data, method, effort), data)
        for data in THREE
        for method in SAMPLERS
    ]


def run(data: str, method: str, effort: Effort) -> list[Row]:
    table = load(data, effort)
    model, seconds = fit(sampler(method, effort, n_draws=DRAWS[effort.name]), table)
    posterior = model.posterior_
    row = {"data": TITLES[data], "method": method} | measure(model, table, seconds=seconds)
    return [
        row
        | {
            "autocorrelation": [autocorrelation(chain) for chain in posterior.n_components],
            "autocorrelation of t": [autocorrelation(chain) for chain in posterior.n_clusters],
            # Of each chain by itself: whether chains agree is another question.
            "effective draws of K": sum(bulk_ess(chain) for chain in posterior.n_components),
            "draws": posterior.n_components.size,
        }
    ]


def autocorrelation(values: Any) -> list[float]:
    r"""Give :math:`\mathrm{corr}(K_t, K_{t+h})` for each lag h; 1 for a chain that never moves."""
    values = np.asarray(values, dtype=float) - np.mean(values)
    n_lags = min(MAX_LAG, len(values) // 2) + 1
    total = values @ values
    if total == 0:
        return [1.0] * n_lags
    return [float(values[lag:] @ values[: len(values) - lag] / total) for lag in range(n_lags)]


def draw(rows: list[Row]) -> Any:
    every_data = values_of(rows, "data")
    figure, axes = make_panels(every_data, 2)
    for k, data in enumerate(every_data):
        for line, name in enumerate(("autocorrelation", "autocorrelation of t")):
            ax = axes[line, k]
            for number, method in enumerate(SAMPLERS):
                for row in where(rows, data=data, method=method):
                    for chain, values in enumerate(row[name]):
                        label = method if chain == 0 else None
                        ax.plot(values, color=mark_line(number).colour, lw=1, label=label)
            ax.axhline(0.0, color="0.5", lw=0.8)
            ax.set(xlabel="lag", ylabel=f"{name} of K" if line == 0 else name, ylim=(-0.4, 1.02))
    axes[0, 0].legend(frameon=False, fontsize="small")
    return figure


def claims(rows: list[Row]) -> list[Claim]:
    found = []
    for data in values_of(rows, "data"):
        (row,) = where(rows, data=data, method=SAMPLERS[1])
        # Fewer than one in a hundred would be chains that stand still.
        found.append(
            Claim(
                f"{data}: {row['draws']:,} draws of {SAMPLERS[1]} are worth "
                f"{row['effective draws of K']:,.0f} independent ones of K within their chains, at "
                "least one in a hundred.",
                row["effective draws of K"] >= row["draws"] / 100,
            )
        )
    return found


def findings(rows: list[Row]) -> list[Claim]:
    found = []
    for row in rows:
        last = [values[-1] for values in row["autocorrelation"]]
        found.append(
            Claim(
                f"{row['data']}, {row['method']}: the autocorrelation of K is below .1 at lag "
                f"{MAX_LAG} in all chains; the largest is {max(last):.2f}.",
                max(last) < 0.1,
            )
        )
    return found


EXPERIMENT = Experiment(
    number=11,
    title="Autocorrelation of K",
    place="Figure on the convergence of MCMC (appendix)",
    about=(
        "Correlation of K with itself some sweeps later, within each chain after its warm-up, and "
        "the same of t, the number of clusters that have rows. A chain that stays in one place "
        "can look well in this picture: K is drawn anew given t. R-hat compares chains."
    ),
    parts=parts,
    by=("data", "method"),
    figures=(
        "draws",
        "effective draws of K",
        "r_hat_n_clusters",
        "r_hat_log_posterior",
        "verdict",
        "seconds",
    ),
    draw=draw,
    claims=claims,
    findings=findings,
    paper_says="The autocorrelation functions amply support that the sampler converges well.",
)
