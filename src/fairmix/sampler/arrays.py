"""The arrays of compiled code, made from a model and a start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.families import is_conjugate
from fairmix.model.model import Model
from fairmix.sampler.kernels.collapsed import Collapsed
from fairmix.sampler.kernels.deal import Deal
from fairmix.sampler.kernels.instantiated import Instantiated
from fairmix.sampler.kernels.moves import MOVES
from fairmix.sampler.kernels.state import Layout, PartitionTables, State, Workspace
from fairmix.sampler.kernels.sweep import Draws

IntArray = NDArray[np.int64]

#: Partners of a swap are among so many next rows of the group; what they need fits in a cache.
SWAP_REACH = 1000
#: A launch looks at about so many rows, and at all of them in its last round.
MAX_LAUNCHED = 200
#: Where chains may leave the cap, a gap of one row costs so much (log) before anything is known.
FIRST_PRICE = 2.0
#: Auxiliary parameters of Algorithm 8.
N_AUXILIARY = 3


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


def make_layout(model: Model) -> Layout:
    """Make the layout: seats are numbered and slots sorted by their capacities."""
    grouping = model.grouping
    width = grouping.multiplicity + (grouping.remainder > 0)
    if grouping.n_groups == 1:  # rows change places within their groups
        class_of = np.unique(model.cap.columns, axis=0, return_inverse=True)[1]
        class_of = class_of.reshape(-1).astype(np.int64)
    elif model.extra is None:  # anchors may change places with all others
        class_of = np.zeros(grouping.n_anchors, dtype=np.int64)
    else:
        class_of = np.unique(model.extra.T, axis=0, return_inverse=True)[1]
        class_of = class_of.reshape(-1).astype(np.int64)
    sizes = np.bincount(class_of)
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
        cap=model.cap,
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
        cluster_groups=np.zeros((n_anchors, model.cap.n_columns), dtype=np.int64),
        bundle_groups=np.zeros((n_anchors, model.cap.n_columns), dtype=np.int64),
        imbalance=np.zeros(model.cap.n_columns - 1, dtype=np.int64),
        lack=np.zeros(len(model.cap.largest), dtype=np.int64),
        cap_price=np.full(1, FIRST_PRICE * n_rows if model.may_leave_cap else np.inf),
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
        saved_groups=np.zeros((10, model.cap.n_columns), dtype=np.int64),
        n_saved=np.zeros(1, dtype=np.int64),
        log_allowance=np.zeros(1),
        joined_groups=np.zeros(model.cap.n_columns, dtype=np.int64),
        added=np.zeros(model.cap.n_columns, dtype=np.int64),
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
        loose_end=np.zeros(n_groups + 1, dtype=np.int64),
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
        half_groups=np.zeros((2, model.cap.n_columns), dtype=np.int64),
        price=np.zeros(model.cap.n_columns),
        price_range=np.zeros((model.cap.n_columns, 2)),
        expected=np.zeros((model.cap.n_columns, 3)),
        room=np.zeros((model.cap.n_columns, 2), dtype=np.int64),
        to_come=np.zeros((model.cap.n_columns, 2)),
        pricing=np.zeros(2),
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
        n_written=np.empty(1, dtype=np.int64),
    )


def with_own_arrays(family: Any) -> Any:
    """Copy a family, arrays and all: chains in threads must not share room to work in."""
    return family._replace(
        **{
            name: with_own_arrays(part) if hasattr(part, "_fields") else part.copy()
            for name, part in zip(family._fields, family, strict=True)
            if hasattr(part, "_fields") or isinstance(part, np.ndarray)
        }
    )


def shared_of(family: Any) -> NDArray[np.float64]:
    """Give the parameters that all clusters of a family share, empty if there are none."""
    if "shared" in family._fields:
        return np.asarray(family.shared)
    parts = [shared_of(part) for part in family if hasattr(part, "_fields")]
    return next((shared for shared in parts if shared.size), np.empty(0))


def make_likelihood(model: Model) -> Collapsed | Instantiated:
    """Make a chain's own likelihood: it holds parameters, and room to work in."""
    n_rows, n_anchors = model.grouping.n_rows, model.grouping.n_anchors
    family = with_own_arrays(model.family)
    if is_conjugate(family):
        return Collapsed(
            family=family,
            power=np.ones(1),
            shared=shared_of(family),
            shared_log_prior=np.zeros(1),
            counts=np.zeros(n_anchors),
            stats=np.zeros((n_anchors, model.row_stats.shape[1])),
        )
    n_columns = model.rows.shape[1]
    n_parameters = family.n_parameters(n_columns)
    n_blocks = n_columns if getattr(family, "columns_are_independent", False) else 1
    block_size, left = divmod(n_parameters, n_blocks)
    if left:
        raise ValueError(
            f"family: {type(family).__name__} says that columns are independent, but its "
            f"{n_parameters} parameters are no multiple of the {n_columns} columns."
        )
    return Instantiated(
        family=family,
        stand_in=with_own_arrays(model.stand_in),
        rows=model.rows,
        n_blocks=n_blocks,
        power=np.ones(1),
        parameters=np.zeros((n_anchors, n_parameters)),
        auxiliaries=np.zeros((N_AUXILIARY, n_parameters)),
        auxiliary_log_density=np.zeros(N_AUXILIARY),
        auxiliary_log_weights=np.zeros(N_AUXILIARY),
        has_begun=np.zeros(1, dtype=bool),
        adapts=np.zeros(1, dtype=bool),
        widths=np.ones(n_parameters),
        reference=np.zeros(n_parameters),
        proposed=np.zeros((2, n_parameters)),
        proposed_log_density=np.zeros(2),
        centre=np.zeros(n_parameters),
        factors=np.zeros((n_blocks, block_size, block_size)),
        step=np.zeros(block_size),
        above=np.zeros(block_size),
        first_listed=np.zeros(n_anchors + 1, dtype=np.int64),
        listed=np.zeros(n_rows, dtype=np.int64),
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
