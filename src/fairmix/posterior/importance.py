r"""Which columns a partition rests on: how much of the gained log likelihood each one brings.

The clusters :math:`X_1, \dots, X_t` of a table gain

.. math::
   G = \sum_c \log m(X_c) - \log m(X)

over one cluster of all rows. A column's **gain** is what is lost of that without it,
:math:`G - G_{-j}`, where :math:`G_{-j}` is the gain of the same partition in the other columns. If
columns are independent within clusters, this is the gain of the column by itself,
:math:`\sum_c \log m_j(X_{cj}) - \log m_j(X_j)`, and the gains of all columns add up to :math:`G`.
With a full or a spherical covariance they do not: two columns that say the same have little gain
each. A gain is negative where one cluster tells a column better than several do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairmix.families import (
    Bernoulli,
    Categorical,
    Exponential,
    Gaussian,
    Poisson,
    Product,
    bundle_statistics,
    is_conjugate,
    prepare,
)
from fairmix.posterior.parameters import families_of
from fairmix.posterior.training import Training

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Families whose log marginal is a sum over columns.
SEPARATE = (Bernoulli, Categorical, Exponential, Gaussian, Poisson)


def gains_of_columns(training: Training, labels: IntArray) -> pd.DataFrame:
    """Give the gain of each column.

    Parameters
    ----------
    training : Training
        The table.
    labels : ndarray of shape (n_rows,)
        Cluster of each row, 0, 1, ...

    Returns
    -------
    pandas.DataFrame
        ``gain`` and ``share`` of the whole gain, by name of the column, the largest first.
    """
    rows = training.table.rows
    columns = list(range(rows.shape[1]))
    families = families_of(training.family, len(columns))
    if all(isinstance(family, SEPARATE) for family in families):
        gains = np.array([gain_of(families[k], rows[:, [k]], labels) for k in columns])
        whole = float(gains.sum())
    else:
        whole = gain_of(training.family, rows, labels)
        gains = np.empty(len(columns))
        for k in columns:
            others = [j for j in columns if j != k]
            gains[k] = whole - _gain_of_some(training.family, rows, others, labels)
    shares = gains / whole if whole > 0 else np.full(len(gains), np.nan)
    order = np.argsort(-gains, kind="stable")
    names = [training.schema.kept[k].name for k in order]
    index = pd.Index(names, name="feature", tupleize_cols=False)
    return pd.DataFrame({"gain": gains[order], "share": shares[order]}, index=index)


def gain_of(family: Any, rows: FloatArray, labels: IntArray) -> float:
    """Give what the clusters of a table gain over one cluster.

    Parameters
    ----------
    family : family
        The family of the columns; not prepared.
    rows : ndarray of shape (n_rows, n_columns)
        The columns.
    labels : ndarray of shape (n_rows,)
        Cluster of each row, 0, 1, ...

    Returns
    -------
    float
        The gain in log likelihood.
    """
    rows = np.ascontiguousarray(rows)
    prepared = prepare(family, rows)
    _refuse_sampled(family, prepared)
    by_cluster = bundle_statistics(prepared, rows, labels)
    together = by_cluster.sum(axis=0, keepdims=True)
    marginals = [
        prepared.log_marginal(int(stats[0]), stats[1:])
        for stats in np.concatenate([by_cluster, together])
    ]
    return float(np.sum(marginals[:-1]) - marginals[-1])


def _gain_of_some(family: Any, rows: FloatArray, columns: list[int], labels: IntArray) -> float:
    """Give the gain of some columns."""
    if not columns:
        return 0.0
    own = family.select(columns) if isinstance(family, Product) else family
    return gain_of(own, rows[:, columns], labels)


def _refuse_sampled(family: Any, prepared: Any) -> None:
    """Raise an error if there is no log marginal, or none without parameters that were sampled."""
    is_given = not getattr(prepared, "is_inferred", True)
    if is_conjugate(prepared) and (not hasattr(prepared, "update_shared") or is_given):
        return
    raise ValueError(
        f"feature_importance() needs the likelihood with parameters integrated out, but those of "
        f"family {type(family).__name__} are sampled and not kept. Fit with a conjugate family "
        "such as 'gaussian' (or GaussianTied with its variance given), or see the effects in "
        "profile().features()."
    )
