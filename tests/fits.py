"""Small fits, and what makes two of them the same."""

from dataclasses import fields

import numpy as np
import pandas as pd

#: A fit of a second.
QUICK = {"n_warmup": 30, "n_chains": 2, "random_state": 0}


def two_clumps():
    """Give a table of two clumps and two groups of unequal size."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(45, 3)), rng.normal(size=(45, 3)) + 6])
    group = np.where(np.arange(90) % 9 < 4, "few", "many")
    return pd.DataFrame(X, columns=["x", "y", "z"]), pd.Series(group, name="group")


def assert_same_draws(one, other):
    """Assert that two posteriors hold the same draws, bit for bit."""
    assert one.labels.dtype == other.labels.dtype
    assert one.group_names == other.group_names
    assert list(one.acceptance) == list(other.acceptance)
    for name in {field.name for field in fields(one)} - {"acceptance", "group_names", "training"}:
        values, others = getattr(one, name), getattr(other, name)
        assert values.dtype == others.dtype, name
        assert np.array_equal(values, others), name
    for move, rates in one.acceptance.items():
        assert np.array_equal(rates, other.acceptance[move], equal_nan=True), move
