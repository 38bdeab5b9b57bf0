"""Random choices that the steps share."""

import math

from fairmix.sampler.kernels.decorator import inlined, kernel


@inlined
def draw_index(rng, n_choices):
    """Draw one of ``0 .. n_choices - 1`` with equal probability."""
    return int(rng.random() * n_choices)


@inlined
def accept(rng, log_ratio):
    """Decide a Metropolis proposal."""
    return log_ratio >= 0.0 or rng.random() < math.exp(log_ratio)


@kernel
def log_sum_exp(log_weights, n_weights):
    """Add up weights that are given as logs."""
    largest = -math.inf
    for k in range(n_weights):
        largest = max(largest, log_weights[k])
    if largest == -math.inf:
        return largest
    total = 0.0
    for k in range(n_weights):
        total += math.exp(log_weights[k] - largest)
    return largest + math.log(total)


@kernel
def draw_weighted(rng, log_weights, n_weights):
    """Draw an index with probability proportional to its weight; overwrites the weights."""
    largest = -math.inf
    for k in range(n_weights):
        largest = max(largest, log_weights[k])
    total = 0.0
    for k in range(n_weights):
        total += math.exp(log_weights[k] - largest)
        log_weights[k] = total
    threshold = rng.random() * total
    for k in range(n_weights):
        if threshold < log_weights[k]:
            return k
    return n_weights - 1
