r"""What differs between two partitions, in words of rows and features.

The clusters of one are matched to those of the other (``matched.py``), so that a row is *elsewhere*
if its cluster in the second is not the partner of its cluster in the first. Rows that make the same
move are described by the features in which they stand out among the rows of the cluster that they
come from (or among all rows, if there are hardly any others there). For a number that is the
difference of means over the standard deviation of all rows; for a category the difference of
shares over :math:`\sqrt{p (1 - p)}` with the share :math:`p` of all rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairmix.posterior.matched import count_shared, match_clusters
from fairmix.posterior.training import Training

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: At most so many moves of rows are told, and so many features of each.
MAX_MOVES = 4
MAX_FEATURES = 2
#: Features that stand out less are not told.
LEAST_EFFECT = 0.5
#: Rows are compared with the others of their cluster if these are at least so many.
LEAST_OTHERS = 5


def tell_difference(
    reference: IntArray, labels: IntArray, name: str, training: Training | None = None
) -> list[str]:
    """Say which rows are where in a partition that are elsewhere in a reference, called A.

    Parameters
    ----------
    reference : ndarray of shape (n_rows,)
        Labels 0, 1, ... of A.
    labels : ndarray of shape (n_rows,)
        Labels 0, 1, ... of the other.
    name : str
        Its name.
    training : Training, optional
        The table, to describe rows by their features.

    Returns
    -------
    list of str
        Sentences.
    """
    partner = match_clusters(labels, reference)
    n_elsewhere = int(np.sum(partner[labels] != reference))
    if n_elsewhere == 0:
        return [f"In most of the draws of {name}, each row is where it is in most of those of A."]
    sentences = [
        f"{n_elsewhere:,} of {len(labels):,} rows are mostly elsewhere than in A (clusters are "
        "numbered as in A):"
    ]
    moved = count_shared(labels, reference)
    has_partner = partner >= 0
    moved[np.flatnonzero(has_partner), partner[has_partner]] = 0
    largest_first = np.argsort(-moved, axis=None, kind="stable")
    n_told = 0
    for move in largest_first[:MAX_MOVES]:
        to, origin = np.unravel_index(move, moved.shape)
        were_there = reference == origin
        rows = were_there & (labels == to)
        if moved[to, origin] == 0:
            break
        n_told += int(rows.sum())
        where = f"cluster {partner[to]}" if partner[to] >= 0 else "a cluster that A does not have"
        told = "" if training is None else describe_rows(training, rows, were_there & ~rows)
        sentences.append(
            f"- {rows.sum():,} of the {were_there.sum():,} rows of cluster {origin} are in "
            f"{where}{told}."
        )
    if n_told < n_elsewhere:
        sentences.append(f"- {n_elsewhere - n_told:,} more rows make smaller moves.")
    gone = np.setdiff1d(reference, partner)
    if gone.size:
        sentences.append(f"- {name} has no cluster {' and no cluster '.join(map(str, gone))}.")
    return sentences


def describe_rows(training: Training, rows: NDArray[np.bool_], others: NDArray[np.bool_]) -> str:
    """Say in which features some rows stand out.

    Parameters
    ----------
    training : Training
        The table.
    rows : ndarray of shape (n_rows,)
        Which rows.
    others : ndarray of shape (n_rows,)
        Among which others; if they are hardly any, all rows are taken.

    Returns
    -------
    str
        The features that stand out most, after a colon; nothing if none does.
    """
    whose = "of the others there"
    if others.sum() < LEAST_OTHERS:
        others, whose = np.ones(len(rows), dtype=bool), "of all rows"
    told = []
    for column, values in zip(training.schema.kept, training.values().T, strict=True):
        is_there = ~np.isnan(values)
        here, there = values[rows & is_there], values[others & is_there]
        if here.size == 0 or there.size == 0:
            continue
        if column.levels is None:
            spread = float(values[is_there].std())
            effect = abs(here.mean() - there.mean()) / spread if spread > 0 else 0.0
            words = f"mean {column.name} {_number(here.mean())} ({whose} {_number(there.mean())})"
        else:
            every, shares, base = (
                _shares(codes, len(column.levels)) for codes in (values[is_there], here, there)
            )
            spreads = np.sqrt(every * (1 - every))
            far = np.abs(shares - base)
            effects = np.divide(far, spreads, out=np.zeros_like(far), where=spreads > 0)
            best = int(np.argmax(effects))
            effect = float(effects[best])
            words = (
                f"{column.name} {column.levels[best]} {shares[best]:.0%} ({whose} {base[best]:.0%})"
            )
        told.append((effect, words))
    told.sort(key=lambda each: -each[0])
    words_told = [words for effect, words in told[:MAX_FEATURES] if effect >= LEAST_EFFECT]
    return f": {', '.join(words_told)}" if words_told else ""


def _shares(codes: FloatArray, n_levels: int) -> FloatArray:
    """Give the share of each category."""
    return np.bincount(codes.astype(np.int64), minlength=n_levels) / codes.size


def _number(value: float) -> str:
    """Write a number to be read."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
