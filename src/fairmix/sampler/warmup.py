"""Warm-up: how a chain is led to the posterior, from a flat likelihood and from relaxed fairness.

An annealed warm-up has three parts. First the likelihood is raised to a power that rises to 1.
Then fairness is *relaxed*: any follower may be masked at a price in log posterior, and the price
rises. Last comes the posterior itself. A chain that starts cold often stays in the first
arrangement of clusters it comes across; what fairness alone keeps apart (say, which rows of
many tight clusters are collected in one loose cluster, because none of the tight ones is fair)
is decided anew while fairness is relaxed.
"""

from __future__ import annotations

import math

import numpy as np

from fairmix.chain import Chain

#: The shares of the warm-up in which the power rises, and then the price; if fairness can't be
#: relaxed, the share in which the power does. Something is left for the posterior itself. Both rise
#: in so many steps.
HEATED_SHARE, RELAXED_SHARE = 0.45, 0.45
HEATED_SHARE_ALONE = 0.6
STEPS = 100
#: The power begins here, a share of its sweeps leads up to the second power, the rest to 1.
LEAST_POWER, FAST_SHARE, FAST_POWER = 0.1, 0.2, 0.6
#: The price first grows from this one, by this factor a sweep, until at most this share of the
#: followers is masked; from there it rises evenly to so many times as much.
LEAST_PRICE, PRICE_FACTOR, MASKED_SHARE, PRICE_RISE = 0.5, 1.25, 0.1, 3.0


class WarmUp:
    """Sets the power of a chain's likelihood and the price of masked rows, sweep after sweep.

    What it sets depends on the number of sweeps and on the chain alone, never on how many
    sweeps are made at a time.

    Parameters
    ----------
    chain : Chain
        The chain.
    n_sweeps : int
        Sweeps of the warm-up.
    annealing : bool
        Whether the power and the price change at all.
    """

    def __init__(self, chain: Chain, n_sweeps: int, annealing: bool) -> None:
        self._chain = chain
        self._n_sweeps = n_sweeps
        self._done = 0
        relaxes = annealing and chain.can_relax
        heated_share = HEATED_SHARE if relaxes else HEATED_SHARE_ALONE
        self._n_heated = int(heated_share * n_sweeps) if annealing else 0
        self._n_annealed = self._n_heated + (int(RELAXED_SHARE * n_sweeps) if relaxes else 0)
        self._price = LEAST_PRICE  # the next one to try, then the one from which it rises
        self._rise_began: int | None = None  # the sweep from which on the price rises evenly

    def prepare(self) -> int:
        """Set power and price; give how many sweeps they hold for, 0 if the warm-up is over."""
        if self._done == self._n_sweeps:
            self._chain.cool()
            return 0
        if self._done < self._n_heated:
            risen, change = _rise(self._done, self._n_heated)
            powers = (LEAST_POWER, FAST_POWER, 1.0)
            self._chain.heat(float(np.interp(risen, (0.0, FAST_SHARE, 1.0), powers)))
            return change - self._done
        self._chain.heat(1.0)
        if self._done < self._n_annealed:
            return self._set_price()
        self._chain.relax(math.inf)
        return self._n_sweeps - self._done

    def advance(self, n_sweeps: int) -> None:
        """Count sweeps that were made."""
        self._done += n_sweeps

    def _set_price(self) -> int:
        """Set the price of masked rows; give how many sweeps it holds for."""
        chain = self._chain
        if self._rise_began is None:
            if chain.mask_price == math.inf or chain.relaxed_share > MASKED_SHARE:
                chain.relax(self._price)
                self._price *= PRICE_FACTOR
                return 1
            self._price = chain.mask_price
            self._rise_began = self._done
        n_rising = self._n_annealed - self._rise_began
        risen, change = _rise(self._done - self._rise_began, n_rising)
        chain.relax(self._price * (1.0 + (PRICE_RISE - 1.0) * risen))
        return self._rise_began + change - self._done


def _rise(sweep: int, n_sweeps: int) -> tuple[float, int]:
    """Give how far of its way a rising quantity is, and the sweep of its next step."""
    step = sweep * STEPS // n_sweeps
    return step / STEPS, -(-(step + 1) * n_sweeps // STEPS)
