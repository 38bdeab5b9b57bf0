"""Where a chain is, remembered now and then: what is left of it when it is stopped or killed."""

from __future__ import annotations

import time

from fairmix.sampler.chain import Chain
from fairmix.sampler.checkpoint import Checkpoint
from fairmix.sampler.past import Bookmark, Past
from fairmix.sampler.record import Writer

#: An interrupt may come while a chain moves or a draw is kept. The chain can go on from where it
#: was marked last, at most so many seconds before (or one return to Python).
MARK_SECONDS = 1.0


class Trail:
    """Marks where a chain is, and writes that to a checkpoint if there is one.

    Parameters
    ----------
    number : int
        Number of the chain.
    chain : Chain
        The chain, between sweeps.
    checkpoint : Checkpoint or None
        Where it is written.
    """

    def __init__(self, number: int, chain: Chain, checkpoint: Checkpoint | None) -> None:
        self._number = number
        self._chain = chain
        self._checkpoint = checkpoint
        self._writer: Writer | None = None
        self._in_warmup: Past | None = None
        self._has_moved = False
        self._is_news = False
        self._next_mark = time.monotonic() + MARK_SECONDS
        self._next_write = time.monotonic()

    def follow(self, writer: Writer) -> None:
        """Follow the writer of a chain that is warmed up.

        Parameters
        ----------
        writer : Writer
            The writer.
        """
        self._writer = writer
        writer.mark()

    def go_on(self) -> None:
        """Mark where the chain is between sweeps, and write it down, if it is time."""
        self._has_moved = True
        now = time.monotonic()
        is_due = self._checkpoint is not None and now >= self._next_write
        if is_due or now >= self._next_mark:
            self.mark()
        if is_due:
            self.end()

    def mark(self) -> None:
        """Mark where the chain is, all of whose draws are kept."""
        if not self._has_moved:
            return
        if self._writer is None:
            self._in_warmup = Past(Bookmark(self._chain.snapshot(), None, 0), {})
        else:
            self._writer.mark()
        self._has_moved = False
        self._is_news = True
        self._next_mark = time.monotonic() + MARK_SECONDS

    def end(self) -> None:
        """Write down where the chain was marked last, if there is a checkpoint."""
        if self._checkpoint is None or not self._is_news:
            return
        past = self._in_warmup if self._writer is None else self._writer.past()
        assert past is not None
        self._is_news = False
        self._next_write = time.monotonic() + self._checkpoint.write(self._number, past)
