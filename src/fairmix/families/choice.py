"""Which family each column gets: by name, as an object, by column, or chosen from the values."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.families import (
    Bernoulli,
    Categorical,
    Exponential,
    Gaussian,
    GaussianFull,
    GaussianSpherical,
    GaussianTied,
    Poisson,
    Product,
    SkewNormal,
    StudentT,
    missing_verbs,
)
from fairmix.tables.cells import find_missing, is_number, plain_values, shorten
from fairmix.tables.frames import Column, open_columns
from fairmix.tables.schema import Wanted

#: Names for the ``family`` parameter.
FAMILIES: dict[str, Any] = {
    "gaussian": Gaussian(),
    "gaussian-spherical": GaussianSpherical(),
    "gaussian-tied": GaussianTied(),
    "gaussian-full": GaussianFull(),
    "bernoulli": Bernoulli(),
    "categorical": Categorical(),
    "poisson": Poisson(),
    "exponential": Exponential(),
    "student-t": StudentT(),
    "skew-normal": SkewNormal(),
}
NAMES = ", ".join(map(repr, [*FAMILIES, "auto"]))
ALLOWED = (
    f"one of {NAMES}, a dict from columns to these, or a family object such as "
    "fairmix.families.Gaussian(rate=0.5)"
)
#: Whole numbers with a larger mean are taken for measurements rather than for counts: a Poisson
#: distribution ties their variance to their mean.
LARGEST_MEAN_COUNT = 20.0


def choose_family(family: Any, X: Any) -> Any:
    """Give the family object for the ``family`` parameter.

    Parameters
    ----------
    family : str, family or dict
        A name, an object with the methods of a family, or a dict from columns (names, or
        positions) to these; columns that are not in it are chosen from their values.
    X : data frame or array-like
        The data; looked at for "auto" and for a dict only.

    Returns
    -------
    family
        One for all columns, or a ``Product`` with one for each.
    """
    if isinstance(family, Mapping):
        return _choose_by_column(family, X)
    if isinstance(family, str) and family == "auto":
        return _choose_by_column({}, X)
    if isinstance(family, Product):
        n_columns = len(open_columns(X).columns)
        if len(family.families) != n_columns:
            raise ValueError(
                f"family is a Product of {len(family.families)} families, but X has {n_columns} "
                "columns; give one for each, or a dict from columns to families."
            )
        return Product(tuple(resolve_family(each, "family") for each in family.families))
    return resolve_family(family, "family")


def numbers_and_categories(X: Any) -> Any:
    """Give Gaussian columns for numbers and categorical ones for all else, as distances want it.

    Parameters
    ----------
    X : data frame or array-like
        The data.

    Returns
    -------
    family
        A ``Product`` for a data frame; Gaussian for an array, which must hold numbers.
    """
    opened = open_columns(X)
    if not opened.has_names:
        return FAMILIES["gaussian"]
    chosen = []
    for column in opened.columns:
        present = plain_values(column.values[~find_missing(column.values)])
        is_text = any(isinstance(value, str) for value in present)
        chosen.append(FAMILIES["categorical" if is_text or column.is_coded else "gaussian"])
    return Product(tuple(chosen))


def resolve_family(family: Any, argument: str, allowed: str = ALLOWED) -> Any:
    """Give the family of a name, or check an object.

    Parameters
    ----------
    family : str or family
        The name, or the object.
    argument : str
        What to call it in messages.
    allowed : str, optional
        What it may be, for messages.

    Returns
    -------
    family
        The family.
    """
    if isinstance(family, str):
        if family not in FAMILIES:
            raise ValueError(f"{argument} must be {allowed}, got {family!r}.")
        return FAMILIES[family]
    lacking = None if isinstance(family, type) else missing_verbs(family)
    if lacking is None or not isinstance(family, tuple):
        raise TypeError(f"{argument} must be {allowed}, got {family!r}.")
    if lacking:
        raise TypeError(f"{argument}: {type(family).__name__} {lacking}")
    return family


def _choose_by_column(given: Mapping[Any, Any], X: Any) -> Product:
    """Give every column the family that is given for it, or one chosen from its values."""
    opened = open_columns(X)
    names = opened.names
    chosen = {}
    for key, family in given.items():
        is_position = not isinstance(key, str) and key not in names and key in range(len(names))
        name = names[key] if is_position else key
        if name not in names:
            raise ValueError(
                f"family names {key!r}, which is not a column of X; its columns are "
                f"{shorten(names)}."
            )
        if not (isinstance(family, str) and family == "auto"):
            chosen[name] = resolve_family(family, f"family[{key!r}]")
    for column in opened.columns:
        if column.name not in chosen:
            chosen[column.name] = family_of_values(plain_values(_as_text(column)))
    return Product(tuple(chosen[name] for name in names))


def _as_text(column: Column) -> NDArray[Any]:
    """Give the values of a column, as text if its type says that they are categories."""
    if not column.is_coded:
        return column.values
    missing = find_missing(column.values)
    texts = [None if lacks else str(v) for v, lacks in zip(column.values, missing, strict=True)]
    return np.array(texts, dtype=object)


def family_of_values(values: NDArray[Any]) -> Any:
    """Choose a family for a column from its values.

    Parameters
    ----------
    values : ndarray
        The values, numeric if they are numbers.

    Returns
    -------
    family
        Bernoulli for two different values, Categorical for other text, Poisson for whole numbers
        from 0 on with a small mean, Gaussian for all other numbers.
    """
    present = values[~find_missing(values)]
    if present.dtype.kind == "O":
        present = plain_values(present)
    if present.dtype.kind not in "biuf":
        are_readable = all(isinstance(value, str) or is_number(value) for value in present)
        # What is neither text nor a number (and may have no hash) is refused when it is read.
        is_binary = are_readable and len(set(present.tolist())) == 2
        return FAMILIES["bernoulli" if is_binary else "categorical"]
    if not np.isfinite(present).all():
        return FAMILIES["gaussian"]  # which refuses infinity, rather than take it for a category
    if present.dtype.kind == "b" or len(np.unique(present)) == 2:
        return FAMILIES["bernoulli"]
    are_counts = len(present) > 0 and bool(np.all((present >= 0) & (present % 1 == 0)))
    if are_counts and present.mean() <= LARGEST_MEAN_COUNT:
        return FAMILIES["poisson"]
    return FAMILIES["gaussian"]


def wanted_by(family: Any, n_columns: int) -> list[Wanted]:
    """Give what a family wants of each column.

    Parameters
    ----------
    family : family
        One for all columns, or a ``Product``.
    n_columns : int
        Number of columns.

    Returns
    -------
    list of Wanted
        What it wants, and its description.
    """
    every = family.families if isinstance(family, Product) else [family] * n_columns
    return [
        Wanted(
            kind=getattr(each, "kind", "numbers"),
            is_location_scale=bool(getattr(each, "is_location_scale", False)),
            allows_missing=bool(getattr(each, "allows_missing", False)),
            family=describe_family(each),
        )
        for each in every
    ]


def describe_family(family: Any) -> dict[str, Any]:
    """Describe a family in words and numbers, which can be written as JSON.

    Parameters
    ----------
    family : family
        A family of this package, or the user's own.

    Returns
    -------
    dict
        Its ``name`` (of its class ``module`` and ``qualname`` if it is the user's own) and
        ``fields``, its hyperparameters.
    """
    shipped = {type(known): name for name, known in FAMILIES.items()}
    fields = {name: _to_plain(value) for name, value in zip(family._fields, family, strict=True)}
    kind = type(family)
    if isinstance(family, Product):
        return {"name": "product", "families": [describe_family(each) for each in family.families]}
    if kind in shipped:
        return {"name": shipped[kind], "fields": fields}
    return {"module": kind.__module__, "qualname": kind.__qualname__, "fields": fields}


def family_from(description: Mapping[str, Any]) -> Any:
    """Make a family from its description.

    Parameters
    ----------
    description : dict
        What :func:`describe_family` gave.

    Returns
    -------
    family
        The family.

    Examples
    --------
    >>> from fairmix.families import Gaussian
    >>> from fairmix.families.choice import describe_family, family_from
    >>> family_from(describe_family(Gaussian(rate=0.5)))
    Gaussian(shape=1.0, rate=0.5)
    """
    if description.get("name") == "product":
        return Product(tuple(family_from(each) for each in description["families"]))
    fields = {name: _from_plain(name, value) for name, value in description["fields"].items()}
    if "name" not in description:
        return import_family(description["module"], description["qualname"])(**fields)
    if description["name"] not in FAMILIES:
        raise ValueError(
            f"the family {description['name']!r} is not one of {NAMES}; was it written by a later "
            "version of fairmix?"
        )
    return type(FAMILIES[description["name"]])(**fields)


def import_family(module: str, qualname: str) -> Any:
    """Import a family's class by its name; a text must not have anything else called.

    Parameters
    ----------
    module, qualname : str
        Where the class is, and its name there.

    Returns
    -------
    type
        The class.
    """
    try:
        found: Any = importlib.import_module(module)
        for part in qualname.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"the family {qualname} cannot be imported from {module!r}; put its class at the top "
            "of a module that is there when it is read."
        ) from error
    is_record = isinstance(found, type) and issubclass(found, tuple) and hasattr(found, "_fields")
    if not is_record or missing_verbs(found) is None:
        raise ValueError(f"{qualname} of {module!r} is no family, so it is not made.")
    return found


def _to_plain(value: Any) -> Any:
    """Give a hyperparameter as JSON has it."""
    if isinstance(value, (np.ndarray, np.generic)):
        return {"array": np.asarray(value).tolist(), "dtype": str(np.asarray(value).dtype)}
    if isinstance(value, (tuple, list)):
        return [_to_plain(each) for each in value]
    if isinstance(value, (str, bool, int, type(None))):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    return {"object": repr(value)}


def _from_plain(name: str, value: Any) -> Any:
    """Give what ``_to_plain`` was given."""
    if isinstance(value, list):
        return tuple(_from_plain(name, each) for each in value)
    if not isinstance(value, Mapping):
        return value
    if "float" in value:
        return float(value["float"])
    if "array" in value:
        found = np.array(value["array"], dtype=value["dtype"])
        return found if found.ndim else found[()]
    raise ValueError(
        f"the hyperparameter {name} = {value['object']} could not be written; use numbers, text or "
        "arrays as hyperparameters."
    )
