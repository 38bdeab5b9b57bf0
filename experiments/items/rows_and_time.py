"""Time against the number of rows, up to all rows of Adult and Bank."""

from __future__ import annotations

from functools import partial
from typing import Any

from experiments.data import TITLES, load_all, split
from experiments.fits import OURS, PAPER, fit_and_measure, is_within_bound, sampler
from experiments.pictures import draw_lines, make_panels
from experiments.protocol import Claim, Effort, Experiment, Part, Row, values_of
from fairmix import compare
from fairmix.baselines import FairAssignment, FairKMeans, FairletClustering

ROWS: dict[str, tuple[int | None, ...]] = {
    "quick": (200, 800),
    "full": (1_000, 3_000, 10_000, None),
}
EVERY_DATA = ("adult", "bank")
#: Sweeps of both samplers, half of them a warm-up, in one chain.
SWEEPS = 200
N_CLUSTERS = 5
METHODS = {PAPER: f"FBC, {PAPER}", OURS: f"FBC, {OURS}"}


def parts(effort: Effort) -> list[Part]:
    return [
        Part(f"{TITLES[data]}, {n_rows or 'all'} rows", partial(run, data, n_rows, effort), data)
        for data in EVERY_DATA
        for n_rows in ROWS[effort.name]
    ]


def run(data: str, n_rows: int | None, effort: Effort) -> list[Row]:
    table = load_all(data) if n_rows is None else split(data, n_rows, 0, effort.seed)[0]
    rows: list[Row] = []
    for name, method in METHODS.items():
        half = {"n_warmup": SWEEPS // 2, "n_draws": SWEEPS // 2}
        model = sampler(name, effort, n_chains=1, **half)
        rows.append({"method": method} | fit_and_measure(model, table))
    peers = {
        "SFC": FairletClustering(N_CLUSTERS),
        "Fair assignment": FairAssignment(N_CLUSTERS),
        "Fair k-means": FairKMeans(N_CLUSTERS, n_init=5),
    }
    found = compare(table.X, table.groups, methods=peers, random_state=effort.seed, verbose=0)
    wanted = ["method", "n_clusters", "cost", "gap", "balance", "seconds", "error"]
    rows += found.runs[wanted].to_dict("records")
    return [{"data": TITLES[data], "n_rows": len(table.X)} | row for row in rows]


def draw(rows: list[Row]) -> Any:
    every_data = values_of(rows, "data")
    figure, axes = make_panels(every_data)
    for ax, data in zip(axes[0], every_data, strict=True):
        draw_lines(ax, [row for row in rows if row["data"] == data], "n_rows", "seconds", "method")
        ax.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds")
    axes[0, -1].legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def claims(rows: list[Row]) -> list[Claim]:
    failed = [row["error"] for row in rows if row.get("error")]
    ours = [row for row in rows if "gap_bound" in row]
    return [
        Claim(failed[0] if failed else "No method failed.", not failed),
        Claim(
            "FBC: no draw has a larger gap than is certain of the model, for any number of rows "
            f"(largest {max(row['largest_gap'] for row in ours):.4f}).",
            all(map(is_within_bound, ours)),
        ),
    ]


EXPERIMENT = Experiment(
    number=15,
    title="Time against the number of rows",
    place="Asked for by readers",
    about=(
        f"One chain of {SWEEPS} sweeps of each sampler, on one core, beside methods that are told "
        f"to make {N_CLUSTERS} clusters. So few sweeps say what a sweep takes, not how many are "
        "needed."
    ),
    parts=parts,
    by=("data", "n_rows", "method"),
    figures=("n_clusters", "cost", "gap", "seconds"),
    draw=draw,
    claims=claims,
)
