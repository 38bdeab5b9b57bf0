"""A warm-up leads a chain to the posterior, whatever its length and however it is cut."""

import itertools
import math

import pytest

from fairmix.sampler.chain import Warmth
from fairmix.sampler.warmup import (
    CAP_PRICE_RISE,
    INSIDE_SHARE,
    LEAST_POWER,
    LEAST_PRICE,
    MASKED_SHARE,
    PRICE_RISE,
    ROW_PRICE,
    WarmUp,
)


class Recorder:
    """A chain that notes its power and price at each sweep; fewer rows are masked at more."""

    may_leave_cap = False

    def __init__(self, can_relax=True, bargain=2.0):
        self.can_relax = can_relax
        self.bargain = bargain  # below this price too many rows are masked
        self.warmth = Warmth()
        self.power = self.adapts = None
        self.sweeps = []

    @property
    def relaxed_share(self):
        return MASKED_SHARE * (1.5 if self.warmth.mask_price < self.bargain else 0.5)

    def heat(self, power):
        self.power, self.adapts = power, True

    def cool(self):
        self.power, self.adapts = 1.0, False

    def relax(self, price):
        self.warmth.mask_price = price


def warm_up(n_sweeps, annealing=True, at_once=math.inf, **options):
    """Give power and price of each sweep, and the chain."""
    chain = Recorder(**options)
    course = WarmUp(chain, n_sweeps, annealing)
    while (n_left := course.prepare()) > 0:
        n_made = min(n_left, at_once)
        chain.sweeps += [(chain.power, chain.warmth.mask_price)] * n_made
        course.advance(n_made)
    return chain


def rises(values):
    return all(before <= after for before, after in itertools.pairwise(values))


@pytest.mark.parametrize("can_relax", [True, False])
@pytest.mark.parametrize("annealing", [True, False])
@pytest.mark.parametrize("n_sweeps", [0, 1, 3, 37, 1000])
def test_every_warm_up_ends_at_the_posterior(n_sweeps, annealing, can_relax):
    chain = warm_up(n_sweeps, annealing, can_relax=can_relax)
    assert len(chain.sweeps) == n_sweeps
    assert (chain.power, chain.warmth.mask_price, chain.adapts) == (1.0, math.inf, False)
    powers, prices = [power for power, _ in chain.sweeps], [price for _, price in chain.sweeps]
    assert rises(powers)
    relaxed = [price for price in prices if price < math.inf]
    assert rises(relaxed)
    assert all(power == 1.0 for power, price in chain.sweeps if price < math.inf)
    assert bool(relaxed) == (annealing and can_relax and n_sweeps >= 3)
    if not annealing:
        assert set(powers) <= {1.0}
    if n_sweeps == 1000:
        assert chain.sweeps[-100:] == [(1.0, math.inf)] * 100
        assert powers[0] == (LEAST_POWER if annealing else 1.0)


def test_prices_rise_from_where_few_enough_rows_are_masked():
    prices = [price for _, price in warm_up(1000, bargain=40.0).sweeps if price < math.inf]
    assert prices[0] == LEAST_PRICE
    first = next(price for price in prices if price >= 40.0)
    assert first < 1.25 * 40.0
    assert 0.98 * PRICE_RISE * first < prices[-1] < PRICE_RISE * first


def test_prices_may_never_be_high_enough():
    prices = [price for _, price in warm_up(100, bargain=math.inf).sweeps if price < math.inf]
    assert len(set(prices)) == len(prices) == 45


class CappedRecorder(Recorder):
    """A chain that is inside a cap from a price on."""

    may_leave_cap = True
    price_of_row = 1000.0
    cap_price = math.nan

    def __init__(self, fair_price=6000.0):
        super().__init__(can_relax=False)
        self.fair_price = fair_price
        self.prices = []

    @property
    def is_inside(self):
        return self.cap_price >= self.fair_price

    def price_cap(self, price):
        self.cap_price = price


def cap(n_sweeps, annealing=True, **options):
    """Give power and price of being outside at each sweep, and the chain."""
    chain = CappedRecorder(**options)
    course = WarmUp(chain, n_sweeps, annealing)
    while (n_left := course.prepare()) > 0:
        chain.prices += [(chain.power, chain.cap_price)] * n_left
        course.advance(n_left)
    return chain


def test_a_capped_warm_up_begins_without_a_cap_and_finds_the_price():
    chain = cap(1000)
    assert (chain.power, chain.adapts, len(chain.prices)) == (1.0, False, 1000)
    powers, prices = zip(*chain.prices, strict=True)
    assert rises(powers)
    assert set(prices[:400]) == {0.0}
    assert powers[0] == LEAST_POWER
    assert set(powers[400:]) == {1.0}
    assert prices[400] == ROW_PRICE * 1000.0
    reached = next(k for k, price in enumerate(prices) if price >= 6000.0)
    assert rises(prices[400 : reached + 1])
    inside = [price >= 6000.0 for price in prices[reached:]]
    assert abs(sum(inside) / len(inside) - INSIDE_SHARE) < 0.02
    assert chain.cap_price == pytest.approx(6000.0, rel=0.05)


def test_a_price_that_is_never_high_enough_goes_on_rising():
    prices = [price for _, price in cap(1000, fair_price=math.inf).prices]
    assert len(set(prices)) == 601
    assert prices[-1] > CAP_PRICE_RISE * prices[400]


def test_without_annealing_the_price_is_sought_from_the_first_sweep_on():
    prices = [price for _, price in cap(100, annealing=False).prices]
    assert 0.0 not in prices


def test_it_does_not_matter_how_many_sweeps_are_made_at_once():
    assert warm_up(777).sweeps == warm_up(777, at_once=1).sweeps == warm_up(777, at_once=5).sweeps
