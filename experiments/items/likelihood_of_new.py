"""The number of clusters against the likelihood of test rows, which are labelled by transport."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from experiments.data import THREE, TITLES, Table, split
from experiments.fits import SAMPLERS, fit, sampler
from experiments.pictures import make_panels
from experiments.protocol import Claim, Effort, Experiment, Part, Row, values_of, where
from fairmix import metrics
from fairmix.posterior.matched_rows import Anchors, match_rows
from fairmix.posterior.prediction import Prediction

#: Rows that are fitted, and test rows of each group.
SIZES = {"quick": (200, 40), "full": (1000, 300)}
#: Of Diabetes there are 768 in all.
DIABETES = (500, 100)
#: Draws of all chains that are looked at.
N_DRAWS = {"quick": 30, "full": 200}
#: Numbers of clusters that fewer draws have are not compared.
LEAST_DRAWS = 5


def parts(effort: Effort) -> list[Part]:
    return [
        Part(f"{TITLES[data]}, {method}", partial(run, data, method, effort), data)
        for data in THREE
        for method in SAMPLERS
    ]


def run(data: str, method: str, effort: Effort) -> list[Row]:
    is_small = data == "diabetes" and effort.name == "full"
    n_fitted, n_test = DIABETES if is_small else SIZES[effort.name]
    # Enough that both groups have so many.
    fitted, others = split(data, n_fitted, 8 * n_test, effort.seed)
    new = others.take(
        np.sort(np.concatenate([rows[:n_test] for rows in rows_by_group(others).values()]))
    )
    model, _ = fit(sampler(method, effort), fitted)
    posterior = model.posterior_
    training = posterior.training
    every_labels = posterior.labels.reshape(-1, len(fitted.X)).astype(np.int64)
    chosen = np.linspace(0, len(every_labels) - 1, N_DRAWS[effort.name]).astype(int)
    is_anchor = training.groups.codes == 0
    matched = match_test_rows(model, new)
    rows = model.schema_.read(new.X).rows
    made = []
    for draw_number in chosen:
        labels = every_labels[draw_number]
        test_labels = labels[is_anchor][matched]
        learned = Prediction.learn(training, labels, np.zeros(labels.max() + 2))
        log_predictive = learned.log_predictive(rows)[np.arange(len(rows)), test_labels]
        made.append(
            {
                "data": TITLES[data],
                "method": method,
                "n_clusters": int(labels.max()) + 1,
                "nll": -log_predictive.mean(),
                "gap": metrics.fairness_gap(test_labels, new.groups),
            }
        )
    return made


def rows_by_group(table: Table) -> dict[Any, Any]:
    """Give the rows of each group."""
    return {name: np.flatnonzero(table.groups == name) for name in sorted(set(table.groups))}


def match_test_rows(model: Any, new: Table) -> Any:
    """Give the fitted anchor that each test row goes with; it is the same for all draws."""
    training = model.posterior_.training
    read = model.schema_.read(new.X)
    anchors = Anchors.of(training, np.arange(len(training.table.points)))
    names = list(training.groups.names)
    codes = np.array([names.index(group) for group in new.groups])
    numbered = anchors._replace(labels=np.arange(len(anchors.labels)))
    return match_rows(numbered, read.points, read.is_category, codes)


def draw(rows: list[Row]) -> Any:
    every_data = values_of(rows, "data")
    figure, axes = make_panels(every_data, len(SAMPLERS))
    for line, method in enumerate(SAMPLERS):
        axes[line, 0].set_ylabel(f"NLL a test row, {method}", fontsize="small")
        for k, data in enumerate(every_data):
            own = where(rows, data=data, method=method)
            numbers = sorted(values_of(own, "n_clusters"))
            boxes = [[row["nll"] for row in where(own, n_clusters=n)] for n in numbers]
            axes[line, k].boxplot(boxes, positions=numbers, widths=0.6)
            axes[line, k].set_xlabel("number of clusters")
    return figure


def claims(rows: list[Row]) -> list[Claim]:
    largest = max(row["gap"] for row in rows)
    return [
        Claim(
            "Labels of test rows are perfectly fair, as the construction promises: the largest gap "
            f"is {largest:.4f}.",
            largest < 1e-9,
        ),
        Claim(
            "Every draw gives test rows a likelihood.",
            all(row["nll"] is not None and np.isfinite(row["nll"]) for row in rows),
        ),
    ]


def findings(rows: list[Row]) -> list[Claim]:
    found = []
    for data in values_of(rows, "data"):
        for method in SAMPLERS:
            own = where(rows, data=data, method=method)
            by_number = {
                n: [row["nll"] for row in where(own, n_clusters=n)]
                for n in sorted(values_of(own, "n_clusters"))
            }
            mode = max(by_number, key=lambda n, every=by_number: len(every[n]))
            medians = {
                n: float(np.median(nll)) for n, nll in by_number.items() if len(nll) >= LEAST_DRAWS
            }
            if len(medians) < 2:
                continue  # nothing to compare
            best = min(medians, key=lambda n, every=medians: every[n])
            shown = ", ".join(f"{n}: {nll:.3f}" for n, nll in medians.items())
            found.append(
                Claim(
                    f"{data}, {method}: the median NLL of test rows is lowest at the mode of the "
                    f"number of clusters, {mode}; by number it is {shown}.",
                    best == mode,
                )
            )
    return found


EXPERIMENT = Experiment(
    number=6,
    title="Number of clusters against the likelihood of test rows",
    place="Figure on K against NLL (appendix D.3)",
    about=(
        "Test rows, as many of each group, are matched to fitted rows of the smallest group and to "
        "each other by optimal transport, and get their labels from there. For each draw: the mean "
        "negative log predictive density of a test row in its cluster, with parameters integrated "
        "out, on columns of variance 1. The rows are drawn at random from the whole data."
    ),
    parts=parts,
    by=("data", "method", "n_clusters"),
    figures=("nll",),
    draw=draw,
    claims=claims,
    findings=findings,
    paper_says="The negative log likelihood is lowest at K = 3, the mode of the posterior.",
)
