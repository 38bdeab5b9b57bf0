"""Options of the command line, made of the settings: a setting is written down once."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer

from fairmix.cli.settings import Settings, option_of

#: Settings that say what a table is.
OF_FILES = ("id", "delimiter", "decimal", "encoding", "na")
OF_TABLES = ("sensitive", "columns", "drop", *OF_FILES)
#: What a text is called in the help, by what is read.
METAVARS: dict[Any, str] = {
    "names": "NAME",
    "cells": "TEXT",
    str: "TEXT",
    int: "NUMBER",
    float: "NUMBER",
    bool: "",
}


def with_settings(
    names: Sequence[str] | None = None, told: Mapping[str, str] | None = None
) -> Callable[[Any], Any]:
    """Give a command the options of settings, which it gets as the dict ``given``.

    Parameters
    ----------
    names : sequence of str, optional
        The settings; None are all but the table itself, which is an argument.
    told : mapping, optional
        Help of settings that mean something else to this command.

    Returns
    -------
    callable
        The decorator.
    """

    def decorate(command: Any) -> Any:
        fields = {field.name: field for field in dataclasses.fields(Settings)}
        chosen = [name for name in fields if name != "data"] if names is None else list(names)
        own = inspect.signature(command, eval_str=True).parameters
        parameters = [each for name, each in own.items() if name != "given"]
        parameters += [_parameter_of(fields[name], (told or {}).get(name)) for name in chosen]

        def called(**values: Any) -> Any:
            given = {name: values.pop(name) for name in chosen}
            return command(given=given, **values)

        typed: Any = called
        typed.__name__, typed.__doc__ = command.__name__, command.__doc__
        typed.__signature__ = inspect.Signature(
            [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
        )
        typed.__annotations__ = {each.name: each.annotation for each in parameters}
        return typed

    return decorate


def _parameter_of(field: dataclasses.Field[Any], told: str | None) -> inspect.Parameter:
    """Give the option of a setting; one that is not given is None."""
    kind = field.metadata["kind"]
    by_name = isinstance(kind, tuple)
    read: Any = str if by_name else list[str] if kind in ("names", "cells") else kind
    has_default = field.default not in (None, (), False)
    default = f" Default: {field.default}." if has_default else ""
    option = typer.Option(
        option_of(field.name),
        help=told or field.metadata["told"] + default,
        rich_help_panel=field.metadata["heading"],
        metavar=(METAVARS[kind[0]] if by_name else METAVARS[kind]) or None,
        show_default=False,
    )
    return inspect.Parameter(
        field.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[read | None, option],
    )
