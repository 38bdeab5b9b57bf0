"""What was understood of a table, for people and for programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairmix.cli.cells import FileColumn
from fairmix.cli.inspection import Inspection
from fairmix.model.feasible import certain_gap
from fairmix.model.grouping import arrange_groups
from fairmix.posterior.wording import percent, short_text, text_of_group
from fairmix.tables.column_schema import ColumnSchema

#: So many categories and groups are named.
MOST_NAMED = 4
MOST_GROUPS_NAMED = 8


def describe(found: Inspection) -> Any:
    """Say what was understood of a table.

    Parameters
    ----------
    found : Inspection
        What was understood.

    Returns
    -------
    rich.console.Group
        Lines and a table of the columns.
    """
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table, n_columns = found.table, len(found.table.columns)
    head = f"{short_text(table.path.name)}: {table.n_rows:,} rows, {n_columns} columns"
    shown = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for title in ("column", "taken for", "holes"):
        shown.add_column(Text(title, "bold"), overflow="fold")
    for column in table.columns:
        is_used = column.name in found.features
        style = "" if is_used or column.name in found.settings.sensitive else "dim"
        holes = f"{column.n_missing:,} ({percent(column.n_missing / table.n_rows)})"
        cells = (short_text(column.name), role_of(found, column), holes * bool(column.n_missing))
        shown.add_row(*(Text(cell, style) for cell in cells))
    lines: list[Any] = [Text.assemble((head, "bold"), f" ({table.told})"), shown]
    lines += [Text.assemble((f"{title}: ", "bold"), text) for title, text in _tell_more(found)]
    return Group(*lines)


def role_of(found: Inspection, column: FileColumn) -> str:
    """Say what a column is taken for.

    Parameters
    ----------
    found : Inspection
        What was understood of the table.
    column : FileColumn
        The column.

    Returns
    -------
    str
        Its role, or what it holds.
    """
    if column.name in found.settings.sensitive:
        return "sensitive"
    if why := found.left_out.get(column.name):
        return why if column.name == found.settings.id else f"left out: {why}"
    if found.schema is None:
        return "text" if column.is_text else "numbers"
    known = found.schema.columns[found.features.index(column.name)]
    return _kind_of(known, column)


def _kind_of(known: ColumnSchema, column: FileColumn) -> str:
    """Say what a column that is clustered by holds."""
    if known.levels is None:
        low, high = (f"{value:g}" for value in (np.min(column.present), np.max(column.present)))
        family = (known.family or {}).get("name", "")
        usual = {"numbers": "gaussian", "counts": "poisson", "amounts": "exponential"}
        by = "" if usual.get(known.kind) == family else f" ({family})"
        return f"{known.kind}, {low} to {high}{by}"
    named = ", ".join(short_text(level, 20) for level in known.levels[:MOST_NAMED])
    n_more = len(known.levels) - MOST_NAMED
    more = f" and {n_more:,} more" if n_more > 0 else ""
    what = "two values" if known.kind == "binary" else f"{len(known.levels):,} categories"
    return f"{what}: {named}{more}"


def _tell_more(found: Inspection) -> list[tuple[str, str]]:
    """Tell of groups, of fairness and of holes."""
    told = []
    settings, groups = found.settings, found.groups
    if groups is not None:
        order = np.argsort(-groups.counts, kind="stable")
        sizes = [
            f"{_name_of_group(settings.sensitive, groups.names[k])} {groups.counts[k]:,} "
            f"({percent(groups.counts[k] / found.table.n_rows)})"
            for k in order[:MOST_GROUPS_NAMED]
        ]
        n_more = len(order) - MOST_GROUPS_NAMED
        more = f" and {n_more} more" if n_more > 0 else ""
        told.append(("groups", "; ".join(sizes) + more))
        told.append(("fairness", _tell_fairness(found)))
    elif not settings.sensitive and not found.problems:
        told.append(("groups", "none yet: --sensitive names the column that has them"))
    n_holes = sum(found.table.column(name).n_missing for name in found.features)
    if n_holes and settings.missing == "ignore":
        n_cells = found.table.n_rows * len(found.features)
        share = percent(n_holes / n_cells)
        text = f"{n_holes:,} cells ({share}) are missing; they are left out of the likelihood"
        told.append(("holes", text))
    return told


def _tell_fairness(found: Inspection) -> str:
    """Tell what is certain about the gap of any draw."""
    settings, groups = found.settings, found.groups
    assert groups is not None
    if settings.max_gap is not None or settings.min_balance is not None:
        caps = settings.max_gap
        if isinstance(caps, dict):
            caps = ", ".join(f"{short_text(name)} {cap:g}" for name, cap in caps.items())
        parts = [] if caps is None else [f"every draw has a gap of at most {caps}"]
        if settings.min_balance is not None:
            parts.append(f"every draw has a balance of at least {settings.min_balance:g}")
        return "; ".join(parts)
    grouping = arrange_groups(groups.names, groups.codes)
    smallest = _name_of_group(settings.sensitive, grouping.names[0])
    text = f"every row is matched to one of the smallest group ({smallest})"
    if settings.n_masked:
        return f"{text}, but for those that --n-masked exempts"
    bound = certain_gap(grouping, np.zeros(grouping.n_groups, dtype=np.int64))
    return f"{text}, so a gap of at most {bound:.3g} is certain (--max-gap caps it lower)"


def _name_of_group(columns: tuple[str, ...], name: Any) -> str:
    return text_of_group(columns[0] if len(columns) == 1 else columns, name)


def as_plain(found: Inspection) -> dict[str, Any]:
    """Give what was understood as JSON has it.

    Parameters
    ----------
    found : Inspection
        What was understood.

    Returns
    -------
    dict
        Rows, columns, groups, problems and warnings.
    """
    groups = found.groups
    named = {} if groups is None else zip(groups.names, groups.counts.tolist(), strict=True)
    return {
        "data": str(found.table.path),
        "n_rows": found.table.n_rows,
        "id": found.settings.id,
        "columns": [
            {
                "name": column.name,
                "taken_for": role_of(found, column),
                "is_used": column.name in found.features,
                "n_missing": column.n_missing,
            }
            for column in found.table.columns
        ],
        "groups": {short_text(name, 1000): count for name, count in dict(named).items()},
        "problems": found.problems,
        "warnings": found.warned,
    }
