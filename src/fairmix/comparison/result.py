"""What a comparison found: all runs, their means, and a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from fairmix.tables.as_html import show_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Comparison:
    """What :func:`compare` found.

    Attributes
    ----------
    runs : pandas.DataFrame
        A row for each method, setting and seed: ``method``, ``setting``, ``seed``, ``n_clusters``,
        ``cost``, ``gap``, ``balance``, for several sensitive columns ``gap of NAME`` for each,
        ``silhouette``, ``seconds``, ``memory`` (MB that the process held at most during the fit;
        on Linux only), ``warning`` and ``error`` (empty if there was none), ``left_out`` (whether
        the time limit left no room for it).
    """

    runs: pd.DataFrame

    def summary(self) -> pd.DataFrame:
        """Give means over seeds, a row for each method and setting.

        Returns
        -------
        pandas.DataFrame
            Means of the runs that did not fail, and the numbers of runs, of those that failed, and
            of those that were left out.
        """
        by_setting = self.runs.groupby(["method", "setting"], sort=False)
        figures = self.runs.select_dtypes("number").columns.drop("seed")
        table = by_setting[list(figures)].mean()
        table["runs"] = by_setting["left_out"].agg(lambda left_out: int((~left_out).sum()))
        table["failures"] = by_setting["error"].agg(lambda errors: int((errors != "").sum()))
        table["left_out"] = by_setting["left_out"].agg("sum").astype(int)
        return table

    def _repr_html_(self) -> str:
        """Give what a notebook shows."""
        return show_table(self.summary().reset_index(), "Comparison: means over seeds")

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw cost against the fairness gap, one line for each method as its setting changes.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw. By default a new figure is made through pyplot.

        Returns
        -------
        matplotlib.axes.Axes
            The picture; save it with ``ax.figure.savefig("trade_off.png")``.
        """
        from fairmix.plots import plot_trade_off

        return plot_trade_off(self.runs, ax=ax)
