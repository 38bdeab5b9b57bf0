"""Fixtures that several test files share."""

import os
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, settings

# The same examples every time where a change is judged; new ones everywhere else.
settings.register_profile("ci", derandomize=True, suppress_health_check=[HealthCheck.too_slow])
if os.environ.get("CI"):
    settings.load_profile("ci")


#: Problems of the exact and Geweke tests that only `make test-all` tries: others are of their kind.
MORE_PROBLEMS = ("bernoulli", "categorical", "flat", "beta")


def pytest_collection_modifyitems(items):
    """Mark what only ``make test-all`` runs."""
    for item in items:
        is_statistical = item.path.name in (
            "test_single_steps.py",
            "test_sweep.py",
            "test_geweke.py",
        )
        if is_statistical and any(word in item.name for word in MORE_PROBLEMS):
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
