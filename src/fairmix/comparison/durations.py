"""How long runs take: from a few sweeps and rough rates at first, then from runs of the method."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from sklearn.base import clone

from fairmix.comparison.measure import Data
from fairmix.comparison.methods import Run

#: Sweeps that are timed, half of them in a warm-up, where they are slower.
N_TIMED = 20
#: Seconds of a run of a method that samples, as a share of those of FBC.
OF_SAMPLERS = {"FBC": 1.0, "FBC, K given": 0.65, "Plain mixture": 0.95, "Fair MFM": 0.3}
#: Seconds of a run of other methods for 1,000 rows, as measured on 2,000 rows of 20 columns.
OF_OTHERS = {
    "SFC": 0.2,
    "VFC": 3.0,
    "Fair assignment": 0.1,
    "Fair k-means": 1.5,
    "k-means": 0.1,
}


class Durations:
    """What is known of the seconds that runs take.

    Parameters
    ----------
    n_rows : int
        Rows of the table.
    sampling_seconds : float
        Seconds of a run of FBC.
    """

    def __init__(self, n_rows: int, sampling_seconds: float) -> None:
        self._guesses = {name: share * sampling_seconds for name, share in OF_SAMPLERS.items()}
        self._guesses |= {name: rate * n_rows / 1000 for name, rate in OF_OTHERS.items()}
        self._measured: dict[str, list[float]] = {}

    def note(self, method: str, seconds: float) -> None:
        """Note how long a run took.

        Parameters
        ----------
        method : str
            Name of its method.
        seconds : float
            NaN if it failed.
        """
        if not math.isnan(seconds):
            self._measured.setdefault(method, []).append(seconds)

    def expect(self, run: Run) -> float:
        """Give the seconds that a run will take.

        Parameters
        ----------
        run : Run
            The run.

        Returns
        -------
        float
            Seconds; NaN if nothing is known of its method.
        """
        measured = self._measured.get(run.method)
        if measured:
            return sum(measured) / len(measured)
        return self._guesses.get(run.method, math.nan)

    def expect_all(self, runs: Sequence[Run], n_jobs: int) -> float:
        """Give the seconds that some runs will take, as far as anything is known of them.

        Parameters
        ----------
        runs : sequence of Run
            The runs.
        n_jobs : int
            How many are made at the same time.

        Returns
        -------
        float
            Seconds.
        """
        known = [seconds for seconds in map(self.expect, runs) if not math.isnan(seconds)]
        return max(sum(known) / n_jobs, max(known, default=0.0))


def time_sampling(data: Data, estimator: Any) -> float:
    """Find out how long an estimator that samples will take, from a few sweeps of it.

    It is compiled first, if need be, so that processes need not do so side by side.

    Parameters
    ----------
    data : Data
        The data.
    estimator : estimator
        With ``n_chains``, ``n_warmup`` and ``n_draws``.

    Returns
    -------
    float
        Seconds of all its chains one after another; 0 if it fails, as it will again.
    """
    parameters = estimator.get_params()
    n_sweeps = parameters["n_warmup"] + parameters["n_draws"]
    quick = {"n_chains": 1, "n_jobs": None, "random_state": 0, "verbose": 0}
    seconds = []
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for half in (0, 0, N_TIMED // 2):
            began = time.perf_counter()
            model = clone(estimator).set_params(**quick, n_warmup=half, n_draws=half + 1)
            model.fit(data.X, sensitive_features=data.sensitive_features)
            seconds.append(time.perf_counter() - began)
        _, one, many = seconds  # the first was compiled, or loaded
        sweep = max(many - one, 0.0) / N_TIMED
        return float(parameters["n_chains"] * (one + n_sweeps * sweep))
    return 0.0
