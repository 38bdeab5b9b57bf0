"""What pictures of several experiments are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.protocol import Row, values_of, where
from fairmix.plots.palette import mark_line


def make_panels(titles: Sequence[str], n_lines: int = 1) -> tuple[Any, Any]:
    """Make a figure with a column of panels for each title."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.6 * len(titles) + 0.6, 3.1 * n_lines + 0.3), layout="constrained")
    axes = figure.subplots(n_lines, len(titles), squeeze=False)
    for ax, title in zip(axes[0], titles, strict=True):
        ax.set_title(title)
    return figure, axes


def draw_lines(ax: Any, rows: Sequence[Row], x: str, y: str, by: str) -> None:
    """Draw a figure against another, a line for each value of ``by``: means, and all points."""
    for k, name in enumerate(values_of(rows, by)):
        line = mark_line(k)
        own = [row for row in where(rows, **{by: name}) if row.get(x) is not None]
        places = sorted(values_of(own, x))
        means = []
        for place in places:
            values = [row[y] for row in where(own, **{x: place})]
            means.append(sum(values) / len(values))
        ax.plot(places, means, line.dashes, marker=line.marker, color=line.colour, label=name)
        ax.plot([row[x] for row in own], [row[y] for row in own], ".", ms=2, color=line.colour)


def draw_shares(ax: Any, shares_by_chain: Sequence[dict[str, float]]) -> None:
    """Draw the posterior of a number: bars for all chains, short lines for each."""
    places = sorted({int(number) for shares in shares_by_chain for number in shares})
    for place in places:
        heights = [shares.get(str(place), 0.0) for shares in shares_by_chain]
        ax.bar(place, sum(heights) / len(heights), 0.7, color=mark_line(0).colour)
        ax.hlines(heights, place - 0.35, place + 0.35, color="black", lw=0.8, alpha=0.6)
    ax.set(ylim=(0, 1.05), xlim=(places[0] - 1.5, places[-1] + 1.5))
    ax.xaxis.get_major_locator().set_params(integer=True)
