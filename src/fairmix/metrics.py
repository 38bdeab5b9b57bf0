r"""Fairness and utility of a clustering, as in the paper.

With :math:`B` groups, group 0 the smallest (the anchor group), :math:`C_k^{(b)}` the rows
of group :math:`b` in cluster :math:`k` and :math:`n_b` its size:

.. math::
   \Delta = \frac{1}{2(B-1)} \sum_{b=1}^{B-1} \sum_k
       \left| \frac{|C_k^{(0)}|}{n_0} - \frac{|C_k^{(b)}|}{n_b} \right|, \qquad
   \mathrm{Bal} = \min_k \min_{b \ne b'} \frac{|C_k^{(b)}|}{|C_k^{(b')}|}.

:math:`\Delta` is 0 for a perfectly fair clustering and at most 1; Bal is at most the size of the
smallest group over that of the largest, and 0 if some cluster lacks a group.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairmix.model import feasible
from fairmix.model.cost import category_cost, squared_distance_cost
from fairmix.model.fairness import GAP_KINDS, balance_of_counts, count_groups, gap_of_counts
from fairmix.model.grouping import arrange_groups
from fairmix.tables.checks import check_choice
from fairmix.tables.columns import read_features
from fairmix.tables.frames import columns_of
from fairmix.tables.groups import (
    Groups,
    read_clusters,
    read_groups,
    read_labels,
    refuse_other_order,
)

IntArray = NDArray[np.int64]

__all__ = [
    "balance",
    "cost",
    "fairness_by_attribute",
    "fairness_gap",
    "group_counts",
    "group_shares",
    "shares_by_attribute",
    "smallest_gap",
]


def fairness_gap(labels: Any, sensitive_features: Any, *, kind: str = "paper") -> float:
    r"""Fairness gap :math:`\Delta`: how much the groups' shares of the clusters differ.

    .. math::
       \Delta = \frac{1}{2(B-1)} \sum_{b=1}^{B-1} \sum_k
           \left| \frac{|C_k^{(0)}|}{n_0} - \frac{|C_k^{(b)}|}{n_b} \right|

    with group 0 the smallest one; for two groups, the total variation distance between
    their distributions over clusters. That is the paper's. If the smallest group has a few rows
    only, it says little, since all others are compared with these; the other kinds compare every
    group with all rows.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        Cluster of each row.
    sensitive_features : array-like or data frame
        Group of each row; several columns are crossed.
    kind : {"paper", "mean", "worst"}, default="paper"
        The mean distance of the groups to the smallest one, the mean distance of a row's group to
        all rows, or the largest distance of any group to all rows.

    Returns
    -------
    float
        The gap, between 0 (fair) and 1; 0 if there is one group only.

    Examples
    --------
    >>> from fairmix.metrics import fairness_gap
    >>> fairness_gap([0, 0, 1, 1], ["a", "b", "a", "b"])
    0.0
    >>> fairness_gap([0, 1, 0, 1], ["a", "b", "a", "b"])
    1.0
    >>> fairness_gap([0, 1, 0, 1], ["a", "b", "a", "b"], kind="worst")
    0.5
    """
    check_choice("kind", kind, GAP_KINDS)
    return float(gap_of_counts(_anchor_first_counts(labels, sensitive_features), kind))


def smallest_gap(sensitive_features: Any, *, kind: str = "paper") -> float:
    """Smallest gap that two clusters can have: below it, a cap allows one cluster only.

    Parameters
    ----------
    sensitive_features : array-like or data frame
        Group of each row; several columns are crossed.
    kind : {"paper", "mean", "worst"}, default="paper"
        Kind of the gap, as in :func:`fairness_gap`; for "worst" this is a lower bound.

    Returns
    -------
    float
        The gap; 0 if there is one group only.

    Examples
    --------
    >>> from fairmix.metrics import smallest_gap
    >>> smallest_gap(["a", "b", "a", "b"])
    0.0
    """
    check_choice("kind", kind, GAP_KINDS)
    if sensitive_features is None:
        raise ValueError("sensitive_features is None; pass the group of each row.")
    n_rows = len(columns_of(sensitive_features, "sensitive_features")[0][1])
    groups = read_groups(sensitive_features, n_rows)
    sizes = arrange_groups(groups.names, groups.codes).sizes
    return feasible.smallest_gap(sizes, kind) if len(sizes) > 1 else 0.0


def balance(labels: Any, sensitive_features: Any) -> float:
    r"""Balance: the worst ratio of two groups' numbers in any cluster.

    .. math::
       \mathrm{Bal} = \min_k \min_{b \ne b'} \frac{|C_k^{(b)}|}{|C_k^{(b')}|}

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        Cluster of each row.
    sensitive_features : array-like or data frame
        Group of each row; several columns are crossed.

    Returns
    -------
    float
        The balance, between 0 (some cluster lacks a group) and the size of the smallest
        group over that of the largest; 1 if there is one group only.

    Examples
    --------
    >>> from fairmix.metrics import balance
    >>> balance([0, 0, 0, 1, 1], ["a", "b", "b", "a", "b"])
    0.5
    """
    return float(balance_of_counts(_anchor_first_counts(labels, sensitive_features)))


def group_counts(labels: Any, sensitive_features: Any) -> pd.DataFrame:
    """Count the rows of each group in each cluster.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        Cluster of each row.
    sensitive_features : array-like or data frame
        Group of each row; several columns are crossed.

    Returns
    -------
    pandas.DataFrame
        A row a cluster, a column a group.
    """
    levels, codes = read_clusters(labels)
    groups = _read_groups(labels, sensitive_features, len(codes))
    counts = count_groups(codes, groups.codes, len(groups.names))
    return pd.DataFrame(
        counts,
        index=pd.Index(levels, name="cluster"),
        columns=pd.Index(groups.names, name="group", tupleize_cols=False),
    )


def group_shares(labels: Any, sensitive_features: Any) -> pd.DataFrame:
    r"""Give the share of each group in each cluster: the fairness audit.

    Entry :math:`(k, b)` is :math:`|C_k^{(b)}| / |C_k|`. The clustering is fair when all
    rows are alike, which is when every row equals the groups' shares in all the data.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        Cluster of each row.
    sensitive_features : array-like or data frame
        Group of each row; several columns are crossed.

    Returns
    -------
    pandas.DataFrame
        A row a cluster, a column a group; rows sum to 1.

    Examples
    --------
    >>> from fairmix.metrics import group_shares
    >>> group_shares([0, 0, 1, 1], ["a", "b", "a", "a"]).loc[0, "a"]
    np.float64(0.5)
    """
    counts = group_counts(labels, sensitive_features)
    return counts.div(counts.sum(axis=1), axis=0)


def fairness_by_attribute(
    labels: Any, sensitive_features: Any, *, kind: str = "paper"
) -> pd.DataFrame:
    """Measure gap and balance by each sensitive attribute, and by all of them crossed.

    A clustering that is fair to each attribute need not be so to their combinations: with the sexes
    split evenly and the ages, too, young women may still be in one cluster only. The other way
    round, a gap of 0 for crossed groups is one of 0 for each attribute.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        Cluster of each row.
    sensitive_features : array-like or data frame
        Values of each attribute, a column an attribute.
    kind : {"paper", "mean", "worst"}, default="paper"
        Kind of the gap, as in :func:`fairness_gap`.

    Returns
    -------
    pandas.DataFrame
        A row an attribute and, if there are several, a last one, "crossed"; the number of groups,
        rows of the smallest one, gap and balance.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairmix.metrics import fairness_by_attribute
    >>> people = pd.DataFrame({"sex": list("fmfm"), "age": ["old", "old", "young", "young"]})
    >>> fairness_by_attribute([0, 1, 1, 0], people)["gap"].to_dict()
    {'sex': 0.0, 'age': 0.0, 'crossed': 0.6666666666666666}
    """
    check_choice("kind", kind, GAP_KINDS)
    codes = read_labels(labels)
    groups = _read_groups(labels, sensitive_features, len(codes))
    measured = list(groups.attributes.items())
    if len(measured) > 1:
        measured.append(("crossed", groups))
    rows = []
    for _, own in measured:
        counts = _count_anchor_first(codes, own)
        rows.append(
            {
                "n_groups": len(own.names),
                "smallest_group": int(own.counts.min()),
                "gap": float(gap_of_counts(counts, kind)),
                "balance": float(balance_of_counts(counts)),
            }
        )
    names = pd.Index([name for name, _ in measured], name="attribute", tupleize_cols=False)
    return pd.DataFrame(rows, index=names)


def shares_by_attribute(labels: Any, sensitive_features: Any) -> pd.DataFrame:
    """Give the share of each attribute's groups in each cluster, without crossing attributes.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        Cluster of each row.
    sensitive_features : array-like or data frame
        Values of each attribute, a column an attribute.

    Returns
    -------
    pandas.DataFrame
        A row a cluster, and for each attribute a column a group; those of an attribute sum to 1.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairmix.metrics import shares_by_attribute
    >>> people = pd.DataFrame({"sex": list("fmfm"), "age": ["old", "old", "young", "young"]})
    >>> shares_by_attribute([0, 0, 0, 1], people)["sex"].loc[1].to_dict()
    {'f': 0.0, 'm': 1.0}
    """
    levels, codes = read_clusters(labels)
    groups = _read_groups(labels, sensitive_features, len(codes))
    parts = [count_groups(codes, own.codes, len(own.names)) for own in groups.attributes.values()]
    sizes = np.bincount(codes)
    return pd.DataFrame(
        np.concatenate(parts, axis=1) / sizes[:, None],
        index=pd.Index(levels, name="cluster"),
        columns=pd.MultiIndex.from_tuples(
            [(name, group) for name, own in groups.attributes.items() for group in own.names],
            names=["attribute", "group"],
        ),
    )


def cost(X: Any, labels: Any, *, family: str = "gaussian") -> float:
    r"""Cost of a clustering: how far rows are from their cluster.

    For numbers, the mean squared distance to the cluster's mean on X as given,
    :math:`\sum_k \sum_{X_i \in C_k} \|X_i - \hat\mu_k\|^2 / n`. For categories, the negative
    log likelihood of all rows at each cluster's maximum likelihood,
    :math:`-\sum_k \sum_j \sum_l n_{kjl} \log (n_{kjl} / n_k)`.

    Parameters
    ----------
    X : array-like or data frame of shape (n_rows, n_columns)
        The data.
    labels : array-like of shape (n_rows,)
        Cluster of each row.
    family : {"gaussian", "bernoulli", "categorical"}, default="gaussian"
        Whether X holds numbers ("gaussian") or categories. Missing cells are left out.

    Returns
    -------
    float
        The cost.

    Examples
    --------
    >>> from fairmix.metrics import cost
    >>> cost([[0.0], [2.0], [9.0]], [0, 0, 1])
    0.6666666666666666
    """
    kinds = {"gaussian": "numbers", "bernoulli": "binary", "categorical": "categories"}
    check_choice("family", family, tuple(kinds))
    rows = read_features(X, kinds[family], allow_missing=True).rows
    refuse_other_order(X, labels, "X", "labels")
    codes = read_labels(labels, len(rows))
    measure = squared_distance_cost if family == "gaussian" else category_cost
    return float(measure(rows, codes[None])[0])


def _read_groups(labels: Any, sensitive_features: Any, n_rows: int) -> Groups:
    if sensitive_features is None:
        raise ValueError("sensitive_features is None; pass the group of each row.")
    refuse_other_order(labels, sensitive_features, "labels", "sensitive_features")
    return read_groups(sensitive_features, n_rows, "labels")


def _anchor_first_counts(labels: Any, sensitive_features: Any) -> IntArray:
    codes = read_labels(labels)
    return _count_anchor_first(codes, _read_groups(labels, sensitive_features, len(codes)))


def _count_anchor_first(codes: IntArray, groups: Groups) -> IntArray:
    grouping = arrange_groups(groups.names, groups.codes)
    return count_groups(codes[grouping.order], grouping.group_of, grouping.n_groups)
