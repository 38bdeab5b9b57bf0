"""What is kept of the draws: a recorder between the chains and the posterior.

A recorder is made before the chains are. Each chain opens it, gets a writer, and hands that its
draws as they come. Here they are kept in memory, in arrays of their final type and size, which are
made once and never copied; other recorders may keep sums only, or write to a file.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairmix.model.fairness import (
    balance_of_counts,
    count_groups,
    gap_of_counts,
    gaps_of_counts,
)
from fairmix.sampler.kernels.moves import MOVES
from fairmix.sampler.memory import check_memory
from fairmix.sampler.past import Bookmark, Past, make_generator
from fairmix.sampler.record import Arrays, Record

if TYPE_CHECKING:  # these import numba, which takes its time
    from fairmix.sampler.chain import Chain
    from fairmix.sampler.kernels.sweep import Draws

IntArray = NDArray[np.int64]


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
        Cost of labellings of shape (n, n_rows); picklable, for chains in other processes.
    gap_kind : str, default="paper"
        What the gap is.
    """

    place_of_row: IntArray
    group_codes: IntArray
    group_names: tuple[Any, ...]
    cost: Callable[[IntArray], NDArray[np.float64]]
    gap_kind: str = "paper"

    @property
    def compared(self) -> tuple[Any, ...]:
        """Names of the groups whose gaps are measured."""
        return self.group_names[1:] if self.gap_kind == "paper" else self.group_names


