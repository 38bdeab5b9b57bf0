r"""One partition out of many draws.

The estimate is one of the draws, so it is as fair as every draw is. Under a loss :math:`d` (see
``overlap.py``) it is the draw with the least posterior expected loss,

.. math::
   \arg\min_a \frac1M \sum_m d(a, c_m),

over all draws :math:`c_m`, or over so many of them, evenly over all chains, that each pair can be
compared (``thinning.py``). Variation of information and Binder's loss are those in use; the second
tends to more and smaller clusters (Wade & Ghahramani 2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairmix.posterior.pairs import compare_pairs
from fairmix.tables.checks import check_choice, check_seed
from fairmix.tables.groups import read_labels

if TYPE_CHECKING:  # it has these as methods
    from fairmix.posterior.posterior import Posterior

IntArray = NDArray[np.int64]

#: Ways to choose a draw.
LOSSES = ("vi", "binder", "map", "random", "last")


@dataclass(frozen=True)
class Estimate:
    """A draw that stands for all of them.

    Attributes
    ----------
    labels : ndarray of shape (n_rows,)
        Cluster of each row.
    chain, draw : int
        Which draw it is.
    loss : str
        How it was chosen.
    expected_loss : float
        Mean loss to the draws (variation of information in bits, or Binder's loss); NaN if it was
        not chosen by a loss.
    """

    labels: IntArray
    chain: int
    draw: int
    loss: str
    expected_loss: float

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1


def estimate_partition(
    posterior: Posterior, loss: str = "vi", *, random_state: Any = None
) -> Estimate:
    """Choose one of the draws.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    loss : {"vi", "binder", "map", "random", "last"}, default="vi"
        How to choose.
    random_state : int, RandomState instance or None, default=None
        Seed of "random".

    Returns
    -------
    Estimate
        The draw.
    """
    check_choice("loss", loss, LOSSES)
    labels = posterior.labels
    n_chains, n_draws, _ = labels.shape
    expected = np.nan
    if loss == "map":
        place = int(np.argmax(posterior.log_posterior))
    elif loss == "random":
        place = int(np.random.default_rng(check_seed(random_state)).integers(n_chains * n_draws))
    elif loss == "last":
        place = n_chains * n_draws - 1
    else:
        pairs = posterior.pairs if loss == "vi" else compare_pairs(labels, loss)
        losses = pairs.distances.mean(axis=1)
        best = int(np.argmin(losses))
        expected = float(losses[best])
        place = int(pairs.chains[best] * n_draws + pairs.draws[best])
    chain, draw = divmod(place, n_draws)
    return Estimate(labels[chain, draw].astype(np.int64), chain, draw, loss, expected)


def read_partition(posterior: Posterior, given: Any, name: str) -> IntArray:
    """Read the partition that a user asks about.

    Parameters
    ----------
    posterior : Posterior
        The draws.
    given : None, Estimate or array-like of shape (n_rows,)
        None is the estimate of least expected variation of information.
    name : str
        Name of the argument, for messages.

    Returns
    -------
    ndarray of shape (n_rows,)
        Codes 0, 1, ... in sorted order of the labels.
    """
    if given is None:
        given = posterior.point_estimate()
    if isinstance(given, Estimate):
        given = given.labels
    return read_labels(given, posterior.labels.shape[2], name)
