"""Compare a chain's draws with an exact law, with tolerances from Monte Carlo error."""

import os
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from scipy import stats

#: Probability that one statistical comparison fails although the code is right.
FALSE_ALARM = 1e-5
N_BATCHES = 50
#: `make test` makes this share of the draws, `make test-all` makes all.
SHARE_OF_DRAWS = float(os.environ.get("SHARE_OF_DRAWS", "0.5"))
#: States that are expected less often than this are compared as one.
MIN_EXPECTED = 25


def share_of(n_draws: int) -> int:
    """Give how many draws a test makes that makes so many in ``make test-all``."""
    return int(SHARE_OF_DRAWS * n_draws)


def standard_error(values: np.ndarray) -> np.ndarray:
    """Give the standard error of the mean of autocorrelated values, by batch means."""
    n_kept = len(values) // N_BATCHES * N_BATCHES
    batches = values[:n_kept].reshape(N_BATCHES, -1, *values.shape[1:]).mean(axis=1)
    return batches.std(axis=0, ddof=1) / np.sqrt(N_BATCHES)


def assert_mean(values: np.ndarray, expected: np.ndarray, floor: np.ndarray | float = 0.0) -> None:
    """Assert that means agree with exact values; ``floor`` is the least standard error."""
    values, expected = np.asarray(values, dtype=float), np.asarray(expected, dtype=float)
    error = np.maximum(standard_error(values), floor)
    n_comparisons = max(expected.size, 1)
    bound = stats.t.isf(FALSE_ALARM / n_comparisons / 2, N_BATCHES - 1)
    deviation = np.abs(values.mean(axis=0) - expected)
    worst = np.max(deviation / np.maximum(error, 1e-300))
    assert np.all(deviation <= bound * error + 1e-12), (
        f"off by {worst:.1f} standard errors (bound {bound:.1f}): "
        f"{values.mean(axis=0)} against {expected}"
    )


def assert_law(draws: Sequence[Hashable], law: Mapping[Hashable, float]) -> None:
    """Assert that draws follow a discrete law and never leave its support."""
    total = sum(law.values())
    strangers = {draw for draw in draws if draw not in law}
    assert not strangers, f"outside the support: {list(strangers)[:3]}"
    common = [state for state, p in law.items() if p / total * len(draws) >= MIN_EXPECTED]
    code = {state: k for k, state in enumerate(common)}
    codes = np.array([code.get(draw, len(common)) for draw in draws])
    probabilities = np.array([law[state] / total for state in common])
    probabilities = np.append(probabilities, max(1.0 - probabilities.sum(), 0.0))
    indicators = codes[:, None] == np.arange(len(probabilities))
    floor = np.sqrt(probabilities * (1 - probabilities) / len(codes))
    assert_mean(indicators, probabilities, floor)
