r"""How far a chain is, how fast it goes, and how long it will take.

The pace is that of late: with chunks of :math:`s_i` sweeps that took :math:`d_i` seconds and ended
:math:`a_i` seconds ago, it is :math:`\sum_i s_i w_i / \sum_i d_i w_i` with
:math:`w_i = \exp(-a_i / h)`. A warm-up is slower or faster than what comes after it, so a mean over
all the way would be wrong for a long time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

#: After so many seconds (the h above), a chunk counts a third of what it did.
HORIZON = 10.0


@dataclass
class Headway:
    """What is known about one chain.

    Attributes
    ----------
    number : int
        The chain.
    n_warmup : int
        Sweeps of its warm-up.
    n_sweeps : int
        Sweeps in all.
    phase : {"waiting", "start", "warm-up", "draws", "done", "stopped"}
        What it is doing; its start is found before it makes sweeps.
    n_done : int
        Sweeps made.
    n_clusters : int or None
        Clusters at the end of the last one.
    log_posterior : float
        The log posterior there, up to a constant.
    """

    number: int
    n_warmup: int
    n_sweeps: int
    phase: str = "waiting"
    n_done: int = 0
    n_clusters: int | None = None
    log_posterior: float = math.nan
    _began: float = math.nan
    _seen: float = 0.0
    _recent_sweeps: float = 0.0
    _recent_seconds: float = 0.0

    def start(self, now: float) -> None:
        """Begin to look for a start.

        Parameters
        ----------
        now : float
            The time in seconds, from any origin.
        """
        self.phase = "start"
        self._began = self._seen = now

    def sweep(self, now: float, n_done: int = 0) -> None:
        """Begin to make sweeps.

        Parameters
        ----------
        now : float
            The time, from the same origin.
        n_done : int, default=0
            Sweeps that were made before.
        """
        self._seen, self.n_done = now, n_done
        self._set_phase()

    def advance(self, now: float, n_sweeps: int, n_clusters: int, log_posterior: float) -> None:
        """Count sweeps.

        Parameters
        ----------
        now : float
            The time, from the same origin.
        n_sweeps : int
            Sweeps made since the last time.
        n_clusters : int
            Clusters now.
        log_posterior : float
            The log posterior now.
        """
        seconds = now - self._seen
        kept = math.exp(-seconds / HORIZON)
        self._recent_sweeps = kept * self._recent_sweeps + n_sweeps
        self._recent_seconds = kept * self._recent_seconds + seconds
        self._seen = now
        self.n_done += n_sweeps
        self.n_clusters, self.log_posterior = n_clusters, log_posterior
        self._set_phase()

    def end(self, now: float) -> None:
        """End, with all sweeps made or before that.

        Parameters
        ----------
        now : float
            The time, from the same origin.
        """
        self._seen = now
        self.phase = "done" if self.n_done >= self.n_sweeps else "stopped"

    @property
    def is_running(self) -> bool:
        """Whether it has begun and has not ended."""
        return self.phase in ("start", "warm-up", "draws")

    @property
    def has_ended(self) -> bool:
        """Whether it makes no more sweeps."""
        return self.phase in ("done", "stopped")

    @property
    def sweeps_per_second(self) -> float:
        """The pace of late; 0 if it is not known."""
        if self._recent_seconds <= 0.0:
            return 0.0
        return self._recent_sweeps / self._recent_seconds

    @property
    def seconds_left(self) -> float:
        """Seconds until all sweeps are made, at this pace; NaN if it is not known."""
        if self.has_ended:
            return 0.0
        pace = self.sweeps_per_second
        return (self.n_sweeps - self.n_done) / pace if pace > 0.0 else math.nan

    @property
    def seconds_taken(self) -> float:
        """Seconds from its start to the last that was heard of it; NaN if it has not begun."""
        return self._seen - self._began

    def _set_phase(self) -> None:
        self.phase = "warm-up" if self.n_done < self.n_warmup else "draws"


def seconds_left(headways: Sequence[Headway]) -> float:
    """Give the seconds until all chains have ended.

    Chains whose pace is not known are taken to go at the mean pace of the others; as many as run
    now run side by side, and no chain is faster than it is.

    Parameters
    ----------
    headways : sequence of Headway
        The chains.

    Returns
    -------
    float
        Seconds; NaN if nothing is known of any chain.
    """
    paces = [headway.sweeps_per_second for headway in headways if headway.sweeps_per_second > 0.0]
    open_headways = [headway for headway in headways if not headway.has_ended]
    if not open_headways:
        return 0.0
    if not paces:
        return math.nan
    mean_pace = sum(paces) / len(paces)
    each = [
        (headway.n_sweeps - headway.n_done) / (headway.sweeps_per_second or mean_pace)
        for headway in open_headways
    ]
    n_running = sum(headway.is_running for headway in headways)
    return max(sum(each) / max(n_running, 1), *each)
