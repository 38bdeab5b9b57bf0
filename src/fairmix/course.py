"""The course of a fit: what it goes on from, how far it goes, and what it leaves behind.

A run is known by its *identity*: the data, the groups, the seed, the version and all settings that
draws depend on. Chains of one identity draw the same, however far they go and wherever they stop,
so those of an earlier fit or of a checkpoint can go on as if they had never stopped. Chains of
another identity must not.
"""

from __future__ import annotations

import hashlib
import platform
import time
from collections.abc import Callable, Mapping
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from fairmix._version import __version__
from fairmix.posterior.diagnostics import bulk_ess, r_hat
from fairmix.posterior.options import settings_of_draws
from fairmix.tables.checks import check_seed, warn
from fairmix.tables.groups import Groups
from fairmix.tables.schema import Schema, Table

if TYPE_CHECKING:  # these import numba, which takes its time
    from fairmix.sampler.past import Past
    from fairmix.sampler.record import Record, Recorder

#: A run has converged if R-hat of both figures is at most so much, and they are worth so many
#: independent draws.
FIGURES = ("log_posterior", "n_clusters")
MOST_R_HAT, LEAST_ESS = 1.01, 400.0
#: Until it has converged, a run goes on by so many times the draws that it has, up to so many times
#: those that were asked for.
GROWTH, MOST_TIMES = 1.5, 10


class Left(NamedTuple):
    """What a fit leaves behind for a later one.

    Parameters
    ----------
    identity : dict
        What its draws depend on.
    pasts : dict of int to Past
        What each chain has done, by number.
    """

    identity: dict[str, Any]
    pasts: dict[int, Past]