class DrawRecorder:
    """Keeps every draw in memory: labels of all rows, and figures.

    Parameters
    ----------
    audit : Audit
        What is measured on each draw.
    n_chains : int
        Number of chains.
    n_kept : int
        Number of draws that are kept of each.
    n_labels : int
        The largest number of clusters there can be; labels have the smallest type that holds it.
    n_masked : int, default=0
        Number of masked rows.
    """

    def __init__(
        self, audit: Audit, *, n_chains: int, n_kept: int, n_labels: int, n_masked: int = 0
    ) -> None:
        self.audit = audit
        self.n_chains = n_chains
        self.n_kept = n_kept
        self.n_labels = n_labels
        self.n_masked = n_masked
        self._made: tuple[str, ...] = ()
        n_rows = len(audit.place_of_row)
        check_memory(self.n_bytes, n_chains=n_chains, n_kept=n_kept, n_rows=n_rows)
        self._arrays: Arrays | None = self._make_arrays(n_chains)
        self._lengths = np.zeros(n_chains, dtype=np.int64)
        self._bookmarks: dict[int, Bookmark] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Leave the arrays behind: a copy in another process cannot write into them."""
        empty = {"_lengths": np.zeros(self.n_chains, np.int64), "_bookmarks": {}}
        return self.__dict__ | {"_arrays": None} | empty

    @property
    def n_bytes(self) -> int:
        """Bytes of all arrays."""
        of_draw = sum(
            type_.itemsize * int(np.prod(shape)) for type_, shape in self._kept().values()
        )
        return self.n_chains * self.n_kept * of_draw

    def take_up(self, number: int, past: Past) -> None:
        """Take the draws that a chain made before.

        Parameters
        ----------
        number : int
            Number of the chain.
        past : Past
            What it has done.
        """
        assert self._arrays is not None
        self._take_up(number, past, {name: values[number] for name, values in self._arrays.items()})

    def _take_up(self, number: int, past: Past, own: Arrays) -> None:
        """Copy a chain's earlier draws into its arrays."""
        if past.bookmark.generator is None:  # in the warm-up
            return
        self._made = past.moves
        for name, values in past.draws.items():
            kept = own[name][: past.n_draws]
            kept[(slice(None), self._columns) if name == "acceptance" else slice(None)] = values
        self._lengths[number] = past.n_draws
        self._bookmarks[number] = past.bookmark

    @property
    def _columns(self) -> list[int]:
        """Places of the kinds of moves that were made among all."""
        return [k for k, move in enumerate(MOVES) if move.name in self._made]

    def open(self, number: int, chain: Chain, past: Past | None = None) -> DrawWriter:
        """Give a writer to a chain that is about to be sampled.

        Parameters
        ----------
        number : int
            Number of the chain.
        chain : Chain
            The chain, warmed up.
        past : Past, optional
            What it has done; its draws were taken up, unless this is a copy in another process.

        Returns
        -------
        DrawWriter
            It writes into the arrays of this recorder, or into its own if this is a copy in
            another process.
        """
        schedule = chain.schedule
        self._made = tuple(move.name for move in MOVES if getattr(schedule, move.setting))
        arrays, place, to_tell = self._arrays, number, None
        if arrays is None:  # this is a copy in another process
            arrays, place, to_tell = self._make_arrays(1), 0, self._made
        own = {name: values[place] for name, values in arrays.items()}
        if past is not None and to_tell is not None:
            self._take_up(number, past, own)
        length = self._lengths[number : number + 1]
        return DrawWriter(chain, self.audit, own, length, to_tell, number, self._bookmarks)

    def receive(self, number: int, parcel: tuple[Arrays, tuple[str, ...], Bookmark | None]) -> None:
        """Take what a writer in another process gave when it was closed.

        Parameters
        ----------
        number : int
            Number of the chain.
        parcel : tuple
            What it gave.
        """
        written, self._made, bookmark = parcel
        if bookmark is not None:
            self._bookmarks[number] = bookmark
        assert self._arrays is not None
        n_draws = len(written["labels"])
        for name, values in written.items():
            self._arrays[name][number, :n_draws] = values
        self._lengths[number] = n_draws

    def lengths(self) -> list[int]:
        """Give how many draws of each chain there are.

        Returns
        -------
        list of int
            The numbers.
        """
        return self._lengths.tolist()

    def finish(self, chains: list[int], n_draws: int) -> Record:
        """Give the first draws of some chains; nothing can be written any more.

        Parameters
        ----------
        chains : list of int
            Numbers of the chains, ascending.
        n_draws : int
            Number of draws.

        Returns
        -------
        Record
            Arrays that are parts of those of the recorder, which gives them away.
        """
        arrays, self._arrays = self._arrays, None
        assert arrays is not None
        # Moved up in place: a copy of all might not fit.
        longest = int(self._lengths[chains].max())
        for values in arrays.values():
            _move_up(values[:, :longest], chains)
        columns = self._columns
        _move_up(np.moveaxis(arrays["acceptance"], -1, 0), columns)
        arrays["acceptance"] = arrays["acceptance"][..., : len(columns)]
        kept = {name: values[: len(chains), :n_draws] for name, values in arrays.items()}
        pasts = {}
        for place, number in enumerate(chains):
            if (bookmark := self._bookmarks.get(number)) is not None:
                own = {name: values[place, : bookmark.n_draws] for name, values in arrays.items()}
                pasts[number] = Past(bookmark, own, self._made)
        return Record(kept, self._made, self.audit.compared, pasts)

    def _kept(self) -> dict[str, tuple[np.dtype[Any], tuple[int, ...]]]:
        """Give type and shape of what is kept of one draw."""
        whole, real = np.dtype(np.int64), np.dtype(np.float64)
        return {
            "labels": (label_type(self.n_labels), (len(self.audit.place_of_row),)),
            "n_clusters": (whole, ()),
            "n_components": (whole, ()),
            "log_likelihood": (real, ()),
            "log_posterior": (real, ()),
            "fairness_gap": (real, ()),
            "group_gaps": (real, (len(self.audit.compared),)),
            "balance": (real, ()),
            "cost": (real, ()),
            "masked_rows": (whole, (self.n_masked,)),
            "acceptance": (real, (len(MOVES),)),
        }

    def _make_arrays(self, n_chains: int) -> Arrays:
        return {
            name: np.empty((n_chains, self.n_kept, *shape), dtype=dtype)
            for name, (dtype, shape) in self._kept().items()
        }


