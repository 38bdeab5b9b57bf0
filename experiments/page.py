"""The page: all results in one HTML file that asks nobody for anything and runs no script."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.protocol import Experiment, Row, values_of
from fairmix.files import write_whole

if TYPE_CHECKING:
    from experiments.running import Results

#: What the columns of tables are called.
HEADS = {
    "data": "data",
    "n_clusters": "K",
    "cost": "Cost",
    "gap": "Δ",
    "balance": "Bal",
    "told": "is told",
    "n_masked": "m",
    "max_gap": "cap on Δ",
    "mean_gap": "mean Δ of draws",
    "largest_gap": "largest Δ",
    "mean_balance": "mean Bal of draws",
    "mean_n_clusters": "mean t of draws",
    "r_hat_log_posterior": "R-hat log posterior",
    "r_hat_n_clusters": "R-hat t",
}
#: The column that tells the paper's figures from ours.
SOURCE = "whose"


def write_page(results: Sequence[Results], path: Path) -> None:
    """Write the page of some results."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    pages = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    items = [describe(each) for each in results]
    text = pages.get_template("page.html").render(items=items)
    write_whole(path, text.encode())


def describe(results: Results) -> Row:
    """Give what the page shows of one experiment."""
    plain, experiment = results.to_plain(), results.experiment
    picture = results.picture.read_bytes() if results.rows else b""
    made = [part for part in results.made if not part["is_left_out"]]
    left_out: dict[str, list[str]] = {}
    for part in results.made:
        if part["is_left_out"]:
            left_out.setdefault(part["error"], []).append(part["name"])
    return {
        "name": results.name,
        "experiment": experiment,
        "form": plain["form"],
        "seed": plain["effort"]["seed"],
        "claims": plain["claims"],
        "findings": plain["findings"],
        "failed": [part for part in made if part["error"]],
        "left_out": left_out,
        "picture": base64.b64encode(picture).decode(),
        "heads": [HEADS.get(name, name.replace("_", " ")) for name in columns_of(experiment)],
        "lines": tabulate(experiment, results.rows),
        "minutes": sum(part["seconds"] for part in made) / 60,
        "cpu_minutes": sum(part["cpu_seconds"] for part in made) / 60,
        "dates": sorted({part["date"] for part in made}),
        "sources": sorted({part["source"] for part in made}),
        "machines": sorted({", ".join(map(" ".join, part["machine"].items())) for part in made}),
    }


def columns_of(experiment: Experiment) -> list[str]:
    """Give the columns of a table."""
    return [SOURCE, *experiment.by, *experiment.figures]


def tabulate(experiment: Experiment, rows: Sequence[Row]) -> list[list[str]]:
    """Give a table's cells: of each dataset the paper's lines, then ours, means with spreads."""
    names = experiment.by + experiment.figures
    alike: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        alike.setdefault(tuple(row.get(name) for name in experiment.by), []).append(row)
    entries = [("the paper's", [row]) for row in experiment.paper]
    entries += [
        (f"ours, mean of {len(own)}" if len(own) > 1 else "ours", own) for own in alike.values()
    ]
    order = values_of(rows, "data")
    entries.sort(key=lambda entry: _place(entry[1][0].get("data"), order))
    return [
        [whose, *(show([row.get(name) for row in own]) for name in names)] for whose, own in entries
    ]


def _place(data: Any, order: list[Any]) -> int:
    """Give the place of a dataset; one that was left out comes last."""
    return order.index(data) if data in order else len(order)


def show(values: Sequence[Any]) -> str:
    """Give a cell: a text, or a mean with its standard deviation."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    if not all(isinstance(value, (int, float)) for value in known):
        return ", ".join(dict.fromkeys(map(str, known)))
    mean = sum(known) / len(known)
    spread = math.sqrt(sum((value - mean) ** 2 for value in known) / len(known))
    text = digits(mean)
    return f"{text} ± {digits(spread)}" if spread > 0 else text


def digits(value: float) -> str:
    """Give a number with as many digits as say something."""
    if value == int(value):
        return f"{int(value):,}"
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    if size >= 10:
        return f"{value:.2f}"
    if size >= 0.1:
        return f"{value:.3f}"
    return f"{value:.4f}" if size >= 0.001 else f"{value:.2g}"
