"""In an annealed warm-up marginals are raised to a power, and all moves have that law."""

from tests.exact.problems import make_problem
from tests.exact.test_single_steps import check_deals, check_move
from tests.tiny import only

PROBLEM = make_problem("gaussian", (3, 3), seed=2, temperature=0.1, power=0.3)


def test_gibbs():
    check_move(PROBLEM, "gibbs")


def test_deals():
    check_deals(PROBLEM, only(split_merge_proposals=30))
