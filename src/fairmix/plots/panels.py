"""New figures through pyplot, so that notebooks show them, or the caller's own Axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def one_panel(ax: Any, width: float, height: float) -> Any:
    """Give the caller's Axes, or those of a new figure.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        What the caller gave.
    width, height : float
        Size of a new figure in inches.

    Returns
    -------
    matplotlib.axes.Axes
        Where to draw.
    """
    if ax is None:
        return some_panels(None, 1, width, height)[0]
    _check(ax, [ax], 1)
    return ax


def some_panels(
    ax: Any, n_panels: int, width: float, height: float, **options: Any
) -> NDArray[np.object_]:
    """Give the caller's Axes, or those of a new figure, side by side.

    Parameters
    ----------
    ax : sequence of matplotlib.axes.Axes or None
        What the caller gave.
    n_panels : int
        How many are needed.
    width, height : float
        Size of a new figure in inches.
    **options
        As for ``plt.subplots``.

    Returns
    -------
    ndarray of matplotlib.axes.Axes
        Where to draw.
    """
    if ax is None:
        options |= {"figsize": (width, height), "layout": "constrained"}
        _, panels = _import_pyplot().subplots(1, n_panels, squeeze=False, **options)
        return np.ravel(panels)
    panels = np.ravel(np.array(ax, dtype=object))
    _check(ax, panels, n_panels)
    return panels


def _import_pyplot() -> Any:
    """Import what makes figures, which is an extra: labels and tables do without."""
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as error:
        raise ImportError(
            'Pictures need matplotlib, which is not installed; pip install "fairmix[report]".'
        ) from error
    return plt


def _check(given: Any, panels: Any, n_panels: int) -> None:
    """Refuse what is not so many Axes."""
    from matplotlib.axes import Axes

    if len(panels) != n_panels or not all(isinstance(panel, Axes) for panel in panels):
        wanted = "an Axes" if n_panels == 1 else f"{n_panels} Axes"
        raise TypeError(
            f"ax must be None or {wanted}, got {given!r}; make "
            f"{'it' if n_panels == 1 else 'them'} by plt.subplots(1, {n_panels}, "
            'layout="constrained").'
        )
