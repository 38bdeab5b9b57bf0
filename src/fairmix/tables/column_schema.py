"""What a fit learns about one column, and how a column of another table is read by it."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.tables.cells import describe, find_missing, first, plain_values, shorten
from fairmix.tables.columns import CATEGORY_KINDS, ColumnError, read_column, refuse_unusable
from fairmix.tables.frames import Column
from fairmix.tables.units import Units

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class ColumnSchema:
    """What is known of a column.

    Attributes
    ----------
    name : object
        Its name, or its position.
    kind : str
        What it holds: "numbers", "counts", "amounts", "categories" or "binary".
    levels : tuple or None
        The values that codes 0, 1, ... stand for; None for numbers.
    is_kept : bool
        Whether it is clustered by; a column that was constant is not.
    units : Units or None
        Units that it can be compared in; None are its own.
    is_scaled : bool
        Whether its family sees it in these units, too.
    family : dict or None
        Its family in plain words.
    """

    name: Any
    kind: str = "numbers"
    levels: tuple[Any, ...] | None = None
    is_kept: bool = True
    units: Units | None = None
    is_scaled: bool = False
    family: dict[str, Any] | None = None

    @property
    def is_category(self) -> bool:
        """Whether it holds codes."""
        return self.kind in CATEGORY_KINDS

    def read(self, column: Column, unseen: str, allow_missing: bool) -> FloatArray:
        """Read a column of another table.

        Parameters
        ----------
        column : Column
            The column.
        unseen : {"error", "code"}
            What to do about categories that are not known.
        allow_missing : bool
            Whether cells may be missing.

        Returns
        -------
        ndarray of shape (n_rows,)
            Numbers or codes, NaN where missing.
        """
        values = plain_values(column.values)
        refuse_unusable(self.name, values)
        missing = find_missing(values)
        self._refuse_another_kind(values, missing)
        if missing.any() and not allow_missing:
            rows = np.flatnonzero(missing).tolist()
            raise ColumnError(
                f"{describe(self.name)} has missing cells (NaN) in rows {shorten(rows)}, which the "
                "table that was fitted was not allowed to have; fill or drop them."
            )
        if self.levels is None:
            return read_column(column, self.kind, allow_missing=allow_missing)[0]
        code_of = {level: float(code) for code, level in enumerate(self.levels)}
        found = [code_of.get(value, math.inf) for value in values.tolist()]
        codes = np.where(missing, np.nan, np.array(found, dtype=np.float64))
        is_new = np.isinf(codes)
        if is_new.any() and unseen == "error":
            new = list(dict.fromkeys(map(repr, values[is_new].tolist())))
            rows = np.flatnonzero(is_new).tolist()
            raise ColumnError(
                f"{describe(self.name)} holds {shorten(new)} (in rows {shorten(rows)}), which the "
                f"table that was fitted did not; it knows {shorten(list(map(repr, self.levels)))}. "
                "Drop these rows, or pass unseen='code'."
            )
        codes[is_new] = len(self.levels)
        return codes

    def is_missing_from(self, names: Sequence[Any]) -> ColumnError:
        """Give an error that says that the column is missing, and which one may be meant.

        Parameters
        ----------
        names : sequence
            Names of the columns that are there.

        Returns
        -------
        ColumnError
            The error.
        """
        close = difflib.get_close_matches(str(self.name), [str(name) for name in names], n=1)
        if close:
            return ColumnError(f"{describe(self.name)} is missing; do you mean {close[0]!r}?")
        return ColumnError(
            f"{describe(self.name)} is missing; the columns are {shorten(list(names))}."
        )

    def _refuse_another_kind(self, values: NDArray[Any], missing: NDArray[np.bool_]) -> None:
        """Raise an error if text is where numbers were, or the other way round."""
        holds_text = any(isinstance(value, str) for value in values)
        held_text = self.levels is not None and any(isinstance(v, str) for v in self.levels)
        if holds_text != held_text and not missing.all():
            kinds = {True: "text", False: "numbers"}
            raise ColumnError(
                f"{describe(self.name)} holds {kinds[holds_text]} such as {first(values)!r}, but "
                f"held {kinds[held_text]} in the table that was fitted; convert it."
            )
