"""Categorised Bank: six columns of two values each; MFM beside FBC."""

from __future__ import annotations

from functools import partial
from typing import Any

from experiments.data import TITLES, load
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
from fairmix.baselines import MixtureOfFiniteMixtures
from fairmix.plots.palette import mark_line

DATA, FAMILY = "bank01", "bernoulli"
MFM, FBC_PAPER, FBC, FBC_CAPPED = "MFM", f"FBC, {PAPER}", f"FBC, {OURS}", "FBC, gap capped"
PAPER_MFM = {"n_clusters": 5, "cost": 2184.22, "gap": 0.058, "balance": 0.200}
PAPER_FBC = {"n_clusters": 3, "cost": 2907.31, "gap": 0.004, "balance": 0.640}


def parts(effort: Effort) -> list[Part]:
    return [Part(f"draw {k}", partial(run, k, effort), DATA) for k in range(effort.n_tables)]


def run(k: int, effort: Effort) -> list[Row]:
    table, seed = load(DATA, effort, k), effort.seed + k
    plain = MixtureOfFiniteMixtures(
        FAMILY,
        n_chains=effort.n_chains,
        n_warmup=effort.n_warmup,
        n_draws=effort.n_draws,
        n_jobs=effort.n_jobs,
        random_state=seed,
        verbose=0,
    )
    given = {"family": FAMILY, "random_state": seed}
    made = {
        MFM: fit_and_measure(plain, table),
        FBC_PAPER: fit_as_in_the_paper(effort, table, seed, family=FAMILY),
        FBC: fit_and_measure(sampler(OURS, effort, **given), table),
        FBC_CAPPED: fit_and_measure(
            sampler(
                OURS,
                effort,
                max_gap=effort.max_gap,
                min_balance=effort.choose(None, PAPER_FBC["balance"]),
                **given,
            ),
            table,
        ),
    }
    return [{"data": TITLES[DATA], "draw": k, "method": name} | row for name, row in made.items()]


def draw(rows: list[Row]) -> Any:
    figure, axes = make_panels(["gap", "balance", "cost"])
    methods = values_of(rows, "method")
    for ax, name in zip(axes[0], ("gap", "balance", "cost"), strict=True):
        for k, method in enumerate(methods):
            values = [row[name] for row in where(rows, method=method)]
            mark = mark_line(k)
            ax.plot([k] * len(values), values, mark.marker, color=mark.colour, mfc="none")
        ax.set_xticks(range(len(methods)), methods, rotation=30, ha="right", fontsize="small")
        ax.set(xlim=(-0.5, len(methods) - 0.5))
    return figure


def claims(rows: list[Row]) -> list[Claim]:
    plain, fair = (mean_of(rows, "mean_gap", method=method) for method in (MFM, FBC))
    ours = [row for row in rows if row["method"] != MFM]
    return [
        Claim(
            "FBC: no draw has a larger gap than is certain of the model.",
            all(map(is_within_bound, ours)),
        ),
        Claim(
            f"The mean gap of the draws is {plain:.4f} for MFM and {fair:.4f} for FBC.",
            fair < plain,
        ),
    ]


def findings(rows: list[Row]) -> list[Claim]:
    found = []
    for method in (FBC_PAPER, FBC, FBC_CAPPED):
        gap, ratio, price = (
            mean_of(rows, name, method=method) for name in ("gap", "balance", "cost")
        )
        found.append(
            Claim(
                f"{method} has a gap of {gap:.4f}, a balance of {ratio:.3f} and a cost of "
                f"{price:,.0f}; the paper's FBC .004, .640 and 2,907.",
                gap <= PAPER_FBC["gap"]
                and ratio >= PAPER_FBC["balance"]
                and price < PAPER_FBC["cost"],
            )
        )
    return found


EXPERIMENT = Experiment(
    number=7,
    title="Categorised Bank",
    place="Table on the categorised Bank data (appendix)",
    about=(
        "Each of the six features is cut at its median. Clusters are products of Bernoulli "
        "distributions with the prior Beta(1, 1); the cost is the negative log likelihood of all "
        "rows at each cluster's maximum likelihood."
    ),
    parts=parts,
    by=("method",),
    figures=("n_clusters", "cost", "gap", "balance", "mean_gap", "largest_gap", "seconds"),
    draw=draw,
    claims=claims,
    findings=findings,
    paper=({"method": "MFM"} | PAPER_MFM, {"method": "FBC"} | PAPER_FBC),
    paper_says="FBC is much fairer than MFM, and finds fewer clusters.",
)
