"""Each move alone keeps the enumerated law of the *whole state*, given what it leaves alone."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from fairmix import Fixed, Geometric, Uniform
from fairmix.model.partition_prior import PartitionPrior
from fairmix.sampler.arrays import make_partition_tables
from tests.exact.enumeration import canonical, enumerate_states
from tests.exact.problems import (
    CAPPED_PROBLEMS,
    FREE_PROBLEMS,
    LARGER_PROBLEMS,
    PROBLEMS,
    make_problem,
)
from tests.monte_carlo import assert_law, assert_mean, share_of
from tests.tiny import check_invariants, make_chain, only, read_state

N_DRAWS = share_of(20_000)

# What each move leaves alone: places in a state (labels, match, mask, free match).
MOVES = {
    "gibbs": (only(gibbs_passes=1), (1, 2, 3)),
    "follower swap": (only(follower_swaps=4), (0, 2, 3)),
    "free match": (only(free_match_passes=1), (0, 1, 2)),
    "mask exchange": (only(mask_passes=1), (0, 1)),
    "joint": (only(joint_proposals=1), (0,)),
}
MASKED = [name for name, problem in PROBLEMS.items() if any(problem.n_masked)]
MATCHED = [name for name, problem in PROBLEMS.items() if len(problem.sizes) > 1]


def normalise(log_weights):
    largest = max(log_weights.values())
    law = {state: math.exp(w - largest) for state, w in log_weights.items()}
    total = sum(law.values())
    return {state: p / total for state, p in law.items()}


def typical_state(weights, n_clusters=2):
    """Give a likely state with two clusters, so that moves between clusters happen."""
    candidates = [s for s in weights if max(s[0]) + 1 == n_clusters]
    return max(candidates, key=lambda s: (weights[s], str(s)))


def run_states(problem, start, schedule, n_draws=N_DRAWS, reach=1000, family=None, **deal):
    chain = make_chain(problem, start, seed=5, family=family, **schedule)
    chain.layout = chain.layout._replace(swap_reach=reach)
    chain.deal = chain.deal._replace(**deal)
    states = []
    for _ in range(n_draws):
        chain.run(1)
        states.append(read_state(chain))
    check_invariants(chain)
    return states


def cases():
    for move in MOVES:
        names = {"gibbs": PROBLEMS, "follower swap": MATCHED, "joint": MATCHED}.get(move, MASKED)
        for name in names:
            # With all rows of a group masked nothing can be exchanged there.
            if move == "mask exchange" and name == "three groups, m=2":
                continue
            yield pytest.param(name, move, id=f"{move}: {name}")


@pytest.mark.parametrize(("name", "move"), list(cases()))
def test_move_alone(name, move):
    check_move(PROBLEMS[name], move)


def check_move(problem, move, family=None, **more):
    schedule, untouched = MOVES[move]
    weights = enumerate_states(problem)
    start = typical_state(weights)
    reachable = {
        state: weight
        for state, weight in weights.items()
        if all(state[k] == start[k] for k in untouched)
    }
    states = run_states(problem, start, schedule | more, family=family)
    assert_law(states, normalise(reachable))


def test_mask_exchange_leaves_free_matches_outside_the_mask_to_their_prior():
    problem = PROBLEMS["equal, m=1"]
    start = typical_state(enumerate_states(problem))
    chain = make_chain(problem, start, seed=5, **only(mask_passes=1))
    chain.run(100)  # until every row has been masked once
    state, n_anchors = chain.state, problem.n_anchors
    surplus = np.empty((N_DRAWS, len(problem.rows) - n_anchors, n_anchors))
    for draw in range(N_DRAWS):
        chain.run(1)
        matched = state.free_slot[n_anchors:, None] == np.arange(n_anchors)
        surplus[draw] = ~state.masked[n_anchors:, None] * (matched - 1 / n_anchors)
    assert_mean(surplus, np.zeros(surplus.shape[1:]))


@pytest.mark.parametrize("price", [-1.0, 0.5])
@pytest.mark.parametrize("name", ["equal", "equal, m=1", "beta=2", "three groups"])
def test_mask_change_alone(name, price):
    check_mask_changes(PROBLEMS[name], price)


def check_mask_changes(problem, price, family=None):
    """Any rows may be masked, at least the model's number, at a price."""
    fewest = problem.n_masked or (0,) * (len(problem.sizes) - 1)
    numbers = itertools.product(
        *(range(m, n + 1) for m, n in zip(fewest, problem.sizes[1:], strict=True))
    )
    start = typical_state(enumerate_states(problem))
    cost = price + math.log(problem.n_anchors)
    reachable = {
        state: weight - cost * len(state[2])
        for n_masked in numbers
        for state, weight in enumerate_states(replace(problem, n_masked=n_masked)).items()
        if state[:2] == start[:2]
    }
    schedule = only(mask_changes=8, mask_price=price, free_match_passes=1)
    assert_law(run_states(problem, start, schedule, family=family), normalise(reachable))


