"""Prepared families as arrays and text, and back: what can be kept without running code.

A prepared family is a NamedTuple of numbers, arrays and other prepared families, so it is a tree.
Its arrays get the names of the fields on the way to them; all else is a text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.families.choice import import_family

#: Families of no other place are made: importing a module runs it.
PACKAGE = "fairmix.families"
#: What parts of names are joined by.
SEPARATOR = "/"


def prepared_to_plain(family: Any) -> tuple[str, dict[str, NDArray[Any]]]:
    """Give a prepared family as text and arrays.

    Parameters
    ----------
    family : family
        The prepared family.

    Returns
    -------
    text : str
        JSON: its classes, and fields that are no arrays.
    arrays : dict of str to ndarray
        Its arrays, by the names of the fields on the way to them.
    """
    arrays: dict[str, NDArray[Any]] = {}
    return json.dumps(_describe(family, "", arrays)), arrays


def prepared_from_plain(text: str, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Make a prepared family of what :func:`prepared_to_plain` gave.

    Parameters
    ----------
    text : str
        JSON.
    arrays : mapping
        The arrays.

    Returns
    -------
    family
        The prepared family.
    """
    try:
        return _make(json.loads(text), arrays)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"text and arrays are not those of a whole family ({type(error).__name__}: {error}); "
            "write them by prepared_to_plain."
        ) from error


def _describe(family: Any, name: str, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    kind = type(family)
    fields: dict[str, Any] = {}
    for field, value in zip(family._fields, family, strict=True):
        place = f"{name}{SEPARATOR}{field}" if name else field
        if hasattr(value, "_fields"):
            fields[field] = _describe(value, place, arrays)
        elif isinstance(value, np.ndarray):
            arrays[place] = value
            fields[field] = {"array": place}
        elif isinstance(value, float) and not np.isfinite(value):
            fields[field] = {"float": str(value)}
        else:
            fields[field] = value.item() if isinstance(value, np.generic) else value
    return {"module": kind.__module__, "qualname": kind.__qualname__, "fields": fields}


def _make(description: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Any:
    fields = {}
    for field, value in description["fields"].items():
        if not isinstance(value, Mapping):
            fields[field] = value
        elif "array" in value:
            fields[field] = np.ascontiguousarray(arrays[value["array"]])
        elif "float" in value:
            fields[field] = float(value["float"])
        else:
            fields[field] = _make(value, arrays)
    module = description["module"]
    if not str(module).startswith(PACKAGE):
        raise ValueError(
            f"the family {description['qualname']!r} is of {module!r}; no code but fairmix's own "
            "is imported because a text asks for it."
        )
    return import_family(module, description["qualname"])(**fields)
