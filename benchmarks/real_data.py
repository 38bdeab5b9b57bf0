"""The real data of the benchmarks.

Rows of the draws come from ``reference/subsamples.json`` beside the folder that FAIRMIX_DATA names.
"""

import json
import os
from functools import cache, partial
from pathlib import Path

import numpy as np

from fairmix.datasets import load_adult, load_bank, load_diabetes

LOADERS = {
    "diabetes": load_diabetes,
    "adult": load_adult,
    "bank": load_bank,
    "bank_sm": partial(load_bank, groups="single"),
    "bank3": partial(load_bank, groups="marital"),
}
DRAWS = ["diabetes", *(f"{name} {draw}" for name in ("adult", "bank") for draw in range(5))]


@cache
def load(name):
    """Give features and groups of a whole dataset ("adult") or of a draw ("adult 0" to 4)."""
    dataset, _, draw = name.partition(" ")
    bunch = LOADERS[dataset]()
    if not draw:
        return bunch.data, bunch.sensitive_features.to_numpy()
    reference = Path(os.environ["FAIRMIX_DATA"]).parent / "reference"
    rows = json.loads((reference / "subsamples.json").read_text())[dataset][draw]
    places = np.searchsorted(bunch.row_numbers, rows)
    groups = bunch.sensitive_features.to_numpy()[places]
    return bunch.data.iloc[places].reset_index(drop=True), groups
