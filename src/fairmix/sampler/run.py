"""Run chains side by side: starts, warm-up, thinning, and what happens when they are stopped."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend

from fairmix.sampler.chain import Chain
from fairmix.sampler.checkpoint import Checkpoint
from fairmix.sampler.kernels.sweep import Draws
from fairmix.sampler.past import Past
from fairmix.sampler.progress import Listener, Progress
from fairmix.sampler.record import Record, Recorder
from fairmix.sampler.trail import Trail
from fairmix.sampler.warmup import WarmUp
from fairmix.tables.checks import warn

#: Compiled code returns to Python about this often (seconds), for progress and Ctrl-C.
CHUNK_SECONDS = 0.1
#: When a fit is stopped, chains with less than this share of the longest one's draws are dropped,
#: and the others cut to the shortest of them.
LEAST_SHARE = 0.25


def run_chains(
    make: Callable[[int], Chain],
    recorder: Recorder,
    *,
    n_warmup: int,
    thin: int = 1,
    annealing: bool = True,
    n_jobs: int | None = None,
    verbose: int | str = 0,
    listener: Listener | None = None,
    pasts: Mapping[int, Past] | None = None,
    checkpoint: Checkpoint | None = None,
    max_seconds: float = math.inf,
    remake: Callable[[int], Chain] | None = None,
) -> Record:
    """Make chains, run them and keep their draws.

    Chains run in threads, unless ``joblib.parallel_config`` names another backend. If the user
    interrupts them, what they have drawn so far is given with a warning.

    Parameters
    ----------
    make : callable
        Makes the chain of a number, start and all. Each has its own generator, so draws depend
        neither on the backend nor on the number of jobs. It must be picklable for other processes.
    recorder : Recorder
        Keeps the draws: it says of how many chains, and how many of each.
    n_warmup : int
        Sweeps that are thrown away.
    thin : int, default=1
        Sweeps from one draw that is kept to the next.
    annealing : bool, default=True
        Whether the warm-up begins with a flattened likelihood and relaxed fairness.
    n_jobs : int, optional
        Number of chains that run at the same time, as in joblib.
    verbose : int or "auto", default=0
        Show progress if positive; "auto" if the run takes long and somebody looks on.
    listener : Listener, optional
        Is told how far chains are, and may stop them.
    pasts : mapping of int to Past, optional
        What chains have done before, by number; they go on from there.
    checkpoint : Checkpoint, optional
        Where it is written down now and then what chains have done.
    max_seconds : float, default=inf
        When so much time has passed, chains end that are warmed up and have a draw. Chains that run
        one after the other share it.
    remake : callable, optional
        Makes the chain of a number whose start does not matter, since it goes on from its past.

    Returns
    -------
    Record
        What the recorder has kept.

    Raises
    ------
    KeyboardInterrupt
        If the user interrupts before there is a draw.
    RuntimeError
        If the listener stops the chains before that.
    """
    pasts = pasts or {}
    for number, past in pasts.items():
        recorder.take_up(number, past)
    n_workers = min(effective_n_jobs(n_jobs), recorder.n_chains)
    maker = _ChainMaker(make, dict.fromkeys(pasts, remake or make))
    ends = time.time() + max_seconds
    job = _Job(maker, recorder, n_warmup, thin, annealing, checkpoint, ends, n_workers)
    n_sweeps = n_warmup + recorder.n_kept * thin
    progress = Progress(recorder.n_chains, n_warmup, n_sweeps, verbose, listener)
    # Large arrays must not come to other processes as read-only ones (max_nbytes): to numba they
    # are another type, for which the sampler would be compiled again.
    parallel = Parallel(
        n_jobs=n_jobs, prefer="threads", batch_size=1, max_nbytes=None, return_as=_way_to_return()
    )
    try:
        for number, parcel in parallel(
            delayed(job.run)(number, progress, pasts.get(number))
            for number in range(recorder.n_chains)
        ):
            if parcel is not None:
                recorder.receive(number, parcel)
                progress.arrive(number)
    except KeyboardInterrupt:
        progress.stop()
    except BaseException:
        progress.stop()
        raise
    finally:
        progress.end()
    if progress.listener_stopped and not any(recorder.lengths()):
        raise RuntimeError(
            f"A callback stopped the fit before there was a draw: let the n_warmup = {n_warmup:,} "
            "sweeps of warm-up pass first."
        )
    return _finish(recorder, is_late=ends < math.inf and not progress.stopped)


def _way_to_return() -> str:
    """Give how joblib returns what chains return: as they end, where it can do that."""
    backend, _ = get_active_backend(prefer="threads")
    can_generate = getattr(backend, "supports_return_generator", False)
    return "generator_unordered" if can_generate else "list"


class _ChainMaker:
    """Makes chains; the first one is at hand in this process, since it had the code compiled."""

    def __init__(
        self, make: Callable[[int], Chain], by_number: dict[int, Callable[[int], Chain]]
    ) -> None:
        self._make = make
        self._by_number = by_number
        self._first: Chain | None = by_number.get(0, make)(0)
        # Compiles: before the clock starts, and before there are several who would.
        self._first.run(0)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the first chain behind: another process makes it anew."""
        return self.__dict__ | {"_first": None}

    def __call__(self, number: int) -> Chain:
        """Make the chain of a number."""
        if number == 0 and self._first is not None:
            first, self._first = self._first, None
            return first
        return self._by_number.get(number, self._make)(number)


