"""Fairness control: gap and balance against the number of masked rows, and against a cap."""

from __future__ import annotations

from functools import partial
from typing import Any

from experiments.data import THREE, TITLES, load
from experiments.fits import OURS, PAPER, fit_and_measure, is_within_bound, sampler
from experiments.pictures import draw_lines, make_panels
from experiments.protocol import Claim, Effort, Experiment, Part, Row, mean_of, values_of, where

#: Shares of the larger group that are masked, and caps on the gap.
SHARES = {"quick": (0.0, 1.0), "full": (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)}
CAPS = {"quick": (0.05, 0.2), "full": (0.01, 0.02, 0.05, 0.1, 0.2)}
BY_CAP = "cap on the gap"


def parts(effort: Effort) -> list[Part]:
    made = []
    for data in THREE:
        made += [
            Part(f"{TITLES[data]}, {method}, m = {share:g} n_1", run_mask, data)
            for method in (PAPER, OURS)
            for share in SHARES[effort.name]
            for run_mask in [partial(run, data, effort, method, share=share)]
        ]
        made += [
            Part(f"{TITLES[data]}, cap {cap:g}", partial(run, data, effort, BY_CAP, cap=cap), data)
            for cap in CAPS[effort.name]
        ]
    return made


def run(
    data: str, effort: Effort, method: str, share: float | None = None, cap: float | None = None
) -> list[Row]:
    table = load(data, effort)
    about: Row = {"data": TITLES[data], "method": method, "n_masked": None, "max_gap": cap}
    given: Row = {"max_gap": cap}
    if share is not None:
        n_masked = round(share * int(table.groups.value_counts().max()))
        given, about["n_masked"] = {"n_masked": n_masked}, n_masked
    model = sampler(PAPER if method == PAPER else OURS, effort, **given)
    return [about | fit_and_measure(model, table)]


def draw(rows: list[Row]) -> Any:
    every_data = values_of(rows, "data")
    figure, axes = make_panels(every_data, 4)
    for k, data in enumerate(every_data):
        masked = [row for row in where(rows, data=data) if row["n_masked"] is not None]
        capped = where(rows, data=data, method=BY_CAP)
        for line, (shown, x, y) in enumerate(
            (
                (masked, "n_masked", "gap"),
                (masked, "n_masked", "balance"),
                (capped, "max_gap", "largest_gap"),
                (capped, "max_gap", "log_posterior"),
            )
        ):
            draw_lines(axes[line, k], shown, x, y, "method")
            axes[line, k].set(xlabel=x.replace("_", " "), ylabel=y.replace("_", " "))
    axes[0, 0].legend(frameon=False, fontsize="small")
    return figure


def claims(rows: list[Row]) -> list[Claim]:
    found = [
        Claim(
            f"{method}: no draw has a larger gap than is certain of the model.",
            all(map(is_within_bound, where(rows, method=method))),
        )
        for method in values_of(rows, "method")
    ]
    for data in values_of(rows, "data"):
        own = where(rows, data=data, method=OURS)
        most = max(row["n_masked"] for row in own)
        strict, free = (mean_of(own, "mean_gap", n_masked=m) for m in (0, most))
        found.append(
            Claim(
                f"{data}: the mean gap of the draws is {strict:.4f} with no row masked, and "
                f"{free:.4f} with all of them.",
                strict < free,
            )
        )
    return found


def findings(rows: list[Row]) -> list[Claim]:
    found = []
    for data in values_of(rows, "data"):
        for method in (PAPER, OURS):
            own = sorted(where(rows, data=data, method=method), key=lambda row: row["n_masked"])
            gaps = [row["mean_gap"] for row in own]
            shown = ", ".join(f"{gap:.3f}" for gap in gaps)
            found.append(
                Claim(
                    f"{data}, {method}: a smaller m gives a smaller gap; with growing m the mean "
                    f"gap of the draws is {shown}.",
                    gaps == sorted(gaps),
                )
            )
    return found


EXPERIMENT = Experiment(
    number=3,
    title="Fairness control",
    place="Figure on the trade-off between m and the fairness level (appendix)",
    about=(
        "m rows of the larger group are masked: exempt from matching. Beside it what the paper "
        "does not have: a cap on the gap of every draw, and what it costs in log posterior. Gap "
        "and balance are those of one labelling, the mean gap is over all draws."
    ),
    parts=parts,
    by=("data", "method", "n_masked", "max_gap"),
    figures=(
        "n_clusters",
        "gap",
        "mean_gap",
        "largest_gap",
        "balance",
        "log_posterior",
        "r_hat_log_posterior",
        "seconds",
    ),
    draw=draw,
    claims=claims,
    findings=findings,
    paper_says="A smaller m usually results in a fairer clustering, unless m is too large.",
)
