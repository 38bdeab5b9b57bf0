"""What a fit saw: the rows that draws are about, and how they were read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.tables.groups import Groups
from fairmix.tables.schema import Schema, Table


@dataclass(frozen=True)
class Training:
    """The table of a fit.

    Attributes
    ----------
    schema : Schema
        How the table was read.
    table : Table
        The columns that were clustered by, as numbers; rows in the user's order.
    groups : Groups
        Groups of the rows, the smallest one first, and those of each attribute.
    family : family
        Of the rows; not prepared.
    gap_kind : str, default="paper"
        What the gap is.
    """

    schema: Schema
    table: Table
    groups: Groups
    family: Any
    gap_kind: str = "paper"

    def values(self) -> NDArray[np.float64]:
        """Give the columns in the user's own units.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            Numbers, and codes of categories; NaN where a cell is missing.
        """
        values = self.table.rows.copy()
        for k, column in enumerate(self.schema.kept):
            if column.units is not None and column.is_scaled:
                values[:, k] = column.units.undo(values[:, k])
        return values


def known_table(training: Training | None, wanted: str) -> Training:
    """Give the table that draws are about, or raise an error if it is not at hand.

    Parameters
    ----------
    training : Training or None
        The table.
    wanted : str
        What it is wanted for, for the message.

    Returns
    -------
    Training
        The table.
    """
    if training is None:
        raise ValueError(
            f"{wanted} looks at the rows that were fitted, but training = None: this posterior "
            "came without its data. Call it before the data are left behind, or keep them "
            "with the posterior (include_data=True)."
        )
    return training