class Course:
    """How one call of ``fit`` runs its chains.

    Parameters
    ----------
    estimator : estimator
        The estimator; it may have been fitted before.

    Raises
    ------
    ValueError
        If it should go on, but there is nothing to go on from.
    """

    def __init__(self, estimator: Any) -> None:
        from fairmix.sampler.checkpoint import read_checkpoint

        self._n_draws: int = estimator.n_draws
        self._thin: int = estimator.thin
        self._until: str | None = estimator.until
        self._max_seconds: float | None = estimator.max_seconds
        self._began = time.perf_counter()
        folder = estimator.checkpoint
        self._folder = None if folder is None else Path(folder)
        self._kept: Left | None = None
        self._in_memory: Left | None = None
        self._identity: dict[str, Any] = {}
        self._pasts: dict[int, Past] = {}
        if self._folder is not None:
            identity, pasts = read_checkpoint(self._folder)
            self._kept = None if identity is None else Left(identity, pasts)
        if estimator.warm_start and hasattr(estimator, "posterior_"):
            self._in_memory = getattr(estimator, "_left", None)
            if self._in_memory is None and self._kept is None:
                raise ValueError(
                    "warm_start = True, but a model that was loaded or unpickled has draws only, "
                    "not the chains that could go on. Pass warm_start=False to fit anew; with "
                    "checkpoint='folder' chains are kept, too."
                )

    def choose_seed(self, random_state: Any) -> int:
        """Give the seed of all draws: that of the run that goes on, or a new one.

        Parameters
        ----------
        random_state : int, RandomState instance or None
            The estimator's parameter.

        Returns
        -------
        int
            The seed.
        """
        left = self._in_memory or self._kept
        is_given = isinstance(random_state, Integral)
        goes_on = self._in_memory is not None or random_state is None
        if left is not None and goes_on and not is_given:
            return int(left.identity["seed"])
        return check_seed(random_state)

    def identify(
        self, estimator: Any, seed: int, schema: Schema, table: Table, groups: Groups
    ) -> None:
        """Say what the draws depend on, and refuse to go on with a run of anything else.

        Parameters
        ----------
        estimator : estimator
            The estimator, for its settings.
        seed : int
            Seed of all draws.
        schema : Schema
            How the table was read.
        table : Table
            The table.
        groups : Groups
            Groups of the rows.
        """
        from fairmix.sampler.checkpoint import refuse_other_run

        columns = [
            (each.name, each.kind, each.levels, each.is_kept, each.units) for each in schema.columns
        ]
        self._identity = {
            "estimator": type(estimator).__name__,
            "fairmix": __version__,
            "X": _digest(columns, table.rows, table.points),
            "sensitive_features": _digest(groups.names, groups.codes),
            "seed": seed,
            "settings": settings_of_draws(estimator.get_params(deep=False)),
        }
        if self._kept is not None:
            where = f"checkpoint = {str(self._folder)!r}"
            refuse_other_run(self._kept.identity, self._identity, where)
            self._pasts = self._kept.pasts
        if self._in_memory is not None:
            refuse_other_run(self._in_memory.identity, self._identity, "warm_start = True")
            # What has been drawn further may be in memory or on disk.
            for number, past in self._in_memory.pasts.items():
                known = self._pasts.get(number)
                if known is None or past.n_draws >= known.n_draws:
                    self._pasts = {**self._pasts, number: past}

    def run(self, make_recorder: Callable[[int], Recorder], run: Callable[..., Record]) -> Record:
        """Run the chains as far as they should go.

        Parameters
        ----------
        make_recorder : callable
            Makes a recorder for so many draws of each chain.
        run : callable
            ``run_chains`` with all of its arguments but the recorder, and those that are about
            the course.

        Returns
        -------
        Record
            What was kept.
        """
        from fairmix.sampler.checkpoint import Checkpoint

        options: dict[str, Any] = {}
        if self._folder is not None:
            options["checkpoint"] = Checkpoint(self._folder, self._identity)
        began = time.perf_counter()
        for n_draws in self._every_n_draws():
            if self._max_seconds is not None:
                options["max_seconds"] = self._max_seconds - (time.perf_counter() - began)
            recorder = make_recorder(n_draws // self._thin)
            record = run(recorder, pasts=self._pasts, **options)
            self._pasts = record.pasts
            was_stopped = record.arrays["labels"].shape[:2] != (
                recorder.n_chains,
                recorder.n_kept,
            )
            if self._until is None or was_stopped or is_converged(record.arrays):
                return record
        told = ", ".join(
            f"{name} has R-hat {r_hat(record.arrays[name]):.3f} and an effective sample size of "
            f"{bulk_ess(record.arrays[name]):,.0f}"
            for name in FIGURES
        )
        warn(
            f"until = 'converged', but after {n_draws:,} draws, {MOST_TIMES} times n_draws, {told} "
            f"(wanted: {MOST_R_HAT} and {LEAST_ESS:.0f}). Take more n_warmup or "
            "split_merge_moves, or more n_draws.",
            ConvergenceWarning,
        )
        return record

    @property
    def left(self) -> Left:
        """What a later fit can go on from."""
        return Left(self._identity, self._pasts)

    def provenance(self) -> dict[str, Any]:
        """Give where the draws come from, in plain values.

        Returns
        -------
        dict
            Seed, versions, hashes of the data and the groups, and the seconds that this call took.
        """
        import numba

        return {
            "seed": self._identity["seed"],
            "versions": {
                "fairmix": __version__,
                "numpy": np.__version__,
                "numba": numba.__version__,
                "python": platform.python_version(),
            },
            "sha256": {name: self._identity[name] for name in ("X", "sensitive_features")},
            "seconds": round(time.perf_counter() - self._began, 3),
        }

    def _every_n_draws(self) -> list[int]:
        """Give how far chains go, one leg after the other, from what there is on."""
        n_draws, most = self._n_draws, self._n_draws
        every = [n_draws]
        if self._until is not None:
            most = MOST_TIMES * n_draws
            while every[-1] < most:
                every.append(min(int(np.ceil(GROWTH * every[-1])), most))
        longest = max((past.n_draws for past in self._pasts.values()), default=0)
        every = [each for each in every if each // self._thin >= longest]
        if not every:
            raise ValueError(
                f"n_draws = {n_draws:,}, but {longest * self._thin:,} sweeps were made already, "
                f"and what was drawn is never cut; pass n_draws={longest * self._thin} or more, or "
                "fit anew (another checkpoint folder, or warm_start=False)."
            )
        return every


def is_converged(arrays: Mapping[str, Any]) -> bool:
    """Tell whether chains agree, and have drawn enough.

    Parameters
    ----------
    arrays : mapping
        What was kept of the draws, by name.

    Returns
    -------
    bool
        Whether R-hat is small and the effective sample size large, of the log posterior and of the
        number of clusters; not with too few draws to tell.
    """
    return all(
        r_hat(arrays[name]) <= MOST_R_HAT and bulk_ess(arrays[name]) >= LEAST_ESS
        for name in FIGURES
    )


def _digest(named: Any, *arrays: np.ndarray[Any, Any]) -> str:
    """Give a hash of names and arrays."""
    digest = hashlib.sha256(repr(named).encode())
    for values in arrays:
        digest.update(repr((values.shape, values.dtype.str)).encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()
