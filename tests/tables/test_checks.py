"""Warnings point to the line of the user's code, however deep they arise."""

import numpy as np
import pandas as pd
import pytest

from fairmix import FairBayesianClustering
from fairmix.baselines import FairKMeans, MixtureOfFiniteMixtures

TINY = {"n_chains": 1, "n_warmup": 0, "n_draws": 1, "random_state": 0}
X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 2)), columns=["u", "v"])
GROUPS = np.repeat(["a", "b"], 15)
SMALL = np.repeat(["rare", "b"], [5, 25])


@pytest.mark.parametrize(
    ("fit", "match"),
    [
        (lambda: FairBayesianClustering(**TINY).fit(X), "one group only"),
        (lambda: FairBayesianClustering(**TINY).fit_predict(X), "one group only"),
        (lambda: FairKMeans(2).fit(X), "one group only"),
        (lambda: MixtureOfFiniteMixtures(**TINY).fit(X.assign(one=1.0)), "is constant"),
        (
            lambda: FairBayesianClustering(**TINY).fit(
                X.assign(code=GROUPS == "a"), sensitive_features=GROUPS
            ),
            "repeats sensitive_features",
        ),
        (
            lambda: FairBayesianClustering(**TINY).fit(X, sensitive_features=SMALL),
            "no more clusters",
        ),
    ],
)
def test_warnings_name_the_callers_line(fit, match):
    with pytest.warns(UserWarning, match=match) as caught:
        fit()
    assert {warning.filename for warning in caught} == {__file__}
