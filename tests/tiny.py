"""Chains on tiny problems, made of the same parts as in ``fit``."""

import math

import numpy as np

from fairmix.cap import Cap
from fairmix.chain import Chain, Start
from fairmix.distances import Euclidean, Hamming
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
from fairmix.matching import Grouping
from fairmix.metrics import balance_of_counts, count_groups, gap_of_counts
from fairmix.model import Model
from fairmix.partition import Geometric, PartitionPrior
from fairmix.schedule import make_schedule
from tests.exact.enumeration import TinyProblem, canonical
from tests.exact.marginals import MIXED_COLUMNS, VARIANCE

NO_DEALS = {"split_merge_proposals": 0, "redeal_proposals": 0, "exchange_proposals": 0}
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
        distance=Hamming(rows) if is_category else Euclidean(np.nan_to_num(rows)),
        grouping=grouping,
        extra=extra,
        n_masked=np.array((0, *problem.n_masked) if problem.n_masked else [0] * len(sizes)),
        temperature=problem.temperature,
        partition_prior=PartitionPrior(
            problem.n_anchors, problem.concentration, Geometric(problem.success_prob)
        ),
        cap=Cap(problem.max_gap, problem.min_balance),
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
    return Chain(model, start, full, np.random.default_rng(seed))


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
        if chain.mask_price == math.inf and chain.schedule.mask_changes == 0:
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
    if grouping.n_groups > 1:
        counts = count_groups(
            canonical_codes(chain.row_labels), grouping.group_of, grouping.n_groups
        )
        assert model.cap.allows(gap_of_counts(counts), balance_of_counts(counts))
    n_clusters = state.n_clusters[0]
    if model.cap.is_tight and state.cluster_groups.any():
        for cluster in state.active[:n_clusters]:
            groups = grouping.group_of[chain.row_labels == cluster]
            counted = np.bincount(groups, minlength=grouping.n_groups)
            assert np.array_equal(state.cluster_groups[cluster], counted)
    assert set(state.active[:n_clusters]) == set(state.labels)
    assert np.array_equal(state.place[state.active], np.arange(grouping.n_anchors))
