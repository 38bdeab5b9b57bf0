"""Rows as points of a plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairmix.model.distances import gower
from fairmix.tables.cells import describe
from fairmix.tables.schema import Schema
from fairmix.tables.units import standardise


def project(X: Any, schema: Schema) -> tuple[Any, list[str]]:
    """Give two coordinates of each row, and their names.

    Parameters
    ----------
    X : data frame or array-like
        The rows.
    schema : Schema
        How they are read.

    Returns
    -------
    points : ndarray of shape (n_rows, 2)
        Up to two columns of numbers as they are; else the two leading principal components.
    names : list of str
        Names of the columns, or how much of the variance each component has.
    """
    table = schema.read(X)
    n_columns = len(schema.kept)
    if not table.is_category.any() and n_columns <= 2:
        points = np.zeros((len(table.points), 2))
        for k, column in enumerate(schema.kept):
            values = table.points[:, k]
            points[:, k] = values if column.units is None else column.units.undo(values)
        names = [str(c.name) if schema.has_names else describe(c.name) for c in schema.kept]
        return points, [*names, ""][:2]
    values = gower(table.points, table.is_category, np.ones(n_columns)).coordinates()
    left, scale, _ = np.linalg.svd(standardise(values), full_matrices=False)
    points = left[:, :2] * scale[:2]
    shares = scale[:2] ** 2 / np.sum(scale**2)
    return points, [
        f"principal component {k} ({share:.0%} of the variance)"
        for k, share in enumerate(shares, start=1)
    ]
