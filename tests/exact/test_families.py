"""Every family, with all moves at once, follows the enumerated posterior."""

import pytest

from tests.exact.problems import make_problem
from tests.exact.test_sweep import check_sweep
from tests.tiny import FAMILIES

WITH_PARAMETERS = ("gaussian-tied", "student-t", "skew-normal")
NAMES = [*FAMILIES, "gaussian, missing", "poisson, missing", "mixed, missing"]


@pytest.mark.parametrize("name", NAMES)
def test_all_moves(name):
    problem = make_problem(name, (3, 5), seed=3, extra=((1, 2),), n_masked=(1,), temperature=0.1)
    check_sweep("all moves", problem, has_parameters=name in WITH_PARAMETERS)


@pytest.mark.parametrize("name", NAMES)
def test_free_remainder_with_a_cap(name):
    problem = make_problem(
        name, (3, 4), seed=5, extra=None, n_masked=(1,), temperature=0.1, max_gap=0.2
    )
    check_sweep("all moves", problem, has_parameters=name in WITH_PARAMETERS)
