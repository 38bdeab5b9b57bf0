"""The mixture given its gap: each move alone and the whole sweep, inside the cap and at a price.

At a price, a chain that takes every state follows a law with less weight outside; one that waits
for states inside follows the capped law.
"""

from dataclasses import replace

import numpy as np
import pytest

from fairmix.sampler.schedule import make_schedule
from tests.exact.enumeration import canonical, enumerate_priced, enumerate_states, law_of
from tests.exact.problems import GAP_PROBLEMS
from tests.exact.test_single_steps import N_DRAWS, normalise, typical_state
from tests.monte_carlo import assert_law
from tests.tiny import check_invariants, make_chain, make_model, only, read_state

MOVES = {
    "gibbs": only(gibbs_passes=1),
    "split-merge": only(split_merge_proposals=30),
    "re-deal": only(redeal_proposals=30),
    "partial re-deal": only(partial_redeal_proposals=6),
    "exchange": only(anchor_swaps=3),
}


def run_states(problem, start, schedule, waits, sweeps_per_draw=1, **deal):
    chain = make_chain(problem, start, seed=5, **schedule)
    chain.deal = chain.deal._replace(**deal)
    chain.warmth.adapts = not waits  # as in a warm-up, where no draw waits
    states = []
    for _ in range(N_DRAWS):
        chain.run(1, sweeps_per_draw)
        states.append(read_state(chain))
    check_invariants(chain)
    assert chain.cap_price == problem.cap_price
    return states


def group_sizes(problem, labels):
    """Give what exchanges leave alone: the counts of each cluster."""
    every = range(max(labels) + 1)
    crossed = list(zip(*problem.attributes, strict=True))
    return sorted(
        tuple(sorted(group for group, label in zip(crossed, labels, strict=True) if label == k))
        for k in every
    )


@pytest.mark.parametrize("move", list(MOVES))
@pytest.mark.parametrize("name", list(GAP_PROBLEMS))
def test_move_alone_at_a_price(name, move):
    problem = GAP_PROBLEMS[name]
    weights = enumerate_priced(problem)
    start = typical_state(weights)
    if move in ("re-deal", "partial re-deal"):
        weights = {s: w for s, w in weights.items() if max(s[0]) == max(start[0])}
    if move == "exchange":
        sizes = {s: group_sizes(problem, s[0]) for s in weights}
        orbits = [[s for s in weights if sizes[s] == sizes[own]] for own in list(weights)[::20]]
        start, *_ = orbit = max(orbits, key=len)
        weights = {s: weights[s] for s in orbit}
    assert len(weights) > 1
    assert_law(run_states(problem, start, MOVES[move], waits=False), normalise(weights))


@pytest.mark.parametrize("move", ["split-merge", "re-deal"])
@pytest.mark.parametrize("name", ["gap, three groups", "two attributes"])
def test_deals_that_look_at_few_rows(name, move):
    """With many rows, a launch looks at a part of them only."""
    problem = GAP_PROBLEMS[name]
    weights = enumerate_priced(problem)
    start = typical_state(weights)
    if move == "re-deal":
        weights = {s: w for s, w in weights.items() if max(s[0]) == max(start[0])}
    states = run_states(problem, start, MOVES[move], waits=False, max_launched=4)
    assert_law(states, normalise(weights))


@pytest.mark.parametrize("waits", [False, True], ids=["at a price", "inside"])
@pytest.mark.parametrize("name", list(GAP_PROBLEMS))
def test_sweep_as_fit_makes_it(name, waits):
    problem = GAP_PROBLEMS[name]
    weights = enumerate_states(problem) if waits else enumerate_priced(problem)
    schedule = make_schedule(make_model(problem))._asdict()
    few = {"split_merge_proposals": 2, "redeal_proposals": 1, "partial_redeal_proposals": 1}
    thin = 3 if name == "no gap" else 1
    start = typical_state(weights)
    states = run_states(problem, start, schedule | few, waits, sweeps_per_draw=thin)
    assert_law(states, normalise(weights))
    assert_law([max(s[0]) + 1 for s in states], law_of(weights, lambda s: max(s[0]) + 1))


def test_a_cap_of_one_is_the_plain_mixture_draw_for_draw():
    problem = GAP_PROBLEMS["gap"]
    start = typical_state(enumerate_states(problem))
    plain = make_chain(replace(problem, attributes=()), start, seed=5).run(200)
    capped = make_chain(replace(problem, max_gap=1.0), start, seed=5).run(200)
    assert np.array_equal(plain.labels, capped.labels)
    assert [canonical(labels) for labels in plain.labels[-1:]]
