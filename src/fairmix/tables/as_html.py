"""Small pieces of HTML for notebooks; whatever comes from the data is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import pandas as pd

#: More rows and columns are left out in the middle.
MAX_ROWS, MAX_COLUMNS = 60, 20


def show_table(table: pd.DataFrame, head: str, notes: Sequence[str] = ()) -> str:
    """Give a table with a line above and some lines below.

    Parameters
    ----------
    table : pandas.DataFrame
        The table; its index is not shown.
    head : str
        The line above.
    notes : sequence of str
        The lines below.

    Returns
    -------
    str
        HTML.
    """
    # Long texts are for reading, so they are not cut.
    with pd.option_context("display.max_colwidth", None):
        rows: str = table.to_html(
            index=False,
            escape=True,
            border=0,
            max_rows=MAX_ROWS,
            max_cols=MAX_COLUMNS,
            justify="left",
            float_format=lambda value: f"{value:.4g}",
        )
    return f"<div><p><strong>{escape(head)}</strong></p>{rows}{_paragraphs(notes)}</div>"


def show_lines(head: str, lines: Sequence[str]) -> str:
    """Give a few lines of text.

    Parameters
    ----------
    head : str
        The first line.
    lines : sequence of str
        The others.

    Returns
    -------
    str
        HTML.
    """
    return f"<div><p><strong>{escape(head)}</strong></p>{_paragraphs(lines)}</div>"


def _paragraphs(lines: Sequence[str]) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in lines)
