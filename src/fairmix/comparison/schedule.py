"""Runs made side by side in processes, as many as there is time for, and what is told of them."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs

from fairmix.comparison.durations import Durations
from fairmix.comparison.measure import Data, make_run
from fairmix.comparison.methods import Run
from fairmix.sampler.audience import find_audience, say
from fairmix.sampler.display import LONG, format_seconds


class Schedule:
    """Makes runs until the time is up.

    A run is begun if it is expected to end in time, and then it is not stopped.

    Parameters
    ----------
    data : Data
        The data.
    durations : Durations
        What is known of how long runs take.
    began : float
        When the time began, by ``time.perf_counter``.
    time_limit : float
        Seconds from then on; may be infinite.
    n_jobs : int or None
        Number of processes.
    verbose : int or "auto"
        Whether anything is told.
    """

    def __init__(
        self,
        data: Data,
        durations: Durations,
        *,
        began: float,
        time_limit: float,
        n_jobs: int | None,
        verbose: int | str,
    ) -> None:
        self._data = data
        self._durations = durations
        self._began = began
        self._time_limit = time_limit
        self._n_jobs = n_jobs
        self._verbose = verbose
        self._n_planned = 0
        self._n_made = 0

    def announce(self, runs: Sequence[Run]) -> None:
        """Say what will be run, and about how long that takes.

        Parameters
        ----------
        runs : sequence of Run
            All runs.
        """
        n_jobs = effective_n_jobs(self._n_jobs)
        seconds = self._durations.expect_all(runs, n_jobs)
        self._n_planned = len(runs)
        if isinstance(self._verbose, str):
            self._verbose = int(find_audience() != "none" and seconds > LONG)
        by_method: dict[str, list[Run]] = {}
        for run in runs:
            by_method.setdefault(run.method, []).append(run)
        is_limited = not math.isinf(self._time_limit)
        limit = f", at most {format_seconds(self._time_limit)}" if is_limited else ""
        self.tell(
            f"{_count(len(runs), 'run')} of {_count(len(by_method), 'method')}, about "
            f"{format_seconds(seconds)} with {_count(n_jobs, 'job')}{limit}:"
        )
        for method, some in by_method.items():
            each = self._durations.expect(some[0])
            known = "nobody knows how long" if math.isnan(each) else f"about {_format(each)} each"
            self.tell(f"  {method}: {_count(len(some), 'run')}, {known}")

    def tell(self, text: str) -> None:
        """Write a line for the user, if that is wanted.

        Parameters
        ----------
        text : str
            The line.
        """
        if self._verbose:
            say(text)

    def make(self, runs: Sequence[Run]) -> list[dict[str, Any]]:
        """Make runs, those of a low rank first.

        Parameters
        ----------
        runs : sequence of Run
            The runs.

        Returns
        -------
        list of dict
            A row for each, in any order; those that there was no time for are marked.
        """
        left_out: list[Run] = []
        rows = []
        making = Parallel(
            self._n_jobs, batch_size=1, pre_dispatch="n_jobs", return_as="generator_unordered"
        )
        for row in making(
            delayed(make_run)(self._data, run) for run in self._affordable(runs, left_out)
        ):
            rows.append(row)
            self._durations.note(row["method"], row["seconds"])
            self._n_made += 1
            ended = (
                row["error"].partition("\n")[0] or f"gap {row['gap']:.4f}, cost {row['cost']:.4g}"
            )
            self._tell_of(f"run {self._n_made} of {self._n_planned}", row, ended)
        return rows + [self.leave_out(run) for run in left_out]

    def leave_out(self, run: Run) -> dict[str, Any]:
        """Give the row of a run that there is no time for.

        Parameters
        ----------
        run : Run
            The run.

        Returns
        -------
        dict
            The row.
        """
        row = self._data.empty_row(run) | {"left_out": True}
        seconds = self._durations.expect(run)
        needed = "" if math.isnan(seconds) else f" (about {_format(seconds)})"
        self._tell_of("left out", row, f"no time for it{needed}")
        return row

    def _tell_of(self, what: str, row: dict[str, Any], how: str) -> None:
        name = ", ".join(filter(None, (row["method"], row["setting"], f"seed {row['seed']}")))
        self.tell(f"{what}, {format_seconds(self._elapsed)}: {name}: {how}")

    def _affordable(self, runs: Sequence[Run], left_out: list[Run]) -> Iterator[Run]:
        """Give runs as processes ask for them, and note those that would not end in time."""
        for run in sorted(runs, key=lambda run: run.rank):
            seconds = self._durations.expect(run)
            expected = 0.0 if math.isnan(seconds) else seconds
            if self._elapsed + expected <= self._time_limit:
                yield run
            else:
                left_out.append(run)

    @property
    def _elapsed(self) -> float:
        """Seconds since the time began."""
        return time.perf_counter() - self._began


def _format(seconds: float) -> str:
    return f"{seconds:.1g} s" if seconds < 1 else format_seconds(seconds)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
