"""The parameters of an estimator as a file has them.

A family or a prior of the user's own is code, and code is not kept: what stands for it is its name,
with the numbers that tell it from another one of that name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fairmix.model.partition_prior import as_components_prior
from fairmix.posterior.packing import Arrays, pack

#: Parameters that the draws do not depend on: how far chains go, and how they are run and kept.
NOT_OF_DRAWS = (
    "n_draws", "max_seconds", "until", "n_jobs", "verbose", "warm_start", "checkpoint",
    "random_state",
)  # fmt: skip
#: A prior that is a function is known by its values at 1, 2, ... up to here.
N_VALUES = 32


def pack_parameters(given: Mapping[str, Any], arrays: Arrays | None = None) -> dict[str, Any]:
    """Give parameters as JSON has them.

    Parameters
    ----------
    given : mapping
        Parameters by name.
    arrays : list of ndarray, optional
        Where arrays are put, as for ``packing.pack``.

    Returns
    -------
    dict
        What JSON has for each.
    """
    return {name: pack(value, arrays, stand_in) for name, value in given.items()}


def settings_of_draws(given: Mapping[str, Any]) -> dict[str, Any]:
    """Give the parameters that draws depend on, beside the data and the seed.

    Parameters
    ----------
    given : mapping
        Parameters by name.

    Returns
    -------
    dict
        What JSON has for each.
    """
    return pack_parameters(
        {name: value for name, value in given.items() if name not in NOT_OF_DRAWS}
    )


def stand_in(value: Any) -> dict[str, Any]:
    """Give what stands for an object that is not of our own.

    Parameters
    ----------
    value : object
        The object.

    Returns
    -------
    dict
        Its name, and the numbers that it is made of or gives.
    """
    named = value if hasattr(value, "__qualname__") else type(value)
    told: dict[str, Any] = {"own": f"{named.__module__}.{named.__qualname__}"}
    if hasattr(value, "_asdict"):
        told["fields"] = pack(tuple(value), None, stand_in)
    elif hasattr(value, "log_pmf") or callable(value):
        told["values"] = pack(as_components_prior(value).log_pmf(np.arange(1, N_VALUES + 1)))
    return told


def own_names(packed: Any) -> list[str]:
    """Give the names of the user's own objects that only their names were kept of.

    Parameters
    ----------
    packed : object
        What ``pack`` gave.

    Returns
    -------
    list of str
        The names.
    """
    if isinstance(packed, list):
        return [name for each in packed for name in own_names(each)]
    if not isinstance(packed, dict):
        return []
    if "own" in packed:
        return [str(packed["own"])]
    return [name for each in packed.values() for name in own_names(each)]
