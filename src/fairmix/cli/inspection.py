"""What is understood of a table before anything is fitted, and all of its problems at once.

The library refuses or warns of columns that say which row it is rather than what it is like. Here
they are left out with a word why, unless ``--columns`` names them.
"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from fairmix.cli.cells import FileColumn
from fairmix.cli.identifiers import find_id, why_left_out
from fairmix.cli.reading import FileTable
from fairmix.cli.settings import Settings, nearest
from fairmix.cli.telling import CommandError, in_options, sentence
from fairmix.estimator import FairBayesianClustering
from fairmix.families.choice import FAMILIES, choose_family
from fairmix.model.cap import resolve_cap
from fairmix.model.feasible import smallest_gap
from fairmix.model.grouping import arrange_groups
from fairmix.model.problem import groups_of_attributes, measured_groups
from fairmix.model.problem import read_table as read_features
from fairmix.model.smallest_group import check_capped_groups, check_groups, remedies
from fairmix.tables.cells import shorten
from fairmix.tables.checks import check_constraint, check_parameters
from fairmix.tables.frames import open_columns
from fairmix.tables.groups import Groups, read_groups
from fairmix.tables.rare_groups import merge_rare_groups
from fairmix.tables.schema import Schema

#: More groups than this are a measurement, or names of rows.
MOST_GROUPS = 50
#: Families that take text for what it is.
TEXT_FAMILIES = ("categorical", "bernoulli")


@dataclass
class Inspection:
    """What is understood of a table.

    Attributes
    ----------
    table : FileTable
        The table.
    settings : Settings
        The settings with names of columns found: what is fitted.
    features : list of str
        Columns to cluster by.
    left_out : dict of str to str
        Why other columns are left out.
    groups : Groups or None
        The sensitive groups, rare ones put together; None if no column is sensitive.
    schema : Schema or None
        What the columns are taken for; None if there are problems.
    problems : list of str
        Why it cannot be fitted.
    warned : list of str
        What the library warns of.
    """

    table: FileTable
    settings: Settings
    features: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    groups: Groups | None = None
    schema: Schema | None = None
    problems: list[str] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)

    def frame(self, names: Sequence[str]) -> pd.DataFrame:
        """Give some columns as a data frame."""
        return pd.DataFrame({name: self.table.column(name).values for name in names})

    def refuse(self) -> None:
        """End the command if there are problems."""
        if self.problems:
            raise CommandError(" ".join(map(sentence, self.problems)))


def inspect(table: FileTable, settings: Settings) -> Inspection:
    """Find out what a table holds.

    Parameters
    ----------
    table : FileTable
        The table.
    settings : Settings
        The settings.

    Returns
    -------
    Inspection
        What is understood of it.
    """
    found = Inspection(table, settings)
    _find_names(found)
    _choose_features(found)
    _look_at_cells(found)
    _form_groups(found)
    if not found.problems:
        _try_out(found)
    return found


def find_columns(given: Iterable[str], names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Find columns by name: each given text is one, or several with commas between them.

    Parameters
    ----------
    given : iterable of str
        What was written.
    names : sequence of str
        Names of the columns.

    Returns
    -------
    found : list of str
        The columns.
    problems : list of str
        What is no column, and which one may be meant.
    """
    found: list[str] = []
    problems = []
    for text in given:
        parts = [text] if text in names else [part.strip() for part in text.split(",")]
        for part in filter(None, parts):
            if part in names:
                found.append(part)
            else:
                hint = nearest(part, names) or f"; the columns are {shorten(list(names))}"
                problems.append(f"{part!r} is no column of the table{hint}")
    return list(dict.fromkeys(found)), problems


