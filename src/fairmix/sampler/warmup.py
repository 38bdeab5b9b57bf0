"""Warm-up: how a chain is led to the posterior, from a flat likelihood and from relaxed fairness.

An annealed warm-up has three parts. First the likelihood is raised to a power that rises to 1.
Then fairness is *relaxed*, at a price in log posterior that rises: any follower may be masked, or,
where rows are clustered one by one under a cap, the chain may be outside. Last comes the posterior
itself. A chain that starts cold often stays in the first arrangement of clusters it comes
across; what fairness alone keeps apart (say, which rows of many tight clusters are collected in one
loose cluster, because none of the tight ones is fair) is decided anew while fairness is relaxed.

The price of being outside a cap is 0 at first: that is the mixture without fairness, whose chains
agree. Then it rises with every sweep that ends outside and falls with every one that ends inside,
so that it finds out by itself what the data ask for: in the end a given share of the sweeps ends
inside. After the warm-up it stays as it is.
"""

from __future__ import annotations

import math

import numpy as np

from fairmix.sampler.chain import Chain, Warmth

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
#: The share of the warm-up without a cap; the price of a gap of one row then; by what factor it may
#: rise over a second share of the warm-up; and the share of sweeps that is to end inside.
UNCAPPED_SHARE, ROW_PRICE, CAP_PRICE_RISE, RISE_SHARE, INSIDE_SHARE = 0.4, 0.2, 500.0, 0.4, 0.8


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
        relaxes = annealing and chain.can_relax
        heated_share = HEATED_SHARE if relaxes else HEATED_SHARE_ALONE
        self._n_heated = int(heated_share * n_sweeps) if annealing else 0
        self._n_annealed = self._n_heated + (int(RELAXED_SHARE * n_sweeps) if relaxes else 0)
        self._seeks_cap_price = chain.may_leave_cap
        if self._seeks_cap_price:
            self._n_heated = self._n_annealed = int(UNCAPPED_SHARE * n_sweeps) if annealing else 0
        self._log_step = math.log(CAP_PRICE_RISE) / max(RISE_SHARE * n_sweeps, 1.0)

    @property
    def _at(self) -> Warmth:
        """Where the chain is, which may have been restored."""
        return self._chain.warmth

    def prepare(self) -> int:
        """Set power and price; give how many sweeps they hold for, 0 if the warm-up is over."""
        if self._at.n_done == self._n_sweeps:
            self._chain.cool()
            return 0
        if self._at.n_done < self._n_heated:
            if self._seeks_cap_price:
                self._chain.price_cap(0.0)
            risen, change = _rise(self._at.n_done, self._n_heated)
            powers = (LEAST_POWER, FAST_POWER, 1.0)
            self._chain.heat(float(np.interp(risen, (0.0, FAST_SHARE, 1.0), powers)))
            return change - self._at.n_done
        self._chain.heat(1.0)
        if self._at.n_done < self._n_annealed:
            return self._set_price()
        if self._seeks_cap_price:
            return self._change_cap_price()
        self._chain.relax(math.inf)
        return self._n_sweeps - self._at.n_done

    def advance(self, n_sweeps: int) -> None:
        """Count sweeps that were made."""
        self._at.n_done += n_sweeps

    def _change_cap_price(self) -> int:
        """Change the price of being outside the cap; give how many sweeps it holds for."""
        chain = self._chain
        price = chain.cap_price
        if price == 0.0:
            price = ROW_PRICE * chain.price_of_row
        elif chain.is_inside:
            price *= math.exp(-self._log_step * (1.0 - INSIDE_SHARE) / INSIDE_SHARE)
        else:
            price *= math.exp(self._log_step)
        chain.price_cap(price)
        return 1

    def _set_price(self) -> int:
        """Set the price of masked rows; give how many sweeps it holds for."""
        chain, at = self._chain, self._at
        if at.rise_began < 0:
            if math.isnan(at.next_price):
                at.next_price = LEAST_PRICE
            if at.mask_price == math.inf or chain.relaxed_share > MASKED_SHARE:
                chain.relax(at.next_price)
                at.next_price *= PRICE_FACTOR
                return 1
            at.next_price = at.mask_price
            at.rise_began = at.n_done
        risen, change = _rise(at.n_done - at.rise_began, self._n_annealed - at.rise_began)
        chain.relax(at.next_price * (1.0 + (PRICE_RISE - 1.0) * risen))
        return at.rise_began + change - at.n_done


def _rise(sweep: int, n_sweeps: int) -> tuple[float, int]:
    """Give how far of its way a rising quantity is, and the sweep of its next step."""
    step = sweep * STEPS // n_sweeps
    return step / STEPS, -(-(step + 1) * n_sweeps // STEPS)
