"""Check a family of one's own, and say in words what is wrong."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import integrate

from fairmix.families.product import Product
from fairmix.families.protocol import is_conjugate, missing_verbs, prepare

FloatArray = NDArray[np.float64]

#: At most so many rows of X are looked at.
MAX_ROWS = 30
#: Integrals of densities may be off by this much.
TOLERANCE = 2e-3
#: Draws from the prior, and standard errors by which means over them may be off.
N_PRIOR_DRAWS, N_ERRORS = 20_000, 6.0
MIN_INSIDE = 200
#: Counts are summed up to here, at least and at most.
MIN_COUNTS, MAX_COUNTS = 200, 100_000


def check_family(family: Any, X: Any, *, random_state: int = 0) -> None:
    """Check that a family is what the sampler takes it for.

    Of a conjugate family: that the statistics of a row depend on that row alone and add up, that
    rows come off again, that the empty set has marginal 1, that the log marginal leaves its
    arguments alone and compiles, and that predictive densities of a single column integrate (or
    sum) to 1, given no, one and several rows; with the chain rule this makes it a distribution.
    Of any other family: that densities are finite, compile and integrate to 1, and that
    ``log_prior`` is the normalised density of what ``sample_prior`` draws.

    Parameters
    ----------
    family : family
        The family.
    X : array-like of shape (n_rows, n_columns)
        Rows as the family will see them: numbers, or categories coded 0, 1, ...
    random_state : int, default=0
        Seed of the draws from the prior.

    Raises
    ------
    ValueError
        If something is wrong; it lists everything that was found.

    Examples
    --------
    >>> from fairmix.families import Gaussian, check_family
    >>> check_family(Gaussian(), [[0.1, 2.0], [0.5, -1.0], [1.2, 0.3]])
    """
    name = type(family).__name__
    if isinstance(family, type):
        raise TypeError(
            f"family is the class {family.__name__}; pass an object, such as {family.__name__}()."
        )
    lacking = missing_verbs(family)
    if lacking is None:
        raise TypeError(
            f"family: {name} is not a NamedTuple with the methods of a family; see "
            "fairmix.families.protocol."
        )
    if lacking:
        raise ValueError(f"{name} {lacking}")
    if isinstance(family, Product):
        raise TypeError("family is a Product; check the families of its columns one by one.")
    rows = np.array(X, dtype=np.float64)
    if rows.ndim != 2 or len(rows) < 2:
        raise ValueError(
            f"X must have rows and columns, and two rows at least; it has shape {rows.shape}."
        )
    rng = np.random.default_rng(random_state)
    prepared = prepare(family, rows)
    kind = getattr(family, "kind", "numbers")
    rows = rows[rng.permutation(len(rows))[:MAX_ROWS]]
    if is_conjugate(prepared):
        found = [*_check_statistics(prepared, rows), *_check_compiles(prepared, rows, rng)]
    else:
        found = [*_check_parameters(prepared, rows, rng), *_check_compiles(prepared, rows, rng)]
    if not found:
        column = rows[:, :1]
        single = prepare(family, column)
        is_sound = _check_predictives if is_conjugate(prepared) else _check_densities
        found = is_sound(single, column, kind, rng)
    if found:
        raise ValueError("\n".join([f"{name} is not right yet:", *(f"- {text}" for text in found)]))


def _statistics(family: Any, rows: FloatArray) -> FloatArray:
    stats = np.full((len(rows), family.n_statistics(rows.shape[1])), np.nan)
    family.write_statistics(rows, stats)
    return stats


def _check_statistics(family: Any, rows: FloatArray) -> list[str]:
    """Check what must hold for any additive statistics."""
    stats = _statistics(family, rows)
    if np.isnan(stats).any():
        place = int(np.argwhere(np.isnan(stats))[0, 1])
        return [
            f"write_statistics leaves statistic {place} of {stats.shape[1]} unwritten (or writes "
            "NaN); n_statistics must be the number of columns it fills."
        ]
    found = []
    alone = np.concatenate([_statistics(family, rows[[k]]) for k in range(len(rows))])
    if not np.allclose(stats, alone):
        found.append(
            "write_statistics gives a row other statistics when it is alone: they must depend on "
            "that row only."
        )
    empty = float(family.log_marginal(0, np.zeros(stats.shape[1])))
    if not abs(empty) < 1e-8:
        found.append(
            f"log_marginal of no rows is {empty:.4g}; it must be 0: subtract the terms of the "
            "prior, such as its normalising constant."
        )
    total = stats.sum(axis=0)
    before = total.copy()
    whole = float(family.log_marginal(len(rows), total))
    if not np.array_equal(before, total):
        found.append("log_marginal changes the statistics it is given; work on copies of numbers.")
    if not math.isfinite(whole):
        found.append(f"log_marginal of {len(rows)} rows is {whole}; it must be finite.")
        return found
    again = float(family.log_marginal(len(rows), before - stats[0] + stats[0]))
    if not math.isclose(whole, again, rel_tol=1e-6, abs_tol=1e-6):
        found.append(
            f"log_marginal is {whole:.6g}, but {again:.6g} after a row was taken out and put back: "
            "it reacts to rounding errors; bring columns to a common scale, or guard differences."
        )
    return found


def _check_parameters(family: Any, rows: FloatArray, rng: np.random.Generator) -> list[str]:
    """Check that densities are finite, and that the prior is what is drawn from it."""
    n_parameters = family.n_parameters(rows.shape[1])
    draws = np.full((N_PRIOR_DRAWS, n_parameters), np.nan)
    for draw in draws:
        family.sample_prior(rng, draw)
    if not np.isfinite(draws).all():
        place = int(np.argwhere(~np.isfinite(draws))[0, 1])
        return [
            f"sample_prior leaves parameter {place} of {n_parameters} unwritten (or writes a value "
            "that is not finite); n_parameters must be the number of parameters it fills."
        ]
    for draw in draws[:200]:
        density = float(family.log_density(draw, rows[0]))
        if not math.isfinite(density):
            return [
                f"log_density is {density} at parameters {np.round(draw, 3).tolist()} from the "
                f"prior and the row {rows[0].tolist()}; it must be finite everywhere. Use logs of "
                "positive parameters and formulas that do not overflow."
            ]
    if getattr(family, "columns_are_independent", False):
        n_columns = rows.shape[1]
        whole = family.log_prior(draws[0]) + family.log_density(draws[0], rows[0])
        by_column = 0.0
        for j in range(n_columns):
            own = draws[0, j::n_columns]
            by_column += family.log_prior(own) + family.log_density(own, rows[0, j : j + 1])
        if not math.isclose(whole, by_column, rel_tol=1e-9, abs_tol=1e-9):
            return [
                "columns_are_independent is true, but log_prior plus log_density of a row is "
                f"{whole:.6g}, and {by_column:.6g} column by column: parameter k must belong to "
                "column k modulo the number of columns."
            ]
    log_prior = np.array([family.log_prior(draw) for draw in draws])
    if not np.isfinite(log_prior).all():
        return ["log_prior is not finite at parameters that sample_prior draws."]
    # With many parameters too few draws are in a box; a single column is looked at later.
    return _compare_prior(draws, log_prior)


def _compare_prior(draws: FloatArray, log_prior: FloatArray) -> list[str]:
    """Compare a log density with draws: the mean of (another density) / (this one) is 1.

    The other density is uniform in a box around the draws' centre, or beside it.
    """
    low, centre, high = np.quantile(draws, [0.16, 0.5, 0.84], axis=0)
    half = (high - low) / 4
    log_volume = np.log(2 * half).sum()
    for shift in (0.0, 1.0, -1.0):
        is_inside = np.all(np.abs(draws - centre - shift * half) <= half, axis=1)
        weights = np.where(is_inside, np.exp(-log_volume - log_prior), 0.0)
        mean, error = float(weights.mean()), float(weights.std() / math.sqrt(len(weights)))
        if is_inside.sum() < MIN_INSIDE:  # too few to tell
            continue
        if abs(mean - 1.0) > N_ERRORS * error + 1e-3:
            return [
                "log_prior is not the density of what sample_prior draws: a check that should give "
                f"1 gives {mean:.3g} (standard error {error:.2g}). Mind its normalising constant, "
                "and the derivative of the transform if a parameter is the log of something."
            ]
    return []


def _check_compiles(family: Any, rows: FloatArray, rng: np.random.Generator) -> list[str]:
    """Compile what the sampler compiles, and compare it with plain Python."""
    import numba

    calls: dict[str, tuple[Any, ...]]
    if is_conjugate(family):
        total = _statistics(family, rows).sum(axis=0)
        calls = {"log_marginal": (len(rows), total)}
    else:
        parameters = np.zeros(family.n_parameters(rows.shape[1]))
        family.sample_prior(rng, parameters)
        calls = {
            "log_density": (parameters, rows[0]),
            "log_prior": (parameters,),
            "sample_prior": (rng, parameters.copy()),
        }
    found = []
    for verb, arguments in calls.items():
        # As the sampler does it: without reference counting, so that new arrays are an error.
        compiled = numba.njit(_nrt=False, error_model="numpy")(getattr(type(family), verb))
        try:
            value = compiled(family, *arguments)
        except numba.core.errors.NumbaError as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            reason = next((line for line in lines if "pipeline" not in line), lines[0])
            found.append(
                f"{verb} cannot be compiled: {reason} It may use numbers, loops, arrays that it is "
                "given and the functions of math, and must make no new arrays."
            )
            continue
        if verb != "sample_prior":
            plain = float(getattr(family, verb)(*arguments))
            if not math.isclose(value, plain, rel_tol=1e-9, abs_tol=1e-9):
                found.append(f"{verb} gives {value:.6g} compiled, but {plain:.6g} in plain Python.")
    return found


def _check_predictives(
    family: Any, column: FloatArray, kind: str, rng: np.random.Generator
) -> list[str]:
    """Check that predictive densities of a single column integrate to 1."""
    stats = _statistics(family, column)
    for n_given in (0, 1, min(4, len(column))):
        given = stats[:n_given].sum(axis=0)
        base = family.log_marginal(n_given, given)

        def density(x: float, n: int = n_given, given: Any = given, base: Any = base) -> float:
            joined = given + _statistics(family, np.array([[x]]))[0]
            return math.exp(family.log_marginal(n + 1, joined) - base)

        total = _total_probability(density, column, kind)
        if abs(total - 1.0) > TOLERANCE:
            return [
                f"given {n_given} rows of one column, the predictive density of the next one adds "
                f"up to {total:.4g} instead of 1. Check the terms of log_marginal that depend on "
                "count: constants of the density, and of the prior."
            ]
    return []


def _check_densities(
    family: Any, column: FloatArray, kind: str, rng: np.random.Generator
) -> list[str]:
    """Check the prior and the densities of a single column."""
    found = _check_parameters(family, column, rng)
    if found:
        return found
    parameters = np.zeros(family.n_parameters(1))
    for _ in range(5):
        family.sample_prior(rng, parameters)

        def density(x: float) -> float:
            return math.exp(family.log_density(parameters, np.array([x])))

        total = _total_probability(density, column, kind)
        if abs(total - 1.0) > TOLERANCE:
            return [
                f"at parameters {np.round(parameters, 3).tolist()} of one column the density adds "
                f"up to {total:.4g} instead of 1. Check the constants of log_density."
            ]
    return []


def _total_probability(density: Callable[[float], float], column: FloatArray, kind: str) -> float:
    """Integrate a density over what the column may hold, or sum it."""
    if kind in ("categories", "binary"):
        levels = 2 if kind == "binary" else int(np.nanmax(column)) + 1
        return sum(density(float(x)) for x in range(levels))
    if kind == "counts":
        return _sum_of_counts(density, int(np.nanmax(column)))
    low = 0.0 if kind == "amounts" else -math.inf
    centre, scale = float(np.nanmedian(column)), float(np.nanstd(column)) or 1.0
    grid = centre + scale * np.linspace(-12, 12, 2401)
    grid = grid[grid >= low]
    mode = float(grid[int(np.argmax([density(x) for x in grid]))])
    steps = scale * np.concatenate([[0.0], np.logspace(-3, 2, 11)])
    ends = np.unique(np.clip(np.concatenate([mode - steps, mode + steps]), low, None))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", integrate.IntegrationWarning)
        total = integrate.quad(density, ends[-1], math.inf)[0]
        if low < ends[0]:
            total += integrate.quad(density, low, ends[0])[0]
        for a, b in itertools.pairwise(ends):
            total += integrate.quad(density, a, b)[0]
    return float(total)


def _sum_of_counts(density: Callable[[float], float], largest: int) -> float:
    """Sum a density over 0, 1, 2, ... until hardly anything is left beyond the largest value."""
    total = 0.0
    for x in range(MAX_COUNTS):
        term = density(float(x))
        total += term
        if x > max(MIN_COUNTS, 2 * largest) and term * x < 1e-6:
            break
    return total
