"""Tables of counts and sums by cluster, for many labellings at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


def tabulate(
    labels: IntArray, categories: IntArray, n_categories: int, weights: FloatArray | None = None
) -> Any:
    """Count (or add up weights) by cluster and category.

    Parameters
    ----------
    labels : ndarray of shape (..., n_rows)
        Codes of clusters, for one labelling or many.
    categories : ndarray of shape (n_rows,)
        Codes of categories.
    n_categories : int
        Number of categories.
    weights : ndarray of shape (n_rows,), optional
        What is added up; None counts rows.

    Returns
    -------
    ndarray of shape (..., n_clusters, n_categories)
        The counts or sums.
    """
    flat = labels.reshape(-1, labels.shape[-1]).astype(np.int64)
    n_clusters = int(flat.max()) + 1
    cells = flat * n_categories + categories
    cells += np.arange(len(flat))[:, None] * (n_clusters * n_categories)
    every_weight = None if weights is None else np.broadcast_to(weights, flat.shape).ravel()
    table = np.bincount(
        cells.ravel(), weights=every_weight, minlength=len(flat) * n_clusters * n_categories
    )
    return table.reshape(*labels.shape[:-1], n_clusters, n_categories)