@dataclass(frozen=True)
class _Job:
    """What is to be done with each chain."""

    make: Callable[[int], Chain]
    recorder: Recorder
    n_warmup: int
    thin: int
    annealing: bool
    checkpoint: Checkpoint | None
    ends: float
    n_workers: int

    def run(self, number: int, progress: Progress, past: Past | None) -> tuple[int, Any]:
        """Make a chain and run it; give its number, and its draws if they were kept elsewhere."""
        with progress.running(number):
            return number, self._sample(number, progress, past)

    def _sample(self, number: int, progress: Progress, past: Past | None) -> Any:
        """Make a chain, warm it up and record its draws until all are there or it is stopped."""
        writer = trail = None
        try:
            if progress.stopped:
                return None
            ends = self._end_of(number)
            chain = self.make(number)
            n_before = 0
            if past is not None:
                chain.restore(past.bookmark.snapshot)
                n_before = past.n_warmed + past.n_draws * self.thin
            trail = Trail(number, chain, self.checkpoint)
            pace = _Pace()
            progress.sweep(number, n_before)
            self._warm_up(number, chain, pace, progress, trail)
            writer = self.recorder.open(number, chain, past)
            trail.follow(writer)
            n_left = self.recorder.n_kept - writer.n_draws
            while n_left > 0 and not progress.stopped:
                if writer.n_draws > 0 and time.time() >= ends:
                    break
                n_new = pace.sweeps(self.thin, n_left * self.thin) // self.thin
                draws = pace.run(chain, n_new, self.thin)
                writer.write(draws)
                n_left -= n_new
                _tell(progress, number, n_new * self.thin, draws)
                trail.go_on()
            trail.mark()
        except KeyboardInterrupt:
            progress.stop()
        if trail is not None:
            trail.end()
        return None if writer is None else writer.close()

    def _warm_up(
        self, number: int, chain: Chain, pace: _Pace, progress: Progress, trail: Trail
    ) -> None:
        warmup = WarmUp(chain, self.n_warmup, self.annealing)
        while (n_left := warmup.prepare()) > 0 and not progress.stopped:
            n_sweeps = pace.sweeps(1, n_left)
            draws = pace.run(chain, 1, n_sweeps)
            warmup.advance(n_sweeps)
            _tell(progress, number, n_sweeps, draws)
            trail.go_on()

    def _end_of(self, number: int) -> float:
        """Give when a chain that begins now should end: others may have to come after it."""
        now = time.time()
        n_to_come = math.ceil((self.recorder.n_chains - number) / self.n_workers)
        return now + (self.ends - now) / n_to_come


def _tell(progress: Progress, number: int, n_sweeps: int, draws: Draws) -> None:
    """Tell how many sweeps a chain has made, and where the last of its draws is."""
    last = (draws.log_likelihood[-1], draws.prior_log_density[-1], draws.log_energy[-1])
    progress.advance(number, n_sweeps, int(draws.n_clusters[-1]), float(sum(last)))


class _Pace:
    """Choose how many sweeps to make before returning to Python."""

    def __init__(self) -> None:
        self.seconds_per_sweep = CHUNK_SECONDS

    def sweeps(self, multiple: int, most: int) -> int:
        """Give a number of sweeps, a multiple of one number and at most another."""
        wanted = int(min(CHUNK_SECONDS / self.seconds_per_sweep, most))
        return max(wanted // multiple, 1) * multiple

    def run(self, chain: Chain, n_draws: int, sweeps_per_draw: int) -> Draws:
        """Run a chain, and remember how long a sweep took."""
        began = time.perf_counter()
        draws = chain.run(n_draws, sweeps_per_draw)
        # Never trust a tiny measurement: at most ten times as many sweeps next time.
        measured = (time.perf_counter() - began) / (n_draws * sweeps_per_draw)
        self.seconds_per_sweep = max(measured, self.seconds_per_sweep / 10)
        return draws


def _finish(recorder: Recorder, is_late: bool) -> Record:
    """Give all draws; if the chains were stopped, say so and give what can be used of them."""
    lengths = recorder.lengths()
    longest = max(lengths)
    if longest == 0:
        raise KeyboardInterrupt
    chains = [k for k, length in enumerate(lengths) if length >= LEAST_SHARE * longest]
    n_draws = min(lengths[k] for k in chains)
    if min(lengths) < recorder.n_kept:
        had = ", ".join(f"{length:,}" for length in lengths)
        told = (
            f"when its {len(lengths)} chains had {had} of {recorder.n_kept:,} draws; kept are the "
            f"first {n_draws:,} of "
            f"{'each' if len(chains) == len(lengths) else f'{len(chains)} of them'}."
        )
        if is_late:
            print(
                f"fairmix: the fit ended at its time limit, {told} To go on, fit again with "
                "warm_start=True, or on the command line: fairmix resume.",
                file=sys.stderr,
                flush=True,
            )
        else:
            warn(f"The fit was interrupted {told} Fit again to have all.")
    return recorder.finish(chains, n_draws)
