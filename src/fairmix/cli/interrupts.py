"""Know of an interrupt that the library makes the best of."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def noting_interrupts() -> Iterator[list[int]]:
    """Note whether the user has interrupted: the library then gives the draws so far.

    Yields
    ------
    list of int
        A number for each interrupt; empty if there was none.
    """
    noted: list[int] = []

    def note(number: int, frame: Any) -> None:
        noted.append(number)
        signal.default_int_handler(number, frame)

    try:
        before = signal.signal(signal.SIGINT, note)
    except ValueError:  # not in the main thread, which alone is interrupted
        yield noted
        return
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)
