"""Numbers of clusters at their centres, moved apart where they would overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairmix.plots.palette import mark_cluster

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FloatArray = NDArray[np.float64]

#: Size of the letters in points, if there are few and if there are many numbers.
LARGE_LETTERS, SMALL_LETTERS, MANY = 10.0, 7.5, 12
#: Rounds of pushing numbers apart.
MAX_ROUNDS = 500


def draw_numbers(ax: Axes, centres: Any) -> None:
    """Draw the number of each cluster at its centre, or near it with a line to it."""
    figure: Any = ax.figure.figure  # the whole figure, even from within a subfigure
    figure.draw_without_rendering()  # the layout settles where things are
    letters = LARGE_LETTERS if len(centres) <= MANY else SMALL_LETTERS
    n_digits = len(str(len(centres) - 1))
    box = np.array([0.65 * n_digits + 0.7, 1.7]) * letters  # in points, like all that follows
    points_per_pixel = 72.0 / figure.dpi
    at = ax.transData.transform(np.asarray(centres)) * points_per_pixel
    frame = ax.get_window_extent().get_points() * points_per_pixel
    moves = push_apart(at, box, frame[0] + box / 2, frame[1] - box / 2) - at
    for k, (centre, move) in enumerate(zip(centres, moves, strict=True)):
        mark = mark_cluster(k)
        colour = mark.edge if mark.edge not in ("white", "black") else mark.face
        is_far = bool((np.abs(move) > box / 2).any())
        ax.annotate(
            str(k),
            centre,
            move,
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=letters,
            weight="bold",
            bbox={"boxstyle": "round,pad=0.2", "fc": "white", "ec": colour, "alpha": 0.85},
            arrowprops={"arrowstyle": "-", "lw": 0.8, "shrinkB": 0} if is_far else None,
            zorder=5,
        )


def push_apart(
    centres: FloatArray, box: FloatArray, lowest: FloatArray, highest: FloatArray
) -> FloatArray:
    """Move boxes of one size apart until none overlaps another, each no farther than need be.

    Parameters
    ----------
    centres : ndarray of shape (n_boxes, 2)
        Where the boxes would like to be.
    box : ndarray of shape (2,)
        Width and height of a box.
    lowest, highest : ndarray of shape (2,)
        Corners of the frame that the centres of boxes should not leave.

    Returns
    -------
    ndarray of shape (n_boxes, 2)
        Where they are.
    """
    # Boxes at the same place need a direction: the golden angle gives each its own.
    angles = 2.399963 * np.arange(len(centres))
    places = centres + 1e-3 * np.column_stack([np.cos(angles), np.sin(angles)])
    for _ in range(MAX_ROUNDS):
        apart = places[:, None] - places[None]
        overlap = box - np.abs(apart)
        touch = (overlap > 1e-6).all(axis=2) & ~np.eye(len(places), dtype=bool)
        n_touching = touch.sum(axis=1, keepdims=True)
        if not n_touching.any():
            break
        # Along the axis on which they are nearer to parting, each of a pair going half the way;
        # in a crowd, the mean of all these.
        across = np.arange(2) == np.argmin(overlap / box, axis=2)[..., None]
        push = np.where(across & touch[..., None], np.sign(apart) * overlap / 2, 0.0)
        places = places + push.sum(axis=1) / np.maximum(n_touching, 1)
        places = np.clip(places, lowest, highest)
    return places
