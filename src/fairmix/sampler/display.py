"""What is shown of the chains, and when: bars where somebody looks on, plain lines elsewhere.

With ``verbose="auto"`` nothing is shown unless somebody looks on and the fit takes long. If that is
plain after the first second already, nobody waits five.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Protocol

from fairmix.sampler.audience import find_audience, say
from fairmix.sampler.headway import Headway, seconds_left

#: A fit that takes longer than this many seconds is shown by itself ...
LONG = 5.0
#: ... and from the first second on if it is expected to take so many times longer.
FIRST, SURELY = 1.0, 2.0
#: Plain lines come after so many seconds at most, and after each of so many parts of the sweeps.
LINE_SECONDS, LINE_PARTS = 60.0, 10
#: Only one set of bars at a time has the terminal.
_has_bars = threading.Lock()


class Display(Protocol):
    """Shows how far chains are."""

    #: Seconds from one look at the chains to the next.
    seconds: float

    def show(self, headways: Sequence[Headway], elapsed: float) -> None:
        """Show the chains as they are now."""

    def close(self, headways: Sequence[Headway], elapsed: float) -> None:
        """Show the chains for the last time."""


class Lines:
    """Plain lines on standard error, some for each fit."""

    seconds = 0.25

    def __init__(self) -> None:
        self._part = 0
        self._told = 0.0

    def show(self, headways: Sequence[Headway], elapsed: float) -> None:
        """Write a line if it is time for one.

        Parameters
        ----------
        headways : sequence of Headway
            The chains.
        elapsed : float
            Seconds since the chains began.
        """
        part = LINE_PARTS * _n_done(headways) // _n_sweeps(headways)
        is_first = self._told == 0.0 and elapsed >= FIRST
        if part > self._part or is_first or elapsed - self._told >= LINE_SECONDS:
            self._write(headways, elapsed, part)

    def close(self, headways: Sequence[Headway], elapsed: float) -> None:
        """Write the last line.

        Parameters
        ----------
        headways : sequence of Headway
            The chains.
        elapsed : float
            Seconds since the chains began.
        """
        if self._part < LINE_PARTS:
            self._write(headways, elapsed, LINE_PARTS)

    def _write(self, headways: Sequence[Headway], elapsed: float, part: int) -> None:
        self._part, self._told = part, elapsed
        say(describe(headways, elapsed))


def describe(headways: Sequence[Headway], elapsed: float) -> str:
    """Say in a line how far all chains are.

    Parameters
    ----------
    headways : sequence of Headway
        The chains.
    elapsed : float
        Seconds since they began.

    Returns
    -------
    str
        The line.
    """
    n_sweeps, n_done = _n_sweeps(headways), _n_done(headways)
    parts = [f"{100 * n_done // n_sweeps:3d} % of {n_sweeps:,} sweeps, {format_seconds(elapsed)}"]
    running = [headway for headway in headways if headway.is_running]
    left = seconds_left(headways)
    if running:
        phases = dict.fromkeys(headway.phase for headway in running)
        pace = sum(headway.sweeps_per_second for headway in running)
        parts[0] += f" ({' and '.join(phases)})"
        if pace > 0.0:
            parts.append(f"{format_number(pace)} a second, about {format_seconds(left)} left")
    known = [headway for headway in headways if headway.n_clusters is not None]
    if known:
        numbers = [headway.n_clusters or 0 for headway in known]
        parts.append(f"{_range(min(numbers), max(numbers))} clusters")
        values = [headway.log_posterior for headway in known]
        parts.append(f"log posterior {_range(min(values), max(values))}")
    return ", ".join(parts)


def choose_display(verbose: int | str) -> Display | None:
    """Choose how chains of this process are shown.

    Parameters
    ----------
    verbose : int or "auto"
        Positive, or "auto" when it is time to show something.

    Returns
    -------
    Display or None
        None if nobody would see it.
    """
    audience = find_audience()
    if audience != "none" and _has_bars.acquire(blocking=False):
        from fairmix.sampler.bars import make_bars

        bars = None
        try:
            bars = make_bars(audience, _has_bars.release)
        finally:
            if bars is None:
                _has_bars.release()
        if bars is not None:
            return bars
    return None if verbose == "auto" else Lines()


def is_due(verbose: int | str, elapsed: float, left: float) -> bool:
    """Tell whether it is time to show something.

    Parameters
    ----------
    verbose : int or "auto"
        As the user has it.
    elapsed : float
        Seconds that have passed.
    left : float
        Seconds that will still pass, NaN if nobody knows.

    Returns
    -------
    bool
        Whether it is.
    """
    if isinstance(verbose, str):
        return elapsed > LONG or (elapsed >= FIRST and elapsed + left > SURELY * LONG)
    return verbose > 0


def format_seconds(seconds: float) -> str:
    """Give a time in a few letters.

    Parameters
    ----------
    seconds : float
        The time.

    Returns
    -------
    str
        In seconds, minutes, hours or days.
    """
    if math.isnan(seconds):
        return "-"
    for unit, length, most in (("s", 1, 99.5), ("min", 60, 99.5), ("h", 3600, 47.5)):
        if seconds / length < most:
            amount = seconds / length
            return f"{amount:.1f} {unit}" if unit == "h" else f"{amount:.0f} {unit}"
    return f"{seconds / 86400:.1f} d"


def format_number(value: float) -> str:
    """Give a number in a few digits.

    Parameters
    ----------
    value : float
        The number.

    Returns
    -------
    str
        Whole from 10 on, else with two digits that count.
    """
    return f"{value:.0f}" if abs(value) >= 9.95 else f"{value:.2g}"


def _n_sweeps(headways: Sequence[Headway]) -> int:
    return sum(headway.n_sweeps for headway in headways)


def _n_done(headways: Sequence[Headway]) -> int:
    return sum(headway.n_done for headway in headways)


def _range(least: float, most: float) -> str:
    """Give two numbers, or one if they look the same."""
    low, high = (f"{value:.1f}".removesuffix(".0") for value in (least, most))
    return low if low == high else f"{low} to {high}"
