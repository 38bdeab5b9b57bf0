"""What a cap on the gap costs: one fit after the other, from no cap to a tight one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from fairmix.estimator import FairBayesianClustering
from fairmix.tables.checks import check_positive

#: Caps that are tried unless others are named.
CAPS = (1.0, 0.1, 0.05, 0.02, 0.01)


def measure_caps(
    estimator: FairBayesianClustering,
    X: Any,
    sensitive_features: Any,
    caps: Sequence[float] = CAPS,
) -> pd.DataFrame:
    """Fit a table under several caps, and measure what each of them costs.

    Parameters
    ----------
    estimator : FairBayesianClustering
        Its parameters, but for ``max_gap`` and ``constraint``, are those of all fits; it is not
        changed.
    X : data frame or array-like of shape (n_rows, n_features)
        The data.
    sensitive_features : array-like, data frame, str or list of str
        Sensitive group of each row, as for ``fit``.
    caps : sequence of float, default=(1.0, 0.1, 0.05, 0.02, 0.01)
        The caps. A cap of 1 rules nothing out: that is the mixture without fairness.

    Returns
    -------
    pandas.DataFrame
        A row a cap, in the order given: mean and largest gap of the draws, mean and standard
        deviation of log posterior and cost, mean number of clusters, and the verdict on the
        chains. Cost is a mean squared distance and falls with the number of clusters, so look at
        both.
    """
    rows = []
    for cap in caps:
        check_positive("caps", cap)
        model = clone(estimator).set_params(max_gap=float(cap), constraint="gap")
        posterior = model.fit(X, sensitive_features=sensitive_features).posterior_
        figures: dict[str, Any] = {
            "max_gap": float(cap),
            "gap": posterior.fairness_gap.mean(),
            "largest_gap": posterior.fairness_gap.max(),
        }
        for name in ("log_posterior", "cost", "n_clusters"):
            values = getattr(posterior, name)
            figures |= {name: values.mean(), f"{name}_sd": np.std(values)}
        rows.append(figures | {"verdict": posterior.verdict().word})
    return pd.DataFrame(rows)
