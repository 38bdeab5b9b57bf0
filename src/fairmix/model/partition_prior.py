r"""The prior on partitions, and on the number of components behind it.

With :math:`K \sim p_K`, weights :math:`\mathrm{Dirichlet}(\gamma, \dots, \gamma)` and
:math:`n` units, a partition :math:`\mathcal C` with :math:`t` clusters has probability
(Miller & Harrison 2018)

.. math::
   p(\mathcal C) = V_n(t) \prod_{c \in \mathcal C} \gamma^{(|c|)}, \qquad
   V_n(t) = \sum_{k \ge t} \frac{k_{(t)}}{(\gamma k)^{(n)}}\, p_K(k),

with :math:`k_{(t)} = k!/(k-t)!` and :math:`x^{(n)} = x(x+1)\cdots(x+n-1)`.

The terms of the series over their sum are :math:`p(K = k \mid t)`, and
:math:`V_n(t+1)/V_n(t) = E[K - t \mid t]`. The code sums *ratios of neighbouring
terms*, which are moderate numbers, so nothing cancels however large :math:`n` is.

Up to some :math:`t`, each ratio is summed by itself. Beyond, a series has thousands of terms, but
as a function of :math:`t` the ratio is smooth. Since :math:`K` given :math:`t` grows with
:math:`t`, it has no spikes that could hide between two points either. So only some :math:`t` of a
range are summed, and the others are read off a polynomial that agrees with twice as many sums as
it has coefficients. Where none does, as near the end of a prior's support, ranges get smaller, and
the smallest are summed one by one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.polynomial import Chebyshev
from numpy.typing import NDArray
from scipy.special import gammaln

from fairmix.tables.checks import check_integer, check_positive

FloatArray = NDArray[np.float64]

#: Terms of a series below this share of the largest one are left out.
NEGLIGIBLE = 1e-18
#: A series longer than this is refused: its prior hardly decays.
MAX_TERMS = 2**21
#: A prior may rise again after a gap up to here; beyond, it is taken to fall.
HORIZON = 4096
#: Ratios up to this t are always summed one by one.
ONE_BY_ONE = 1024
#: Degree of the polynomial in t beyond, the number of t that it is fitted to, and by how much it
#: may miss the log ratio there.
DEGREE, N_NODES, TOLERANCE = 16, 33, 1e-12


class ComponentsPrior(Protocol):
    """A prior on the number of components, on 1, 2, ...: any object with this method."""

    def log_pmf(self, n_components: NDArray[np.int64]) -> FloatArray:
        """Log probability of each number of components; it need not be normalised."""
        ...


@dataclass(frozen=True)
class Geometric:
    r"""Geometric prior :math:`p_K(k) = \kappa (1 - \kappa)^{k-1}` on 1, 2, ...

    Parameters
    ----------
    success_prob : float, default=0.1
        The paper's :math:`\kappa`, in (0, 1]; the prior mean of K is its inverse.
    """

    success_prob: float = 0.1

    def __post_init__(self) -> None:
        is_number = isinstance(self.success_prob, Real) and not isinstance(self.success_prob, bool)
        if not is_number or not 0 < self.success_prob <= 1:
            raise ValueError(
                f"success_prob must lie in (0, 1], got {self.success_prob!r}; "
                "0.1 is the paper's choice."
            )

    def log_pmf(self, n_components: NDArray[np.int64]) -> FloatArray:
        """Log probability of each number of components."""
        n_components = np.asarray(n_components)
        if self.success_prob == 1:
            return np.where(n_components == 1, 0.0, -np.inf)
        return np.log(self.success_prob) + (n_components - 1) * np.log1p(-self.success_prob)


@dataclass(frozen=True)
class Fixed:
    """Exactly this many components: at most so many clusters are occupied.

    Parameters
    ----------
    n_components : int
        The number of components K.
    """

    n_components: int

    def __post_init__(self) -> None:
        check_integer("n_components", self.n_components, 1, MAX_TERMS // 2)

    def log_pmf(self, n_components: NDArray[np.int64]) -> FloatArray:
        """Log probability of each number of components."""
        return np.where(np.asarray(n_components) == self.n_components, 0.0, -np.inf)


@dataclass(frozen=True)
class Uniform:
    """Every number of components from 1 to a bound has the same probability.

    Parameters
    ----------
    max_components : int
        The bound.
    """

    max_components: int

    def __post_init__(self) -> None:
        check_integer("max_components", self.max_components, 1, MAX_TERMS // 2)

    def log_pmf(self, n_components: NDArray[np.int64]) -> FloatArray:
        """Log probability of each number of components."""
        inside = np.asarray(n_components) <= self.max_components
        return np.where(inside, -np.log(self.max_components), -np.inf)


@dataclass(frozen=True)
class ShiftedPoisson:
    """One more than a Poisson variable.

    Parameters
    ----------
    rate : float
        Mean of the Poisson variable; the prior mean of K is ``rate + 1``.
    """

    rate: float

    def __post_init__(self) -> None:
        check_positive("rate", self.rate)

    def log_pmf(self, n_components: NDArray[np.int64]) -> FloatArray:
        """Log probability of each number of components."""
        extra = np.asarray(n_components) - 1.0
        return extra * np.log(self.rate) - self.rate - gammaln(extra + 1.0)


@dataclass(frozen=True)
class _FromFunction:
    """A prior that the user gives as a function k -> log p_K(k)."""

    function: Callable[[int], float]

    def log_pmf(self, n_components: NDArray[np.int64]) -> FloatArray:
        return np.array([self._log_probability(int(k)) for k in n_components])

    def _log_probability(self, k: int) -> float:
        try:
            return float(self.function(k))
        except (TypeError, ValueError, ArithmeticError) as error:
            raise ValueError(
                f"components_prior: the function that was passed failed for k = {k} "
                f"({type(error).__name__}: {error}); it must give log p_K(k), -inf where that is "
                "impossible."
            ) from error


def as_components_prior(prior: Any) -> ComponentsPrior:
    """Turn the ``components_prior`` argument into a prior.

    Parameters
    ----------
    prior : None, prior object or callable
        None is ``Geometric(0.1)``; a callable maps k = 1, 2, ... to log p_K(k).

    Returns
    -------
    ComponentsPrior
        An object with the method ``log_pmf``.
    """
    if prior is None:
        return Geometric()
    if hasattr(prior, "log_pmf") and not isinstance(prior, type):
        return prior
    if callable(prior) and not isinstance(prior, type):
        return _FromFunction(prior)
    raise TypeError(
        f"components_prior must be None, Geometric, Fixed, Uniform, ShiftedPoisson or a function "
        f"k -> log p_K(k), got {prior!r}; for exactly 3 components pass Fixed(3)."
    )


class _Walk(NamedTuple):
    """Where the series of growing t are summed: their terms that matter only move to the right."""

    first: int
    length: int


class PartitionPrior:
    """The prior on partitions of ``n_units`` units, tabulated.

    Parameters
    ----------
    n_units : int
        Number of units that are partitioned (the anchors).
    concentration : float
        The Dirichlet parameter gamma.
    components_prior : ComponentsPrior
        The prior on the number of components.
    max_clusters : int, optional
        The largest t to tabulate; ``n_units`` by default.

    Attributes
    ----------
    log_v : ndarray of shape (max_clusters + 1,)
        ``log_v[t]`` is log V_n(t); minus infinity where t clusters are impossible.
    log_ratio : ndarray of shape (max_clusters,)
        ``log_ratio[t]`` is log V_n(t + 1) / V_n(t).
    """

    def __init__(
        self,
        n_units: int,
        concentration: float,
        components_prior: ComponentsPrior,
        max_clusters: int | None = None,
    ) -> None:
        self.n_units = n_units
        self.concentration = concentration
        self.components_prior = components_prior
        self.max_clusters = n_units if max_clusters is None else max_clusters
        self._log_pmf = np.empty(0)
        self._log_shrink = np.empty(0)
        self._lock = threading.Lock()
        self._extend(HORIZON)
        rises = np.flatnonzero(self._log_pmf[1:] > self._log_pmf[:-1])
        self._last_rise = int(rises[-1]) + 2 if rises.size else 1
        self.log_ratio = self._tabulate_ratio()
        self.log_v = self._log_v_of_none() + np.concatenate([[0.0], np.cumsum(self.log_ratio)])

    def __getstate__(self) -> dict[str, Any]:
        """Leave the lock behind: another process has its own."""
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state | {"_lock": threading.Lock()}

    def log_rising(self, sizes: NDArray[np.int64]) -> FloatArray:
        r"""Log rising factorial :math:`\gamma^{(|c|)}` of cluster sizes."""
        return gammaln(self.concentration + sizes) - gammaln(self.concentration)

    def log_prob(self, sizes: NDArray[np.int64]) -> float:
        """Log prior probability of a partition, given the sizes of its clusters."""
        return float(self.log_v[len(sizes)] + np.sum(self.log_rising(np.asarray(sizes))))

    def components_given_clusters(self, n_clusters: int) -> tuple[NDArray[np.int64], FloatArray]:
        """Give p(K | t): the possible numbers of components and their probabilities."""
        start, log_terms = self._series(n_clusters)
        probabilities = np.exp(log_terms - log_terms.max())
        return start + np.arange(len(log_terms)), probabilities / probabilities.sum()

    def draw_components(
        self, rng: np.random.Generator, n_clusters: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Draw K given t, one uniform number for each of an array of numbers of clusters."""
        uniforms = rng.random(n_clusters.shape)
        n_components = np.empty_like(n_clusters)
        for t in np.unique(n_clusters):
            chosen = n_clusters == t
            values, probabilities = self.components_given_clusters(int(t))
            places = np.searchsorted(np.cumsum(probabilities), uniforms[chosen], side="right")
            n_components[chosen] = values[np.minimum(places, len(values) - 1)]
        return n_components

    def _tabulate_ratio(self) -> FloatArray:
        """Tabulate log V_n(t + 1) / V_n(t), the log of E[K - t | t]."""
        log_ratio = np.full(self.max_clusters, -np.inf)
        walk = _Walk(1, 64)
        start, width = 0, ONE_BY_ONE
        while start < self.max_clusters:
            stop = min(start + width, self.max_clusters)
            if start == 0 or stop - start < 2 * N_NODES:
                for t in range(start, stop):
                    log_ratio[t], walk = self._sum_ratio(t, walk)
                    if log_ratio[t] == -np.inf:
                        return log_ratio
            else:
                fitted = self._fit_ratios(start, stop, walk)
                if fitted is None:
                    width //= 2
                    continue
                log_ratio[start:stop], walk = fitted
            start, width = stop, min(2 * width, stop)
        return log_ratio

    def _fit_ratios(self, start: int, stop: int, walk: _Walk) -> tuple[FloatArray, _Walk] | None:
        """Give the log ratios of a range of t by a polynomial, or None if it is none."""
        self._extend(stop + HORIZON)
        if not np.any(self._log_pmf[stop - 1 : stop - 1 + HORIZON] > -np.inf):
            return None
        last = stop - 1 - start
        angles = np.linspace(np.pi, 0.0, N_NODES)
        nodes = start + np.unique(np.rint(last * (1.0 + np.cos(angles)) / 2.0)).astype(int)
        summed = np.empty(len(nodes))
        for place, t in enumerate(nodes):
            before = walk.first
            summed[place], walk = self._sum_ratio(int(t), walk)
            walk = walk._replace(length=walk.length + 2 * (walk.first - before))
        if not np.isfinite(summed).all():
            return None
        curve = Chebyshev.fit(nodes, summed, DEGREE)
        rounding = float(np.spacing(np.abs(self._log_pmf[walk.first - 1])))
        if np.max(np.abs(curve(nodes) - summed)) > TOLERANCE + 2.0 * rounding:
            return None
        return curve(np.arange(start, stop)), walk

    def _sum_ratio(self, n_clusters: int, walk: _Walk) -> tuple[float, _Walk]:
        """Sum one log ratio; ``walk`` comes from a smaller t, and goes to a larger one."""
        start, log_terms = self._series(n_clusters, *walk)
        relative = log_terms - log_terms.max()
        matter = np.flatnonzero(relative > np.log(NEGLIGIBLE))
        walk = _Walk(start + int(matter[0]), 64 + 3 * len(matter) // 2)
        excess = start - n_clusters + np.arange(len(log_terms), dtype=float)
        weights = np.exp(relative)
        mean_excess = np.dot(excess, weights) / np.sum(weights)
        return (float(np.log(mean_excess)) if mean_excess > 0 else -np.inf), walk

    def _log_v_of_none(self) -> float:
        """Give log V_n(0), the one value that is not a ratio."""
        start, log_terms = self._series(0)
        log_first = self._log_pmf[start - 1] - float(
            gammaln(self.concentration * start + self.n_units) - gammaln(self.concentration * start)
        )
        return log_first + _log_sum(log_terms)

    def _series(self, n_clusters: int, first: int = 1, length: int = 64) -> tuple[int, FloatArray]:
        """Give a first k, and log terms from there on relative to it.

        Terms before ``first`` are left out if they are negligible.
        """
        possible = self._first_possible(max(n_clusters, 1))
        start = max(first, possible)
        while True:
            self._extend(start + length)
            k = np.arange(start, start + length)
            # k_(t) grows by (k + 1) / (k + 1 - t) from k to k + 1.
            steps = -np.log1p(-n_clusters / (k + 1.0)) - self._log_shrink[k - 1]
            log_terms = np.concatenate([[0.0], np.cumsum(steps[:-1])])
            log_pmf = self._log_pmf[k - 1]
            log_terms += log_pmf - log_pmf[0]
            largest = int(np.argmax(log_terms))
            negligible = log_terms[largest] + np.log(NEGLIGIBLE)
            tail = log_terms[-max(length // 4, 16) :]
            if start > possible and not log_terms[0] < negligible:
                start = possible
                continue
            # The excess over t multiplies the terms; a finite support ends in -inf.
            ended = np.all(tail + np.log(k[-1] + 1.0) < negligible)
            if ended and largest < length - len(tail) and k[-1] >= self._last_rise:
                return start, log_terms
            if length >= MAX_TERMS:
                raise ValueError(
                    f"components_prior = {self.components_prior!r} decays too slowly: the sum over "
                    f"K does not end within {MAX_TERMS:,} terms. Use a prior with a lighter tail."
                )
            length *= 2

    def _first_possible(self, smallest: int) -> int:
        """Give the first k >= smallest with positive probability."""
        self._extend(smallest)
        if self._log_pmf[smallest - 1] > -np.inf:
            return smallest
        while True:
            possible = np.flatnonzero(self._log_pmf[smallest - 1 :] > -np.inf)
            if possible.size:
                return smallest + int(possible[0])
            if len(self._log_pmf) >= MAX_TERMS:
                raise ValueError(
                    f"components_prior = {self.components_prior!r} gives no probability to any "
                    f"number of components from {smallest} on."
                )
            self._extend(2 * max(len(self._log_pmf), smallest))

    def _extend(self, n_terms: int) -> None:
        """Have log p_K(k) and the growth of the rising factorial for k = 1 .. n_terms."""
        if n_terms <= len(self._log_pmf):
            return
        with self._lock:  # chains in threads share the prior
            self._extend_locked(n_terms)

    def _extend_locked(self, n_terms: int) -> None:
        known = len(self._log_pmf)
        if n_terms <= known:
            return
        k = np.arange(known + 1, max(n_terms, 2 * known) + 1)
        log_pmf = np.asarray(self.components_prior.log_pmf(k), dtype=float)
        if log_pmf.shape != k.shape or np.isnan(log_pmf).any() or np.isposinf(log_pmf).any():
            raise ValueError(
                f"components_prior = {self.components_prior!r} must give one log probability "
                f"(finite or -inf) for each k; got {log_pmf!r} for k = {k[0]} to {k[-1]}."
            )
        low = self.concentration * k
        shrink = _log_rising_ratio(low + self.n_units, self.concentration) - _log_rising_ratio(
            low, self.concentration
        )
        # In this order: whoever sees the longer first table finds the second one as long.
        self._log_shrink = np.concatenate([self._log_shrink, shrink])
        self._log_pmf = np.concatenate([self._log_pmf, log_pmf])


def _log_rising_ratio(x: Any, step: float) -> Any:
    """Log of Gamma(x + step) / Gamma(x), without the cancellation of two large logs."""
    x = np.asarray(x, dtype=float)
    large = x > 30.0
    safe = np.where(large, x, 31.0)
    y = safe + step
    # Stirling's series for both, subtracted term by term.
    stirling = (
        (safe - 0.5) * np.log1p(step / safe)
        + step * np.log(y)
        - step
        + _stirling_tail(y)
        - _stirling_tail(safe)
    )
    if large.all():
        return stirling
    direct = gammaln(np.where(large, 1.0, x) + step) - gammaln(np.where(large, 1.0, x))
    return np.where(large, stirling, direct)


def _stirling_tail(x: FloatArray) -> FloatArray:
    inverse = 1.0 / x
    square = inverse * inverse
    return inverse * (
        1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))
    )


def _log_sum(log_terms: FloatArray) -> float:
    largest = float(log_terms.max())
    return largest + float(np.log(np.sum(np.exp(log_terms - largest))))
