"""What was kept of the draws, and what whoever keeps them must be able to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from fairmix.sampler.past import Past

if TYPE_CHECKING:  # these import numba, which takes its time
    from fairmix.sampler.chain import Chain
    from fairmix.sampler.kernels.sweep import Draws

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Record:
    """What was kept of the draws.

    Attributes
    ----------
    arrays : dict of str to ndarray
        What was kept, by name, each with leading axes (chain, draw).
    moves : tuple of str
        Kinds of moves that the chains made: the last axis of "acceptance".
    group_names : tuple
        Names of the groups in "group_gaps".
    pasts : dict of int to Past
        What chains can go on from, by number: draws are views, which may be more than those above.
    """

    arrays: Arrays
    moves: tuple[str, ...]
    group_names: tuple[Any, ...]
    pasts: dict[int, Past] = field(default_factory=dict)


class Writer(Protocol):
    """Keeps the draws of one chain."""

    @property
    def n_draws(self) -> int:
        """Number of draws that are kept."""

    def write(self, draws: Draws) -> None:
        """Keep some more draws."""

    def mark(self) -> None:
        """Remember where the chain is: it can go on from here."""

    def past(self) -> Past:
        """Give what the chain can go on from, as it was when that was last marked."""

    def close(self) -> Any:
        """Give what the recorder must be told to have these draws; None if it has them."""


class Recorder(Protocol):
    """Keeps the draws of all chains; a copy in another process keeps those of some."""

    n_chains: int
    n_kept: int

    def take_up(self, number: int, past: Past) -> None:
        """Take the draws that a chain made before."""

    def open(self, number: int, chain: Chain, past: Past | None = None) -> Writer:
        """Give a writer to a chain that is about to be sampled, maybe not for the first time."""

    def receive(self, number: int, parcel: Any) -> None:
        """Take what a writer in another process gave when it was closed."""

    def lengths(self) -> list[int]:
        """Give how many draws of each chain there are."""

    def finish(self, chains: list[int], n_draws: int) -> Record:
        """Give the first draws of these chains; nothing can be written any more."""
