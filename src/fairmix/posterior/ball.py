r"""A credible ball: which partitions are as near to the estimate as the draws mostly are.

Wade & Ghahramani (2018). With variation of information :math:`d`, the ball around a partition
:math:`\hat c` of level :math:`p` has the smallest radius that leaves this share of the draws in,

.. math::
   \min \{\, r : P(d(\hat c, c) \le r) \ge p \,\}.

Its *bounds* are draws at its rim, as far from the centre as possible: *horizontal* ones of all
draws in the ball, *upper vertical* ones of those with the fewest clusters, *lower vertical* ones of
those with the most. They show how differently the rows may be clustered all the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairmix.posterior.estimate import read_partition
from fairmix.posterior.overlap import distances_to
from fairmix.posterior.thinning import choose_step
from fairmix.tables.checks import check_probability

if TYPE_CHECKING:  # it has this as a method
    from fairmix.posterior.posterior import Posterior

IntArray = NDArray[np.int64]

#: Distances (in bits) that differ by less are the same.
ROUNDING = 1e-9


@dataclass(frozen=True, repr=False)
class CredibleBall:
    """The draws nearest to a partition.

    Attributes
    ----------
    level : float
        Posterior probability that was asked for.
    radius : float
        Variation of information, in bits, from the centre to the farthest draw of the ball.
    share : float
        Share of draws in the ball: the level, or more if draws are equally far.
    centre : ndarray of shape (n_rows,)
        Labels of the partition in the middle.
    horizontal : ndarray of shape (n_bounds, n_rows)
        Labels of the draws in the ball that are farthest from the centre.
    upper_vertical : ndarray of shape (n_bounds, n_rows)
        Those of the draws with the fewest clusters in the ball that are farthest.
    lower_vertical : ndarray of shape (n_bounds, n_rows)
        Those of the draws with the most clusters in the ball that are farthest.
    """

    level: float
    radius: float
    share: float
    centre: IntArray
    horizontal: IntArray
    upper_vertical: IntArray
    lower_vertical: IntArray

    def __repr__(self) -> str:
        fewest, most = (
            int(bound.max()) + 1 for bound in (self.upper_vertical, self.lower_vertical)
        )
        return (
            f"<CredibleBall: {self.share:.0%} of the draws are within {self.radius:.2f} bits of "
            f"{int(self.centre.max()) + 1} clusters; they have {fewest} to {most} clusters>"
        )


def find_ball(posterior: Posterior, level: float = 0.95, estimate: Any = None) -> CredibleBall:
    """Find the credible ball around a partition.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    level : float, default=0.95
        Posterior probability of the ball.
    estimate : None, Estimate or array-like of shape (n_rows,), default=None
        The centre; None is the estimate of least expected variation of information.

    Returns
    -------
    CredibleBall
        Radius, centre and bounds.
    """
    level = check_probability("level", level)
    centre = read_partition(posterior, estimate, "estimate")
    step = choose_step(posterior.labels.shape)
    draws = posterior.labels[:, ::step]
    distances = distances_to(draws, centre)
    n_needed = max(math.ceil(level * distances.size - ROUNDING), 1)
    radius = float(np.sort(distances, axis=None)[n_needed - 1])
    is_inside = distances <= radius + ROUNDING
    n_clusters = posterior.n_clusters[:, ::step]
    fewest, most = n_clusters[is_inside].min(), n_clusters[is_inside].max()

    def farthest(candidates: NDArray[np.bool_]) -> IntArray:
        at_rim = candidates & (distances >= distances[candidates].max() - ROUNDING)
        unlike = {draw.tobytes(): draw for draw in draws[at_rim]}
        return np.stack(list(unlike.values())).astype(np.int64)

    return CredibleBall(
        level=level,
        radius=radius,
        share=float(is_inside.mean()),
        centre=centre,
        horizontal=farthest(is_inside),
        upper_vertical=farthest(is_inside & (n_clusters == fewest)),
        lower_vertical=farthest(is_inside & (n_clusters == most)),
    )
