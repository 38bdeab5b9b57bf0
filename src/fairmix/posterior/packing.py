"""Python's values as JSON has them, with arrays beside, and back: nothing else can be kept.

JSON has no tuples, no infinity, no keys but text and no arrays. What it lacks is an object with one
name: ``{"tuple": [...]}``, ``{"float": "inf"}``, ``{"pairs": [[key, value], ...]}``,
``{"array": 3}`` (the fourth of the arrays) and ``{"a": "Gaussian", "with": {...}}`` for objects of
our own classes, which are listed here. No other class is ever made, whatever a file says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
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
)
from fairmix.model.partition_prior import Fixed, Geometric, ShiftedPoisson, Uniform

Arrays = list[NDArray[Any]]

#: The classes whose objects are kept: families and priors, which are numbers under a name.
KEPT_CLASSES: dict[str, Any] = {
    each.__name__: each
    for each in (
        Bernoulli, Categorical, Exponential, Gaussian, GaussianFull, GaussianSpherical,
        GaussianTied, Poisson, Product, SkewNormal, StudentT,
        Fixed, Geometric, ShiftedPoisson, Uniform,
    )
}  # fmt: skip
#: Kinds of arrays: truth values and numbers.
_ARRAY_KINDS = "biuf"


def pack(
    value: Any, arrays: Arrays | None = None, of_others: Callable[[Any], Any] | None = None
) -> Any:
    """Give a value as JSON has it.

    Parameters
    ----------
    value : object
        None, truth values, numbers, text, tuples, lists, dicts, arrays of numbers, our own
        families and priors, and any of these inside each other. Frames and ranges become arrays.
    arrays : list of ndarray, optional
        Where arrays are put; without, they are written out.
    of_others : callable, optional
        Gives what stands for an object of another class.

    Returns
    -------
    object
        What JSON has for it.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if hasattr(value, "__array__") or isinstance(value, range):
        value = np.asarray(value)
        if arrays is None or value.dtype.kind not in _ARRAY_KINDS:
            return pack(value.tolist(), arrays, of_others)
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if KEPT_CLASSES.get(type(value).__name__) is type(value):
        fields = vars(value) if is_dataclass(value) else value._asdict()
        return {
            "a": type(value).__name__,
            "with": {name: pack(field, arrays, of_others) for name, field in fields.items()},
        }
    if isinstance(value, Mapping):
        pairs = [(pack(key), pack(each, arrays, of_others)) for key, each in value.items()]
        return {"pairs": pairs}
    if type(value) in (list, tuple):
        items = [pack(each, arrays, of_others) for each in value]
        return items if isinstance(value, list) else {"tuple": items}
    if of_others is not None:
        return of_others(value)
    raise TypeError(f"{value!r} (a {type(value).__name__}) cannot be kept in a file.")


def unpack(packed: Any, arrays: Sequence[NDArray[Any]] = ()) -> Any:
    """Give what :func:`pack` was given.

    Parameters
    ----------
    packed : object
        What JSON has.
    arrays : sequence of ndarray, default=()
        The arrays beside it.

    Returns
    -------
    object
        The value; the names of objects of other classes.
    """
    if isinstance(packed, list):
        return [unpack(each, arrays) for each in packed]
    if not isinstance(packed, dict):
        return packed
    match packed:
        case {"float": str(text), **rest} if not rest:
            return float(text)
        case {"tuple": list(items), **rest} if not rest:
            return tuple(unpack(each, arrays) for each in items)
        case {"pairs": list(pairs), **rest} if not rest:
            return {unpack(key): unpack(each, arrays) for key, each in pairs}
        case {"array": int(number), **rest} if not rest:
            return arrays[number]
        case {"a": str(name), "with": dict(fields), **rest} if not rest and name in KEPT_CLASSES:
            return KEPT_CLASSES[name](
                **{field: unpack(each, arrays) for field, each in fields.items()}
            )
        case {"own": str(name)}:
            return name
    raise ValueError(f"{str(packed)[:60]} stands for nothing that is kept")
