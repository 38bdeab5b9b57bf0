"""Fixtures that several test files share."""

import os
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, settings

from tests.tiny import MORE_FAMILIES

# The same examples every time where a change is judged; new ones everywhere else.
settings.register_profile("ci", derandomize=True, suppress_health_check=[HealthCheck.too_slow])
if os.environ.get("CI"):
    settings.load_profile("ci")


#: Problems of the exact and Geweke tests that are of the kind of others.
MORE_PROBLEMS = ("bernoulli", "categorical", "flat", "beta")
#: What only `make test-all` tries: words in the names of tests, by file.
THOROUGH = {
    "exact/test_single_steps.py": MORE_PROBLEMS,
    "exact/test_sweep.py": MORE_PROBLEMS,
    "geweke/test_geweke.py": MORE_PROBLEMS,
    "exact/test_families.py": MORE_FAMILIES,
    "sampler/test_invariants.py": MORE_FAMILIES,
    "posterior/test_prediction.py": ("sampled_are_averaged_over",),
}


def pytest_collection_modifyitems(items):
    """Mark what only ``make test-all`` tries; begin with what is slow, so that nobody waits."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    for item in items:
        for file, words in THOROUGH.items():
            if item.path.as_posix().endswith(file) and any(word in item.name for word in words):
                item.add_marker(pytest.mark.thorough)


@pytest.fixture(scope="session")
def data_folder():
    """Give the folder with the public datasets, which are not part of the project."""
    folder = os.environ.get("FAIRMIX_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("FAIRMIX_DATA does not name a folder with the datasets")
    return Path(folder)


@pytest.fixture(scope="session")
def diabetes(data_folder):
    """Give the Diabetes features and the paper's age groups."""
    table = pd.read_csv(data_folder / "diabetes.csv")
    group = (table["age"] > 29).map({True: "over 29", False: "29 or less"})
    return table.drop(columns=["age", "outcome"]), group
