"""Tables as CSV that a spreadsheet cannot take for formulas."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

#: A cell that begins so is a formula to a spreadsheet, which would run it ...
STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
#: ... unless it is just a number.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def defuse(cell: Any) -> str:
    """Give a cell as text that is not run: an apostrophe comes before what would be.

    Parameters
    ----------
    cell : object
        Text, a number, or None.

    Returns
    -------
    str
        The text.
    """
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    text = str(cell)
    is_formula = text.startswith(STARTS) and _NUMBER.fullmatch(text) is None
    return f"'{text}" if is_formula else text


def csv_of(header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> bytes:
    """Give a table as CSV.

    Parameters
    ----------
    header : sequence
        Names of the columns.
    rows : iterable of sequence
        The rows.

    Returns
    -------
    bytes
        Text in UTF-8, with commas.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(map(defuse, header))
    writer.writerows(map(defuse, row) for row in rows)
    return buffer.getvalue().encode("utf-8", errors="replace")
