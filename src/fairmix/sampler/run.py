"""Run chains: warm-up, thinning, threads, progress."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from fairmix.chain import Chain
from fairmix.kernels.sweep import MOVES, Draws
from fairmix.metrics import balance_of_counts, count_groups, gap_of_counts, gaps_of_counts
from fairmix.posterior import Posterior, canonical_labels
from fairmix.warmup import WarmUp

IntArray = NDArray[np.int64]

#: Compiled code returns to Python about this often (seconds), for progress and Ctrl-C.
CHUNK_SECONDS = 0.1


@dataclass(frozen=True)
class Audit:
    """What is measured on each draw, in the user's rows.

    Attributes
    ----------
    place_of_row : ndarray of shape (n_rows,)
        The row of the chain that has the label of each row.
    group_codes : ndarray of shape (n_rows,)
        Group of each row, 0 for the anchor group.
    group_names : tuple
        Names of the groups, the anchor group first.
    cost : callable
        Cost of labellings of shape (n, n_rows).
    """

    place_of_row: IntArray
    group_codes: IntArray
    group_names: tuple[Any, ...]
    cost: Callable[[IntArray], NDArray[np.float64]]


class Progress:
    """A line on standard error that says how far all chains are.

    Parameters
    ----------
    n_sweeps : int
        Sweeps of all chains together.
    verbose : int
        Nothing is printed if 0.
    """

    def __init__(self, n_sweeps: int, verbose: int) -> None:
        self.n_sweeps = n_sweeps
        self.verbose = verbose
        self.stopped = threading.Event()
        self._done = 0
        self._shown = -1
        self._lock = threading.Lock()
        self._began = time.perf_counter()

    def advance(self, n_sweeps: int, n_clusters: int) -> None:
        """Count sweeps; raise KeyboardInterrupt if the fit was stopped."""
        if self.stopped.is_set():
            raise KeyboardInterrupt
        with self._lock:
            self._done += n_sweeps
            if self.verbose:
                self._show(n_clusters)

    def _show(self, n_clusters: int) -> None:
        live = sys.stderr.isatty()
        percent = 100 * self._done // self.n_sweeps
        step = percent if live else percent // 10
        if step == self._shown:
            return
        self._shown = step
        seconds = time.perf_counter() - self._began
        left = seconds * (self.n_sweeps - self._done) / max(self._done, 1)
        text = (
            f"fairmix: {percent:3d} % of {self.n_sweeps:,} sweeps, {n_clusters} clusters now, "
            f"{seconds:.0f} s, about {left:.0f} s left"
        )
        finished = self._done >= self.n_sweeps
        print(
            f"\r{text:<78}" if live else text,
            end="\n" if finished or not live else "",
            file=sys.stderr,
            flush=True,
        )


def sample_posterior(
    chains: list[Chain],
    *,
    n_warmup: int,
    n_draws: int,
    thin: int,
    audit: Audit,
    annealing: bool = True,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Posterior:
    """Run chains in threads and put their draws together.

    Parameters
    ----------
    chains : list of Chain
        The chains; each has its own generator, so the result does not depend on threads.
    n_warmup : int
        Sweeps that are thrown away.
    n_draws : int
        Sweeps after that.
    thin : int
        Every how many of them a draw is kept.
    audit : Audit
        What is measured on each draw.
    annealing : bool, default=True
        Whether the warm-up begins with a flattened likelihood and relaxed fairness.
    n_jobs : int, optional
        Number of threads, as in joblib.
    verbose : int, default=0
        Print progress if positive.

    Returns
    -------
    Posterior
        The draws of all chains.
    """
    chains[0].run(0)  # compiles, before the clock starts and before there are threads
    progress = Progress(len(chains) * (n_warmup + n_draws // thin * thin), verbose)
    try:
        results = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(_run_chain)(chain, n_warmup, n_draws // thin, thin, audit, progress, annealing)
            for chain in chains
        )
    except BaseException:
        progress.stopped.set()
        raise
    return _join(results)


def _run_chain(
    chain: Chain,
    n_warmup: int,
    n_kept: int,
    thin: int,
    audit: Audit,
    progress: Progress,
    annealing: bool,
) -> Posterior:
    """Warm a chain up and collect its draws, as a posterior of one chain."""
    pace = _Pace()
    warmup = WarmUp(chain, n_warmup, annealing)
    while (n_left := warmup.prepare()) > 0:
        n_sweeps = pace.sweeps(1, n_left)
        draws = pace.run(chain, 1, n_sweeps)
        warmup.advance(n_sweeps)
        progress.advance(n_sweeps, int(draws.n_clusters[-1]))

    # Chunks depend on the clock, so what is drawn between them needs a generator of its own.
    components_rng = chain.rng.spawn(1)[0]
    chunks = []
    kept = 0
    while kept < n_kept:
        n_new = pace.sweeps(thin, (n_kept - kept) * thin) // thin
        draws = pace.run(chain, n_new, thin)
        chunks.append(_measure(chain, draws, audit, components_rng))
        kept += n_new
        progress.advance(n_new * thin, int(draws.n_clusters[-1]))
    return _join(chunks, axis=1)


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


def _measure(chain: Chain, draws: Draws, audit: Audit, rng: np.random.Generator) -> Posterior:
    """Bring draws into the user's order, measure them, and draw K given t."""
    model = chain.model
    n_anchors = model.grouping.n_anchors
    shape = (len(draws.labels), len(audit.place_of_row))
    labels = np.empty(shape, dtype=label_type(n_anchors))
    for draw, raw in enumerate(draws.labels):
        labels[draw] = canonical_labels(raw[audit.place_of_row].astype(np.int64), n_anchors)
    counts = count_groups(labels, audit.group_codes, len(audit.group_names))
    with np.errstate(invalid="ignore"):
        rates = draws.n_accepted / draws.n_proposed
    return Posterior(
        labels=labels[None],
        n_clusters=draws.n_clusters[None],
        n_components=model.partition_prior.draw_components(rng, draws.n_clusters)[None],
        log_likelihood=draws.log_likelihood[None],
        log_posterior=(draws.log_likelihood + draws.prior_log_density + draws.log_energy)[None],
        fairness_gap=gap_of_counts(counts)[None],
        group_gaps=gaps_of_counts(counts)[None],
        balance=balance_of_counts(counts)[None],
        cost=audit.cost(labels)[None],
        masked_rows=np.sort(model.grouping.order[draws.masked_rows], axis=1)[None],
        group_names=audit.group_names[1:],
        acceptance={
            move: rates[None, :, k]
            for k, (move, field) in enumerate(MOVES.items())
            if getattr(chain.schedule, field)
        },
    )


def label_type(n_labels: int) -> np.dtype[np.unsignedinteger]:
    """Give the smallest unsigned type that holds so many labels."""
    return np.dtype(np.min_scalar_type(max(n_labels - 1, 0)))


def _join(parts: list[Posterior], axis: int = 0) -> Posterior:
    """Put posteriors together along chains (0) or draws (1), labels in the smallest type."""

    def stack(name: str) -> NDArray[np.generic]:
        return np.concatenate([getattr(part, name) for part in parts], axis=axis)

    no_arrays = ("acceptance", "group_names")
    arrays = {name: stack(name) for name in Posterior.__dataclass_fields__ if name not in no_arrays}
    if axis == 0:
        arrays["labels"] = arrays["labels"].astype(label_type(int(arrays["labels"].max()) + 1))
    acceptance = {
        move: np.concatenate([part.acceptance[move] for part in parts], axis=axis)
        for move in parts[0].acceptance
    }
    names = parts[0].group_names
    return Posterior(**arrays, group_names=names, acceptance=acceptance)  # type: ignore[arg-type]
