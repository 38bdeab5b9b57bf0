"""Geweke's test for rows that are not matched, under a cap with a price of being outside."""

from dataclasses import replace

import numpy as np
import pytest

from fairmix.sampler.arrays import Start, make_state
from tests.exact.enumeration import enumerate_priced
from tests.exact.problems import GAP_PROBLEMS
from tests.exact.test_gap import MOVES
from tests.exact.test_single_steps import normalise
from tests.geweke.simulators import draw_rows
from tests.geweke.test_geweke import assert_same_mean, replace_rows
from tests.monte_carlo import share_of, standard_error
from tests.tiny import check_invariants, make_chain

NAMES = ["two attributes", "gap and balance of rows"]
N_REPLICATIONS = share_of(3_000)


class PricedPrior:
    """Draws partitions from the prior of a problem, with less weight outside the cap."""

    def __init__(self, problem, rng):
        law = normalise(enumerate_priced(replace(problem, power=0.0)))
        self.rng = rng
        self.states = list(law)
        self.probs = np.array(list(law.values()))

    def draw(self):
        n_rows = len(self.states[0][0])
        labels, *_ = self.states[self.rng.choice(len(self.states), p=self.probs)]
        every = np.arange(n_rows)
        return Start(np.array(labels), every, np.empty(0, dtype=np.int64), np.zeros_like(every))


def make_parts(problem, **schedule):
    prior = PricedPrior(problem, np.random.default_rng(1))
    chain = make_chain(problem, prior.states[0], seed=2, **schedule)
    chain.warmth.adapts = True  # draws do not wait
    return prior, chain


def draw_joint(problem, prior, chain):
    """Put a partition from the prior and data given it into the chain; give the data."""
    chain.state = make_state(chain.model, chain.layout, prior.draw())
    chain.price_cap(problem.cap_price)
    return redraw_rows(problem, chain, prior.rng)


def redraw_rows(problem, chain, rng):
    """Draw the data anew, given the partition."""
    rows = draw_rows(problem.family, chain.row_labels, len(problem.rows[0]), rng)
    replace_rows(chain, rows)
    return rows


def summarise(problem, chain, rows):
    """Give bounded functions of partition, groups and data."""
    labels = chain.row_labels
    squashed = rows / (1 + np.abs(rows))
    same = labels[:, None] == labels
    near = 1 / (1 + np.abs(rows[:, None] - rows).sum(axis=2))
    n_clusters = len(np.unique(labels))
    kin = [np.equal.outer(codes, codes) for codes in problem.attributes]
    return np.array(
        [
            n_clusters,
            n_clusters**2,
            n_clusters * squashed[:, 0].mean(),
            same.sum(),
            (same * near).sum(),
            (same * near)[0, 1:3].sum(),
            squashed.var(axis=0).mean(),
            float(chain.is_inside),
            *((same * own).sum() for own in kin),
            *((same * own * near).sum() for own in kin),
        ]
    )


@pytest.mark.parametrize("move", list(MOVES))
@pytest.mark.parametrize("name", NAMES)
def test_move_keeps_the_joint_law(name, move):
    problem = GAP_PROBLEMS[name]
    prior, chain = make_parts(problem, **MOVES[move])
    differences, n_changed = [], 0
    for _ in range(N_REPLICATIONS):
        rows = draw_joint(problem, prior, chain)
        before = summarise(problem, chain, rows)
        n_changed += int(chain.run(1).n_accepted.sum() > 0)
        differences.append(summarise(problem, chain, rows) - before)
    check_invariants(chain)
    assert n_changed > N_REPLICATIONS / 10  # else the test says little
    differences = np.array(differences)
    error = differences.std(axis=0, ddof=1) / np.sqrt(len(differences))
    assert_same_mean(differences.mean(axis=0), error, 0.0, 0.0)


@pytest.mark.parametrize("name", NAMES)
def test_sweep(name):
    problem = GAP_PROBLEMS[name]
    sweep = {move: n for schedule in MOVES.values() for move, n in schedule.items() if n}
    prior, chain = make_parts(problem, **sweep | {"split_merge_proposals": 4})
    forward = np.array(
        [
            summarise(problem, chain, draw_joint(problem, prior, chain))
            for _ in range(N_REPLICATIONS)
        ]
    )
    successive = []
    for _ in range(2 * N_REPLICATIONS):
        chain.run(1)
        rows = redraw_rows(problem, chain, prior.rng)
        successive.append(summarise(problem, chain, rows))
    successive = np.array(successive)
    error = forward.std(axis=0, ddof=1) / np.sqrt(len(forward))
    assert_same_mean(
        forward.mean(axis=0), error, successive.mean(axis=0), standard_error(successive)
    )
