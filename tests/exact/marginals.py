"""Marginal likelihoods of tiny sets of rows, written without fairmix.

By the chain rule with scipy's predictive densities, or by quadrature on a grid of parameters.
"""

import math
from collections import defaultdict
from functools import cache

import numpy as np
from scipy import stats
from scipy.special import logsumexp

VARIANCE = 0.3  # of the tied family, where it is given


def gaussian_log_marginal(values):
    """Chain rule of Student-t predictives; shape = rate = 1, prior mean 0 worth one value."""
    kappa, mean, shape, rate = 1.0, 0.0, 1.0, 1.0
    total = 0.0
    for x in values:
        scale = math.sqrt(rate * (kappa + 1) / (shape * kappa))
        total += stats.t.logpdf(x, 2 * shape, loc=mean, scale=scale)
        rate += kappa * (x - mean) ** 2 / (2 * (kappa + 1))
        mean = (kappa * mean + x) / (kappa + 1)
        kappa, shape = kappa + 1, shape + 0.5
    return total


def urn_log_marginal(values, n_levels):
    """Polya's urn with one ball of each category."""
    counts = defaultdict(int)
    total = 0.0
    for i, x in enumerate(values):
        total += math.log((1 + counts[x]) / (n_levels + i))
        counts[x] += 1
    return total


def spherical_log_marginal(rows):
    """Chain rule of multivariate t predictives with a multiple of the identity."""
    d = rows.shape[1]
    kappa, mean, shape, rate = 1.0, np.zeros(d), 1.0, 1.0
    total = 0.0
    for x in rows:
        scale = rate * (kappa + 1) / (shape * kappa)
        total += stats.multivariate_t.logpdf(x, mean, scale * np.eye(d), 2 * shape)
        rate += kappa * np.sum((x - mean) ** 2) / (2 * (kappa + 1))
        mean = (kappa * mean + x) / (kappa + 1)
        kappa, shape = kappa + 1, shape + d / 2
    return total


def tied_log_marginal(rows, variance):
    """Columns are jointly normal: their common mean adds to every covariance."""
    n = len(rows)
    covariance = variance * np.eye(n) + 1.0
    return sum(
        stats.multivariate_normal.logpdf(column, np.zeros(n), covariance) for column in rows.T
    )


def full_log_marginal(rows):
    """Chain rule of multivariate t predictives; d + 2 degrees of freedom, identity scale."""
    d = rows.shape[1]
    kappa, mean, degrees, scale = 1.0, np.zeros(d), d + 2.0, np.eye(d)
    total = 0.0
    for x in rows:
        df = degrees - d + 1
        total += stats.multivariate_t.logpdf(x, mean, scale * (kappa + 1) / (kappa * df), df)
        scale = scale + kappa / (kappa + 1) * np.outer(x - mean, x - mean)
        mean = (kappa * mean + x) / (kappa + 1)
        kappa, degrees = kappa + 1, degrees + 1
    return total


def poisson_log_marginal(values, rate):
    """Chain rule of negative binomial predictives; shape 1."""
    shape, total = 1.0, 0.0
    for x in values:
        total += stats.nbinom.logpmf(x, shape, rate / (rate + 1))
        shape, rate = shape + x, rate + 1
    return total


def exponential_log_marginal(values, rate):
    """Chain rule of Lomax predictives; shape 2."""
    shape, total = 2.0, 0.0
    for x in values:
        total += stats.lomax.logpdf(x, shape, scale=rate)
        shape, rate = shape + 1, rate + x
    return total


def column_marginals(family, table):
    """Give, for each column, the log marginal of values of it."""
    functions = []
    for j, column in enumerate(table.T):
        kind = MIXED_COLUMNS[j] if family == "mixed" else family
        mean = np.nanmean(column)
        if kind == "gaussian":
            functions.append(gaussian_log_marginal)
        elif kind == "poisson":
            functions.append(lambda v, r=1 / mean: poisson_log_marginal(v, r))
        elif kind == "exponential":
            functions.append(lambda v, r=2 * mean: exponential_log_marginal(v, r))
        else:
            n_levels = 2 if kind == "bernoulli" else 1 + int(np.nanmax(column))
            functions.append(lambda v, n=n_levels: urn_log_marginal(v, n))
    return functions


#: Families of the columns of the mixed table.
MIXED_COLUMNS = ("gaussian", "categorical", "poisson", "gaussian", "bernoulli")
WHOLE_ROWS = {
    "gaussian-spherical": spherical_log_marginal,
    "gaussian-tied, given": lambda rows: tied_log_marginal(rows, VARIANCE),
    "gaussian-full": full_log_marginal,
}


def location_scale_grid(third, log_weights_of_third):
    """Give a grid of location, log scale and a third parameter, with log prior weights."""
    location, log_scale, third = np.meshgrid(
        np.linspace(-6.5, 6.5, 90), np.linspace(-1.4, 4.6, 70), third
    )
    log_weights = stats.norm.logpdf(location, 0, 1.5) + log_weights_of_third(third)
    log_weights += stats.gamma.logpdf(np.exp(-2 * log_scale), 1.0) - 2 * log_scale
    return location, np.exp(log_scale), third, log_weights.ravel() - logsumexp(log_weights)


def student_t_grid(table):
    """Give log densities of rows, and log weights, on a grid of parameters; one column."""
    location, scale, log_degrees, log_weights = location_scale_grid(
        np.linspace(-1.6, 5.8, 25), lambda v: stats.norm.logpdf(v, math.log(8), 1)
    )
    densities = [
        stats.t.logpdf(x, np.exp(log_degrees), loc=location, scale=scale).ravel()
        for x in table[:, 0]
    ]
    return np.array(densities), log_weights


def skew_normal_grid(table):
    """Give log densities of rows, and log weights, on a grid of parameters; one column."""
    location, scale, skewness, log_weights = location_scale_grid(
        np.linspace(-10, 10, 41), lambda v: stats.norm.logpdf(v, 0, 3)
    )
    densities = [
        stats.skewnorm.logpdf(x, skewness, loc=location, scale=scale).ravel() for x in table[:, 0]
    ]
    return np.array(densities), log_weights


GRIDS = {"student-t": student_t_grid, "skew-normal": skew_normal_grid}


def make_log_marginal(family, rows):
    """Give the log marginal of a set of rows, and what a sum of these over clusters amounts to."""
    table = np.array(rows, dtype=float)

    def same(total):
        return total

    if family == "gaussian-tied":  # clusters share the variance: all values of it at once
        log_precision = np.linspace(-6, 6, 400)
        log_weights = stats.loggamma.logpdf(log_precision, 1.0)
        log_weights -= logsumexp(log_weights)
        variances = np.exp(-log_precision)

        @cache
        def log_marginal(members):
            return np.array([tied_log_marginal(table[list(members)], v) for v in variances])

        return log_marginal, lambda total: float(logsumexp(total + log_weights))
    if family in GRIDS:
        densities, log_weights = GRIDS[family](table)
        return cache(lambda m: float(logsumexp(densities[list(m)].sum(axis=0) + log_weights))), same
    if family in WHOLE_ROWS:
        return cache(lambda members: WHOLE_ROWS[family](table[list(members)])), same
    functions = column_marginals(family.removesuffix(", missing"), table)

    @cache
    def log_marginal(members):
        total = 0.0
        for column, function in zip(table[list(members)].T, functions, strict=True):
            total += function(column[~np.isnan(column)])
        return total

    return log_marginal, same
