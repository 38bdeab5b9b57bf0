"""Draw rows of a dataset: all, so many at random, or so many of each group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def draw_rows(
    groups: pd.Series[Any], n_rows: Any, paper_sizes: Mapping[Any, int] | None, random_state: int
) -> NDArray[np.int64]:
    """Draw rows without replacement.

    Parameters
    ----------
    groups : pandas.Series
        Group of each row.
    n_rows : int, "paper" or None
        All rows (None), so many at random, or as many of each group as in the paper.
    paper_sizes : dict or None
        Rows of each group in the paper, None if it has none.
    random_state : int
        Seed.

    Returns
    -------
    ndarray
        Positions of the rows, in their order.
    """
    rng = np.random.default_rng(random_state)
    if n_rows is None:
        return np.arange(len(groups))
    if isinstance(n_rows, str):
        if n_rows != "paper" or paper_sizes is None:
            known = "" if paper_sizes is None else ", 'paper'"
            raise ValueError(f"n_rows must be None{known} or a number of rows, got {n_rows!r}.")
        drawn = [
            rng.choice(np.flatnonzero(groups == name), size, replace=False)
            for name, size in paper_sizes.items()
        ]
        return np.sort(np.concatenate(drawn))
    if isinstance(n_rows, bool) or not isinstance(n_rows, (int, np.integer)):
        raise TypeError(f"n_rows must be None, 'paper' or a number of rows, got {n_rows!r}.")
    if not 1 <= n_rows <= len(groups):
        raise ValueError(
            f"n_rows = {n_rows} must be from 1 to {len(groups):,}, the number of rows; "
            "pass None for all of them."
        )
    return np.sort(rng.choice(len(groups), n_rows, replace=False))
