"""What a fit learns about its table, and how any other table is read by it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fairmix.tables.as_json import column_from_plain, column_to_plain, from_plain, to_plain
from fairmix.tables.cells import shorten
from fairmix.tables.checks import check_choice
from fairmix.tables.column_schema import ColumnSchema
from fairmix.tables.columns import (
    NUMBER_KINDS,
    ColumnError,
    Features,
    read_features,
    refuse_columns,
    refuse_empty_rows,
    varying_columns,
)
from fairmix.tables.frames import Column, Columns, open_columns
from fairmix.tables.units import Units, check_size, fit_units

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: Version of what ``Schema.to_json`` writes.
FORMAT = 1


class Wanted(NamedTuple):
    """What the family of a column wants.

    Parameters
    ----------
    kind : str, default="numbers"
        What the column holds: "numbers", "counts", "amounts", "categories" or "binary".
    is_location_scale : bool, default=False
        Whether the column is put into standard units.
    allows_missing : bool, default=True
        Whether missing cells can be left out.
    family : dict or None, default=None
        The family in plain words, to be kept.
    """

    kind: str = "numbers"
    is_location_scale: bool = False
    allows_missing: bool = True
    family: dict[str, Any] | None = None


@dataclass(frozen=True)
class Table:
    """A table as numbers: the columns that are kept, rows in the user's order.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        In the units that their families want; codes of categories, NaN where a cell is missing.
    points : ndarray of shape (n_rows, n_columns)
        The same with all numbers in units that can be compared: what distances and cost see.
    is_category : ndarray of bool, shape (n_columns,)
        Which columns hold codes.
    """

    rows: FloatArray
    points: FloatArray
    is_category: NDArray[np.bool_]


@dataclass(frozen=True)
class Schema:
    """What a fit learned about its table.

    Attributes
    ----------
    columns : tuple of ColumnSchema
        All columns of the table.
    group_names : tuple
        Names of the sensitive groups in sorted order; tuples for crossed columns.
    has_names : bool
        Whether columns have names; otherwise they are known by their place.
    allows_missing : bool
        Whether cells may be missing.
    merged_groups : tuple of tuple
        Pairs of names: a group that was too rare, and the one of ``group_names`` that it went into.

    Examples
    --------
    >>> from fairmix.tables.schema import Schema, Wanted
    >>> schema = Schema.fit([["a"], ["b"], ["a"]], Wanted("categories"))
    >>> schema.columns[0].levels
    ('a', 'b')
    >>> Schema.from_json(schema.to_json()).read([["b"], ["a"]]).rows.ravel().tolist()
    [1.0, 0.0]
    """

    columns: tuple[ColumnSchema, ...]
    group_names: tuple[Any, ...] = ("all",)
    has_names: bool = False
    allows_missing: bool = False
    merged_groups: tuple[tuple[Any, Any], ...] = ()

    @classmethod
    def fit(cls, X: Any, wanted: Wanted | Sequence[Wanted], **options: Any) -> Self:
        """Learn a schema from a table.

        Parameters
        ----------
        X : data frame or array-like of shape (n_rows, n_columns)
            The table.
        wanted : Wanted or sequence of Wanted
            What the family of all columns wants, or that of each.
        **options
            As for :meth:`fit_read`.

        Returns
        -------
        Schema
            What was learned.
        """
        return cls.fit_read(X, wanted, **options)[0]

    @classmethod
    def fit_read(
        cls,
        X: Any,
        wanted: Wanted | Sequence[Wanted],
        *,
        standardize: bool = True,
        allow_missing: bool = False,
        group_names: Sequence[Any] = ("all",),
    ) -> tuple[Self, Table]:
        """Learn a schema from a table, and read the table by it.

        Parameters
        ----------
        X : data frame or array-like of shape (n_rows, n_columns)
            The table.
        wanted : Wanted or sequence of Wanted
            What the family of all columns wants, or that of each.
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
        every = [wanted] * len(opened.columns) if isinstance(wanted, Wanted) else list(wanted)
        features = read_features(opened, [each.kind for each in every], allow_missing=allow_missing)
        _refuse_holes(features, every)
        kept = varying_columns(features)
        rows = np.ascontiguousarray(features.rows[:, kept])
        refuse_empty_rows(rows)
        mine = [every[k] for k in kept]
        is_scaled = np.array([each.is_location_scale and standardize for each in mine], dtype=bool)
        has_own_units = np.array(
            [each.kind in NUMBER_KINDS and each.kind != "numbers" for each in mine], dtype=bool
        )
        units: dict[int, Units] = {}
        for chosen in (is_scaled, has_own_units & ~is_scaled):
            units |= zip(kept[chosen].tolist(), fit_units(rows[:, chosen]), strict=True)
        columns = tuple(
            ColumnSchema(
                name=column.name,
                kind=each.kind,
                levels=levels,
                is_kept=k in set(kept.tolist()),
                units=units.get(k),
                is_scaled=bool(each.is_location_scale and standardize and k in units),
                family=each.family,
            )
            for k, (column, each, levels) in enumerate(
                zip(opened.columns, every, features.levels, strict=True)
            )
        )
        is_raw = np.array([each.kind == "numbers" for each in mine], dtype=bool) & ~is_scaled
        check_size(rows[:, is_raw])
        schema = cls(columns, tuple(group_names), opened.has_names, allow_missing)
        return schema, schema._in_units(rows)

    @property
    def kept(self) -> tuple[ColumnSchema, ...]:
        """The columns that are clustered by."""
        return tuple(column for column in self.columns if column.is_kept)

    @property
    def names(self) -> list[Any]:
        """Names of all columns, or their positions."""
        return [column.name for column in self.columns]

    def read(self, X: Any, *, unseen: str = "error") -> Table:
        """Read a table by this schema: the one that it was learned from, or any other.

        Parameters
        ----------
        X : data frame or array-like
            The table. If it has names, columns are found by them, in any order, and others are
            left out; otherwise its columns must be those of the schema.
        unseen : {"error", "code"}, default="error"
            What to do about categories that the schema does not know: raise an error, or give
            them one code of their own, one past the last.

        Returns
        -------
        Table
            Numbers and codes; the same, bit for bit, as when the schema was learned.
        """
        check_choice("unseen", unseen, ("error", "code"))
        opened = open_columns(X)
        problems: list[ColumnError] = []
        rows = np.empty((opened.n_rows, len(self.kept)))
        for k, (known, column) in enumerate(self._find_columns(opened)):
            try:
                if column is None:
                    raise known.is_missing_from(opened.names)
                rows[:, k] = known.read(column, unseen, self.allows_missing)
            except ColumnError as problem:
                problems.append(problem)
        refuse_columns(problems)
        refuse_empty_rows(rows)
        return self._in_units(rows)

    def read_groups(self, names: Sequence[Any], codes: IntArray) -> IntArray:
        """Give groups the codes of this schema.

        Parameters
        ----------
        names : sequence
            Names of the groups of another table.
        codes : ndarray of shape (n_rows,)
            Each row's place among these.

        Returns
        -------
        ndarray of shape (n_rows,)
            Each row's place among ``group_names``.
        """
        merged = dict(self.merged_groups)
        own = [merged.get(name, name) for name in names]
        unknown = [name for name in own if name not in self.group_names]
        if unknown:
            raise ValueError(
                f"sensitive_features holds {shorten(list(map(repr, unknown)))}, which is no group "
                f"of the table that was fitted; its groups are {[*self.group_names, *merged]}."
            )
        return np.array([self.group_names.index(name) for name in own], dtype=np.int64)[codes]

    def note_on(self, estimator: Any) -> None:
        """Set what scikit-learn expects of a fitted estimator to know of its features.

        Parameters
        ----------
        estimator : estimator
            The estimator.
        """
        estimator.n_features_in_ = len(self.columns)
        if self.has_names and all(isinstance(name, str) for name in self.names):
            estimator.feature_names_in_ = np.array(self.names, dtype=object)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_

    def to_json(self) -> str:
        """Write the schema as text.

        Returns
        -------
        str
            JSON.
        """
        written = {
            "format": FORMAT,
            "columns": [column_to_plain(column) for column in self.columns],
            "group_names": to_plain(self.group_names),
            "has_names": self.has_names,
            "allows_missing": self.allows_missing,
            "merged_groups": to_plain(self.merged_groups),
        }
        return json.dumps(written, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what :meth:`to_json` wrote.

        Parameters
        ----------
        text : str
            JSON.

        Returns
        -------
        Schema
            The schema.
        """
        try:
            written = json.loads(text)
            version = written.pop("format")
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
            raise ValueError("text is not the JSON of a schema; write it by to_json.") from error
        if version != FORMAT:
            raise ValueError(
                f"the schema has format {version!r}, but this version of fairmix reads {FORMAT}; "
                "write it anew."
            )
        try:
            columns = tuple(column_from_plain(column) for column in written.pop("columns"))
            names = from_plain(written.pop("group_names"))
            merged = tuple((old, new) for old, new in from_plain(written.pop("merged_groups", [])))
            return cls(columns=columns, group_names=names, merged_groups=merged, **written)
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise ValueError(
                f"text is not the JSON of a whole schema ({type(error).__name__}: {error}); write "
                "it by to_json."
            ) from error

    def _in_units(self, rows: FloatArray) -> Table:
        """Bring the columns that are kept into their units."""
        points = rows.copy()
        for k, column in enumerate(self.kept):
            if column.units is not None:
                points[:, k] = column.units.apply(rows[:, k])
                if column.is_scaled:
                    rows[:, k] = points[:, k]
        is_category = np.array([column.is_category for column in self.kept], dtype=bool)
        return Table(rows, points, is_category)

    def _find_columns(self, opened: Columns) -> list[tuple[ColumnSchema, Column | None]]:
        """Find the columns that are kept in another table, by name or by place."""
        if self.has_names and opened.has_names:
            by_name = {column.name: column for column in opened.columns}
            return [(known, by_name.get(known.name)) for known in self.kept]
        if len(opened.columns) != len(self.columns):
            raise ValueError(
                f"X has {len(opened.columns)} columns, but the table that was fitted had "
                f"{len(self.columns)} ({shorten(self.names)}); pass the same columns."
            )
        pairs = zip(self.columns, opened.columns, strict=True)
        return [(known, column) for known, column in pairs if known.is_kept]


def _refuse_holes(features: Features, wanted: Sequence[Wanted]) -> None:
    """Raise an error if cells are missing that a family cannot leave out."""
    refuse_columns(
        [
            ColumnError(
                f"{features.describe(k)} has missing cells, which its family cannot leave out; "
                "fill or drop them, or use a family whose columns are independent, such as "
                "'gaussian' or 'auto'."
            )
            for k, each in enumerate(wanted)
            if np.isnan(features.rows[:, k]).any() and not each.allows_missing
        ]
    )
