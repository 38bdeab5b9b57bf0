"""Chains on tiny problems, made of the same parts as in ``fit``."""

import math

import numpy as np

from fairmix.families import (
    Bernoulli,
    Categorical,
    Exponential,
    Gaussian,
    GaussianFull,
    GaussianSpherical,
    GaussianTied,
    Poisson,
    Product,
    SkewNormal,
    StudentT,
)
from fairmix.model.cap import make_cap
from fairmix.model.distances import euclidean, hamming
from fairmix.model.grouping import Grouping
from fairmix.model.model import Model
from fairmix.model.partition_prior import Geometric, PartitionPrior
from fairmix.sampler.arrays import Start
from fairmix.sampler.chain import Chain
from fairmix.sampler.schedule import make_schedule
from fairmix.tables.groups import Groups
from tests.exact.enumeration import TinyProblem, canonical
from tests.exact.marginals import MIXED_COLUMNS, VARIANCE

NO_DEALS = {"split_merge_proposals": 0, "redeal_proposals": 0, "partial_redeal_proposals": 0}
FAMILIES = {
    "gaussian": Gaussian(),
    "bernoulli": Bernoulli(),
    "categorical": Categorical(),
    "gaussian-spherical": GaussianSpherical(),
    "gaussian-tied": GaussianTied(),
    "gaussian-tied, given": GaussianTied(VARIANCE),
    "gaussian-full": GaussianFull(),
    "poisson": Poisson(),
    "exponential": Exponential(),
    "student-t": StudentT(),
    "skew-normal": SkewNormal(),
}
FAMILIES["mixed"] = Product(tuple(FAMILIES[name] for name in MIXED_COLUMNS))
#: Families whose sampler differs from another one's by the likelihood alone, which has tests of its
#: own. Each takes minutes to compile, so only ``make test-all`` samples them.
MORE_FAMILIES = (
    "gaussian-spherical",
    "gaussian-full",
    "poisson",
    "exponential",
    "student-t",
    "skew-normal",
)


def cap_on(grouping, max_gap=math.inf, min_balance=0.0, gap_kind="paper"):
    """Make a cap on these groups, rows in internal order."""
    groups = Groups(list(grouping.names), grouping.group_of)
    return make_cap([groups], min(max_gap, 1.0), min_balance, gap_kind)


def make_model(problem: TinyProblem, family=None) -> Model:
    """Make the model; another family may stand for the problem's, if it is the same one."""
    rows = np.array(problem.rows, dtype=float)
    sizes = np.array(problem.sizes)
    grouping = Grouping(
        names=tuple(range(len(sizes))),
        order=np.arange(len(rows)),
        group_start=np.concatenate([[0], np.cumsum(sizes)]),
    )
    extra = None
    if problem.extra is not None:
        extra = np.zeros((len(sizes), sizes[0]), dtype=bool)
        for group, anchors in enumerate(problem.extra, start=1):
            extra[group, list(anchors)] = True
    is_category = problem.family in ("bernoulli", "categorical")
    return Model(
        rows=rows,
        family=(family or FAMILIES[problem.family.removesuffix(", missing")]).prepare(rows),
        distance=hamming(rows) if is_category else euclidean(np.nan_to_num(rows)),
        grouping=grouping,
        extra=extra,
        n_masked=np.array((0, *problem.n_masked) if problem.n_masked else [0] * len(sizes)),
        temperature=problem.temperature,
        partition_prior=PartitionPrior(
            problem.n_anchors, problem.concentration, Geometric(problem.success_prob)
        ),
        cap=make_cap(
            [Groups(list(range(max(codes) + 1)), np.array(codes)) for codes in problem.attributes]
            or [Groups(list(grouping.names), grouping.group_of)],
            min(problem.max_gap, 1.0),
            problem.min_balance,
            problem.gap_kind,
        ),
    )


def make_chain(problem: TinyProblem, start_state, seed: int, family=None, **schedule) -> Chain:
    """Make a chain at an enumerated state; ``schedule`` replaces entries of the sweep's."""
    model = make_model(problem, family)
    labels, match, mask, free = start_state
    free_match = np.zeros(model.grouping.n_rows, dtype=np.int64)
    free_match[sorted(mask)] = free
    start = Start(
        labels=np.array(labels),
        match=np.array([*range(problem.n_anchors), *match]),
        masked_rows=np.array(sorted(mask), dtype=np.int64),
        free_match=free_match,
    )
    full = make_schedule(model)._replace(**schedule)
    chain = Chain(model, start, full, np.random.default_rng(seed))
    chain.likelihood.power[0] = problem.power
    chain.price_cap(problem.cap_price)
    return chain


