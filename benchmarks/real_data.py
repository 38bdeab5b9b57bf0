"""The real data of the benchmarks, read from the folder that FAIRMIX_DATA names.

Rows of the draws come from ``reference/subsamples.json`` beside that folder.
"""

import json
import os
from pathlib import Path

import pandas as pd

from fairmix.datasets import adult, bank

DRAWS = ["diabetes", *(f"{name} {draw}" for name in ("adult", "bank") for draw in range(5))]


def load(name):
    """Give features and groups of "diabetes", or of a draw: "adult 0", "bank 4", "bank3 0"."""
    folder = Path(os.environ["FAIRMIX_DATA"])
    dataset, _, draw = name.partition(" ")
    if dataset == "diabetes":
        frame = pd.read_csv(folder / "diabetes.csv")
        return frame.drop(columns=["age", "outcome"]), (frame["age"] > 29).to_numpy()
    rows = json.loads((folder.parent / "reference" / "subsamples.json").read_text())
    frame = pd.read_csv(folder / f"{dataset.rstrip('3')}.csv")
    frame = frame.iloc[rows[dataset][draw]].reset_index(drop=True)
    if dataset == "adult":
        return frame[adult.FEATURES], frame["sex"].to_numpy()
    if dataset == "bank3":
        return frame[bank.FEATURES], frame["marital"].to_numpy()
    return frame[bank.FEATURES], (frame["marital"] == "married").to_numpy()