DEALT_PROBLEMS = PROBLEMS | LARGER_PROBLEMS | FREE_PROBLEMS
# With fewer a draw, rare states came in bursts.
DEALS = {"re-deal": only(redeal_proposals=30), "partial re-deal": only(partial_redeal_proposals=10)}


@pytest.mark.parametrize("name", list(DEALT_PROBLEMS | CAPPED_PROBLEMS))
def test_split_merge_alone(name):
    problem = (DEALT_PROBLEMS | CAPPED_PROBLEMS)[name]
    check_deals(problem, only(split_merge_proposals=30))


@pytest.mark.parametrize(
    ("name", "move"),
    [
        (name, move)
        for name, problem in DEALT_PROBLEMS.items()
        for move in DEALS
        # At most half of a group is loose in a partial re-deal: two followers never change places.
        if move == "re-deal" or 2 not in problem.sizes[1:]
    ],
)
def test_re_deals_alone(name, move):
    check_deals(DEALT_PROBLEMS[name], DEALS[move], n_clusters_stays=True)


@pytest.mark.parametrize("name", ["r=2, m=2", "three groups", "mfm, seven rows", *LARGER_PROBLEMS])
def test_split_merge_and_re_deal_that_look_at_few_rows(name):
    """With many rows, a launch looks at a part of them only."""
    problem = DEALT_PROBLEMS[name]
    check_deals(problem, only(split_merge_proposals=30), max_launched=4)
    check_deals(problem, DEALS["re-deal"], n_clusters_stays=True, max_launched=4)


def check_deals(problem, schedule, n_clusters_stays=False, **deal):
    """Deals leave alone which rows are masked, and the seats of these."""
    weights = enumerate_states(problem)
    start = typical_state(weights)

    def stays(state):
        """Give what stays: seats of masked rows, and the capacities of their slots."""
        match = state[1]
        seats = [(row, match[row - problem.n_anchors]) for row in sorted(start[2])]
        capacities = []
        for row, anchor in seats:
            group = next(b for b in range(len(problem.sizes)) if row in problem.group_rows(b))
            rows = problem.group_rows(group)
            capacities.append(sum(match[j - problem.n_anchors] == anchor for j in rows))
        return seats, capacities

    reachable = {
        state: weight
        for state, weight in weights.items()
        if state[2] == start[2]
        and stays(state) == stays(start)
        and not (n_clusters_stays and max(state[0]) != max(start[0]))
    }
    states = run_states(problem, start, schedule, **deal)
    assert_law(states, normalise(reachable))


@pytest.mark.parametrize("n_clusters", [1, 2])
@pytest.mark.parametrize("name", [*MATCHED, *FREE_PROBLEMS])
def test_rematch_alone(name, n_clusters):
    """Every follower's seat stays in its cluster, and every slot keeps its capacity."""
    problem = (PROBLEMS | FREE_PROBLEMS)[name]
    weights = enumerate_states(problem)
    start = typical_state(weights, n_clusters)

    def stays(state):
        labels, match, mask, free = state
        capacities = [
            [sum(match[j - problem.n_anchors] == i for j in problem.group_rows(b))]
            for b in range(1, len(problem.sizes))
            for i in range(problem.n_anchors)
        ]
        return labels, mask, free, [labels[anchor] for anchor in match], capacities

    reachable = {state: w for state, w in weights.items() if stays(state) == stays(start)}
    states = run_states(problem, start, only(rematch_passes=1))
    assert_law(states, normalise(reachable))


@pytest.mark.parametrize("name", list(FREE_PROBLEMS))
def test_extra_move_alone(name):
    check_extra_move(FREE_PROBLEMS[name])


