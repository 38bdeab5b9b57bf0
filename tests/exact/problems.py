"""The tiny problems that are enumerated."""

import numpy as np

from tests.exact.enumeration import TinyProblem
from tests.exact.marginals import GRIDS, MIXED_COLUMNS


def make_rows(family, n_rows, seed, n_columns=2):
    rng = np.random.default_rng(seed)
    kind = family.removesuffix(", missing")
    if kind == "mixed":
        parts = [make_rows(name, n_rows, seed + j, 1) for j, name in enumerate(MIXED_COLUMNS)]
        values = np.concatenate([np.array(part, dtype=float)[:, :1] for part in parts], axis=1)
    elif kind == "poisson":
        values = rng.poisson(1.0 + 4.0 * rng.integers(2, size=(n_rows, 1)), (n_rows, n_columns))
    elif kind == "exponential":
        scale = 1.0 + 4.0 * rng.integers(2, size=(n_rows, 1))
        values = scale * rng.exponential(size=(n_rows, n_columns))
    elif kind not in ("bernoulli", "categorical"):
        # Two loose clumps that do not agree with the groups, so that all terms matter.
        n_columns = 1 if kind in GRIDS else n_columns
        values = rng.normal(size=(n_rows, n_columns)) + 2.0 * rng.integers(2, size=(n_rows, 1))
    else:
        values = rng.integers(2 if kind == "bernoulli" else 3, size=(n_rows, n_columns + 1))
        values[:2] = [[0] * (n_columns + 1), [1 if kind == "bernoulli" else 2] * (n_columns + 1)]
    if family != kind:
        values = np.where(rng.random(values.shape) < 0.25, np.nan, values)
    return tuple(tuple(row) for row in values.tolist())


def make_problem(family, sizes, seed=0, **kwargs):
    return TinyProblem(
        rows=make_rows(family, sum(sizes), seed), sizes=sizes, family=family, **kwargs
    )


PROBLEMS = {
    "equal": make_problem("gaussian", (3, 3), temperature=0.1),
    "equal, m=1": make_problem("gaussian", (3, 3), n_masked=(1,), temperature=0.1),
    "equal, m=2, bernoulli": make_problem(
        "bernoulli", (3, 3), seed=1, n_masked=(2,), temperature=0.1
    ),
    "equal, categorical": make_problem("categorical", (3, 3), seed=1, temperature=1.0),
    "beta=2": make_problem("gaussian", (2, 4), temperature=0.1),
    "beta=2, m=1": make_problem("categorical", (2, 4), n_masked=(1,), temperature=0.1),
    "r=2": make_problem("gaussian", (3, 5), extra=((0, 2),), temperature=0.1),
    "r=2, m=1, flat": make_problem("bernoulli", (3, 5), extra=((0, 1),), n_masked=(1,)),
    "r=2, m=2": make_problem(
        "gaussian", (3, 5), seed=3, extra=((1, 2),), n_masked=(2,), temperature=0.1
    ),
    "three groups": make_problem(
        "gaussian", (2, 2, 3), extra=((), (1,)), temperature=0.1, concentration=0.7
    ),
    "three groups, m=1": make_problem(
        "bernoulli", (2, 2, 3), seed=2, extra=((), (0,)), n_masked=(1, 1), temperature=0.5
    ),
    "three groups, m=2": make_problem(
        "categorical", (2, 2, 3), seed=2, extra=((), (0,)), n_masked=(2, 2), temperature=0.5
    ),
    "mfm": make_problem("gaussian", (5,), concentration=1.5, success_prob=0.3),
    "mfm, categorical": make_problem("categorical", (5,)),
    "mfm, seven rows": make_problem("gaussian", (7,), seed=2, concentration=1.5),
}

#: Problems with more anchors, for moves that deal clusters anew.
LARGER_PROBLEMS = {
    "five and five": make_problem(
        "gaussian", (5, 5), seed=3, temperature=0.3, concentration=1.5, success_prob=0.3
    ),
    "four and six, m=1": make_problem(
        "gaussian", (4, 6), seed=4, extra=((1, 2),), n_masked=(1,), temperature=0.2
    ),
}

#: Problems in which R is free.
FREE_PROBLEMS = {
    "free": make_problem("gaussian", (3, 4), extra=None, temperature=0.1),
    "free, r=2, m=1": make_problem(
        "gaussian", (3, 5), seed=3, extra=None, n_masked=(1,), temperature=0.1
    ),
    "free, three groups": make_problem(
        "bernoulli", (2, 3, 3), seed=2, extra=None, n_masked=(1, 0), temperature=0.5
    ),
}

TWO, THREE = (0, 1, 0, 1, 1, 0, 1), (0, 1, 2, 2, 1, 0, 2)

#: Problems of rows that are not matched, under a cap, with a price of being outside.
GAP_PROBLEMS = {
    "gap": make_problem(
        "gaussian", (7,), seed=2, attributes=(TWO,), max_gap=0.3, cap_price=6.0, concentration=1.5
    ),
    "no gap": make_problem(
        "gaussian", (6,), seed=3, attributes=((0, 1, 0, 1, 1, 1),), max_gap=0.0, cap_price=4.0
    ),
    "gap, three groups": make_problem(
        "bernoulli", (7,), seed=1, attributes=(THREE,), max_gap=0.45, cap_price=5.0
    ),
    "mean gap": make_problem(
        "gaussian", (7,), seed=5, attributes=(THREE,), max_gap=0.3, cap_price=8.0, gap_kind="mean"
    ),
    "worst gap": make_problem(
        "categorical",
        (7,),
        seed=1,
        attributes=(THREE,),
        max_gap=0.4,
        cap_price=8.0,
        gap_kind="worst",
    ),
    "two attributes": make_problem(
        "gaussian", (7,), seed=6, attributes=(TWO, THREE), max_gap=0.4, cap_price=6.0
    ),
    "gap and balance of rows": make_problem(
        "gaussian", (7,), seed=7, attributes=(TWO,), max_gap=0.5, min_balance=1 / 3, cap_price=9.0
    ),
}

#: Problems with a cap.
CAPPED_PROBLEMS = {
    "cap": make_problem("gaussian", (3, 4), seed=5, extra=None, temperature=0.1, max_gap=0.1),
    "cap, r=2": make_problem(
        "categorical", (3, 5), seed=1, extra=None, temperature=0.2, max_gap=0.07
    ),
    "tight cap": make_problem(
        "gaussian", (4, 6), seed=4, extra=None, temperature=0.3, concentration=3.0, max_gap=0.0
    ),
    "cap, m=1": make_problem(
        "gaussian", (3, 4), seed=3, extra=None, n_masked=(1,), temperature=0.1, max_gap=0.2
    ),
    "cap, three groups": make_problem(
        "gaussian", (2, 3, 3), seed=6, extra=None, n_masked=(0, 1), temperature=0.2, max_gap=0.25
    ),
    "balance": make_problem(
        "gaussian", (4, 6), seed=7, extra=None, temperature=0.3, min_balance=0.6
    ),
    "gap and balance, m=2": make_problem(
        "bernoulli",
        (3, 4),
        seed=8,
        extra=None,
        n_masked=(2,),
        temperature=0.2,
        max_gap=0.3,
        min_balance=0.4,
    ),
}
