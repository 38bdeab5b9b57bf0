"""New rows: how fair and how good labels are that other rows get, by each method.

"nearest" is the most probable cluster, whatever the group; "fitted" are the fitted rows with
``labels_``. What chance does is the gap of the same labels with the groups shuffled.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import Any

import numpy as np

from experiments.data import TITLES, Table, load_all, split
from experiments.fits import OURS, fit, sampler
from experiments.pictures import make_panels
from experiments.protocol import Claim, Effort, Experiment, Part, Row, values_of, where
from fairmix import metrics
from fairmix.plots.palette import mark_line

EVERY_DATA = ("diabetes", "adult", "bank_sm", "bank3")
#: The largest gap of the fit.
MAX_GAP = {"quick": 0.1, "full": 0.02}
#: Half of the rows are fitted, so many at most; and so many others are labelled.
MOST_FITTED = {"quick": 200, "full": 5000}
MOST_NEW = {"quick": 400, "full": 50_000}
SWEEPS = {"quick": 100, "full": 300}
#: Groups are shuffled so often to see what chance does.
N_SHUFFLES = 20
#: Lists of so many rows are labelled at a time, so many of them.
LIST_LENGTH, N_LISTS = 200, {"quick": 5, "full": 50}
FITTED, NEAREST, BATCH, PRICES, MATCH = "fitted", "nearest", "batch", "prices", "match"


def parts(effort: Effort) -> list[Part]:
    return [Part(TITLES[data], partial(run, data, effort), data) for data in EVERY_DATA]


def run(data: str, effort: Effort) -> list[Row]:
    n_rows, form = len(load_all(data).X), effort.name
    n_fitted = min(n_rows // 2, MOST_FITTED[form])
    old, new = split(data, n_fitted, min(n_rows - n_fitted, MOST_NEW[form]), effort.seed)
    n_sweeps = {"n_warmup": SWEEPS[form], "n_draws": SWEEPS[form], "n_chains": 2}
    model, _ = fit(sampler(OURS, effort, max_gap=MAX_GAP[form], **n_sweeps), old)
    prediction = model.learned_prediction()  # not timed: it is learned once
    read = model.schema_.read(new.X)
    log_predictive = prediction.log_predictive(read.rows)
    fitted_cost = metrics.cost(model.schema_.read(old.X).points, model.labels_)
    rng = np.random.default_rng(effort.seed)
    gap = metrics.fairness_gap(model.labels_, old.groups)
    rows: list[Row] = [{"method": FITTED, "n_rows": n_fitted, "gap": gap, "relative cost": 1.0}]
    for method in (NEAREST, BATCH, PRICES, MATCH):
        began = time.perf_counter()
        labels = label(model, new, method)
        seconds = time.perf_counter() - began
        rows.append(
            {
                "method": method,
                "n_rows": len(labels),
                "gap": metrics.fairness_gap(labels, new.groups),
                "gap by chance": gap_by_chance(labels, new.groups.to_numpy(), rng),
                "relative cost": metrics.cost(read.points, labels) / fitted_cost,
                "log score": log_predictive[np.arange(len(labels)), labels].mean(),
                "seconds": seconds,
            }
        )
    for method in (BATCH, PRICES):
        gap = gap_of_lists(model, new, method, rng, N_LISTS[form])
        rows.append({"method": f"{method}, lists", "n_rows": LIST_LENGTH, "gap": gap})
    return [{"data": TITLES[data]} | row for row in rows]


def label(model: Any, table: Table, method: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that no groups were given
        if method == NEAREST:
            return model.predict(table.X)
        return model.predict(table.X, sensitive_features=table.groups, method=method)


def gap_of_lists(model: Any, new: Table, method: str, rng: Any, n_lists: int) -> float:
    """Give the mean gap of lists that are labelled by themselves."""
    gaps = []
    for _ in range(n_lists):
        some = new.take(rng.choice(len(new.X), LIST_LENGTH, replace=False))
        gaps.append(metrics.fairness_gap(label(model, some, method), some.groups))
    return float(np.mean(gaps))


def gap_by_chance(labels: Any, groups: Any, rng: Any) -> float:
    """Give the mean gap of labels that know nothing of groups."""
    gaps = [metrics.fairness_gap(labels, rng.permutation(groups)) for _ in range(N_SHUFFLES)]
    return float(np.mean(gaps))


def draw(rows: list[Row]) -> Any:
    every_data = values_of(rows, "data")
    figure, axes = make_panels(every_data)
    for ax, data in zip(axes[0], every_data, strict=True):
        own = [row for row in where(rows, data=data) if row.get("log score") is not None]
        for k, row in enumerate(own):
            mark = mark_line(k)
            style = {"color": mark.colour, "mfc": "none", "label": row["method"]}
            ax.plot(row["gap"], row["log score"], mark.marker, **style)
        ax.set(xlabel="gap of new rows", ylabel="mean log predictive")
    axes[0, 0].legend(frameon=False, fontsize="small")
    return figure


def claims(rows: list[Row]) -> list[Claim]:
    found = []
    for data in values_of(rows, "data"):
        (nearest,), (batch,) = (where(rows, data=data, method=each) for each in (NEAREST, BATCH))
        found += [
            Claim(
                f"{data}: a batch has a gap of {batch['gap']:.4f}, the nearest clusters "
                f"{nearest['gap']:.4f}.",
                batch["gap"] < nearest["gap"],
            ),
            Claim(
                f"{data}: fairness costs log score: {batch['log score']:.3f} in a batch, "
                f"{nearest['log score']:.3f} in the nearest clusters.",
                batch["log score"] <= nearest["log score"] + 1e-9,
            ),
        ]
    return found


EXPERIMENT = Experiment(
    number=16,
    title="New rows",
    place="Asked for by readers; the paper leaves the assignment of new rows open",
    about=(
        "A part of the rows is fitted, with a cap on the gap, and others are labelled. By chance: "
        "the gap of the same labels with shuffled groups. Relative cost: over that of the fitted "
        "rows. Log score: mean log predictive density of a row in its cluster. Lists: 200 rows "
        "are labelled at a time, and the gap is the mean over such lists."
    ),
    parts=parts,
    by=("data", "method", "n_rows"),
    figures=("gap", "gap by chance", "relative cost", "log score", "seconds"),
    draw=draw,
    claims=claims,
)
