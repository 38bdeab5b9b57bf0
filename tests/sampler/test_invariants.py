"""What holds after every move, on problems too large to enumerate, and numerical safety."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fairmix import FairBayesianClustering
from fairmix.families.gaussian_tied import TiedGaussian
from fairmix.metrics import fairness_gap
from fairmix.model.cap import make_cap
from fairmix.model.distances import euclidean, hamming
from fairmix.model.fairness import GAP_KINDS
from fairmix.model.grouping import arrange_groups
from fairmix.model.matching import choose_extra, initial_match
from fairmix.model.model import Model
from fairmix.model.partition_prior import Fixed, Geometric, PartitionPrior, Uniform
from fairmix.sampler.arrays import initial_start
from fairmix.sampler.chain import Chain
from fairmix.sampler.kernels.instantiated import Instantiated
from fairmix.sampler.schedule import make_schedule
from fairmix.sampler.start import repair_start
from fairmix.tables.groups import Groups
from fairmix.tables.units import standardise
from tests.exact.problems import make_rows
from tests.tiny import FAMILIES, MORE_FAMILIES, cap_on, check_invariants, only

NO_CAP: dict = {}
SINGLE_STEPS = {
    "follower swap": only(follower_swaps=30),
    "anchor swap": only(anchor_swaps=30),
    "rematch": only(rematch_passes=2),
    "mask exchange": only(mask_passes=2),
    "free match": only(free_match_passes=2),
    "mask change": only(mask_changes=60, mask_price=1.0),
    "joint": only(joint_proposals=30),
    "gibbs": only(gibbs_passes=1),
    "split-merge": only(split_merge_proposals=10),
    "re-deal": only(redeal_proposals=10),
    "partial re-deal": only(partial_redeal_proposals=10),
    "extra": only(extra_moves=30),
}
# A balance of 0.45 is the largest that is possible with the sizes below.
CAPS = [
    {"max_gap": 0.05},
    {"max_gap": 0.0},
    {"min_balance": 0.3},
    {"min_balance": 0.44},
    {"max_gap": 0.2, "min_balance": 0.1},
]


def make_random_chain(
    family, sizes, n_masked, seed, prior=None, n_columns=3, start=4, extra="random", cap=NO_CAP
):
    rng = np.random.default_rng(seed)
    grouping = arrange_groups(list(range(len(sizes))), np.repeat(np.arange(len(sizes)), sizes))
    rows = np.array(make_rows(family, grouping.n_rows, seed, n_columns), dtype=float)
    distance = (hamming if family in ("bernoulli", "categorical") else euclidean)(rows)
    masks = np.minimum(n_masked, grouping.sizes)
    masks[0] = 0
    model = Model(
        rows=rows,
        family=FAMILIES[family].prepare(rows),
        distance=distance,
        grouping=grouping,
        extra=None if extra == "free" else choose_extra(extra, grouping, distance, rng),
        n_masked=masks,
        temperature=0.3,
        partition_prior=PartitionPrior(grouping.n_anchors, 1.0, prior or Geometric(0.1)),
        cap=cap_on(grouping, **cap),
    )
    first_extra = choose_extra("random", grouping, distance, rng)
    match = initial_match(
        "random", grouping, first_extra if model.extra is None else model.extra, distance, rng
    )
    labels = rng.integers(min(start, grouping.n_anchors), size=grouping.n_anchors)
    labels, match = repair_start(model, labels, match, rng)
    return Chain(model, initial_start(model, labels, match, rng), make_schedule(model), rng)


def log_joint_of(chain):
    """Evaluate the log posterior of a chain's state apart from the kernels, parameters included."""
    model, likelihood, labels = chain.model, chain.likelihood, chain.row_labels
    if isinstance(likelihood, Instantiated):
        joint = replace(model, family=model.stand_in).log_joint(labels, chain.match)
        family, parameters = likelihood.family, likelihood.parameters
        densities = zip(parameters[labels], model.rows, strict=True)
        joint = joint._replace(
            log_likelihood=sum(family.log_density(own, row) for own, row in densities),
            log_prior=joint.log_prior + sum(map(family.log_prior, parameters[np.unique(labels)])),
        )
    else:
        joint = replace(model, family=likelihood.family).log_joint(labels, chain.match)
        if isinstance(model.family, TiedGaussian) and model.family.is_inferred:
            prior = stats.invgamma(model.family.shape, scale=model.family.rate)
            log_prior = joint.log_prior + prior.logpdf(likelihood.shared[0])
            joint = joint._replace(log_prior=log_prior)
    return joint._replace(log_likelihood=likelihood.power[0] * joint.log_likelihood)


