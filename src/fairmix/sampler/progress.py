"""How far the chains are, told to the user, and whether they should stop, told to the chains."""

from __future__ import annotations

import copy
import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from fairmix.sampler.audience import find_audience, say
from fairmix.sampler.display import Display, choose_display, is_due
from fairmix.sampler.headway import Headway, seconds_left

#: Seconds between two looks at whether it is time to show something.
LOOK_SECONDS = 0.1


class Listener(Protocol):
    """Someone else who wants to know how far chains are, and may stop them."""

    def begin(self, number: int) -> None:
        """Hear that a chain begins."""

    def advance(self, number: int, share: float) -> bool:
        """Hear which share of its sweeps a chain has made; tell whether all should stop."""

    def end(self, number: int) -> bool:
        """Hear that a chain has ended; tell whether all should stop."""


class Progress:
    """What is shown of the chains, and a flag that stops them.

    Chains only note where they are; a thread of its own shows it. A copy in another process is
    silent: what happens there is told when a chain has ended.

    Parameters
    ----------
    n_chains : int
        Number of chains.
    n_warmup : int
        Sweeps of each chain's warm-up.
    n_sweeps : int
        Sweeps of each chain in all.
    verbose : int or "auto"
        Nothing is shown if 0; "auto" shows what takes long where a person looks on.
    listener : Listener, optional
        Someone else who is told.
    """

    def __init__(
        self,
        n_chains: int,
        n_warmup: int,
        n_sweeps: int,
        verbose: int | str,
        listener: Listener | None = None,
    ) -> None:
        self.verbose = verbose
        self._listener = listener
        self._headways = [Headway(number, n_warmup, n_sweeps) for number in range(n_chains)]
        #: Whether the listener asked the chains to stop.
        self.listener_stopped = False
        self._stopped = threading.Event()
        self._changed = threading.Condition()
        self._n_ended = 0
        self._began = time.perf_counter()
        self._over = threading.Event()
        self._teller: threading.Thread | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Locks cannot go to another process, and nobody would see what is shown there."""
        headway = self._headways[0]
        return Progress, (len(self._headways), headway.n_warmup, headway.n_sweeps, 0)

    @property
    def stopped(self) -> bool:
        """Whether the chains should stop."""
        return self._stopped.is_set()

    def stop(self) -> None:
        """Ask the chains of this process to stop where they are."""
        self._stopped.set()

    @contextmanager
    def running(self, number: int) -> Iterator[None]:
        """Count a chain as running, and its start as being looked for."""
        with self._changed:
            self._headways[number].start(time.perf_counter())
            self._begin_to_tell()
        try:
            if self._listener is not None:
                self._listener.begin(number)
            yield
            if self._listener is not None:
                self._obey(self._listener.end(number))
        finally:
            with self._changed:
                self._headways[number].end(time.perf_counter())
                self._changed.notify_all()

    def sweep(self, number: int, n_done: int = 0) -> None:
        """Note that a chain has its start, and sweeps that were made before."""
        with self._changed:
            self._headways[number].sweep(time.perf_counter(), n_done)

    def advance(self, number: int, n_sweeps: int, n_clusters: int, log_posterior: float) -> None:
        """Count sweeps of a chain in this process, and note where it is."""
        with self._changed:
            headway = self._headways[number]
            headway.advance(time.perf_counter(), n_sweeps, n_clusters, log_posterior)
        if self._listener is not None:
            self._obey(self._listener.advance(number, headway.n_done / headway.n_sweeps))

    def arrive(self, number: int) -> None:
        """Count a chain that has ended in another process."""
        self._n_ended += 1
        if self._listener is not None:
            self._listener.begin(number)
            self._obey(self._listener.end(number))
        seconds = time.perf_counter() - self._began
        is_seen = self.verbose != "auto" or find_audience() != "none"
        if is_seen and is_due(self.verbose, seconds, math.nan):
            say(
                f"chain {number} has ended, {self._n_ended} of {len(self._headways)}, "
                f"{seconds:.0f} s"
            )

    def end(self) -> None:
        """Wait until no chain of this process is running, and show it all for the last time."""
        try:
            with self._changed:
                self._changed.wait_for(lambda: not any(one.is_running for one in self._headways))
                for headway in self._headways:
                    if not headway.has_ended:  # it never began
                        headway.end(time.perf_counter())
        finally:
            self._over.set()
            if self._teller is not None:
                self._teller.join()

    def _obey(self, asked_to_stop: bool) -> None:
        """Stop all chains if the listener says so: draws of some of them only are of no use."""
        if asked_to_stop:
            self.listener_stopped = True
            self.stop()

    def _begin_to_tell(self) -> None:
        """Let a thread show the chains, unless it does so already or nobody wants it."""
        if self._teller is None and self.verbose != 0:
            self._teller = threading.Thread(target=self._tell, name="fairmix progress", daemon=True)
            self._teller.start()

    def _tell(self) -> None:
        """Show the chains until all is over. That nobody can be told any more is no error."""
        with suppress(OSError, ValueError):
            if self.verbose == "auto" and find_audience() == "none":
                return
            while not is_due(self.verbose, self._elapsed, seconds_left(self._look())):
                if self._over.wait(LOOK_SECONDS):
                    return
            display = choose_display(self.verbose)
            if display is not None:
                self._show(display)

    def _show(self, display: Display) -> None:
        """Show the chains on a display until all is over."""
        try:
            while not self._over.wait(display.seconds):
                display.show(self._look(), self._elapsed)
        finally:
            display.close(self._look(), self._elapsed)

    def _look(self) -> list[Headway]:
        """Give the chains as they are now."""
        with self._changed:
            return copy.deepcopy(self._headways)

    @property
    def _elapsed(self) -> float:
        """Seconds since the chains began."""
        return time.perf_counter() - self._began
