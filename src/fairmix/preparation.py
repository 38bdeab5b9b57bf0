"""From features as given to the columns that are sampled."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from fairmix.inputs import Features, Groups

FloatArray = NDArray[np.float64]


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


def drop_constant(features: Features) -> Features:
    """Drop constant columns, with a warning.

    Parameters
    ----------
    features : Features
        The columns of X.

    Returns
    -------
    Features
        Those that vary.
    """
    varies = np.any(features.rows != features.rows[0], axis=0)
    if not varies.any():
        raise ValueError(
            "X: every column is constant, so there is nothing to cluster by; "
            "pass at least one column that varies."
        )
    kept = np.flatnonzero(varies)
    if not varies.all():
        dropped = ", ".join(features.describe(int(k)) for k in np.flatnonzero(~varies))
        warnings.warn(f"X: {dropped} is constant and was dropped.", UserWarning, stacklevel=4)
    names = None if features.names is None else [features.names[k] for k in kept]
    return Features(np.ascontiguousarray(features.rows[:, kept]), names)


def standardise(rows: FloatArray) -> FloatArray:
    """Scale columns to mean 0 and (population) variance 1, safely for large offsets.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        Columns that are not constant.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        The scaled columns.
    """
    # By a power of two first: exact, and neither the mean nor the squares overflow.
    exponent = np.frexp(np.max(np.abs(rows), axis=0))[1]
    centred = np.ldexp(np.ascontiguousarray(rows), -exponent)  # one order of summation
    centred = centred - centred.mean(axis=0)
    centred -= centred.mean(axis=0)
    spread = np.sqrt(np.mean(centred**2, axis=0))
    # A column whose values differ only in the last digit has no spread to speak of.
    return centred / np.where(spread > 0, spread, 1.0)
