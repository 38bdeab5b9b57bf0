"""Colours and marks that stay apart in grey, for colour-blind people, and in large numbers."""

from __future__ import annotations

import math
from typing import NamedTuple

#: Okabe and Ito's colours without yellow and black, and Tol's indigo, which all people can tell
#: apart; neighbours differ in brightness.
COLOURS = (
    "#0072B2",
    "#E69F00",
    "#332288",
    "#56B4E9",
    "#D55E00",
    "#CC79A7",
    "#009E73",
    "#999999",
)
#: Lines have no black rims, so they may be black.
LINE_COLOURS = (*COLOURS, "#000000")
MARKERS = ("o", "D", "^", "s", "v", "P", "X", "*", "<", "p", "h", ">")
DASHES = ("-", "--", "-.", ":")
#: Share of the colour in the face of a pale mark; the rest is white.
PALE = 0.3


class Mark(NamedTuple):
    """How the rows of a cluster are drawn."""

    face: str
    edge: str


class Line(NamedTuple):
    """How a line and its points are drawn."""

    colour: str
    marker: str
    dashes: str


def mark_cluster(cluster: int) -> Mark:
    """Give a cluster's mark: filled, then hollow, then with a black rim, then pale with one.

    Each of these lasts for as many clusters as there are colours, so the first 32 marks differ.
    """
    colour = COLOURS[cluster % len(COLOURS)]
    marks = (
        Mark(colour, "white"),
        Mark("white", colour),
        Mark(colour, "black"),
        Mark(_lighten(colour), "black"),
    )
    return marks[cluster // len(COLOURS) % len(marks)]


def mark_line(line: int) -> Line:
    """Give a line's mark.

    The first nine differ in their colours alone, the first twelve in their markers alone, so also
    in grey, and the first 144 in something.
    """
    turn = line // math.lcm(len(LINE_COLOURS), len(MARKERS))  # colours and markers repeat together
    return Line(
        LINE_COLOURS[line % len(LINE_COLOURS)],
        MARKERS[line % len(MARKERS)],
        DASHES[(line + turn) % len(DASHES)],
    )


def _lighten(colour: str) -> str:
    """Mix a colour with white."""
    parts = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(255 - PALE * (255 - part)):02X}" for part in parts)
