"""The tables of the experiments, drawn as in the paper; its own draws were not published."""

from __future__ import annotations

from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.protocol import Effort
from fairmix.datasets import load_adult, load_bank, load_diabetes

LOADERS = {
    "diabetes": load_diabetes,
    "adult": load_adult,
    "bank": load_bank,
    "bank_sm": partial(load_bank, groups="single"),
    "bank3": partial(load_bank, groups="marital"),
    "bank01": partial(load_bank, categorised=True),
}
#: What the page calls them.
TITLES = {
    "diabetes": "Diabetes",
    "adult": "Adult",
    "bank": "Bank",
    "bank_sm": "Bank, married or single",
    "bank3": "Bank, three groups",
    "bank01": "Bank, categorised",
}
#: Used as a whole in the paper.
WHOLE = ("diabetes",)
#: The three that most experiments are about.
THREE = ("diabetes", "adult", "bank")


class Table(NamedTuple):
    """Features and groups."""

    X: pd.DataFrame
    groups: pd.Series[Any]

    def take(self, rows: Any) -> Table:
        """Give some of the rows."""
        return Table(*(each.iloc[rows].reset_index(drop=True) for each in self))


@cache
def load(name: str, effort: Effort, number: int = 0) -> Table:
    """Draw a table; Diabetes is used as a whole, as in the paper."""
    n_rows: Any = effort.n_rows
    if n_rows is None and name not in WHOLE:
        n_rows = "paper"
    bunch = LOADERS[name](n_rows=n_rows, random_state=effort.seed + number)
    return Table(bunch.data, bunch.sensitive_features)


@cache
def load_all(name: str) -> Table:
    """Give all rows of a dataset."""
    bunch = LOADERS[name]()
    return Table(bunch.data, bunch.sensitive_features)


def split(name: str, n_fitted: int, n_new: int, seed: int) -> tuple[Table, Table]:
    """Draw rows to fit, and others to look at afterwards."""
    table = load_all(name)
    rows = np.random.default_rng(seed).permutation(len(table.X))
    return table.take(rows[:n_fitted]), table.take(rows[n_fitted : n_fitted + n_new])


@cache
def reason_missing(name: str | None) -> str:
    """Say why a dataset cannot be had; nothing if it can."""
    if name is None:
        return ""
    try:
        LOADERS[name](n_rows=10)
    except OSError as error:
        return str(error)
    return ""
