"""What a chain has done so far: enough to go on as if it had never stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # this imports numba, which takes its time
    from fairmix.sampler.kernels.state import State


class Bookmark(NamedTuple):
    """Where a chain is.

    Parameters
    ----------
    snapshot : dict
        What ``Chain.snapshot`` gave.
    generator : dict or None
        State of the generator that its writer draws with; None in the warm-up.
    n_draws : int
        Number of draws that had been kept by then.
    """

    snapshot: dict[str, Any]
    generator: dict[str, Any] | None
    n_draws: int


@dataclass(frozen=True)
class Past:
    """The draws of a chain, and where it was after the last of them.

    Attributes
    ----------
    bookmark : Bookmark
        Where it was.
    draws : dict of str to ndarray
        What was kept of each draw, by name; empty in the warm-up. "acceptance" has the moves that
        were made, and no others.
    moves : tuple of str
        Kinds of moves that the chain makes.
    """

    bookmark: Bookmark
    draws: dict[str, NDArray[Any]]
    moves: tuple[str, ...] = ()

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return self.bookmark.n_draws

    @property
    def n_warmed(self) -> int:
        """Number of sweeps of the warm-up that were made."""
        return int(self.bookmark.snapshot["warmth"]["n_done"])


def make_generator(state: dict[str, Any], seed: dict[str, Any] | None = None) -> Any:
    """Make a generator that goes on where another one was.

    Parameters
    ----------
    state : dict
        State of its bit generator.
    seed : dict, optional
        State of the seed that others are spawned from.

    Returns
    -------
    numpy.random.Generator
        The generator.
    """
    name = state["bit_generator"]
    kind = getattr(np.random, name, None) if isinstance(name, str) else None
    if not (isinstance(kind, type) and issubclass(kind, np.random.BitGenerator)):
        raise ValueError(f"snapshot: {name!r} is no generator that NumPy knows")
    bits: Any = kind(np.random.SeedSequence(**(seed or {"entropy": 0})))
    bits.state = state
    return np.random.Generator(bits)


def check_state(state: State, arrays: dict[str, NDArray[Any]]) -> None:
    """Raise an error if what a state is to take up would lead compiled code astray.

    Compiled code looks at no bounds, and a snapshot may come from a file.

    Parameters
    ----------
    state : State
        The state, for its sizes.
    arrays : dict of str to ndarray
        What it is to take up, of the right shapes.
    """
    n_slots, n_rows, n_seats = len(state.labels), len(state.slot_of), len(state.row_at)
    bounds = {
        **dict.fromkeys(("labels", "anchor_at", "slot_of", "free_slot"), (0, n_slots)),
        **dict.fromkeys(("active", "place"), (0, n_slots)),
        "row_at": (-1, n_rows),
        "seat_of": (-1, n_seats),
        "mask_order": (0, n_rows),
        "n_masked": (0, n_rows - n_slots + 1),
        "n_clusters": (1, n_slots + 1),
    }
    wrong = [
        name
        for name, (least, end) in bounds.items()
        if arrays[name].dtype.kind not in "iu"
        or (arrays[name].size and not least <= arrays[name].min() <= arrays[name].max() < end)
    ]
    for name in ("anchor_at", "active", "mask_order"):
        if not np.array_equal(np.sort(arrays[name]), np.arange(arrays[name].size)):
            wrong.append(name)
    if not wrong and not np.array_equal(arrays["place"][arrays["active"]], np.arange(n_slots)):
        wrong.append("place")
    if wrong:
        raise ValueError(f"snapshot: {', '.join(wrong)} cannot be the state of a chain")
