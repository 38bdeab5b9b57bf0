r"""The paper's rule for new rows (its appendix on the number of clusters), for any group sizes.

There the new table has as many rows of each group, m, and labels come by two matchings of least
total distance: new rows of group 0 are matched to rows of group 0 that were fitted, and get their
labels; the new rows of every other group are matched to the new ones of group 0, one to one, and
get theirs.

Here numbers may be any. *To the fitted rows*: in random blocks of some rows, each new row is
matched to a fitted row of its own, and no matter how many of these remain. *Among the new rows*:
as in a fit, every row of group 0 takes :math:`\lfloor n_b / m \rfloor` rows of group b, and
randomly chosen ones take one more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from fairmix.model.distances import distance_of_points
from fairmix.model.grouping import Grouping
from fairmix.model.matching import BLOCK_SIZE, choose_extra, initial_match
from fairmix.posterior.training import Training

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: A block of new rows is matched to so many fitted ones at most, random ones.
MAX_FITTED = 5000


class Anchors(NamedTuple):
    """Rows of the smallest group that were fitted.

    Parameters
    ----------
    name : object
        The group.
    points : ndarray of shape (n_anchors, n_columns)
        The rows, in units that can be compared.
    labels : ndarray of shape (n_anchors,)
        Their clusters.
    """

    name: object
    points: FloatArray
    labels: IntArray

    @classmethod
    def of(cls, training: Training, labels: IntArray) -> Anchors:
        """Take them from a fit.

        Parameters
        ----------
        training : Training
            The table that was fitted.
        labels : ndarray of shape (n_rows,)
            Cluster of each row.

        Returns
        -------
        Anchors
            Its rows of the smallest group.
        """
        is_anchor = training.groups.codes == 0
        return cls(training.groups.names[0], training.table.points[is_anchor], labels[is_anchor])


def match_rows(
    anchors: Anchors, points: FloatArray, is_category: NDArray[np.bool_], codes: IntArray
) -> IntArray:
    """Label new rows by matching them.

    Parameters
    ----------
    anchors : Anchors
        Rows that were fitted.
    points : ndarray of shape (n_rows, n_columns)
        The new rows.
    is_category : ndarray of bool, shape (n_columns,)
        Which columns hold codes.
    codes : ndarray of shape (n_rows,)
        Group of each row; 0 is that of the anchors.

    Returns
    -------
    ndarray of shape (n_rows,)
        Cluster of each row.
    """
    n_new = len(points)
    every = distance_of_points(np.concatenate([points, anchors.points]), is_category)
    rng = np.random.default_rng(0)  # the same rows get the same labels
    new_anchors = np.flatnonzero(codes == 0)
    labels = np.full(n_new, -1)
    for block in np.array_split(rng.permutation(new_anchors), -(-len(new_anchors) // BLOCK_SIZE)):
        fitted = rng.permutation(len(anchors.labels))[:MAX_FITTED]
        fitted = np.tile(fitted, -(-len(block) // len(fitted)))
        rows, seats = linear_sum_assignment(every.matrix(block, n_new + fitted))
        labels[block[rows]] = anchors.labels[fitted[seats]]
    names, counts = np.unique(codes, return_counts=True)
    grouping = Grouping(
        names=tuple(names.tolist()),
        order=np.argsort(codes, kind="stable"),
        group_start=np.concatenate([[0], np.cumsum(counts)]),
    )
    ordered = distance_of_points(points[grouping.order], is_category)
    extra = choose_extra("random", grouping, ordered, rng)
    match = initial_match("transport", grouping, extra, ordered, rng)
    labels[grouping.order] = labels[grouping.order][match]
    return labels
