"""Which family each column gets: by name, as an object, by column, or chosen from the values."""

from __future__ import annotations

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
from fairmix.inputs import as_frame, categorical_columns, columns_of
from fairmix.values import find_missing, plain_values, shorten

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
        n_columns = len(columns_of(X, as_table=True))
        if len(family.families) != n_columns:
            raise ValueError(
                f"family is a Product of {len(family.families)} families, but X has {n_columns} "
                "columns; give one for each, or a dict from columns to families."
            )
        return Product(tuple(_resolve(each, "family") for each in family.families))
    return _resolve(family, "family")


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
    if as_frame(X) is None:
        return FAMILIES["gaussian"]
    codes = categorical_columns(X)
    chosen = []
    for name, values in columns_of(X, as_table=True):
        present = plain_values(values[~find_missing(values)])
        is_number = present.dtype.kind in "biuf" and name not in codes
        chosen.append(FAMILIES["gaussian" if is_number else "categorical"])
    return Product(tuple(chosen))


def _resolve(family: Any, argument: str) -> Any:
    """Give the family of a name, or check an object."""
    if isinstance(family, str):
        if family not in FAMILIES:
            raise ValueError(
                f"{argument} must be one of {NAMES}, a family object or a dict from "
                f"columns to these, got {family!r}."
            )
        return FAMILIES[family]
    lacking = None if isinstance(family, type) else missing_verbs(family)
    if lacking is None or not isinstance(family, tuple):
        raise TypeError(
            f"{argument} must be one of {NAMES}, a dict from columns to these, or a family object "
            f"such as fairmix.families.Gaussian(rate=0.5), got {family!r}."
        )
    if lacking:
        raise TypeError(f"{argument}: {type(family).__name__} {lacking}")
    return family


def _choose_by_column(given: Mapping[Any, Any], X: Any) -> Product:
    """Give every column the family that is given for it, or one chosen from its values."""
    columns = columns_of(X, as_table=True)
    names = [name for name, _ in columns]
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
            chosen[name] = _resolve(family, f"family[{key!r}]")
    codes = categorical_columns(X)
    for name, values in columns:
        if name not in chosen:
            if name in codes:  # numbers that are codes, too
                texts = [
                    None if lacks else str(v)
                    for v, lacks in zip(values, find_missing(values), strict=True)
                ]
                values = np.array(texts, dtype=object)
            chosen[name] = family_of_values(plain_values(values))
    return Product(tuple(chosen[name] for name in names))


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
        is_binary = len(set(present.tolist())) == 2
        return FAMILIES["bernoulli" if is_binary else "categorical"]
    if present.dtype.kind == "b" or len(np.unique(present)) == 2:
        return FAMILIES["bernoulli"]
    are_counts = len(present) > 0 and bool(np.all(np.isfinite(present) & (present >= 0)))
    if are_counts and np.all(present % 1 == 0) and present.mean() <= LARGEST_MEAN_COUNT:
        return FAMILIES["poisson"]
    return FAMILIES["gaussian"]
