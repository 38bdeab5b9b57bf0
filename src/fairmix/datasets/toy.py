"""The paper's toy data."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.utils import Bunch


def load_toy(
    *, n_rows: int = 1200, groups: int = 2, literal: bool = False, random_state: int = 0
) -> Bunch:
    """Make the toy data: six Gaussian clumps, three of each of two groups.

    Group 0 has clumps at x = -5 and y = -30, 0, 30; group 1 at x = +5 and half a unit higher.
    Without fairness there are six clusters; fair clusters join the clumps at each height.

    Parameters
    ----------
    n_rows : int, default=1200
        Number of rows, the same in each clump. With numbers drawn at random, a clump
        would have more rows of one group than of the other, and the surplus, which is
        matched across clumps, would make a fourth fair cluster.
    groups : int, default=2
        Number of groups; each further one is ten units to the right of the one before.
    literal : bool, default=False
        Put group 1 at x = -5, as the paper's text says. Its figure, with six clusters for the
        plain mixture, cannot arise then.
    random_state : int, default=0
        Seed.

    Returns
    -------
    Bunch
        ``data`` (data frame), ``sensitive_features`` (series), ``feature_names``, ``DESCR``.
    """
    if isinstance(groups, bool) or not isinstance(groups, (int, np.integer)) or groups < 1:
        raise ValueError(f"groups must be a number of groups, at least 1, got {groups!r}.")
    n_clumps = 3 * groups
    is_number = isinstance(n_rows, (int, np.integer)) and not isinstance(n_rows, bool)
    if not is_number or n_rows < 1 or n_rows % n_clumps:
        raise ValueError(
            f"n_rows must be a multiple of {n_clumps}, the number of clumps, got {n_rows!r}."
        )
    rng = np.random.default_rng(random_state)
    group = np.repeat(np.arange(groups), n_rows // groups)
    heights = np.tile(np.repeat([-30.0, 0.0, 30.0], n_rows // n_clumps), groups) + 0.5 * group
    side = np.full(n_rows, -5.0) if literal else 10.0 * group - 5.0
    points = np.column_stack([side, heights]) + rng.normal(size=(n_rows, 2))
    return Bunch(
        data=pd.DataFrame(points, columns=["x", "y"]),
        sensitive_features=pd.Series(group, name="group"),
        feature_names=["x", "y"],
        DESCR="Toy data of 'Fair Bayesian Model-Based Clustering' (Lee, Kim & Kim 2025).",
    )
