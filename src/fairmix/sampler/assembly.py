"""From a problem and settings to a model and its chains: the one place where they are assembled.

All arguments can be pickled (as far as the user's own prior and family can), so that chains may be
made where they run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from fairmix.families import prepare
from fairmix.model.cap import Cap, no_cap, resolve_cap
from fairmix.model.feasible import smallest_gap, smallest_matched_gap
from fairmix.model.grouping import resolve_masks
from fairmix.model.matching import choose_extra, initial_match
from fairmix.model.model import Model
from fairmix.model.partition_prior import PartitionPrior, as_components_prior
from fairmix.model.problem import Problem
from fairmix.sampler.arrays import initial_start
from fairmix.sampler.chain import Chain
from fairmix.sampler.schedule import make_schedule
from fairmix.sampler.start import initial_labels, repair_start, start_of_chain
from fairmix.tables.groups import Groups


@dataclass(frozen=True)
class Settings:
    """What is sampled and how, apart from the data; see :class:`fairmix.FairBayesianClustering`.

    Attributes
    ----------
    extra : str, rows or dict, default="auto"
        Anchors that take an extra follower.
    n_masked : int or dict, default=0
        Rows that are exempt from matching.
    max_gap : float, dict of str to float or None, default=None
        The largest gap, or that of each attribute.
    min_balance : float or None, default=None
        The least balance.
    gap_kind : str, default="paper"
        What the gap is.
    temperature : float, default=1.0
        Of the prior of the matching.
    concentration : float, default=1.0
        Dirichlet parameter of the mixture's weights.
    components_prior : prior, callable or None, default=None
        Prior on the number of components.
    matching_step : str, default="separate"
        How the matching is sampled.
    matching_moves, split_merge_moves : int or "auto", default="auto"
        Proposals a sweep.
    init_match : str, default="transport"
        The first matching.
    init_partition : object, default="auto"
        The first partition of each chain.
    """

    extra: Any = "auto"
    n_masked: Any = 0
    max_gap: Any = None
    min_balance: float | None = None
    gap_kind: str = "paper"
    temperature: float = 1.0
    concentration: float = 1.0
    components_prior: Any = None
    matching_step: str = "separate"
    matching_moves: int | str = "auto"
    split_merge_moves: int | str = "auto"
    init_match: str = "transport"
    init_partition: Any = "auto"

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """Take the settings of an estimator; what it does not have is as usual.

        Parameters
        ----------
        estimator : estimator
            The estimator.

        Returns
        -------
        Settings
            The settings.
        """
        given = estimator.get_params(deep=False)
        return cls(
            **{field.name: given[field.name] for field in fields(cls) if field.name in given}
        )


def make_model(problem: Problem, settings: Settings, rng: np.random.Generator) -> Model:
    """Put data, family and priors together, rows in internal order.

    Parameters
    ----------
    problem : Problem
        What is clustered.
    settings : Settings
        What is sampled.
    rng : numpy.random.Generator
        Chooses the anchors that take an extra follower, once for all chains.

    Returns
    -------
    Model
        The model.
    """
    grouping = problem.enforced
    cap = _make_cap(problem, settings)
    extra = settings.extra
    if isinstance(extra, str) and extra == "auto":
        extra = "free" if cap.is_tight else "random"
    is_free = isinstance(extra, str) and extra == "free"
    ordered = np.ascontiguousarray(problem.units.rows[grouping.order])
    distance = problem.distance()
    return Model(
        rows=ordered,
        family=prepare(problem.family, ordered),
        distance=distance,
        grouping=grouping,
        extra=None if is_free else choose_extra(extra, grouping, distance, rng),
        n_masked=resolve_masks(settings.n_masked, grouping),
        temperature=float(settings.temperature),
        partition_prior=PartitionPrior(
            grouping.n_anchors,
            float(settings.concentration),
            as_components_prior(settings.components_prior),
        ),
        cap=cap,
    )


def _make_cap(problem: Problem, settings: Settings) -> Cap:
    """Give the cap on the groups that may have one."""
    enforced = problem.enforced
    if not problem.capped or (enforced.n_groups > 1 and enforced.n_anchors == 1):
        return no_cap(enforced.n_rows)
    given = settings.max_gap
    every_gap = list(given.values()) if isinstance(given, Mapping) else [given]
    if enforced.n_groups > 1:
        smallest_gaps = [smallest_matched_gap(enforced)]
    else:
        every_size = [groups.counts for groups in problem.capped]
        smallest_gaps = [
            smallest_gap(sizes, settings.gap_kind) if len(sizes) > 1 else 0.0
            for sizes in every_size
        ]
    internal = [Groups(groups.names, groups.codes[enforced.order]) for groups in problem.capped]
    return resolve_cap(internal, every_gap, settings.min_balance, settings.gap_kind, smallest_gaps)


def make_chain(
    model: Model, settings: Settings, seeds: Sequence[np.random.SeedSequence], number: int
) -> Chain:
    """Make one of a fit's chains with its own start.

    Parameters
    ----------
    model : Model
        What is sampled.
    settings : Settings
        How it is sampled.
    seeds : sequence of numpy.random.SeedSequence
        Seed of all that a chain draws, for each chain.
    number : int
        Number of the chain.

    Returns
    -------
    Chain
        The chain, before its first sweep.
    """
    # A copy, so that what is spawned from it does not depend on other calls.
    seed = seeds[number]
    own = np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key, pool_size=seed.pool_size)
    rng = np.random.default_rng(own)
    extra = model.extra
    if extra is None:  # some R to start with
        extra = choose_extra("random", model.grouping, model.distance, rng)
    match = initial_match(settings.init_match, model.grouping, extra, model.distance, rng)
    start = start_of_chain(settings.init_partition, number, model)
    labels = initial_labels(start, model, match, rng)
    labels, match = repair_start(model, labels, match, rng)
    schedule = make_schedule(
        model,
        settings.matching_step,
        None if settings.matching_moves == "auto" else int(settings.matching_moves),
        None if settings.split_merge_moves == "auto" else int(settings.split_merge_moves),
    )
    return Chain(model, initial_start(model, labels, match, rng), schedule, rng)
