"""Small fits of tables whose names want to be more than text, shared by these tests."""

import warnings

import numpy as np
import pandas as pd

from fairmix import FairBayesianClustering
from fairmix.baselines import MixtureOfFiniteMixtures

#: What a careless page would run, close or fill in.
SCRIPT = "<script>alert(1)</script>"
IMAGE = "\"'><img src=x onerror=alert(2)>"
CLOSING = "</title></style></svg><h1>mine</h1>"
TEMPLATE = "{{ 7 * 7 }}{% raw %}"
WOMEN, MEN = "<b onmouseover=alert(3)>women</b>", "men & <i>others</i>"
SOURCE = {
    "name": f"{CLOSING}.csv",
    "id": IMAGE,
    "left_out": {SCRIPT: f"text {TEMPLATE}"},
    "command": "fairmix fit '<svg onload=alert(4)>.csv'",
}
#: A fit of a second or two.
QUICK = {"n_warmup": 60, "n_draws": 100, "n_chains": 2, "random_state": 0}


def people():
    """Give a table of three clumps with numbers, a category and holes, and two attributes."""
    rng = np.random.default_rng(0)
    n_rows = 260
    clump = rng.integers(3, size=n_rows)
    table = pd.DataFrame(
        {
            SCRIPT: rng.normal([0.0, 4.0, 8.0], 1.0)[clump] + rng.normal(size=n_rows),
            IMAGE: np.exp(rng.normal([2.0, 1.0, 0.0], 0.1)[clump] + rng.normal(0, 0.3, n_rows)),
            "visits": rng.poisson(np.array([1, 4, 9])[clump]),
            TEMPLATE: np.array([CLOSING, "two", "three"])[
                np.where(rng.random(n_rows) < 0.8, clump, rng.integers(3, size=n_rows))
            ],
        }
    )
    table.loc[:6, SCRIPT] = np.nan
    attributes = pd.DataFrame(
        {
            "sex": np.where(rng.random(n_rows) < 0.45, WOMEN, MEN),
            "<u>age</u>": np.where(rng.random(n_rows) < 0.5, "young", "old"),
        }
    )
    return table, attributes


def fit(model, table, groups):
    """Fit, whatever the chains say: these are short."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(table, sensitive_features=groups)


def fit_by_gap():
    """Fit a mixed table with two attributes under a cap."""
    table, attributes = people()
    model = FairBayesianClustering("auto", missing="ignore", max_gap=0.2, **QUICK)
    return fit(model, table, attributes)


def fit_by_matching():
    """Fit numbers with one attribute by matching."""
    table, attributes = people()
    return fit(FairBayesianClustering(**QUICK), table[[IMAGE, "visits"]], attributes["sex"])


def fit_plain():
    """Fit the same numbers without fairness."""
    table, attributes = people()
    return fit(MixtureOfFiniteMixtures(**QUICK), table[[IMAGE, "visits"]], attributes["sex"])
