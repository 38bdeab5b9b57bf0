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

from fairmix.features import read_features
from fairmix.inputs import Groups, read_groups, read_labels
from fairmix.matching import arrange_groups

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

__all__ = ["balance", "cost", "fairness_gap", "group_counts", "group_shares"]


def fairness_gap(labels: Any, sensitive_features: Any) -> float:
    r"""Fairness gap :math:`\Delta`: how much the groups' shares of the clusters differ.

    .. math::
       \Delta = \frac{1}{2(B-1)} \sum_{b=1}^{B-1} \sum_k
           \left| \frac{|C_k^{(0)}|}{n_0} - \frac{|C_k^{(b)}|}{n_b} \right|

    with group 0 the smallest one; for two groups, the total variation distance between
    their distributions over clusters.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        Cluster of each row.
    sensitive_features : array-like or data frame
        Group of each row; several columns are crossed.

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
    """
    return float(gap_of_counts(_anchor_first_counts(labels, sensitive_features)))


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
    codes = read_labels(labels)
    groups = _read_groups(sensitive_features, len(codes))
    counts = count_groups(codes, groups.codes, len(groups.names))
    return pd.DataFrame(
        counts,
        index=pd.Index(np.unique(np.asarray(labels)), name="cluster"),
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
    if family not in kinds:
        raise ValueError(f"family must be one of {', '.join(map(repr, kinds))}, got {family!r}.")
    rows = read_features(X, kinds[family], allow_missing=True).rows
    codes = read_labels(labels, len(rows))
    measure = squared_distance_cost if family == "gaussian" else category_cost
    return float(measure(rows, codes[None])[0])


def count_groups(labels: IntArray, group_codes: IntArray, n_groups: int) -> IntArray:
    """Count rows by cluster and group, for one labelling or many.

    Parameters
    ----------
    labels : ndarray of shape (..., n_rows)
        Codes of clusters.
    group_codes : ndarray of shape (n_rows,)
        Codes of groups.
    n_groups : int
        Number of groups.

    Returns
    -------
    ndarray of shape (..., n_clusters, n_groups)
        The counts; a labelling with fewer clusters than the largest has rows of zeros.
    """
    return _tabulate(labels, group_codes, n_groups)


def gap_of_counts(counts: IntArray) -> FloatArray:
    """Fairness gap of tables (..., cluster, group), the anchor group first."""
    if counts.shape[-1] == 1:
        return np.zeros(counts.shape[:-2])
    return np.asarray(gaps_of_counts(counts).mean(axis=-1))


def gaps_of_counts(counts: IntArray) -> FloatArray:
    """Gap of each follower group, of tables (..., cluster, group), the anchor group first."""
    # In whole numbers, as the sampler counts them: a gap of 0 is 0, and none is above 1.
    counts = counts.astype(np.int64)
    sizes = counts.sum(axis=-2)
    anchors, followers = sizes[..., :1], sizes[..., 1:]
    crossed = anchors[..., None, :] * counts[..., 1:] - followers[..., None, :] * counts[..., :1]
    return np.asarray(np.abs(crossed).sum(axis=-2) / (2 * anchors * followers))


def balance_of_counts(counts: IntArray) -> FloatArray:
    """Balance of tables (..., cluster, group); empty clusters do not count."""
    smallest, largest = counts.min(axis=-1), counts.max(axis=-1)
    ratios = np.where(largest > 0, smallest / np.maximum(largest, 1), 1.0)
    return np.asarray(ratios.min(axis=-1))


def squared_distance_cost(rows: FloatArray, labels: IntArray) -> FloatArray:
    """Mean squared distance to the cluster mean, for labellings of shape (n, n_rows).

    Missing cells (NaN) are left out.
    """
    nothing = np.zeros(len(rows), dtype=np.int64)
    every_size = _tabulate(labels, nothing, 1)[..., 0]
    costs = np.zeros(len(labels))
    for column in (rows - np.nanmean(rows, axis=0)).T:
        present = ~np.isnan(column)
        column = np.where(present, column, 0.0)
        sizes = every_size
        if not present.all():
            sizes = _tabulate(labels, nothing, 1, weights=present.astype(np.float64))[..., 0]
        means = _tabulate(labels, nothing, 1, weights=column)[..., 0] / np.maximum(sizes, 1)
        # Two passes: the difference of large sums of squares would lose all digits.
        residuals = column - np.take_along_axis(means, labels.astype(np.int64), axis=1)
        costs += np.mean(residuals**2, axis=1, where=present) * present.mean()
    return costs


def category_cost(rows: FloatArray, labels: IntArray) -> FloatArray:
    """Negative log likelihood at the maximum likelihood, for labellings (n, n_rows)."""
    costs = np.zeros(len(labels))
    for column in rows.T:
        present = ~np.isnan(column)  # missing cells are left out
        codes = column[present].astype(np.int64)
        counts = _tabulate(labels[:, present], codes, int(codes.max()) + 1)
        sizes = counts.sum(axis=-1, keepdims=True)
        shares = counts / np.maximum(sizes, 1)
        costs -= np.sum(counts * np.log(np.where(counts > 0, shares, 1.0)), axis=(-2, -1))
    return costs


def _read_groups(sensitive_features: Any, n_rows: int) -> Groups:
    if sensitive_features is None:
        raise ValueError("sensitive_features is None; pass the group of each row.")
    return read_groups(sensitive_features, n_rows, "labels")


def _anchor_first_counts(labels: Any, sensitive_features: Any) -> IntArray:
    codes = read_labels(labels)
    groups = _read_groups(sensitive_features, len(codes))
    grouping = arrange_groups(groups.names, groups.codes)
    return count_groups(codes[grouping.order], grouping.group_of, grouping.n_groups)


def _tabulate(
    labels: IntArray, categories: IntArray, n_categories: int, weights: FloatArray | None = None
) -> Any:
    """Count (or add up weights) by cluster and category, for labels of shape (..., n_rows)."""
    flat = labels.reshape(-1, labels.shape[-1]).astype(np.int64)
    n_clusters = int(flat.max()) + 1
    cells = flat * n_categories + categories
    cells += np.arange(len(flat))[:, None] * (n_clusters * n_categories)
    every_weight = None if weights is None else np.broadcast_to(weights, flat.shape).ravel()
    table = np.bincount(
        cells.ravel(), weights=every_weight, minlength=len(flat) * n_clusters * n_categories
    )
    return table.reshape(*labels.shape[:-1], n_clusters, n_categories)
