"""Small pictures as SVG text: they take their colours from the page, so they follow light and dark.

A picture has a title for those who cannot see it; bars inside a cell of a table have none, since
their figure stands beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

#: Width and height of a histogram, without its axis, in units of its own.
WIDTH, HEIGHT, AXIS = 240.0, 52.0, 14.0
#: Height of a bar of a few rows, whose number is not told.
STUB = 1.5


def draw_histogram(
    edges: Sequence[float],
    overall: Sequence[int | None],
    own: Sequence[int | None] | None,
    ends: tuple[str, str],
    title: str,
) -> str:
    """Draw the rows of a cluster before all rows, both as shares.

    Parameters
    ----------
    edges : sequence of float
        Edges of the bins.
    overall, own : sequence of int or None
        Rows in each bin, of all and of the cluster; None stands for a few. ``own`` may be None.
    ends : tuple of str
        What is written below the first and the last bin.
    title : str
        What the picture shows, in words.

    Returns
    -------
    str
        An ``svg`` element.
    """
    shares = [_shares_of(overall)]
    if own is not None:
        shares.append(_shares_of(own))
    most = max(max(each) for each in shares) or 1.0
    n_bins = len(edges) - 1
    step = WIDTH / n_bins
    parts = []
    for each, css, inset in zip(shares, ("all", "own"), (0.04, 0.2), strict=False):
        path = []
        for k, share in enumerate(each):
            if share == 0.0:
                continue
            height = max(HEIGHT * share / most, STUB)
            path.append(
                f"M{step * (k + inset):.1f} {HEIGHT:.1f}v{-height:.1f}h{step * (1 - 2 * inset):.1f}"
                f"v{height:.1f}z"
            )
        parts.append(f'<path class="{css}" d="{"".join(path)}"/>')
    parts.append(f'<path class="axis" d="M0 {HEIGHT:.1f}h{WIDTH:.1f}"/>')
    below = HEIGHT + AXIS - 3
    parts.append(f'<text x="0" y="{below:.1f}">{escape(ends[0])}</text>')
    parts.append(f'<text x="{WIDTH:.1f}" y="{below:.1f}" class="end">{escape(ends[1])}</text>')
    return _picture(WIDTH, HEIGHT + AXIS, parts, title, "histogram")


def draw_columns(shares: Sequence[float], names: Sequence[str], marked: int, title: str) -> str:
    """Draw a column for each of a few shares, with its name below and its share above.

    Parameters
    ----------
    shares : sequence of float
        Shares.
    names : sequence of str
        Short names.
    marked : int
        The place of the column that stands out, -1 for none.
    title : str
        What the picture shows, in words.

    Returns
    -------
    str
        An ``svg`` element.
    """
    step, height = 44.0, 90.0
    most = max(shares)
    parts = []
    for k, (share, name) in enumerate(zip(shares, names, strict=True)):
        tall = max(height * share / most, STUB)
        middle = step * (k + 0.5)
        css = "own" if k == marked else "all"
        parts.append(
            f'<rect class="{css}" x="{step * k + 5:.1f}" y="{14 + height - tall:.1f}" '
            f'width="{step - 10:.1f}" height="{tall:.1f}" rx="2"/>'
            f'<text x="{middle:.1f}" y="{10 + height - tall:.1f}" class="middle">'
            f"{_short_percent(share)}</text>"
            f'<text x="{middle:.1f}" y="{height + 28:.1f}" class="middle name">'
            f"{escape(name)}</text>"
        )
    width = step * len(shares)
    parts.append(f'<path class="axis" d="M0 {14 + height:.1f}h{width:.1f}"/>')
    return _picture(width, height + 34, parts, title, "columns", fixed=True)


def draw_share(share: float, most: float, css: str, mark: float | None = None) -> str:
    """Draw a bar beside a figure, with a mark where all rows are, if that is known.

    Parameters
    ----------
    share : float
        The length.
    most : float
        The length of a full bar.
    css : str
        The class that gives the bar its colour.
    mark : float, optional
        Where the mark is.

    Returns
    -------
    str
        An ``svg`` element, hidden from screen readers.
    """
    length = 100.0 * min(share / most, 1.0) if most > 0 else 0.0
    parts = [f'<rect class="{css}" width="{length:.1f}" height="8" rx="1"/>']
    if mark is not None:
        place = 100.0 * min(mark / most, 1.0) if most > 0 else 0.0
        parts.append(f'<path class="mark" d="M{min(max(place, 0.8), 99.2):.1f} -1v10"/>')
    return (
        '<svg class="bar" viewBox="0 -1 100 10" preserveAspectRatio="none" aria-hidden="true" '
        f'focusable="false">{"".join(parts)}</svg>'
    )


def _shares_of(counts: Sequence[int | None]) -> list[float]:
    """Give shares of all rows that are told of; a few rows are a sliver."""
    total = sum(each or 0 for each in counts) or 1
    return [1e-6 if each is None else each / total for each in counts]


def _short_percent(share: float) -> str:
    return "<1 %" if 0.0 < share < 0.01 else f"{100 * share:.0f} %"


def _picture(
    width: float, height: float, parts: Sequence[str], title: str, css: str, *, fixed: bool = False
) -> str:
    size = f' width="{width:.0f}" height="{height:.0f}"' if fixed else ""
    return (
        f'<svg class="{css}" viewBox="0 0 {width:.0f} {height:.0f}"{size} role="img">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )
