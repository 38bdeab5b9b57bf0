"""Names, levels and schemas of columns as JSON has them, and back."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np

from fairmix.tables.column_schema import ColumnSchema
from fairmix.tables.columns import CATEGORY_KINDS, NUMBER_KINDS
from fairmix.tables.units import Units


def column_to_plain(column: ColumnSchema) -> dict[str, Any]:
    """Give the schema of a column as JSON has it.

    Parameters
    ----------
    column : ColumnSchema
        The schema.

    Returns
    -------
    dict
        Its fields.
    """
    levels = None if column.levels is None else to_plain(column.levels)
    return asdict(column) | {"name": to_plain(column.name), "levels": levels}


def column_from_plain(written: dict[str, Any]) -> ColumnSchema:
    """Make the schema of a column from what :func:`column_to_plain` gave.

    Parameters
    ----------
    written : dict
        Its fields.

    Returns
    -------
    ColumnSchema
        The schema.
    """
    levels, units = written["levels"], written["units"]
    column = ColumnSchema(
        **written
        | {
            "name": from_plain(written["name"]),
            "levels": None if levels is None else from_plain(levels),
            "units": None if units is None else Units(*units),
        }
    )
    if column.kind not in (*NUMBER_KINDS, *CATEGORY_KINDS):
        raise ValueError(f"{column.kind!r} is no kind of column")
    return column


def to_plain(value: Any) -> Any:
    """Give a name or a level as JSON has it.

    Parameters
    ----------
    value : object
        Text, a number, or a tuple of these.

    Returns
    -------
    object
        What JSON has for it.
    """
    if isinstance(value, (tuple, list)):
        return [to_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if isinstance(value, (str, bool, int, float)):
        return value
    raise TypeError(
        f"{value!r} cannot be written as JSON; use text or numbers for names and groups."
    )


def from_plain(value: Any) -> Any:
    """Give what :func:`to_plain` was given; lists were tuples.

    Parameters
    ----------
    value : object
        What JSON has.

    Returns
    -------
    object
        The name or the level.
    """
    if isinstance(value, list):
        return tuple(from_plain(each) for each in value)
    return float(value["float"]) if isinstance(value, dict) else value
