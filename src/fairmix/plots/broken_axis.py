r"""An axis with a break: one bad method must not press all the others into a line.

Sorted values :math:`v_1 \le \dots \le v_n` are cut between :math:`v_i` and :math:`v_{i+1}` at the
widest gap among those with at least half of the values beneath, if it is wider than
all that lies beneath, :math:`v_{i+1} - v_i > v_i - v_1`. Beneath the break the axis is as it would
be without the values above, which share what is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FloatArray = NDArray[np.float64]

#: Share of the axis up to the break, and up to its other side.
BELOW, ABOVE = 0.78, 0.83
#: Free room next to the outermost values, as a share of the range beneath the break.
MARGIN = 0.06


def find_break(values: Any) -> tuple[float, float] | None:
    """Find where an axis should be broken.

    Parameters
    ----------
    values : array-like
        What is shown on it.

    Returns
    -------
    tuple of float or None
        The values on both sides of the break; None if none is needed.
    """
    each = np.unique(np.asarray(values, dtype=np.float64))
    counts = np.searchsorted(np.sort(np.ravel(values)), each, side="right")
    gaps = np.where(counts[:-1] * 2 >= np.size(values), np.diff(each), 0.0)
    if len(gaps) < 2:
        return None
    place = int(np.argmax(gaps))
    below = each[place] - each[0]
    if below == 0.0 or gaps[place] <= below:
        return None
    return float(each[place]), float(each[place + 1])


def break_y_axis(ax: Axes, values: Any) -> bool:
    """Break the y axis where a few values are far above the others.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        The picture.
    values : array-like
        All that is shown on the axis.

    Returns
    -------
    bool
        Whether there is a break now.
    """
    found = find_break(values)
    if found is None:
        return False
    from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

    (last, first), least, most = found, float(np.min(values)), float(np.max(values))
    margin = MARGIN * (last - least)
    upper = max(MARGIN * (most - first), margin)
    knots = np.array([least - margin, last + margin, first - upper, most + upper])
    if knots[2] <= knots[1]:  # the margins meet
        knots[1:3] = last + (first - last) * np.array([0.4, 0.6])
    heights = np.array([0.0, BELOW, ABOVE, 1.0])

    def forward(y: FloatArray) -> FloatArray:
        return _interpolate(y, knots, heights)

    def inverse(height: FloatArray) -> FloatArray:
        return _interpolate(height, heights, knots)

    ax.set_yscale("function", functions=(forward, inverse))
    ax.set_ylim(knots[0], knots[3])
    low = MaxNLocator(7).tick_values(knots[0], knots[1])
    high = MaxNLocator(2).tick_values(knots[2], knots[3]) if most > first else np.array([first])
    ticks = [
        *low[(low >= knots[0]) & (low <= knots[1])],
        *high[(high >= knots[2]) & (high <= knots[3])],
    ]
    ax.yaxis.set_major_locator(FixedLocator(ticks))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.axhspan(knots[1], knots[2], color="0.9", zorder=0, lw=0)
    for height in (BELOW, ABOVE):  # a stroke across the axis on both sides
        ax.plot(
            [-0.012, 0.012],
            [height - 0.012, height + 0.012],
            transform=ax.transAxes,
            color="black",
            lw=1.0,
            clip_on=False,
        )
    return True


def _interpolate(values: Any, knots: FloatArray, images: FloatArray) -> FloatArray:
    """Give a piecewise linear map, whose outermost pieces go on for ever."""
    values = np.asarray(values, dtype=np.float64)
    piece = np.clip(np.searchsorted(knots, values) - 1, 0, len(knots) - 2)
    slopes = np.diff(images) / np.diff(knots)
    return np.asarray(images[piece] + slopes[piece] * (values - knots[piece]))
