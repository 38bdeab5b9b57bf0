"""A table or a figure of the paper each, and what its readers asked for."""

from __future__ import annotations

from importlib import import_module

from experiments.protocol import Experiment

#: As on the page.
NAMES = (
    "toy",
    "main_comparison",
    "fairness_control",
    "three_groups",
    "number_of_clusters",
    "likelihood_of_new",
    "categorised_bank",
    "temperature",
    "remainder",
    "components_prior",
    "autocorrelation",
    "traces",
    "four_starts",
    "several_attributes",
    "rows_and_time",
    "new_rows",
)


def get_experiment(name: str) -> Experiment:
    """Give the experiment of a script."""
    experiment: Experiment = import_module(f"experiments.items.{name}").EXPERIMENT
    return experiment
