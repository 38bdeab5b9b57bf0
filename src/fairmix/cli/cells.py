"""The cells of a column of a file: numbers, text, dates or holes, and those that do not fit."""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: What stands for a missing cell in any file.
MISSING = frozenset(
    ["", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-nan", "NULL", "null", "None", "?"]
)
#: A column of which so large a share are numbers holds numbers; what is none is a mistake.
MOSTLY = 0.9
#: Cells that are mistakes, as many as are told.
MOST_TOLD = 3
#: Whole numbers of more digits are names: as floating point numbers they would be others.
MOST_DIGITS = 15
_DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))"
    r"([T ]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[AaPp][Mm])?(Z|[+-]\d{2}:?\d{2})?)?"
)
_TIME = re.compile(r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?")
#: Digits that are a name: with a leading zero, or too many.
_CODE = re.compile(rf"^[+-]?(0\d|\d{{{MOST_DIGITS + 1}}})", re.MULTILINE)


@dataclass(frozen=True)
class FileColumn:
    """A column of a file.

    Attributes
    ----------
    name : str
        Its name.
    values : ndarray of shape (n_rows,)
        Whole numbers, numbers (NaN where missing) or objects (text, None where missing).
    n_missing : int
        Number of missing cells.
    mistakes : list of tuple
        Cells that are no numbers in a column of numbers: their row, from 1 on, and what is there.
    n_mistakes : int
        How many there are.
    holds_dates : bool
        Whether all of its cells are dates or times.
    """

    name: str
    values: NDArray[Any]
    n_missing: int
    mistakes: list[tuple[int, str]] = field(default_factory=list)
    n_mistakes: int = 0
    holds_dates: bool = False

    @property
    def is_text(self) -> bool:
        """Whether it holds text."""
        return self.values.dtype.kind == "O"

    @property
    def present(self) -> NDArray[Any]:
        """The cells that are not missing."""
        if self.is_text:
            return self.values[[value is not None for value in self.values]]
        return self.values[~np.isnan(self.values)] if self.n_missing else self.values


class Scan:
    """Learns what a column of a text holds, then fills its array.

    Parameters
    ----------
    name : str
        The column's name.
    decimal_sign : str
        "." or ",".
    missing : frozenset of str
        What else stands for a missing cell.
    kind : str or None
        "text" or "numbers" if it must be that.
    """

    def __init__(
        self, name: str, decimal_sign: str, missing: frozenset[str], kind: str | None = None
    ) -> None:
        self.name = name
        self._decimal = decimal_sign
        self._missing = MISSING | missing
        self._missing_numbers = numbers_among(missing)
        self._kind = kind
        self._n_seen = self._n_missing = self._n_numbers = 0
        self._holds_others = False
        self._is_whole = True
        self._has_codes = False
        self._mistakes: list[tuple[int, str]] = []
        self._values: NDArray[Any] = np.empty(0)
        self._n_filled = 0
        self._known: dict[str, str] = {}

    def look(self, cells: Sequence[str]) -> None:
        """Learn from some cells."""
        cells = list(map(str.strip, cells))
        numbers, is_missing = self._numbers(cells)
        are_numbers = ~np.isnan(numbers)
        self._n_missing += int(is_missing.sum())
        self._n_numbers += int(are_numbers.sum())
        found = numbers[are_numbers]
        self._is_whole &= bool(np.all(np.isfinite(found) & (found % 1 == 0)))
        if not self._has_codes and len(found) and self._kind is None:
            self._has_codes = _CODE.search("\n".join(cells)) is not None
        if len(found) < len(cells):
            for k in np.flatnonzero(~are_numbers & ~is_missing).tolist():
                if not self._holds_others:  # one cell that is no date says it all
                    self._holds_others = not _is_date(cells[k])
                if len(self._mistakes) < MOST_TOLD:
                    self._mistakes.append((self._n_seen + k + 1, cells[k]))
        self._n_seen += len(cells)

    def begin(self, n_rows: int) -> None:
        """Make room for so many cells."""
        kind: Any = object if self.is_text else np.float64
        self._values = np.empty(n_rows, dtype=kind)

    def fill(self, cells: Sequence[str]) -> None:
        """Keep some cells."""
        cells = list(map(str.strip, cells))
        place = slice(self._n_filled, self._n_filled + len(cells))
        if self.is_text:
            known = self._known  # each text once, however many cells hold it
            self._values[place] = [
                None if cell in self._missing else known.setdefault(cell, cell) for cell in cells
            ]
        else:
            self._values[place] = self._numbers(cells)[0]
        self._n_filled += len(cells)

    @property
    def is_text(self) -> bool:
        """Whether the column holds text: anything that is no number, or numbers that are names."""
        n_present = self._n_seen - self._n_missing
        if self._kind is not None:
            return self._kind == "text"
        return self._has_codes or self._n_numbers < n_present

    def column(self) -> FileColumn:
        """Give the column."""
        values = self._values
        if not self.is_text and self._is_whole and not np.isnan(values).any():
            values = values.astype(np.int64)
        n_present = self._n_seen - self._n_missing
        n_others = n_present - self._n_numbers
        is_mistaken = n_others > 0 and (
            self._kind == "numbers"
            or (
                self._kind is None and not self._has_codes and self._n_numbers >= MOSTLY * n_present
            )
        )
        return FileColumn(
            self.name,
            values,
            self._n_missing,
            self._mistakes if is_mistaken else [],
            n_others if is_mistaken else 0,
            holds_dates=0 < n_present == n_others and not self._holds_others,
        )

    def _numbers(self, cells: list[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Give cells as numbers, NaN where they are none, and tell which ones are missing."""
        if self._decimal == ",":
            cells = [
                "" if cell in self._missing else cell.replace(".", "x").replace(",", ".")
                for cell in cells
            ]
        missing = self._missing
        if missing.isdisjoint(cells):
            is_missing = np.zeros(len(cells), dtype=bool)
        else:
            is_missing = np.array([cell in missing for cell in cells], dtype=bool)
            cells = ["nan" if cell in missing else cell for cell in cells]
        numbers = _numbers_of(cells)
        if self._missing_numbers:
            is_missing |= np.isin(numbers, self._missing_numbers)
            numbers[is_missing] = np.nan
        return numbers, is_missing


def _numbers_of(cells: list[str]) -> NDArray[np.float64]:
    """Give cells as numbers, NaN where they are none."""
    if "_" not in "".join(cells):  # 1_000 is a number to Python only
        try:
            return np.array(list(map(float, cells)))
        except ValueError:
            pass
    known = {cell: _as_number(cell) for cell in set(cells)}  # often a few texts
    return np.array([known[cell] for cell in cells])


def numbers_among(texts: frozenset[str]) -> list[float]:
    """Give those of some texts that are numbers: -999 stands for -999.0, too."""
    numbers = map(_as_number, texts)
    return [number for number in numbers if not np.isnan(number)]


def column_of_values(
    name: str, values: Any, missing: frozenset[str], kind: str | None = None
) -> FileColumn:
    """Give a column of a file that knows numbers, dates and text apart.

    Parameters
    ----------
    name : str
        The column's name.
    values : ndarray or list
        An array of numbers, or any values.
    missing : frozenset of str
        What else stands for a missing cell.
    kind : str, optional
        "text" or "numbers" if it must be that.

    Returns
    -------
    FileColumn
        The column.
    """
    if isinstance(values, np.ndarray):
        values = values.astype(np.int64 if values.dtype.kind in "iu" else np.float64)
        if numbers := numbers_among(missing):
            is_missing = np.isin(values, numbers)
            values = np.where(is_missing, np.nan, values) if is_missing.any() else values
        n_missing = int(np.isnan(values).sum()) if values.dtype.kind == "f" else 0
        return FileColumn(name, values, n_missing)
    present = [value for value in values if value is not None]
    if present and all(isinstance(v, (datetime.date, datetime.time)) for v in present):
        dates = [None if value is None else str(value) for value in values]
        n_missing = len(values) - len(present)
        return FileColumn(name, np.array(dates, dtype=object), n_missing, holds_dates=True)
    scan = Scan(name, ".", missing, kind)
    cells = [_as_text(value) for value in values]
    if any(isinstance(value, str) for value in present) and kind is None:
        are_texts = all(isinstance(value, str) for value in present)
        scan = Scan(name, ".", missing, "text") if are_texts else scan
    scan.look(cells)
    scan.begin(len(cells))
    scan.fill(cells)
    return scan.column()


def _as_number(text: str) -> float:
    try:
        return float("nan" if "_" in text else text)
    except ValueError:
        return float("nan")


def _as_text(value: Any) -> str:
    """Give a value as a text file would have it."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    return str(value)


def _is_date(cell: str) -> bool:
    return (_DATE.fullmatch(cell) or _TIME.fullmatch(cell)) is not None