class DrawWriter:
    """Brings the draws of one chain into the user's order, measures them, and keeps them.

    Parameters
    ----------
    chain : Chain
        The chain, warmed up.
    audit : Audit
        What is measured on each draw.
    arrays : dict of str to ndarray
        Where the draws are written.
    length : ndarray of shape (1,)
        Where it is written how many there are.
    moves : tuple of str, optional
        Kinds of moves that the chain makes, if these arrays are not the recorder's.
    number : int
        Number of the chain.
    bookmarks : dict of int to Bookmark
        Where it is written where the chain is; if it is there already, the chain goes on.
    """

    def __init__(
        self,
        chain: Chain,
        audit: Audit,
        arrays: Arrays,
        length: IntArray,
        moves: tuple[str, ...] | None,
        number: int,
        bookmarks: dict[int, Bookmark],
    ) -> None:
        self._chain = chain
        self._number = number
        self._bookmarks = bookmarks
        self._model = chain.model
        self._audit = audit
        self._arrays = arrays
        self._length = length
        self._moves = moves
        # How many draws come at a time depends on the clock, so what is drawn here needs a
        # generator of its own.
        if number in bookmarks:
            generator = bookmarks[number].generator
            assert generator is not None
            self._rng = make_generator(generator)
            self._length[0] = bookmarks[number].n_draws
        else:
            self._rng = chain.rng.spawn(1)[0]

    @property
    def n_draws(self) -> int:
        """Number of draws that are kept."""
        return int(self._length[0])

    def mark(self) -> None:
        """Remember where the chain is, whose draws are all kept: it can go on from here."""
        state = copy.deepcopy(self._rng.bit_generator.state)
        self._bookmarks[self._number] = Bookmark(self._chain.snapshot(), state, self.n_draws)

    def past(self) -> Past:
        """Give what the chain can go on from, as it was when that was last marked.

        Returns
        -------
        Past
            Its draws are views.
        """
        schedule = self._chain.schedule
        columns = [k for k, move in enumerate(MOVES) if getattr(schedule, move.setting)]
        bookmark = self._bookmarks[self._number]
        draws = {name: values[: bookmark.n_draws] for name, values in self._arrays.items()}
        draws["acceptance"] = draws["acceptance"][:, columns]
        return Past(bookmark, draws, tuple(MOVES[k].name for k in columns))

    def write(self, draws: Draws) -> None:
        """Keep some more draws, and draw K given t for each.

        Parameters
        ----------
        draws : Draws
            The draws, rows in internal order.
        """
        model, audit = self._model, self._audit
        n_anchors = model.grouping.n_anchors
        begin = self.n_draws
        end = begin + len(draws.labels)
        labels = self._arrays["labels"][begin:end]
        for draw, raw in enumerate(draws.labels):
            labels[draw] = canonical_labels(raw[audit.place_of_row].astype(np.int64), n_anchors)
        counts = count_groups(labels, audit.group_codes, len(audit.group_names))
        with np.errstate(invalid="ignore"):
            rates = draws.n_accepted / draws.n_proposed
        figures = {
            "n_clusters": draws.n_clusters,
            "n_components": model.partition_prior.draw_components(self._rng, draws.n_clusters),
            "log_likelihood": draws.log_likelihood,
            "log_posterior": draws.log_likelihood + draws.prior_log_density + draws.log_energy,
            "fairness_gap": gap_of_counts(counts, audit.gap_kind),
            "group_gaps": gaps_of_counts(counts, audit.gap_kind),
            "balance": balance_of_counts(counts),
            "cost": audit.cost(labels),
            "masked_rows": np.sort(model.grouping.order[draws.masked_rows], axis=1),
            "acceptance": rates,
        }
        for name, values in figures.items():
            self._arrays[name][begin:end] = values
        self._length[0] = end  # last, so that an interrupt leaves whole draws only

    def close(self) -> tuple[Arrays, tuple[str, ...], Bookmark | None] | None:
        """Give what the recorder must be told to have these draws; None if it has them.

        Returns
        -------
        tuple or None
            What :meth:`DrawRecorder.receive` takes.
        """
        if self._moves is None:
            return None
        arrays = {name: values[: self.n_draws] for name, values in self._arrays.items()}
        return arrays, self._moves, self._bookmarks.get(self._number)


def _move_up(values: NDArray[Any], places: list[int]) -> None:
    """Move what is at these ascending places of the first axis to its beginning."""
    for place, number in enumerate(places):
        if place < number:
            values[place] = values[number]


def label_type(n_labels: int) -> np.dtype[np.unsignedinteger]:
    """Give the smallest unsigned type that holds so many labels.

    Parameters
    ----------
    n_labels : int
        Number of labels, from 0 on.

    Returns
    -------
    dtype
        The type.
    """
    return np.dtype(np.min_scalar_type(max(n_labels - 1, 0)))


def canonical_labels(labels: IntArray, n_identifiers: int) -> IntArray:
    """Renumber clusters: 0 is the largest, ties by their first row.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Cluster identifiers from 0 to ``n_identifiers - 1``.
    n_identifiers : int
        Number of possible identifiers.

    Returns
    -------
    ndarray of shape (n_rows,)
        Canonical labels.
    """
    n_rows = len(labels)
    sizes = np.bincount(labels, minlength=n_identifiers)
    first_row = np.full(n_identifiers, n_rows)
    first_row[labels[::-1]] = np.arange(n_rows)[::-1]  # the last one written stays
    rank = np.empty(n_identifiers, dtype=np.int64)
    rank[np.lexsort((first_row, -sizes))] = np.arange(n_identifiers)
    return rank[labels]