def only(**schedule) -> dict:
    """Give a schedule with all moves off but these."""
    off = dict.fromkeys(
        (
            "follower_swaps",
            "anchor_swaps",
            "extra_moves",
            "mask_passes",
            "free_match_passes",
            "mask_changes",
            "joint_proposals",
            "rematch_passes",
            "gibbs_passes",
        ),
        0,
    )
    return off | NO_DEALS | {"rounds": 1} | schedule


def read_state(chain: Chain):
    """Read the chain's state as an enumerated state."""
    state, n_anchors = chain.state, chain.model.grouping.n_anchors
    labels = canonical(chain.row_labels[:n_anchors].tolist())
    match = tuple(chain.match[n_anchors:].tolist())
    masked = np.flatnonzero(state.masked)
    free = tuple(state.anchor_at[state.free_slot[masked]].tolist())
    return labels, match, frozenset(masked.tolist()), free


def canonical_codes(labels):
    return np.unique(labels, return_inverse=True)[1]


def check_totals(cap, state, counts):
    """Assert that the sums over clusters are what the counts say."""
    for column, other in enumerate(cap.reference):
        crossed = cap.sizes[other] * counts[:, column] - cap.sizes[column] * counts[:, other]
        assert state.imbalance[column] == np.abs(crossed).sum()
    for grouping, (p, q, s) in enumerate(cap.balance_of if cap.has_balance else ()):
        own = counts[:, cap.first[grouping] : cap.first[grouping + 1]]
        lack = np.maximum(p * own.max(axis=1) + s - q * own.min(axis=1), 0)
        assert state.lack[grouping] == lack.sum()


def check_invariants(chain: Chain) -> None:
    """Assert everything that must hold after any move."""
    model, state = chain.model, chain.state
    grouping, layout = model.grouping, chain.layout
    match = chain.match
    assert np.array_equal(np.sort(state.anchor_at), np.arange(grouping.n_anchors))
    assert np.array_equal(match[: grouping.n_anchors], np.arange(grouping.n_anchors))
    for group in range(1, grouping.n_groups):
        rows = grouping.rows_of(group)
        capacity = np.bincount(match[rows], minlength=grouping.n_anchors)
        over = capacity - grouping.multiplicity[group]
        if model.extra is None:
            assert set(over) <= {0, 1}
        else:
            assert np.array_equal(over, model.extra[group])
        filled = (state.row_at >= 0).reshape(-1)[layout.seat_start[group] :]
        filled = filled[: grouping.n_anchors * layout.seats_per_slot[group]]
        assert filled.sum() == len(rows)
        n_masked = state.n_masked[group]
        assert n_masked >= model.n_masked[group]
        if chain.warmth.mask_price == math.inf and chain.schedule.mask_changes == 0:
            assert n_masked == model.n_masked[group]
        order = state.mask_order[rows]
        assert np.array_equal(np.sort(order), rows)
        assert state.masked[order[:n_masked]].all()
        assert not state.masked[order[n_masked:]].any()
        seats = state.seat_of[rows]
        assert np.array_equal(state.row_at[seats], rows)
        slots = (seats - layout.seat_start[group]) // layout.seats_per_slot[group]
        assert np.array_equal(slots, state.slot_of[rows])
    assert not state.masked[: grouping.n_anchors].any()
    counts = model.cap.counts_of(canonical_codes(chain.row_labels))
    assert model.cap.allows(counts) or model.may_leave_cap
    n_clusters = state.n_clusters[0]
    present = np.sort(state.active[:n_clusters])
    if state.cluster_rows.any():  # it has made a sweep
        home = chain.row_labels == present[:, None]
        assert np.array_equal(state.cluster_rows[present], home.sum(axis=1))
        stats = home.astype(float) @ model.row_stats
        assert np.allclose(state.cluster_stats[present], stats, rtol=1e-9, atol=1e-9)
    if model.cap.is_tight and state.cluster_groups.any():
        assert np.array_equal(state.cluster_groups[present], counts)
        check_totals(model.cap, state, counts)
    assert set(state.active[:n_clusters]) == set(state.labels)
    assert np.array_equal(state.place[state.active], np.arange(grouping.n_anchors))
