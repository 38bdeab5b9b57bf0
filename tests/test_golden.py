"""Some small fits of every kind draw what they have always drawn, bit for bit.

The file ``golden.json`` beside this one holds a hash of the draws of each fit. When a change is
meant to change draws, say so in the changelog and write it anew: python -m tests.test_golden
"""

import hashlib
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairmix import FairBayesianClustering, Fixed
from fairmix.baselines import FairletMixture, MixtureOfFiniteMixtures

GOLDEN = Path(__file__).with_name("golden.json")
SHORT = {"n_chains": 2, "n_warmup": 40, "n_draws": 20, "random_state": 3}


def make_points(sizes, seed=0):
    """Give clusters of points whose place depends on the group, and the groups."""
    rng = np.random.default_rng(seed)
    groups = np.repeat([f"group {k}" for k in range(len(sizes))], sizes)
    centres = rng.choice([-3.0, 0.0, 3.0], len(groups))
    points = centres[:, None] + rng.standard_normal((len(groups), 3))
    points[:, 0] += np.repeat(np.arange(len(sizes)), sizes)
    order = rng.permutation(len(groups))
    return points[order], groups[order]


def make_mixed_table():
    """Give a table of numbers, counts, categories and holes, and the groups."""
    points, groups = make_points((18, 30), seed=1)
    rng = np.random.default_rng(2)
    table = pd.DataFrame(
        {
            "town": np.array(["north", "south", "west"], dtype=object)[rng.integers(3, size=48)],
            "income": points[:, 0],
            "visits": rng.poisson(np.exp(0.4 * points[:, 1] + 1)),
            "is_member": points[:, 2] > 0,
            "age": points[:, 1],
        }
    )
    table.loc[[3, 17, 40], "income"] = np.nan
    table.loc[[5, 17], "town"] = None
    return table, groups


def make_codes():
    """Give a table of categories, and the groups."""
    points, groups = make_points((15, 35), seed=4)
    return np.clip(np.round(points) + 4, 0, 6).astype(int), groups


CASES = {
    "gaussian": (FairBayesianClustering, {}, lambda: make_points((25, 25))),
    "remainders": (FairBayesianClustering, {"extra": "medoids"}, lambda: make_points((14, 20, 33))),
    "masked": (
        FairBayesianClustering,
        {"n_masked": {"group 1": 6}, "extra": "free", "temperature": 0.001},
        lambda: make_points((14, 20, 33)),
    ),
    "cap": (
        FairBayesianClustering,
        {"constraint": "matching", "max_gap": 0.08, "min_balance": 0.25},
        lambda: make_points((14, 20, 33)),
    ),
    "paper": (
        lambda **settings: FairBayesianClustering.paper(n_masked=4, **settings),
        {},
        lambda: make_points((16, 39)),
    ),
    "fixed number": (
        FairBayesianClustering,
        {"components_prior": Fixed(3), "init_partition": ("kmeans", 3), "thin": 2},
        lambda: make_points((16, 39)),
    ),
    "tied": (FairBayesianClustering, {"family": "gaussian-tied"}, lambda: make_points((16, 39))),
    "categories": (FairBayesianClustering, {"family": "categorical"}, make_codes),
    "mixed": (FairBayesianClustering, {"family": "auto", "missing": "ignore"}, make_mixed_table),
    "student-t": (
        FairBayesianClustering,
        {"family": "student-t", "n_masked": 3},
        lambda: make_points((15, 25)),
    ),
    "plain mixture": (MixtureOfFiniteMixtures, {}, lambda: make_points((25, 25))),
    "fairlets": (FairletMixture, {"p": 1, "q": 2}, lambda: make_points((25, 40))),
}


def hash_draws(name):
    """Fit one of the cases; give a hash of all its draws."""
    make, parameters, make_data = CASES[name]
    data, groups = make_data()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = make(**(SHORT | parameters)).fit(data, sensitive_features=groups)
    posterior = model.posterior_
    digest = hashlib.sha256()
    for values in (posterior.labels, posterior.n_components, posterior.masked_rows, model.labels_):
        digest.update(np.ascontiguousarray(values, dtype=np.int64).tobytes())
    # What is summed in floating point is rounded: other processors have other last digits.
    for values in (posterior.log_likelihood, posterior.log_posterior):
        digest.update(" ".join(f"{value:.9g}" for value in values.ravel()).encode())
    return digest.hexdigest()


@pytest.mark.parametrize("name", CASES)
def test_draws_are_what_they_were(name):
    assert hash_draws(name) == json.loads(GOLDEN.read_text())[name]


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps({name: hash_draws(name) for name in CASES}, indent=2) + "\n")