def check_extra_move(problem, family=None):
    weights = enumerate_states(problem)
    start = typical_state(weights)
    reachable = {s: w for s, w in weights.items() if (s[0], *s[2:]) == (start[0], *start[2:])}
    states = run_states(problem, start, only(extra_moves=5), family=family)
    assert_law(states, normalise(reachable))


@pytest.mark.parametrize("prior", [Fixed(2), Uniform(2)])
def test_split_merge_with_a_bounded_number_of_components(prior):
    problem = PROBLEMS["r=2"]
    chain = make_chain(problem, ((0, 0, 1), (0, 0, 1, 2, 2), frozenset(), ()), seed=3)
    chain.model = replace(chain.model, partition_prior=PartitionPrior(3, 1.0, prior))
    chain.tables = make_partition_tables(chain.model)
    chain.schedule = chain.schedule._replace(**only(split_merge_proposals=30))
    states = []
    for _ in range(N_DRAWS):
        chain.run(1)
        states.append(read_state(chain))
    weights = {}
    for state, weight in enumerate_states(problem).items():
        sizes = np.bincount(state[0])
        if len(sizes) <= 2:
            own = PartitionPrior(3, 1.0, Geometric(problem.success_prob)).log_prob(sizes)
            weights[state] = weight - own + chain.model.partition_prior.log_prob(sizes)
    assert_law(states, normalise(weights))


def anchor_orbit(problem, start):
    """Give all states that swaps of anchors of equal capacity reach."""
    labels, match, mask, free = start
    n_anchors = problem.n_anchors
    capacity = [
        tuple(
            sum(match[j - n_anchors] == i for j in problem.group_rows(b))
            for b in range(1, len(problem.sizes))
        )
        for i in range(n_anchors)
    ]
    for image in itertools.permutations(range(n_anchors)):
        if problem.extra is None or all(
            capacity[i] == capacity[image[i]] for i in range(n_anchors)
        ):
            new_labels = [0] * n_anchors
            for i in range(n_anchors):
                new_labels[image[i]] = labels[i]
            yield (
                canonical(new_labels),
                tuple(image[i] for i in match),
                mask,
                tuple(image[i] for i in free),
            )


ANCHOR_PROBLEMS = (
    {name: PROBLEMS[name] for name in MATCHED}
    | FREE_PROBLEMS
    | {
        "four anchors, r=2": make_problem(
            "gaussian", (4, 6), seed=4, extra=((1, 2),), n_masked=(1,), temperature=0.1
        ),
        "three groups of three": make_problem(
            "gaussian", (3, 3, 4), seed=6, extra=((), (1,)), temperature=0.05
        ),
    }
)


def test_follower_swaps_weigh_each_group_by_its_own_size():
    check_move(ANCHOR_PROBLEMS["three groups of three"], "follower swap")


@pytest.mark.parametrize("name", list(ANCHOR_PROBLEMS))
def test_anchor_swap_alone(name):
    check_anchor_swaps(ANCHOR_PROBLEMS[name], reach=1000)


def check_anchor_swaps(problem, reach, family=None):
    weights = enumerate_states(problem)
    start = typical_state(weights)
    orbit = {state: weights[state] for state in anchor_orbit(problem, start)}
    states = run_states(problem, start, only(anchor_swaps=1), reach=reach, family=family)
    assert_law(states, normalise(orbit))


def test_swaps_of_neighbours_alone():
    """With many rows, partners are near ones only; that reaches all states as well."""
    check_anchor_swaps(ANCHOR_PROBLEMS["three groups of three"], reach=1)
    problem = PROBLEMS["r=2"]
    weights = enumerate_states(problem)
    start = typical_state(weights)
    same = {s: w for s, w in weights.items() if s[0] == start[0]}
    assert_law(run_states(problem, start, only(follower_swaps=1), reach=1), normalise(same))


@pytest.mark.parametrize("name", MATCHED)
def test_energies_are_not_flat(name):
    """The tests above would not see the energy if it hardly varied."""
    problem = PROBLEMS[name]
    one_cluster = (0,) * problem.n_anchors
    log_weights = [w for s, w in enumerate_states(problem).items() if s[0] == one_cluster]
    spread = np.ptp(log_weights)
    assert spread > (1.0 if problem.temperature < 1 else 0.3)
