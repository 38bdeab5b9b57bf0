"""One chain: a state that moves, and can be kept."""

from __future__ import annotations

import copy
import math
import operator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.model.model import Model
from fairmix.sampler.arrays import (
    Start,
    make_deal,
    make_draws,
    make_layout,
    make_likelihood,
    make_partition_tables,
    make_state,
    make_workspace,
)
from fairmix.sampler.compilation import link, pack, run_sweeps
from fairmix.sampler.kernels.instantiated import Instantiated
from fairmix.sampler.kernels.moves import Schedule
from fairmix.sampler.kernels.sweep import Draws
from fairmix.sampler.past import check_state, make_generator
from fairmix.sampler.schedule import relax_schedule

IntArray = NDArray[np.int64]

#: Where a chain may go outside the cap, a draw waits for so many sweeps at most; then the price of
#: being outside is multiplied by this, and it waits again.
MAX_WAITING, WAITED_FACTOR = 100, 2.0


@dataclass
class Warmth:
    """Where the warm-up is: part of what a chain carries."""

    n_done: int = 0  # sweeps of the warm-up
    power: float = 1.0  # of the likelihood
    adapts: bool = False  # whether widths of the slice sampler are adapted
    mask_price: float = math.inf  # what a row costs that is masked beyond the model
    next_price: float = math.nan  # the next one to try, or the one from which it rises
    rise_began: int = -1  # the sweep from which on the price rises evenly


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
        self.warmth = Warmth()
        self.rng = rng
        self.layout = make_layout(model)
        self.tables = make_partition_tables(model)
        self.state = make_state(model, self.layout, start)
        self.likelihood = make_likelihood(model)
        self.work = make_workspace(model)
        self.deal = make_deal(model)
        self._packed_parts: list[Any] = []
        self._packed_kept: dict[str, Any] = {}

    @property
    def _packed(self) -> dict[str, Any]:
        """All that stays in place, as kernels take it; packed anew if something was replaced."""
        fixed = ("layout", "tables", "state", "work", "deal")
        parts = [getattr(self, name) for name in (*fixed, "likelihood")]
        if not self._packed_parts or any(map(operator.is_not, parts, self._packed_parts)):
            self._packed_parts = parts
            packed = {name: pack(getattr(self, name)) for name in fixed}
            packed["distance"] = pack(self.model.distance)
            others = (packed["state"], packed["work"], packed["deal"])
            packed["likelihood"] = link(self.likelihood, self.rng, self.model.row_stats, *others)
            self._packed_kept = packed
        return self._packed_kept

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
        draws.n_written[0] = 0
        packed = self._packed
        while True:
            run_sweeps(
                self.rng,
                packed["likelihood"],
                packed["distance"],
                packed["layout"],
                packed["tables"],
                pack(self._schedule_now),
                self.model.row_stats,
                packed["state"],
                packed["work"],
                packed["deal"],
                pack(draws),
                sweeps_per_draw,
                n_draws,
            )
            if draws.n_written[0] == n_draws:
                return draws
            self.price_cap(WAITED_FACTOR * self.cap_price)

    def snapshot(self) -> dict[str, Any]:
        """Give all that the chain carries from sweep to sweep.

        Everything else is fixed by the model, or room to work in. A chain of the same model and
        schedule that takes it up (:meth:`restore`) goes on exactly as this one.

        Returns
        -------
        dict
            Copies of arrays by name, the generator's state and the seed that others are spawned
            from, and where the warm-up is.
        """
        seed: Any = self.rng.bit_generator.seed_seq
        return {
            "state": {name: getattr(self.state, name).copy() for name in self.state.carried},
            "likelihood": {
                name: getattr(self.likelihood, name).copy() for name in self.likelihood.carried
            },
            "generator": copy.deepcopy(self.rng.bit_generator.state),
            "seed": seed.state,
            "warmth": asdict(self.warmth),
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Take up what another chain of the same model carried.

        Parameters
        ----------
        snapshot : dict
            What its :meth:`snapshot` gave.

        Raises
        ------
        ValueError
            If its arrays have other names or shapes.
        """
        parts = {part: (getattr(self, part), snapshot[part]) for part in ("state", "likelihood")}
        for part, (own, arrays) in parts.items():
            wanted = {name: getattr(own, name).shape for name in own.carried}
            shapes = {name: np.shape(values) for name, values in arrays.items()}
            if shapes != wanted:
                raise ValueError(
                    f"snapshot: the {part} has arrays of the shapes {shapes}, but this chain needs "
                    f"{wanted}; restore it in a chain of the model that it was taken of."
                )
        check_state(self.state, snapshot["state"])
        for own, arrays in parts.values():
            for name, values in arrays.items():
                getattr(own, name)[...] = values
        self.rng = make_generator(snapshot["generator"], snapshot["seed"])
        self.warmth = Warmth(**snapshot["warmth"])
        self._set_warmth(self.warmth.power, self.warmth.adapts)

    @property
    def _schedule_now(self) -> Schedule:
        """The schedule, with the moves of a relaxed warm-up while it lasts."""
        if self.warmth.mask_price < math.inf:
            return relax_schedule(self.schedule, self.model, self.warmth.mask_price)
        if self.model.may_leave_cap and not self.warmth.adapts:
            return self.schedule._replace(max_waiting=MAX_WAITING)
        return self.schedule

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
        self.warmth.mask_price = mask_price
        if mask_price == math.inf:
            state, wanted = self.state, self.layout.n_masked
            for group, first in enumerate(self.layout.group_start[:-1]):
                returned = state.mask_order[first + wanted[group] : first + state.n_masked[group]]
                state.masked[returned] = False
            state.n_masked[:] = wanted

    @property
    def may_leave_cap(self) -> bool:
        """Whether the state may be outside the cap, at a price."""
        return self.model.may_leave_cap

    @property
    def price_of_row(self) -> float:
        """The price at which a gap of one row costs 1 in log posterior."""
        return float(self.model.grouping.n_rows)

    @property
    def cap_price(self) -> float:
        """What an excess of 1 over the cap costs in log posterior."""
        return float(self.state.cap_price[0])

    def price_cap(self, price: float) -> None:
        """Warm up: let the state be outside the cap at a price, from now on.

        Parameters
        ----------
        price : float
            What an excess of 1 costs in log posterior.
        """
        self.state.cap_price[0] = price

    @property
    def is_inside(self) -> bool:
        """Whether the state obeys the cap."""
        cap, labels = self.model.cap, self.row_labels
        return cap.allows(cap.counts_of(np.unique(labels, return_inverse=True)[1]))

    def _set_warmth(self, power: float, adapts: bool) -> None:
        self.warmth.power, self.warmth.adapts = power, adapts
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
