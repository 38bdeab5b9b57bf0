"""One chain: the arrays of the compiled sampler, made from a model and a start."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.compilation import classes_of, compiled_sweeps
from fairmix.kernels.instantiated import Instantiated
from fairmix.kernels.launch import Deal
from fairmix.kernels.state import Layout, PartitionTables, Schedule, State, Workspace
from fairmix.kernels.sweep import MOVES, Draws
from fairmix.likelihood import make_likelihood
from fairmix.model import Model
from fairmix.schedule import relax_schedule

IntArray = NDArray[np.int64]

#: Partners of a swap are among so many next rows of the group; what they need fits in a cache.
SWAP_REACH = 1000
#: A launch looks at about so many rows, and at all of them in its last round.
MAX_LAUNCHED = 200


@dataclass(frozen=True)
class Start:
    """Where a chain starts, in internal rows.

    Attributes
    ----------
    labels : ndarray of shape (n_anchors,)
        Label of each anchor.
    match : ndarray of shape (n_rows,)
        Anchor of each row; anchors have themselves.
    masked_rows : ndarray
        Rows that are masked.
    free_match : ndarray of shape (n_rows,)
        Anchor of each row if it is masked.
    """

    labels: IntArray
    match: IntArray
    masked_rows: IntArray
    free_match: IntArray


class Chain:
    """A Markov chain on partitions and matchings.

    Parameters
    ----------
    model : Model
        What is sampled.
    start : Start
        The first state.
    schedule : Schedule
        How often each move is made in a sweep.
    rng : numpy.random.Generator
        The chain's own source of randomness.
    """

    def __init__(
        self, model: Model, start: Start, schedule: Schedule, rng: np.random.Generator
    ) -> None:
        self.model = model
        self.schedule = schedule
        self.mask_price = math.inf
        self.rng = rng
        self.layout = make_layout(model)
        self.tables = make_partition_tables(model)
        self.state = make_state(model, self.layout, start)
        self.likelihood = make_likelihood(model)
        self._work = make_workspace(model)
        self.deal = make_deal(model)
        self._run = compiled_sweeps(classes_of(self.likelihood), classes_of(model.distance))

    def run(self, n_draws: int, sweeps_per_draw: int = 1) -> Draws:
        """Make sweeps and give a draw after every ``sweeps_per_draw`` of them.

        Parameters
        ----------
        n_draws : int
            Number of draws.
        sweeps_per_draw : int, default=1
            Sweeps between draws.

        Returns
        -------
        Draws
            The draws, rows in internal order, labels not canonical.
        """
        draws = make_draws(self.model, n_draws)
        self._run(
            self.rng,
            self.likelihood,
            self.model.distance,
            self.layout,
            self.tables,
            self._schedule_now,
            self.model.row_stats,
            self.state,
            self._work,
            self.deal,
            draws,
            sweeps_per_draw,
            n_draws,
        )
        return draws

    @property
    def _schedule_now(self) -> Schedule:
        """The schedule, with the moves of a relaxed warm-up while it lasts."""
        if self.mask_price == math.inf:
            return self.schedule
        return relax_schedule(self.schedule, self.model, self.mask_price)

    def heat(self, power: float) -> None:
        """Warm up: raise the likelihood to a power and adapt what can be, from now on.

        Parameters
        ----------
        power : float
            The power.
        """
        self._set_warmth(power, True)

    def cool(self) -> None:
        """End the warm-up: sample the posterior itself, and adapt nothing any more."""
        self._set_warmth(1.0, False)

    @property
    def can_relax(self) -> bool:
        """Whether more rows may be masked for a while.

        Not under a cap, which they might leave on their return, nor with the paper's joint step.
        """
        return self.schedule.follower_swaps > 0 and not self.model.cap.is_tight

    @property
    def relaxed_share(self) -> float:
        """Share of the followers that are masked beyond the model now."""
        n_relaxed = int(np.sum(self.state.n_masked - self.layout.n_masked))
        return n_relaxed / (self.model.grouping.n_rows - self.model.grouping.n_anchors)

    def relax(self, mask_price: float) -> None:
        """Warm up: let any rows be masked at a price, from now on.

        Parameters
        ----------
        mask_price : float
            What a masked row costs in log posterior. If it is infinite, all rows that are masked
            beyond the model return to their seats.
        """
        self.mask_price = mask_price
        if mask_price == math.inf:
            state, wanted = self.state, self.layout.n_masked
            for group, first in enumerate(self.layout.group_start[:-1]):
                returned = state.mask_order[first + wanted[group] : first + state.n_masked[group]]
                state.masked[returned] = False
            state.n_masked[:] = wanted

    def _set_warmth(self, power: float, adapts: bool) -> None:
        self.likelihood.power[0] = power
        if isinstance(self.likelihood, Instantiated):
            self.likelihood.adapts[0] = adapts

    @property
    def match(self) -> IntArray:
        """The matching map of the current state: the anchor of each internal row."""
        return self.state.anchor_at[self.state.slot_of]

    @property
    def row_labels(self) -> IntArray:
        """The label of each internal row in the current state."""
        state = self.state
        return state.labels[np.where(state.masked, state.free_slot, state.slot_of)]


def make_layout(model: Model) -> Layout:
    """Make the layout: seats are numbered and slots sorted by their capacities."""
    grouping = model.grouping
    width = grouping.multiplicity + (grouping.remainder > 0)
    if model.extra is None:  # anchors may change places with all others
        class_of = np.zeros(grouping.n_anchors, dtype=np.int64)
    else:
        class_of = np.unique(model.extra.T, axis=0, return_inverse=True)[1]
        class_of = class_of.reshape(-1).astype(np.int64)
    sizes = np.bincount(class_of)
    gap_weight = 1.0 / (2.0 * grouping.n_anchors * grouping.sizes * max(grouping.n_groups - 1, 1))
    gap_weight[0] = 0.0
    class_slots = np.argsort(class_of, kind="stable")
    return Layout(
        group_start=grouping.group_start.astype(np.int64),
        group_of=grouping.group_of.astype(np.int64),
        seat_start=np.concatenate([[0], np.cumsum(width * grouping.n_anchors)[:-1]]),
        seats_per_slot=width.astype(np.int64),
        n_masked=model.n_masked.astype(np.int64),
        energy_weight=model.energy_weight,
        class_of=class_of,
        class_start=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        class_slots=class_slots,
        class_place=np.argsort(class_slots),
        swap_reach=SWAP_REACH,
        has_free_extra=(grouping.remainder > 0) & (model.extra is None),
        is_capped=model.cap.is_tight,
        gap_weight=gap_weight,
        largest_gap=model.cap.largest_gap,
        least_balance=model.cap.least_balance,
    )


def make_partition_tables(model: Model) -> PartitionTables:
    """Tabulate the prior on partitions for the compiled sampler."""
    prior = model.partition_prior
    sizes = np.arange(model.grouping.n_anchors + 1)
    log_open = np.concatenate([np.log(prior.concentration) + prior.log_ratio, [-np.inf]])
    return PartitionTables(
        log_v=prior.log_v,
        log_join=np.log(sizes + prior.concentration),
        log_open=log_open,
        log_rising=prior.log_rising(sizes),
    )


def make_state(model: Model, layout: Layout, start: Start) -> State:
    """Seat the rows and number the clusters; statistics follow with the first sweep."""
    grouping = model.grouping
    n_rows, n_anchors = grouping.n_rows, grouping.n_anchors
    n_stats = model.row_stats.shape[1]
    row_at = np.full(int(np.sum(layout.seats_per_slot)) * n_anchors, -1)
    seat_of = np.full(n_rows, -1)
    mask_order = np.arange(n_rows)
    masked = np.zeros(n_rows, dtype=bool)
    masked[start.masked_rows] = True
    for group in range(1, grouping.n_groups):
        rows = grouping.rows_of(group)
        by_slot = rows[np.argsort(start.match[rows], kind="stable")]
        slots = start.match[by_slot]
        first_in_slot = np.searchsorted(slots, slots)
        seats = layout.seat_start[group] + slots * layout.seats_per_slot[group]
        seats += np.arange(len(rows)) - first_in_slot
        row_at[seats] = by_slot
        seat_of[by_slot] = seats
        mask_order[rows] = np.concatenate([rows[masked[rows]], rows[~masked[rows]]])
    _, labels = np.unique(start.labels, return_inverse=True)
    return State(
        labels=labels.astype(np.int64),
        anchor_at=np.arange(n_anchors),
        row_at=row_at,
        slot_of=start.match.astype(np.int64),
        seat_of=seat_of,
        masked=masked,
        n_masked=model.n_masked.astype(np.int64),
        mask_order=mask_order,
        free_slot=start.free_match.astype(np.int64),
        active=np.arange(n_anchors),
        place=np.arange(n_anchors),
        n_clusters=np.array([labels.max() + 1], dtype=np.int64),
        cluster_slots=np.zeros(n_anchors, dtype=np.int64),
        cluster_rows=np.zeros(n_anchors, dtype=np.int64),
        cluster_stats=np.zeros((n_anchors, n_stats)),
        cluster_log_likelihood=np.zeros(n_anchors),
        bundle_rows=np.zeros(n_anchors, dtype=np.int64),
        bundle_stats=np.zeros((n_anchors, n_stats)),
        cluster_groups=np.zeros((n_anchors, grouping.n_groups), dtype=np.int64),
        bundle_groups=np.zeros((n_anchors, grouping.n_groups), dtype=np.int64),
        imbalance=np.zeros(grouping.n_groups, dtype=np.int64),
    )


def make_workspace(model: Model) -> Workspace:
    """Make room for one proposal: at most five rows, thus ten clusters."""
    n_anchors, n_stats = model.grouping.n_anchors, model.row_stats.shape[1]
    n_groups = model.grouping.n_groups
    return Workspace(
        stats=np.zeros(n_stats),
        log_weights=np.zeros(n_anchors + 1),
        candidates=np.zeros(n_anchors + 1),
        saved_cluster=np.zeros(10, dtype=np.int64),
        saved_rows=np.zeros(10, dtype=np.int64),
        saved_stats=np.zeros((10, n_stats)),
        saved_log_likelihood=np.zeros(10),
        saved_groups=np.zeros((10, n_groups), dtype=np.int64),
        n_saved=np.zeros(1, dtype=np.int64),
        label_start=np.zeros(n_anchors, dtype=np.int64),
        slots_by_label=np.zeros(n_anchors, dtype=np.int64),
        touched_rows=np.zeros(5, dtype=np.int64),
        labels_before=np.zeros(5, dtype=np.int64),
        slots_by_extra=np.zeros((n_groups, n_anchors), dtype=np.int64),
    )


def make_deal(model: Model) -> Deal:
    """Make room to deal all rows into two halves."""
    n_rows, n_anchors = model.grouping.n_rows, model.grouping.n_anchors
    n_groups, n_stats = model.grouping.n_groups, model.row_stats.shape[1]
    return Deal(
        slots=np.zeros(n_anchors, dtype=np.int64),
        rows=np.zeros(n_rows, dtype=np.int64),
        part_start=np.zeros(n_groups + 2, dtype=np.int64),
        free_end=np.zeros(n_groups + 1, dtype=np.int64),
        flexible=np.zeros((n_groups, n_anchors), dtype=bool),
        capacity=np.zeros((n_groups, n_anchors), dtype=np.int64),
        has_extra=np.zeros((n_groups, n_anchors), dtype=bool),
        gets_extra=np.zeros((n_groups, n_anchors), dtype=bool),
        n_extra=np.zeros(n_groups, dtype=np.int64),
        lift=np.zeros((n_groups, n_anchors)),
        in_a=np.zeros(n_rows, dtype=bool),
        preference=np.zeros(n_rows),
        odds=np.zeros(n_rows),
        order=np.zeros(n_rows, dtype=np.int64),
        centre=np.zeros(n_groups),
        border=np.zeros(n_groups),
        stats=np.zeros((2, n_stats)),
        n_rows=np.zeros(2, dtype=np.int64),
        half_groups=np.zeros((2, n_groups), dtype=np.int64),
        joined=np.zeros(n_stats),
        half_slots=np.zeros(n_anchors, dtype=np.int64),
        new_seat=np.zeros(n_rows, dtype=np.int64),
        new_slot=np.zeros(n_rows, dtype=np.int64),
        log_weights=np.zeros(n_anchors + 1),
        max_launched=MAX_LAUNCHED,
    )


def make_draws(model: Model, n_draws: int) -> Draws:
    """Make room for draws."""
    n_masked = int(model.n_masked.sum())
    return Draws(
        labels=np.empty((n_draws, model.grouping.n_rows), dtype=np.int32),
        n_clusters=np.empty(n_draws, dtype=np.int64),
        log_likelihood=np.empty(n_draws),
        prior_log_density=np.empty(n_draws),
        log_energy=np.empty(n_draws),
        masked_rows=np.empty((n_draws, n_masked), dtype=np.int64),
        n_proposed=np.empty((n_draws, len(MOVES)), dtype=np.int64),
        n_accepted=np.empty((n_draws, len(MOVES)), dtype=np.int64),
    )


def initial_start(
    model: Model, labels: IntArray, match: IntArray, rng: np.random.Generator
) -> Start:
    """Complete a start: the mask is drawn from its prior, and so is the free map without a cap.

    Under a cap, the free map starts as the matching, which keeps the start inside.

    Parameters
    ----------
    model : Model
        What is sampled.
    labels : ndarray of shape (n_anchors,)
        Label of each anchor.
    match : ndarray of shape (n_rows,)
        Anchor of each row.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    Start
        The start of a chain.
    """
    grouping = model.grouping
    masked: list[Any] = [
        rng.choice(grouping.rows_of(group), int(model.n_masked[group]), replace=False)
        for group in range(1, grouping.n_groups)
    ]
    return Start(
        labels=labels,
        match=match,
        masked_rows=np.concatenate([np.empty(0, dtype=np.int64), *masked]),
        free_match=match
        if model.cap.is_tight
        else rng.integers(grouping.n_anchors, size=grouping.n_rows),
    )