def _find_names(found: Inspection) -> None:
    """Bring the names of columns in the settings into order."""
    names, settings = found.table.names, found.settings
    changed: dict[str, Any] = {}
    for option in ("sensitive", "columns", "drop"):
        columns, problems = find_columns(getattr(settings, option), names)
        changed[option] = tuple(columns)
        found.problems += [f"--{option}: {problem}" for problem in problems]
    if settings.id is None:
        taken = {*changed["sensitive"], *changed["columns"], *changed["drop"]}
        changed["id"] = find_id([c for c in found.table.columns if c.name not in taken])
    elif settings.id not in names:
        hint = nearest(settings.id, names)
        found.problems.append(f"--id: {settings.id!r} is no column of the table{hint}")
        changed["id"] = None
    for option, value in (("family", settings.family), ("max_gap", settings.max_gap)):
        for name in value if isinstance(value, dict) else ():
            if name not in names:
                hint = nearest(name, names)
                found.problems.append(
                    f"--{option.replace('_', '-')}: {name!r} is no column of the table{hint}"
                )
    families = settings.family.values() if isinstance(settings.family, dict) else [settings.family]
    for family in families:
        if family not in (*FAMILIES, "auto"):
            hint = nearest(family, FAMILIES) or f"; the families are auto, {', '.join(FAMILIES)}"
            found.problems.append(f"--family: {family!r} is no family{hint}")
    for name in changed["sensitive"]:
        if name in (*changed["columns"], *changed["drop"], changed.get("id", settings.id)):
            found.problems.append(
                f"{name!r} is sensitive, so it is neither clustered by, nor left out, nor a name "
                "of rows: name it by --sensitive only"
            )
    found.settings = replace(settings, **changed)


def _choose_features(found: Inspection) -> None:
    """Choose the columns to cluster by."""
    settings = found.settings
    for column in found.table.columns:
        name = column.name
        if name in settings.sensitive:
            continue
        if name in settings.drop:
            found.left_out[name] = "dropped"
        elif name == settings.id and name not in settings.columns:
            found.left_out[name] = "names the rows"
        elif settings.columns:
            if name in settings.columns:
                found.features.append(name)
            else:
                found.left_out[name] = "not among --columns"
        elif why := why_left_out(column, found.table.n_rows):
            found.left_out[name] = why
        else:
            found.features.append(name)
    if not found.features and not found.problems:
        found.problems.append(
            "no column is left to cluster by ("
            + shorten([f"{name}: {why}" for name, why in found.left_out.items()])
            + "); name some by --columns"
        )


def _look_at_cells(found: Inspection) -> None:
    """Find cells that cannot be used."""
    family = found.settings.family
    for name in found.features:
        column = found.table.column(name)
        own = family.get(name, "auto") if isinstance(family, dict) else family
        if column.mistakes and own not in TEXT_FAMILIES:
            found.problems.append(tell_mistakes(column))
        if not column.is_text and np.isinf(column.values).any():
            row = int(np.flatnonzero(np.isinf(column.values))[0]) + 1
            found.problems.append(f"column {name!r} holds an infinite number in row {row}; mend it")
    holes = {name: found.table.column(name).n_missing for name in found.features}
    holes = {name: number for name, number in holes.items() if number}
    if holes and found.settings.missing == "error":
        shown = shorten([f"{name} {number:,}" for name, number in holes.items()])
        found.problems.append(
            f"there are missing cells ({shown}); fill them, or leave these columns out by --drop "
            f"{shlex.quote(','.join(holes))}"
        )
    if found.features:
        empty = np.flatnonzero(
            np.all([_is_missing(found.table.column(name)) for name in found.features], axis=0)
        )
        if len(empty):
            found.problems.append(
                f"{len(empty):,} rows have no cell at all in the columns to cluster by (rows "
                f"{shorten((empty + 1).tolist(), 5)}); remove them"
            )


def tell_mistakes(column: FileColumn) -> str:
    """Say which cells of a column of numbers are none.

    Parameters
    ----------
    column : FileColumn
        The column.

    Returns
    -------
    str
        The problem, and what to do.
    """
    shown = ", ".join(f"{text!r} in row {row}" for row, text in column.mistakes)
    n_more = column.n_mistakes - len(column.mistakes)
    more = f" and {n_more:,} more" if n_more > 0 else ""
    return (
        f"column {column.name!r} holds numbers, but {shown}{more}; mend that, pass "
        f"--na {column.mistakes[0][1]!r} if it stands for a missing cell, or --family "
        f"'{column.name}=categorical' if these are categories"
    )