def check_draw(chain, draws):
    """Assert that the last draw tells the state's log posterior as the reference does."""
    check_invariants(chain)
    assert draws.n_clusters[-1] == len(np.unique(chain.row_labels))
    reference = log_joint_of(chain)
    assert draws.log_likelihood[-1] == pytest.approx(reference.log_likelihood, rel=1e-9)
    assert draws.prior_log_density[-1] == pytest.approx(reference.log_prior, rel=1e-9)
    assert draws.log_energy[-1] == pytest.approx(reference.log_energy, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("step", list(SINGLE_STEPS))
@pytest.mark.parametrize("family", list(FAMILIES))
def test_every_move_keeps_the_invariants(family, step):
    chain = make_random_chain(family, (9, 14, 20), 4, seed=1)
    chain.schedule = chain.schedule._replace(**SINGLE_STEPS[step])
    for _ in range(30):
        check_draw(chain, chain.run(1))


@pytest.mark.parametrize("step", list(SINGLE_STEPS))
@pytest.mark.parametrize("cap", CAPS)
def test_every_move_keeps_the_cap(cap, step):
    chain = make_random_chain("gaussian", (9, 14, 20), 4, seed=1, extra="free", cap=cap)
    chain.schedule = chain.schedule._replace(**SINGLE_STEPS[step])
    for _ in range(30):
        check_draw(chain, chain.run(1))


@pytest.mark.parametrize("gap_kind", GAP_KINDS)
@pytest.mark.parametrize(
    "step", ["gibbs", "anchor swap", "split-merge", "re-deal", "partial re-deal"]
)
def test_every_move_of_rows_under_a_cap_keeps_the_invariants(step, gap_kind):
    chain = make_random_chain("gaussian", (43,), 0, seed=1, start=3)
    rng = np.random.default_rng(2)
    attributes = [np.sort(rng.integers(n, size=43)) for n in (2, 4)]
    groups = [Groups(list(range(codes.max() + 1)), codes) for codes in attributes]
    cap = make_cap(groups, [0.1, 0.3], 0.1, gap_kind)
    model = replace(chain.model, cap=cap)
    start = initial_start(model, chain.state.labels, np.arange(43), rng)
    chain = Chain(model, start, make_schedule(model), rng)
    chain.schedule = chain.schedule._replace(**SINGLE_STEPS[step])
    chain.warmth.adapts = True  # draws do not wait
    chain.price_cap(20.0)
    for _ in range(30):
        check_draw(chain, chain.run(1))


def arrays_in(value):
    """Give the arrays of a tuple of tuples."""
    if isinstance(value, np.ndarray):
        return [value]
    return [a for part in value for a in arrays_in(part)] if isinstance(value, tuple) else []


@pytest.mark.parametrize("family", list(FAMILIES))
def test_chains_of_a_model_share_no_room_to_work_in(family):
    chain = make_random_chain(family, (9, 14), 0, seed=1)
    start = initial_start(chain.model, chain.state.labels, chain.match, chain.rng)
    other = Chain(chain.model, start, chain.schedule, np.random.default_rng(1))
    for own in (chain.likelihood, other.likelihood):
        assert arrays_in(own.family) or family in ("student-t", "skew-normal", "blobs")
    for array in arrays_in(chain.likelihood.family):
        assert not any(np.shares_memory(array, a) for a in arrays_in(other.likelihood.family))


@pytest.mark.parametrize("n_masked", [0, 4])
@pytest.mark.parametrize("family", list(FAMILIES))
def test_a_relaxed_chain_returns_to_the_model(family, n_masked):
    chain = make_random_chain(family, (9, 14, 20), n_masked, seed=1)
    assert chain.can_relax
    wanted = chain.model.n_masked
    for _ in range(5):
        chain.relax(0.5)
        chain.run(5)
        check_invariants(chain)
        assert 0.0 < chain.relaxed_share <= 1.0
        assert chain.state.n_masked.sum() > wanted.sum()
        chain.relax(np.inf)
        assert chain.relaxed_share == 0.0
        assert np.array_equal(chain.state.n_masked, wanted)
        check_draw(chain, chain.run(1))


def test_no_chain_is_relaxed_under_a_cap():
    assert not make_random_chain("gaussian", (9, 14), 0, 1, extra="free", cap=CAPS[0]).can_relax


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(2, 12), min_size=2, max_size=4),
    n_masked=st.integers(0, 15),
    cap=st.sampled_from([NO_CAP, *CAPS]),
    step=st.sampled_from(["separate", "joint"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_problem_with_free_extra_seats(sizes, n_masked, cap, step, seed):
    if cap.get("min_balance", 0.0) > min(sizes) / max(sizes):
        cap = cap | {"min_balance": min(sizes) / max(sizes)}
    chain = make_random_chain("gaussian", sizes, n_masked, seed, extra="free", cap=cap)
    chain.schedule = make_schedule(chain.model, step, 20)
    check_invariants(chain)
    for _ in range(5):
        check_draw(chain, chain.run(4))


@settings(max_examples=60, deadline=None)
@given(
    family=st.sampled_from([name for name in FAMILIES if name not in MORE_FAMILIES]),
    sizes=st.lists(st.integers(2, 12), min_size=1, max_size=4),
    n_masked=st.integers(0, 15),
    prior=st.sampled_from([Geometric(0.1), Geometric(0.9), Fixed(4), Uniform(5)]),
    step=st.sampled_from(["separate", "joint"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_problem(family, sizes, n_masked, prior, step, seed):
    chain = make_random_chain(family, sizes, n_masked, seed, prior)
    chain.schedule = make_schedule(chain.model, step, 20)
    draws = chain.run(20)
    check_draw(chain, draws)
    if isinstance(prior, (Fixed, Uniform)):
        assert draws.n_clusters.max() <= 5


@pytest.mark.parametrize("sizes", [(10, 10), (10, 30), (6, 12, 18)])
@pytest.mark.parametrize("n_masked", [0, 1, 3, 6])
def test_gap_is_bounded_by_the_masks(sizes, n_masked):
    chain = make_random_chain("gaussian", sizes, n_masked, seed=3)
    groups = chain.model.grouping.group_of
    bound = np.mean([n_masked / size for size in sizes[1:]])
    gaps = [fairness_gap(labels, groups) for labels in chain.run(300).labels]
    assert max(gaps) <= bound + 1e-12
    if n_masked:
        assert max(gaps) > 0


def test_statistics_equal_a_rebuild_after_many_sweeps():
    chain = make_random_chain("gaussian", (12, 17, 24), 3, seed=5)
    chain.run(1, sweeps_per_draw=10_000)
    state = chain.state
    active = state.active[: state.n_clusters[0]]
    before = state.cluster_stats[active].copy(), state.cluster_log_likelihood[active].copy()
    rows, slots = state.cluster_rows[active].copy(), state.cluster_slots[active].copy()
    chain.schedule = chain.schedule._replace(**only())
    chain.run(1)  # makes no move, but rebuilds
    assert before[0] == pytest.approx(state.cluster_stats[active], rel=1e-12, abs=1e-12)
    assert before[1] == pytest.approx(state.cluster_log_likelihood[active], rel=1e-12)
    assert np.array_equal(rows, state.cluster_rows[active])
    assert np.array_equal(slots, state.cluster_slots[active])


def test_an_offset_changes_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1.0, 10.0, 0.1]
    shifted = X + np.array([0.0, 1e8, 0.0])
    labels = rng.integers(3, size=60)
    values = []
    for rows in (standardise(X), standardise(shifted)):
        family = FAMILIES["gaussian"].prepare(rows)
        grouping = arrange_groups([0, 1], np.arange(60) % 2)
        model = Model(
            rows=rows,
            family=family,
            distance=euclidean(rows),
            grouping=grouping,
            extra=np.zeros((2, 30), dtype=bool),
            n_masked=np.zeros(2, dtype=np.int64),
            temperature=0.1,
            partition_prior=PartitionPrior(30, 1.0, Geometric(0.1)),
            cap=cap_on(grouping),
        )
        match = np.concatenate([np.arange(30), np.arange(30)])
        values.append(model.log_joint(labels[match], match).log_posterior)
    assert values[0] == pytest.approx(values[1], rel=1e-5)
    assert values[0] != 0


def test_an_offset_leaves_the_clusters():
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 8])
    groups = np.tile(["a", "b"], 40)
    model = FairBayesianClustering(n_warmup=50, n_draws=50, n_chains=2, random_state=0)
    near = model.fit_predict(X, sensitive_features=groups)
    far = model.fit_predict(X + np.array([1e8, 0.0]), sensitive_features=groups)
    assert np.array_equal(near, far)
