"""The diabetes data of the National Institute of Diabetes and Digestive and Kidney Diseases."""

from __future__ import annotations

import io
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from fairmix.datasets.drawing import draw_rows
from fairmix.datasets.source import Source, read_source

FEATURES = [
    "pregnancies",
    "glucose",
    "blood_pressure",
    "skin_thickness",
    "insulin",
    "bmi",
    "diabetes_pedigree",
]
OUTCOMES = {"tested_negative": "0", "tested_positive": "1"}


def _convert(contents: bytes) -> bytes:
    """Bring the public file (ARFF) into our form."""
    lines = [",".join([*FEATURES, "age", "outcome"])]
    _, _, data = contents.decode("utf-8").lower().partition("@data")
    for line in data.splitlines():
        if not line.strip() or line.startswith("%"):
            continue
        *numbers, outcome = (field.strip() for field in line.split(","))
        if outcome not in OUTCOMES:
            raise ValueError(f"the outcome {outcome!r} is not known")
        lines.append(",".join([*(f"{float(number):g}" for number in numbers), OUTCOMES[outcome]]))
    return ("\n".join(lines) + "\n").encode()


SOURCE = Source(
    file_name="diabetes.csv",
    sha256="712ff64dd88ef8c18e038d116c9744aa51652cb9019e59582ebf5e29b11f2928",
    url="https://openml.org/data/v1/download/37/diabetes.arff",
    members=(),
    convert=_convert,
)


def load_diabetes(
    *, n_rows: int | None = None, groups: Sequence[float] = (29,), random_state: int = 0
) -> Bunch:
    """Load the diabetes data (Pima Indians): 768 women, seven features, groups by age.

    The file is read from the folder that FAIRMIX_DATA names, from the user's cache, or
    downloaded from OpenML.

    Parameters
    ----------
    n_rows : int or None, default=None
        All rows (None, as in the paper), or so many drawn at random.
    groups : sequence of float, default=(29,)
        Ages at which groups end; the paper's are up to 29 (396 rows) and above (372).
    random_state : int, default=0
        Seed of the draw.

    Returns
    -------
    Bunch
        ``data`` (data frame), ``sensitive_features`` (series), ``feature_names``,
        ``row_numbers`` (0-based rows of the public file), ``DESCR``.

    Examples
    --------
    >>> from fairmix.datasets import load_diabetes
    >>> load_diabetes(groups=(24, 40)).sensitive_features.unique()  # doctest: +SKIP
    """
    ends = _check_ages(groups)
    frame = pd.read_csv(io.BytesIO(read_source(SOURCE)))
    shown = [f"{end:g}" for end in ends]
    names = [f"up to {shown[0]}"]
    names += [f"above {low} up to {high}" for low, high in itertools.pairwise(shown)]
    names.append(f"above {shown[-1]}")
    codes = np.searchsorted(ends, frame["age"].to_numpy(dtype=np.float64))
    group = pd.Series(np.array(names)[codes], name="age")
    rows = draw_rows(group, n_rows, None, random_state)
    return Bunch(
        data=frame[FEATURES].iloc[rows].reset_index(drop=True),
        sensitive_features=group.iloc[rows].reset_index(drop=True),
        feature_names=list(FEATURES),
        row_numbers=rows,
        DESCR=(
            "Diabetes of women of Pima Indian heritage, 768 rows (OpenML data set 37). J. W. "
            "Smith et al., Using the ADAP learning algorithm to forecast the onset of diabetes "
            "mellitus, 1988; National Institute of Diabetes and Digestive and Kidney Diseases. "
            "Its licence is not clear, so it is not packaged. Zeros in some columns stand "
            "for missing values."
        ),
    )


def _check_ages(groups: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    try:
        ends = np.array(groups, dtype=np.float64)
    except (TypeError, ValueError):
        ends = np.empty(0)
    if ends.ndim != 1 or ends.size == 0 or not (np.diff(ends) > 0).all():
        raise ValueError(
            f"groups must be ages at which groups end, in growing order, such as (29,) or "
            f"(24, 40), got {groups!r}."
        )
    return ends
