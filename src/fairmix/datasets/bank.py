"""The calls of a Portuguese bank, known as Bank Marketing."""

from __future__ import annotations

import io
from typing import Any

import pandas as pd
from sklearn.utils import Bunch

from fairmix.datasets.drawing import draw_rows
from fairmix.datasets.source import Source, read_source

FEATURES = ["age", "duration", "euribor3m", "nr.employed", "cons.price.idx", "campaign"]


def _convert(contents: bytes) -> bytes:
    """Bring the public file (semicolons, quotes, CRLF) into our form."""
    text = contents.decode("ascii").replace("\r\n", "\n")
    return text.replace('"', "").replace(";", ",").encode()


SOURCE = Source(
    file_name="bank.csv",
    sha256="bb45add91d4e02870fcde28ee4f913b78268a5aa6051e8fbe2c3e16010404355",
    url="https://archive.ics.uci.edu/static/public/222/bank+marketing.zip",
    members=("bank-additional.zip", "bank-additional/bank-additional-full.csv"),
    convert=_convert,
)
#: Choice of groups -> marital status -> name of the group; others are dropped.
GROUPS = {
    "married": {"married": "married", "single": "not married", "divorced": "not married"},
    "single": {"married": "married", "single": "single"},
    "marital": {"married": "married", "single": "single", "divorced": "divorced"},
}
#: The paper's 1,000 rows.
PAPER_SIZES = {
    "married": {"married": 606, "not married": 394},
    "single": {"married": 606, "single": 394},
    "marital": {"married": 586, "single": 305, "divorced": 109},
}


def load_bank(
    *,
    n_rows: Any = None,
    groups: str = "married",
    categorised: bool = False,
    random_state: int = 0,
) -> Bunch:
    """Load the calls of a Portuguese bank ("bank-additional-full"): six features of clients.

    The file is read from the folder that FAIRMIX_DATA names, from the user's cache, or
    downloaded from the UCI repository.

    Parameters
    ----------
    n_rows : int, "paper" or None, default=None
        All rows (None), so many drawn at random, or 1,000 with the paper's sizes: 606 and 394,
        or 586, 305 and 109.
    groups : {"married", "single", "marital"}, default="married"
        Married or not; married or single (the paper's words, which do not give its sizes in a
        draw of all rows), others dropped; or the three of married, single and
        divorced. Rows of unknown status are always dropped.
    categorised : bool, default=False
        Cut each feature at its median, as for the paper's categorical data: 1 above it, else 0.
    random_state : int, default=0
        Seed of the draw. The paper does not give its own.

    Returns
    -------
    Bunch
        ``data`` (data frame), ``sensitive_features`` (series), ``feature_names``,
        ``row_numbers`` (0-based rows of the public file), ``DESCR``.

    Examples
    --------
    >>> from fairmix.datasets import load_bank
    >>> bank = load_bank(n_rows="paper", groups="marital")  # doctest: +SKIP
    """
    if groups not in GROUPS:
        raise ValueError(f"groups must be one of {', '.join(map(repr, GROUPS))}, got {groups!r}.")
    frame = pd.read_csv(io.BytesIO(read_source(SOURCE)))
    group = frame["marital"].map(GROUPS[groups])
    known = group.notna()
    frame, group = frame[known], group[known]
    rows = draw_rows(group, n_rows, PAPER_SIZES[groups], random_state)
    data = frame[FEATURES].iloc[rows].reset_index(drop=True)
    if categorised:
        data = data.gt(data.median()).astype(int)
    return Bunch(
        data=data,
        sensitive_features=group.iloc[rows].reset_index(drop=True).rename("marital"),
        feature_names=list(FEATURES),
        row_numbers=frame.index.to_numpy()[rows],
        DESCR=(
            "Bank Marketing, the file bank-additional-full.csv: six numerical features and marital "
            "status of clients who were called by a Portuguese bank. S. Moro, P. Rita "
            "and P. Cortez, UCI Machine Learning Repository, https://doi.org/10.24432/C5K306, "
            "licence CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/)."
        ),
    )
