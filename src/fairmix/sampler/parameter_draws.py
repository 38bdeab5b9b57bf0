"""Draws of the parameters that a partition leaves open.

Where a family's parameters are not integrated out (those of clusters that have no conjugate prior,
or those that all clusters share), a chain that starts at a partition and makes no move but updates
of parameters draws them from their posterior given the partition. The matching does not matter
then, and neither do groups: rows are all that parameters follow from.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairmix.model.grouping import arrange_groups
from fairmix.model.problem import Problem
from fairmix.tables.schema import Table

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: Sweeps that are thrown away, and sweeps from one draw to the next.
N_WARMUP, SWEEPS_PER_DRAW = 100, 2


class ParameterDraws(NamedTuple):
    """Draws of parameters given a partition.

    Parameters
    ----------
    shared : ndarray of shape (n_draws, n_shared)
        What all clusters share.
    of_clusters : ndarray of shape (n_draws, n_clusters, n_parameters)
        Parameters of each cluster; of none, if the family is conjugate.
    """

    shared: FloatArray
    of_clusters: FloatArray


def draw_parameters(
    table: Table, family: Any, labels: IntArray, n_draws: int, rng: np.random.Generator
) -> ParameterDraws:
    """Draw the parameters that a partition leaves open.

    Parameters
    ----------
    table : Table
        The rows.
    family : family
        Of the rows; not prepared.
    labels : ndarray of shape (n_rows,)
        Cluster of each row, 0, 1, ...
    n_draws : int
        Number of draws.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ParameterDraws
        The draws.
    """
    from fairmix.sampler.arrays import Start
    from fairmix.sampler.assembly import Settings, make_model
    from fairmix.sampler.chain import Chain
    from fairmix.sampler.kernels.instantiated import Instantiated
    from fairmix.sampler.kernels.moves import MOVES
    from fairmix.sampler.schedule import make_schedule

    n_rows, n_clusters = len(labels), int(labels.max()) + 1
    one_group = arrange_groups(["all"], np.zeros(n_rows, dtype=np.int64))
    every = np.arange(n_rows)
    problem = Problem.without_groups(table, one_group, table, family, every, rng)
    model = make_model(problem, Settings(), rng)
    start = Start(
        labels=labels[model.grouping.order],
        match=every,
        masked_rows=every[:0],
        free_match=np.zeros(n_rows, dtype=np.int64),
    )
    no_moves = dict.fromkeys([move.setting for move in MOVES], 0)
    schedule = make_schedule(model)._replace(rounds=1, **no_moves)
    chain = Chain(model, start, schedule, rng)
    chain.heat(1.0)
    chain.run(1, N_WARMUP)
    chain.cool()
    shared, of_clusters = [], []
    for _ in range(n_draws):
        chain.run(1, SWEEPS_PER_DRAW)
        if isinstance(chain.likelihood, Instantiated):
            of_clusters.append(chain.likelihood.parameters[:n_clusters].copy())
        else:
            shared.append(chain.likelihood.shared.copy())
    return ParameterDraws(
        np.array(shared).reshape(n_draws, -1),
        np.array(of_clusters).reshape(n_draws, n_clusters, -1),
    )
