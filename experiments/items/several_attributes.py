"""Several sensitive attributes at once: sex and race on Adult."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd

from experiments.data import Table
from experiments.fits import OURS, fit, measure, sampler
from experiments.pictures import make_panels
from experiments.protocol import Claim, Effort, Experiment, Part, Row, values_of, where
from fairmix import metrics
from fairmix.baselines import MixtureOfFiniteMixtures
from fairmix.datasets import load_adult
from fairmix.plots.palette import mark_line

DATA = "adult"
ATTRIBUTES = ["sex", "race"]
#: Below the gaps that there are without fairness, so that they do something.
CAPS = {"quick": 0.01, "full": 0.005}
ROWS = {"quick": 400, "full": 2000}
#: Groups are compared with all rows, so that a group of a few rows does no harm.
KIND = "mean"
PLAIN, BY_SEX = "no fairness", "sex only, matched"
EACH, CROSSED = "each attribute capped", "all crossed, capped"
METHODS = (PLAIN, BY_SEX, EACH, CROSSED)


def parts(effort: Effort) -> list[Part]:
    return [Part(method, partial(run, method, effort), DATA) for method in METHODS]


def run(method: str, effort: Effort) -> list[Row]:
    cap, n_rows = CAPS[effort.name], ROWS[effort.name]
    people = load_adult(n_rows=n_rows, groups=ATTRIBUTES, random_state=effort.seed)
    groups: pd.DataFrame = people.sensitive_features
    given: dict[str, Any] = {
        PLAIN: {},
        BY_SEX: {},
        EACH: {"max_gap": dict.fromkeys(ATTRIBUTES, cap), "gap_kind": KIND},
        CROSSED: {"max_gap": cap, "gap_kind": KIND},
    }[method]
    if method == PLAIN:
        model: Any = MixtureOfFiniteMixtures(
            n_chains=effort.n_chains,
            n_warmup=effort.n_warmup,
            n_draws=effort.n_draws,
            n_jobs=effort.n_jobs,
            random_state=effort.seed,
            verbose=0,
        )
    else:
        model = sampler(OURS, effort, **given)
    told = groups["sex"] if method == BY_SEX else groups
    table = Table(people.data, told)
    model, seconds = fit(model, table)
    row = {"method": method, "cap": given.get("max_gap") and cap}
    row |= measure(model, table, seconds=seconds)
    by_attribute = metrics.fairness_by_attribute(model.labels_, groups, kind=KIND)
    gaps = {f"gap by {name}": gap for name, gap in by_attribute["gap"].items()}
    return [row | gaps]


def draw(rows: list[Row]) -> Any:
    measured = [f"gap by {name}" for name in (*ATTRIBUTES, "crossed")]
    figure, axes = make_panels(["Gap of the labels, by attribute"])
    figure.set_size_inches(7, 3.6)
    for k, method in enumerate(values_of(rows, "method")):
        mark = mark_line(k)
        for row in where(rows, method=method):
            values = [row[name] for name in measured]
            axes[0, 0].plot(values, mark.marker, color=mark.colour, mfc="none", label=method)
    axes[0, 0].set_xticks(range(len(measured)), measured)
    axes[0, 0].set_ylim(bottom=0)
    axes[0, 0].legend(frameon=False, fontsize="small")
    return figure


def claims(rows: list[Row]) -> list[Claim]:
    (plain,), (each,), (crossed,) = (where(rows, method=m) for m in (PLAIN, EACH, CROSSED))
    found = [
        Claim(
            f"Without fairness, the gap by crossed groups is {plain['gap by crossed']:.4f}, above "
            f"the cap of {crossed['cap']:g}.",
            plain["gap by crossed"] > crossed["cap"],
        )
    ]
    found += [
        Claim(
            f"With each attribute capped at {each['cap']:g}, the gap by {name} is "
            f"{each[f'gap by {name}']:.4f}.",
            each[f"gap by {name}"] <= each["cap"] + 1e-9,
        )
        for name in ATTRIBUTES
    ]
    # A gap of crossed groups bounds that of each attribute.
    for name in (*ATTRIBUTES, "crossed"):
        gap = crossed[f"gap by {name}"]
        found.append(
            Claim(
                f"With all crossed and capped at {crossed['cap']:g}, the gap by {name} is "
                f"{gap:.4f}.",
                gap <= crossed["cap"] + 1e-9,
            )
        )
    return found


EXPERIMENT = Experiment(
    number=14,
    title="Several sensitive attributes",
    place="Asked for by readers",
    about=(
        "People of Adult by sex and race. The gap is the mean distance of a row's group to all "
        "rows, since some groups are a few rows. Fair to sex alone, to each of both, and to all "
        "their combinations."
    ),
    parts=parts,
    by=("method",),
    figures=(
        "n_clusters",
        "cost",
        "cap",
        "gap by sex",
        "gap by race",
        "gap by crossed",
        "log_posterior",
        "verdict",
        "seconds",
    ),
    draw=draw,
    claims=claims,
)
