"""How a chain sees its family: parameters integrated out, or part of the state."""

from __future__ import annotations

import copy

import numpy as np

from fairmix.families import is_conjugate
from fairmix.kernels.collapsed import Collapsed
from fairmix.kernels.instantiated import Instantiated
from fairmix.model import Model

#: Auxiliary parameters of Algorithm 8.
N_AUXILIARY = 3


def make_likelihood(model: Model) -> Collapsed | Instantiated:
    """Make a chain's own likelihood: it holds parameters, and room to work in."""
    n_rows, n_anchors = model.grouping.n_rows, model.grouping.n_anchors
    family = copy.deepcopy(model.family)
    if is_conjugate(family):
        return Collapsed(
            family=family,
            power=np.ones(1),
            shared_log_prior=np.zeros(1),
            counts=np.zeros(n_anchors),
            stats=np.zeros((n_anchors, model.row_stats.shape[1])),
        )
    n_columns = model.rows.shape[1]
    n_parameters = family.n_parameters(n_columns)
    n_blocks = n_columns if getattr(family, "columns_are_independent", False) else 1
    block_size, left = divmod(n_parameters, n_blocks)
    if left:
        raise ValueError(
            f"family: {type(family).__name__} says that columns are independent, but its "
            f"{n_parameters} parameters are no multiple of the {n_columns} columns."
        )
    return Instantiated(
        family=family,
        stand_in=copy.deepcopy(model.stand_in),
        rows=model.rows,
        n_blocks=n_blocks,
        power=np.ones(1),
        parameters=np.zeros((n_anchors, n_parameters)),
        auxiliaries=np.zeros((N_AUXILIARY, n_parameters)),
        auxiliary_log_density=np.zeros(N_AUXILIARY),
        auxiliary_log_weights=np.zeros(N_AUXILIARY),
        has_begun=np.zeros(1, dtype=bool),
        adapts=np.zeros(1, dtype=bool),
        widths=np.ones(n_parameters),
        reference=np.zeros(n_parameters),
        proposed=np.zeros((2, n_parameters)),
        proposed_log_density=np.zeros(2),
        centre=np.zeros(n_parameters),
        factors=np.zeros((n_blocks, block_size, block_size)),
        step=np.zeros(block_size),
        above=np.zeros(block_size),
        first_listed=np.zeros(n_anchors + 1, dtype=np.int64),
        listed=np.zeros(n_rows, dtype=np.int64),
    )
