r"""Do chains tell the same story: traces, ranks and autocorrelation of a scalar.

*Ranks*: all draws together are ranked; if chains follow one law, each has as many draws in every
range of ranks, up to chance (Vehtari et al. 2021). The band holds 99 of 100 bars of independent
draws; bars of draws that depend on each other scatter more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, rankdata

from fairmix.plots.palette import COLOURS, mark_line
from fairmix.plots.panels import some_panels
from fairmix.posterior import Posterior
from fairmix.posterior.diagnostics import bulk_ess, r_hat
from fairmix.posterior.posterior import SCALARS
from fairmix.tables.checks import check_choice

#: Ranks are counted in so many ranges, or fewer: so many draws of a chain in each at least.
N_RANGES, LEAST_DRAWS = 20, 5
#: The autocorrelation is shown for so many lags at most.
MAX_LAG = 50
#: Traces have at most so many points a chain; more would be a block of colour.
MAX_POINTS = 2000
#: Share of bars that the band of ranks holds.
BAND = 0.99


def plot_chains(
    posterior: Posterior, scalar: str = "log_posterior", *, ax: Any = None
) -> NDArray[np.object_]:
    """Show whether chains tell the same story, in three panels.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    scalar : str, default="log_posterior"
        What to look at: "log_posterior", "n_clusters", "fairness_gap", ... (any scalar of the
        summary).
    ax : sequence of three matplotlib.axes.Axes, optional
        Where to draw. By default a new figure is made through pyplot, which notebooks show.

    Returns
    -------
    ndarray of three matplotlib.axes.Axes
        Traces, ranks and autocorrelation, a colour and a marker a chain.
    """
    check_choice("scalar", scalar, SCALARS)
    panels = some_panels(ax, 3, 13.0, 3.8)
    values = np.asarray(getattr(posterior, scalar), dtype=float)
    name = scalar.replace("_", " ")
    _draw_traces(panels[0], values, name)
    _draw_ranks(panels[1], values)
    _draw_autocorrelation(panels[2], values)
    if ax is None:
        panels[0].figure.suptitle(
            f"{name}: R-hat {r_hat(values):.3f}, effective sample size {bulk_ess(values):,.0f}"
        )
    return panels


def _draw_traces(ax: Any, values: NDArray[np.float64], name: str) -> None:
    step = -(-values.shape[1] // MAX_POINTS)
    for chain, trace in enumerate(values):
        shown = np.arange(0, len(trace), step)
        colour, *_ = mark_line(chain)
        ax.plot(shown, trace[shown], color=colour, lw=0.6, alpha=0.8)
    ax.set(xlabel="draw", ylabel=name, title="Traces: like one band?")


def _draw_ranks(ax: Any, values: NDArray[np.float64]) -> None:
    n_chains, n_draws = values.shape
    n_ranges = max(min(N_RANGES, n_draws // LEAST_DRAWS), 1)
    # Ties are broken at random, but always in the same way.
    noise = np.random.default_rng(0).random(values.size)
    order = np.lexsort((noise, values.ravel()))
    ranks = np.empty(values.size)
    ranks[order] = np.arange(values.size)
    ranges = (ranks * n_ranges / values.size).astype(int).reshape(values.shape)
    expected = n_draws / n_ranges
    low, high = binom.interval(BAND, n_draws, 1.0 / n_ranges)
    ax.axhspan(low / expected, high / expected, color="0.9", zorder=0)
    ax.axhline(1.0, color="0.5", lw=0.8, zorder=1)
    for chain in range(n_chains):
        counts = np.bincount(ranges[chain], minlength=n_ranges) / expected
        colour, marker, _ = mark_line(chain)
        middle = (np.arange(n_ranges) + 0.5) / n_ranges
        ax.plot(middle, counts, color=colour, marker=marker, ms=4, lw=1, label=f"chain {chain}")
    ax.set(xlabel="rank among all draws", ylabel="draws, relative to an even share", xlim=(0, 1))
    ax.set_ylim(bottom=0)
    ax.set_title("Ranks: level?")
    if n_chains <= len(COLOURS):
        ax.legend(fontsize="small", frameon=False)


def _draw_autocorrelation(ax: Any, values: NDArray[np.float64]) -> None:
    n_draws = values.shape[1]
    lags = np.arange(min(MAX_LAG, n_draws - 1) + 1)
    for chain, trace in enumerate(values):
        centred = rankdata(trace) - (n_draws + 1) / 2
        spread = float(np.sum(centred**2))
        shares = [np.sum(centred[lag:] * centred[: n_draws - lag]) for lag in lags]
        colour, *_ = mark_line(chain)
        if spread > 0:
            ax.plot(lags, np.array(shares) / spread, color=colour, lw=1.2)
    ax.axhline(0.0, color="0.5", lw=0.8)
    ax.set(xlabel="draws apart", ylabel="correlation of ranks", ylim=(-0.3, 1.02))
    ax.set_title("Autocorrelation: soon at 0?")
