"""How well rows were matched: how unlike a row and the row that it went with are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.model.distances import distance_of_points
from fairmix.posterior.wording import short_text

IntArray = NDArray[np.int64]

#: So many pairs are looked at, evenly over the rows.
MAX_PAIRS = 3000
#: Columns that are told of: those in which matched rows differ most.
MAX_COLUMNS = 8


def measure_matches(model: Any) -> dict[str, Any] | None:
    """Tell how much matched rows differ, beside rows that are put together at random.

    Parameters
    ----------
    model : estimator
        A fitted model.

    Returns
    -------
    dict or None
        Plain values (``docs/summary.md`` says which); None if no rows were matched.
    """
    matches = getattr(model, "matches_", None)
    if matches is None:
        return None
    anchor = next(iter(model.groups_))
    followers = np.flatnonzero(matches != np.arange(len(matches)))
    measured: dict[str, Any] = {
        "anchor": short_text(anchor),
        "n_anchors": model.groups_[anchor],
        "n_matched": len(followers),
        "n_masked": int(model.posterior_.masked_rows.shape[-1]),
        "share_nearer": None,
        "columns": None,
    }
    if model.posterior_.training is not None:
        measured |= _compare(model.posterior_.training, matches, followers)
    return measured


def _compare(training: Any, matches: IntArray, followers: IntArray) -> dict[str, Any]:
    """Compare rows with their matches, and with matches of other rows."""
    places = np.linspace(0, len(followers) - 1, min(MAX_PAIRS, len(followers)))
    rows = followers[places.round().astype(np.int64)]
    partners = matches[rows]
    at_random = np.random.default_rng(0).permutation(partners)  # always the same
    distance = distance_of_points(training.table.points, training.table.is_category)
    is_nearer = [
        distance.between(*pair) < distance.between(*other)
        for pair, other in zip(
            zip(rows, partners, strict=True), zip(rows, at_random, strict=True), strict=True
        )
    ]
    values, columns = training.values(), []
    for k, column in enumerate(training.schema.kept):
        own, other = (_difference(values[:, k], rows, b, column) for b in (partners, at_random))
        if own is not None and other is not None and other > 0:
            columns.append({"feature": k, "difference": own, "at_random": other})
    columns.sort(key=lambda each: -each["difference"] / each["at_random"])
    return {"share_nearer": float(np.mean(is_nearer)), "columns": columns[:MAX_COLUMNS]}


def _difference(values: Any, rows: IntArray, others: IntArray, column: Any) -> float | None:
    """Give the mean difference of a number, or how often a category differs."""
    apart = np.abs(values[rows] - values[others])
    apart = apart[~np.isnan(apart)]
    if not len(apart):
        return None
    return float(np.mean(apart > 0) if column.is_category else np.mean(apart))
