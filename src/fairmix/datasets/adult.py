"""The census data of 1994, known as Adult."""

from __future__ import annotations

from importlib import resources
from typing import Any

import pandas as pd
from sklearn.utils import Bunch

from fairmix.datasets.drawing import draw_rows

FEATURES = ["age", "fnlwgt", "education-num", "capital-gain", "hours-per-week"]
#: The paper's 1,000 rows.
PAPER_SIZES = {"Male": 694, "Female": 306}
ATTRIBUTES = ("sex", "race")


def load_adult(*, n_rows: Any = None, groups: Any = "sex", random_state: int = 0) -> Bunch:
    """Load the census data of 1994, "Adult": 32,561 people, five features. It is packaged.

    Parameters
    ----------
    n_rows : int, "paper" or None, default=None
        All rows (None), so many drawn at random, or the paper's 694 men and 306 women.
    groups : {"sex", "race"} or list of both, default="sex"
        The sensitive attribute; both are two columns, whose combinations are the groups.
    random_state : int, default=0
        Seed of the draw. The paper does not give its own.

    Returns
    -------
    Bunch
        ``data`` (data frame), ``sensitive_features`` (series, or data frame for both),
        ``feature_names``, ``row_numbers`` (0-based rows of the public file), ``DESCR``.

    Examples
    --------
    >>> from fairmix.datasets import load_adult
    >>> load_adult(n_rows="paper").sensitive_features.value_counts().to_dict()
    {'Male': 694, 'Female': 306}
    """
    named = [groups] if isinstance(groups, str) else list(groups)
    if not named or any(name not in ATTRIBUTES for name in named):
        raise ValueError(f"groups must be 'sex', 'race' or ['sex', 'race'], got {groups!r}.")
    with resources.as_file(resources.files("fairmix.datasets") / "adult.csv.gz") as path:
        frame = pd.read_csv(path)
    sizes = PAPER_SIZES if named == ["sex"] else None
    rows = draw_rows(frame["sex"], n_rows, sizes, random_state)
    frame = frame.iloc[rows].reset_index(drop=True)
    return Bunch(
        data=frame[FEATURES],
        sensitive_features=frame[named[0]] if len(named) == 1 else frame[named],
        feature_names=list(FEATURES),
        row_numbers=rows,
        DESCR=(
            "Adult (Census Income), the training file adult.data: five numerical features, sex and "
            "race of 32,561 people of the census of the United States of 1994. Barry Becker and "
            "Ronny Kohavi, UCI Machine Learning Repository, https://doi.org/10.24432/C5XW20, "
            "licence CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/); columns "
            "were selected, nothing else was changed."
        ),
    )