def _is_missing(column: FileColumn) -> Any:
    if column.n_missing == 0:
        return np.zeros(len(column.values), dtype=bool)
    return np.array(pd.isna(column.values))


def _form_groups(found: Inspection) -> None:
    """Form the sensitive groups."""
    settings, names = found.settings, found.settings.sensitive
    if not names:
        return
    before = len(found.problems)
    for name in names:
        column = found.table.column(name)
        if column.n_missing:
            rows = (np.flatnonzero(_is_missing(column)) + 1).tolist()
            found.problems.append(
                f"sensitive column {name!r} has {len(rows):,} missing cells (rows "
                f"{shorten(rows, 5)}); give them a group of their own, such as 'unknown', or "
                "remove these rows"
            )
            continue
        n_values = len(np.unique(column.values.astype(str)))
        if n_values == 1:
            found.problems.append(
                f"sensitive column {name!r} has one group only ({column.values[0]!s}), so there "
                "is nothing to make fair; name another column"
            )
        elif n_values > MOST_GROUPS and settings.min_group_size is None:
            found.problems.append(
                f"sensitive column {name!r} has {n_values:,} different values, too many to be "
                f"groups (at most {MOST_GROUPS}); cut it into a few groups, such as bands of age, "
                "or pass --min-group-size 50 to put rare ones together"
            )
    if len(found.problems) > before:
        return
    try:
        groups = read_groups(found.frame(names), found.table.n_rows)
        found.groups = merge_rare_groups(groups, settings.min_group_size)
    except (ValueError, TypeError) as error:
        found.problems.append(in_options(str(error)).rstrip("."))


def _try_out(found: Inspection) -> None:
    """Read the table as a fit does, and see whether it would be refused."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        for attempt in (_learn, _check_fairness):
            try:
                attempt(found)
            except (ValueError, TypeError) as error:
                found.problems.append(in_options(str(error)).rstrip("."))
    told = (str(each.message) for each in caught if issubclass(each.category, UserWarning))
    found.warned = [in_options(text) for text in told]


def _learn(found: Inspection) -> None:
    """Learn what the columns hold."""
    settings = found.settings
    columns = open_columns(found.frame(found.features))
    family = choose_family(family_of_features(settings, found.features), columns)
    schema, _ = read_features(columns, family, allow_missing=settings.missing == "ignore")
    found.schema = schema


def family_of_features(settings: Settings, features: Sequence[str]) -> Any:
    """Give the family of the columns that are used.

    Parameters
    ----------
    settings : Settings
        The settings.
    features : sequence of str
        These columns.

    Returns
    -------
    str or dict
        The parameter of the estimator.
    """
    if not isinstance(settings.family, dict):
        return settings.family
    return {name: family for name, family in settings.family.items() if name in features}


def _check_fairness(found: Inspection) -> None:
    """Check what is asked of the groups."""
    settings = found.settings
    given = FairBayesianClustering(**settings.parameters()).get_params()
    check_parameters(given)
    constraint = check_constraint(given)
    if found.groups is None:
        return
    remedy = remedies(found.groups, given, constraint)
    grouping = arrange_groups(found.groups.names, found.groups.codes)
    if constraint == "matching":
        check_groups(grouping, remedy)
        return
    capped: tuple[Groups, ...] = (measured_groups(grouping),)
    caps = [settings.max_gap]
    if isinstance(settings.max_gap, dict):
        capped = groups_of_attributes(found.groups, settings.max_gap)
        caps = list(settings.max_gap.values())
    check_capped_groups(capped, given, remedy)
    smallest = [smallest_gap(each.counts, settings.gap_kind) for each in capped]
    resolve_cap(capped, caps, settings.min_balance, settings.gap_kind, smallest)
