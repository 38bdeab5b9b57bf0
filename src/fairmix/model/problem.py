"""What is clustered: rows or ready-made bundles of them, the groups enforced and those measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fairmix.families import Product
from fairmix.families.choice import numbers_and_categories, wanted_by
from fairmix.model.cost import category_cost, squared_distance_cost
from fairmix.model.distances import Distance, code_indicators, distance_of_points
from fairmix.model.grouping import Grouping, arrange_groups
from fairmix.tables.frames import open_columns
from fairmix.tables.groups import Groups
from fairmix.tables.schema import Schema, Table

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """Units to cluster, and the rows that they stand for.

    Attributes
    ----------
    units : Table
        What is clustered, a line a unit: rows themselves, or ready-made bundles of rows.
    family : family
        Of the units; not prepared.
    enforced : Grouping
        Groups of the units, which every draw is fair to.
    table : Table
        The rows, in the user's order.
    measured : Groups
        Groups of the rows, the smallest one first: what gap and balance are measured on.
    capped : tuple of Groups
        Groups of the units that there may be a cap on, for each attribute or for all; the smallest
        one of each first.
    unit_of_row : ndarray of shape (n_rows,)
        The unit of each row.
    """

    units: Table
    family: Any
    enforced: Grouping
    table: Table
    measured: Groups
    capped: tuple[Groups, ...]
    unit_of_row: IntArray

    @classmethod
    def of_rows(cls, table: Table, family: Any, grouping: Grouping) -> Self:
        """Cluster rows, fair to the groups that are measured.

        Parameters
        ----------
        table : Table
            The rows.
        family : family
            Of the columns that are kept.
        grouping : Grouping
            The groups.

        Returns
        -------
        Problem
            The problem.
        """
        every_row = np.arange(len(table.rows))
        groups = measured_groups(grouping)
        return cls(table, family, grouping, table, groups, (groups,), every_row)

    @classmethod
    def without_groups(
        cls,
        table: Table,
        grouping: Grouping,
        units: Table,
        family: Any,
        unit_of_row: IntArray,
        rng: np.random.Generator,
        capped: tuple[Groups, ...] = (),
    ) -> Self:
        """Cluster units without any matching; the groups of the rows are measured.

        Parameters
        ----------
        table : Table
            The rows.
        grouping : Grouping
            Their groups.
        units : Table
            What is clustered.
        family : family
            Of the units.
        unit_of_row : ndarray of shape (n_rows,)
            The unit of each row.
        rng : numpy.random.Generator
            Shuffles the units.
        capped : tuple of Groups, default=()
            Groups of the units that there is a cap on.

        Returns
        -------
        Problem
            The problem.
        """
        one_group = np.zeros(len(units.rows), dtype=np.int64)
        enforced = arrange_groups(["all"], one_group, rng)
        groups = measured_groups(grouping)
        return cls(units, family, enforced, table, groups, capped, unit_of_row)

    @property
    def place_of_row(self) -> IntArray:
        """The place of each row's unit in internal order."""
        return np.asarray(np.argsort(self.enforced.order)[self.unit_of_row])

    def distance(self) -> Distance:
        """Give the distance between units, in internal order."""
        return distance_of_points(self.units.points[self.enforced.order], self.units.is_category)

    def cost(self, labels: IntArray) -> FloatArray:
        """Give the cost of labellings of the rows.

        Parameters
        ----------
        labels : ndarray of shape (n, n_rows)
            Cluster of each row.

        Returns
        -------
        ndarray of shape (n,)
            As in :func:`fairmix.metrics.cost`.
        """
        if self.table.is_category.all():
            return category_cost(self.table.points, labels)
        return squared_distance_cost(self._coordinates, labels)

    @cached_property
    def _coordinates(self) -> FloatArray:
        """The rows as points."""
        return coordinates_of(self.table)


def groups_of_attributes(groups: Groups, attributes: Mapping[Any, Any]) -> tuple[Groups, ...]:
    """Give the groups of some attributes, the smallest one of each first.

    Parameters
    ----------
    groups : Groups
        The crossed groups of all attributes.
    attributes : mapping
        Its keys name the attributes.

    Returns
    -------
    tuple of Groups
        The groups of each.
    """
    for name in attributes:
        if name not in groups.attributes:
            raise ValueError(
                f"max_gap names {name!r}, which is not a sensitive attribute; they are "
                f"{list(groups.attributes)}."
            )
    every = [groups.attributes[name] for name in attributes]
    return tuple(measured_groups(arrange_groups(each.names, each.codes)) for each in every)


def measured_groups(grouping: Grouping) -> Groups:
    """Give the groups of the user's rows.

    Parameters
    ----------
    grouping : Grouping
        The groups.

    Returns
    -------
    Groups
        Names, the anchor group first, and each row's place among them.
    """
    return Groups(list(grouping.names), grouping.group_of_user_row)


def coordinates_of(table: Table) -> FloatArray:
    """Give a table as points: numbers, and an indicator for each category.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    ndarray of shape (n_rows, n_coordinates)
        The points; missing cells are NaN.
    """
    return np.ascontiguousarray(code_indicators(table.points, table.is_category))


def read_table(
    X: Any,
    family: Any,
    *,
    standardize: bool = True,
    allow_missing: bool = False,
    group_names: Sequence[Any] = ("all",),
) -> tuple[Schema, Table]:
    """Learn a table's schema for a family, and read the table by it.

    Parameters
    ----------
    X : data frame or array-like
        The table.
    family : family
        One for all columns, or a ``Product``.
    standardize : bool, default=True
        Whether columns of families that ask for it are put into standard units.
    allow_missing : bool, default=False
        Whether cells may be missing.
    group_names : sequence, default=("all",)
        Names of the sensitive groups.

    Returns
    -------
    schema : Schema
        What was learned.
    table : Table
        The table as numbers.
    """
    opened = open_columns(X)
    wanted = wanted_by(family, len(opened.columns))
    return Schema.fit_read(
        opened,
        wanted,
        standardize=standardize,
        allow_missing=allow_missing,
        group_names=group_names,
    )


def family_of_kept(family: Any, schema: Schema) -> Any:
    """Give the family of the columns that are kept.

    Parameters
    ----------
    family : family
        One for all columns, or a ``Product``.
    schema : Schema
        What was learned of the columns.

    Returns
    -------
    family
        The same, without families of columns that were dropped.
    """
    if not isinstance(family, Product):
        return family
    return family.select([k for k, column in enumerate(schema.columns) if column.is_kept])


def prepare_points(X: Any, *, standardize: bool = True) -> tuple[Schema, FloatArray]:
    """Read a table as points: numbers (in standard units), and an indicator for each category.

    Parameters
    ----------
    X : data frame or array-like
        The data; categories must be in a data frame.
    standardize : bool, default=True
        Whether numbers are put into standard units.

    Returns
    -------
    schema : Schema
        What was learned of the columns.
    points : ndarray of shape (n_rows, n_coordinates)
        The points.
    """
    opened = open_columns(X)
    family = numbers_and_categories(opened)
    schema, table = read_table(opened, family, standardize=standardize)
    return schema, coordinates_of(table)
