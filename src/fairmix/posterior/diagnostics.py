"""Convergence diagnostics: rank-normalised split R-hat and bulk effective sample size.

Both follow Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021). Values are split into
half chains and replaced by normal scores of their ranks, so that heavy tails and
discrete values do no harm.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

FloatArray = NDArray[np.float64]

#: Relative differences below this are rounding errors; ranks must not see them.
ROUNDING = 1e-10


def r_hat(values: Any) -> float:
    """Rank-normalised split R-hat of a scalar: near 1 when chains tell the same story.

    Parameters
    ----------
    values : array-like of shape (n_chains, n_draws)
        The draws.

    Returns
    -------
    float
        The larger of R-hat for location and for spread. It is 1 if all values are equal,
        infinite if chains are stuck at different values, and NaN with fewer than 4 draws.
    """
    halves = _split(values)
    if halves is None:
        return float("nan")
    spread = np.abs(halves - np.median(halves))
    return max(_plain_r_hat(_normal_scores(halves)), _plain_r_hat(_normal_scores(spread)))


def bulk_ess(values: Any) -> float:
    """Bulk effective sample size of a scalar.

    Parameters
    ----------
    values : array-like of shape (n_chains, n_draws)
        The draws.

    Returns
    -------
    float
        How many independent draws they are worth for a mean; the number of draws if all
        values are equal, and NaN with fewer than 4 draws.
    """
    halves = _split(values)
    if halves is None:
        return float("nan")
    n_total = halves.size
    scores = _normal_scores(halves)
    n_draws = scores.shape[1]
    within = scores.var(axis=1, ddof=1).mean()
    total = within * (n_draws - 1) / n_draws + scores.mean(axis=1).var(ddof=1)
    if total == 0:
        return float(n_total)
    autocovariance = np.stack([_autocovariance(chain) for chain in scores]).mean(axis=0)
    rho = 1 - (within - autocovariance) / total
    rho[0] = 1.0
    # Geyer: sums of neighbouring pairs are positive and decrease; stop when they do not.
    pairs = rho[: n_draws // 2 * 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs < 0)
    pairs = np.minimum.accumulate(pairs[: negative[0] if negative.size else len(pairs)])
    tau = max(-1 + 2 * pairs.sum(), 1 / np.log10(n_total))
    return float(min(n_total / tau, n_total * np.log10(n_total)))


def _split(values: Any) -> FloatArray | None:
    """Split every chain into two halves; values that differ by rounding errors become equal."""
    values = np.atleast_2d(np.asarray(values, dtype=float))
    half = values.shape[1] // 2
    if half < 2:
        return None
    grain = np.max(np.abs(values)) * ROUNDING
    if grain > 0:
        values = np.round(values / grain)
    return np.concatenate([values[:, :half], values[:, -half:]])


def _normal_scores(values: FloatArray) -> FloatArray:
    ranks = rankdata(values).reshape(values.shape)
    return np.asarray(ndtri((ranks - 0.375) / (values.size + 0.25)))


def _plain_r_hat(values: FloatArray) -> float:
    n_draws = values.shape[1]
    within = values.var(axis=1, ddof=1).mean()
    between = n_draws * values.mean(axis=1).var(ddof=1)
    if within < 1e-15:
        return 1.0 if between < 1e-15 else float("inf")
    return float(np.sqrt((between / within + n_draws - 1) / n_draws))


def _autocovariance(values: FloatArray) -> FloatArray:
    n = len(values)
    spectrum = np.fft.rfft(values - values.mean(), 2 * n)
    return np.asarray(np.fft.irfft(np.abs(spectrum) ** 2)[:n] / n)
