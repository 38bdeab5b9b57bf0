"""From features as given to the table that is sampled: columns, units, distance and cost."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.distances import Euclidean, Gower, Hamming, code_indicators
from fairmix.families import Product
from fairmix.family_choice import numbers_and_categories
from fairmix.features import Features, read_features, refuse_empty_rows
from fairmix.inputs import Groups
from fairmix.metrics import category_cost, squared_distance_cost

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: Unscaled values beyond these lose digits, or overflow, in sums of squares.
LARGE, LARGEST = 1e6, 1e70


@dataclass(frozen=True)
class Table:
    """What is sampled, rows in the user's order.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        The columns that vary, in the units that their families want.
    family : family
        Of these columns.
    points : ndarray of shape (n_rows, n_columns)
        The same with all numbers in units that can be compared: what distances and cost see.
    is_category : ndarray of bool, shape (n_columns,)
        Which columns hold codes.
    """

    rows: FloatArray
    family: Any
    points: FloatArray
    is_category: NDArray[np.bool_]

    def distance(self, order: IntArray) -> Euclidean | Hamming | Gower:
        """Give the distance between rows, which are put into this order."""
        points = np.ascontiguousarray(self.points[order])
        if np.isnan(points).any() or len(np.unique(self.is_category)) == 2:
            spans = np.nanmax(points, axis=0) - np.nanmin(points, axis=0)
            return Gower(points, self.is_category, spans)
        return Hamming(points) if self.is_category.all() else Euclidean(points)

    @property
    def coordinates(self) -> FloatArray:
        """Numbers, and an indicator for each category."""
        return np.ascontiguousarray(code_indicators(self.points, self.is_category))

    @property
    def cost(self) -> Callable[[IntArray], FloatArray]:
        """Cost of labellings of shape (n, n_rows)."""
        if self.is_category.all():
            return lambda labels: category_cost(self.points, labels)
        coordinates = self.coordinates
        return lambda labels: squared_distance_cost(coordinates, labels)


def prepare_table(features: Features, family: Any, *, standardize: bool) -> Table:
    """Drop constant columns and bring the others into the units that families want.

    Parameters
    ----------
    features : Features
        The columns of X.
    family : family
        One for all columns, or a ``Product``.
    standardize : bool
        Whether columns of families that ask for it are put into standard units.

    Returns
    -------
    Table
        What is sampled.
    """
    kept = varying_columns(features)
    features = features.select(kept)
    refuse_empty_rows(features)
    if isinstance(family, Product):
        family = family.select(kept.tolist())
    n_columns = len(kept)
    asks = np.broadcast_to(getattr(family, "is_location_scale", False), n_columns)
    kinds = np.broadcast_to(getattr(family, "values", "numbers"), n_columns)
    is_scaled = asks & standardize
    rows = features.rows.copy()
    rows[:, is_scaled] = standardise(rows[:, is_scaled])
    check_size(rows[:, (kinds == "numbers") & ~is_scaled])
    points = rows.copy()
    has_own_units = ~features.is_category & (kinds != "numbers")
    points[:, has_own_units] = standardise(points[:, has_own_units])
    return Table(rows, family, points, features.is_category)


def prepare_points(X: Any, *, standardize: bool = True) -> tuple[Features, FloatArray]:
    """Read a table as points: numbers (in standard units), and an indicator for each category.

    Parameters
    ----------
    X : data frame or array-like
        The data; categories must be in a data frame.
    standardize : bool, default=True
        Whether numbers are put into standard units.

    Returns
    -------
    features : Features
        The columns of X.
    points : ndarray of shape (n_rows, n_coordinates)
        The points.
    """
    family = numbers_and_categories(X)
    features = read_features(X, getattr(family, "values", "numbers"))
    return features, prepare_table(features, family, standardize=standardize).coordinates


def varying_columns(features: Features) -> IntArray:
    """Give the columns that vary, and warn about the others.

    Parameters
    ----------
    features : Features
        The columns of X.

    Returns
    -------
    ndarray
        Their positions.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # columns without any value
        varies = np.nanmax(features.rows, axis=0) > np.nanmin(features.rows, axis=0)
    if not varies.any():
        raise ValueError(
            "X: every column is constant, so there is nothing to cluster by; "
            "pass at least one column that varies."
        )
    if not varies.all():
        dropped = ", ".join(features.describe(int(k)) for k in np.flatnonzero(~varies))
        warnings.warn(
            f"X: {dropped} is constant (or empty) and was dropped.", UserWarning, stacklevel=5
        )
    return np.flatnonzero(varies)


def warn_about_copies(features: Features, groups: Groups) -> None:
    """Warn if a feature is the sensitive attribute under another name.

    Parameters
    ----------
    features : Features
        The columns of X.
    groups : Groups
        The sensitive groups.
    """
    n_groups = len(groups.names)
    if n_groups < 2:
        return
    for column in range(features.rows.shape[1]):
        values, codes = np.unique(features.rows[:, column], return_inverse=True)
        if len(values) == n_groups and len(np.unique(codes * n_groups + groups.codes)) == n_groups:
            warnings.warn(
                f"X: {features.describe(column)} repeats sensitive_features: it pulls every "
                "cluster towards one group. Drop it unless that is wanted.",
                UserWarning,
                stacklevel=4,
            )


def standardise(rows: FloatArray) -> FloatArray:
    """Scale columns to mean 0 and (population) variance 1, safely for large offsets.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        Columns that are not constant; missing cells are NaN and stay so.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        The scaled columns.
    """
    # By a power of two first: exact, and neither the mean nor the squares overflow.
    exponent = np.frexp(np.nanmax(np.abs(rows), axis=0, initial=0.0))[1]
    centred = np.ldexp(np.ascontiguousarray(rows), -exponent)  # one order of summation
    mean = np.nanmean if np.isnan(rows).any() else np.mean
    centred = centred - mean(centred, axis=0)
    centred -= mean(centred, axis=0)
    spread = np.sqrt(mean(centred**2, axis=0))
    # A column whose values differ only in the last digit has no spread to speak of.
    return np.asarray(centred / np.where(spread > 0, spread, 1.0))


def check_size(rows: FloatArray) -> None:
    """Refuse numbers whose squares overflow, and warn about those that lose digits.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        Columns that are not scaled.
    """
    largest = np.nanmax(np.abs(rows), initial=0.0)
    if largest > LARGEST:
        raise ValueError(
            f"X: its largest value is {largest:.3g}, whose square overflows; "
            "pass standardize=True or rescale the data."
        )
    if largest > LARGE:
        warnings.warn(
            f"X: its largest value is {largest:.3g}; sums of squares lose the digits of values "
            "of order 1. Pass standardize=True or rescale the data.",
            UserWarning,
            stacklevel=5,
        )
