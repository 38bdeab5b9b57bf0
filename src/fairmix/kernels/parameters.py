r"""Parameters of a cluster given its rows: slice updates, and a normal density that fits.

Both look at one parameter at a time and need no more than :math:`\log H(\phi)` and
:math:`\log f(x \mid \phi)`, so they serve any family whose parameters range over all numbers.

*Slice update* (Neal 2003): step out from a random interval around the present value, then shrink
it until a value under the slice is hit. Widths are adapted while a chain warms up.

*Fit*: a few rounds of Newton's method with finite differences, from a fixed reference; the fitted
density is normal, parameters independent, with the curvature's standard deviations. Where the
curve bends upwards a step of bounded length is made. A poor fit costs acceptance, never the law.
"""

import math

from fairmix.kernels.decorator import kernel, routine

#: Rounds of Newton's method when a half is fitted, the longest step, and the step of differences.
FIT_ROUNDS, MAX_STEP, DIFFERENCE = 6, 2.0, 1e-3
#: A fit ends when no step is longer than this, in standard deviations.
ENOUGH = 0.05
#: Standard deviations of a fitted density are at most this.
MAX_SPREAD = 3.0
#: The slice sampler steps out at most so often.
MAX_STEPS_OUT = 20
#: Widths follow so many times the last move, at this rate, and are at least so large.
WIDTH_PER_MOVE, WIDTH_RATE, MIN_WIDTH = 2.5, 0.02, 1e-3
HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)


@kernel
def copy_into(source, target):
    """Copy an array into another."""
    for k in range(source.size):
        target[k] = source[k]


@kernel
def log_density_of(likelihood, parameters, first, last):
    """Log density of listed rows, times the power."""
    total = 0.0
    for k in range(first, last):
        row = likelihood.rows[likelihood.listed[k]]
        total += likelihood.family.log_density(parameters, row)
    return likelihood.power[0] * total


@routine
def log_target(likelihood, parameters, first, last):
    """Log density of listed rows and of the parameters themselves."""
    log_prior = likelihood.family.log_prior(parameters)
    return log_prior + log_density_of(likelihood, parameters, first, last)


@routine
def slice_update(rng, likelihood, parameters, first, last):
    """Update one parameter after the other given the listed rows."""
    log_here = log_target(likelihood, parameters, first, last)
    for k in range(parameters.size):
        here = parameters[k]
        level = log_here + math.log(1.0 - rng.random())
        width = likelihood.widths[k]
        low = here - width * rng.random()
        high = low + width
        steps = int(MAX_STEPS_OUT * rng.random())
        low = step_out(likelihood, parameters, first, last, k, low, -width, level, steps)
        steps = MAX_STEPS_OUT - 1 - steps
        high = step_out(likelihood, parameters, first, last, k, high, width, level, steps)
        while True:
            parameters[k] = low + rng.random() * (high - low)
            log_there = log_target(likelihood, parameters, first, last)
            if log_there > level:
                log_here = log_there
                break
            if parameters[k] == here or high - low < 1e-12 * (1.0 + abs(here)):
                parameters[k] = here  # rounding alone keeps the present value out of the slice
                break
            if parameters[k] < here:
                low = parameters[k]
            else:
                high = parameters[k]
        if likelihood.adapts[0]:
            wanted = WIDTH_PER_MOVE * abs(parameters[k] - here)
            width += WIDTH_RATE * (wanted - width)
            likelihood.widths[k] = max(width, MIN_WIDTH)


@kernel
def step_out(likelihood, parameters, first, last, k, end, width, level, steps):
    """Move one end of the interval outwards until it is above the slice; give that end."""
    for _ in range(steps):
        parameters[k] = end
        if log_target(likelihood, parameters, first, last) <= level:
            break
        end += width
    return end


@routine
def fit(likelihood, first, last, n_rounds):
    """Fit ``centre`` and ``spread`` to the listed rows, starting where ``centre`` is."""
    centre, spread = likelihood.centre, likelihood.spread
    for _ in range(n_rounds):
        longest = 0.0
        for k in range(centre.size):
            here = centre[k]
            middle = log_target(likelihood, centre, first, last)
            centre[k] = here + DIFFERENCE
            above = log_target(likelihood, centre, first, last)
            centre[k] = here - DIFFERENCE
            below = log_target(likelihood, centre, first, last)
            slope = (above - below) / (2.0 * DIFFERENCE)
            bend = (above - 2.0 * middle + below) / (DIFFERENCE * DIFFERENCE)
            spread[k] = MAX_SPREAD
            if bend < -1.0 / (MAX_SPREAD * MAX_SPREAD):
                spread[k] = 1.0 / math.sqrt(-bend)
            step = slope * spread[k] * spread[k]
            if not abs(step) < math.inf:
                step = 0.0
            step = min(max(step, -MAX_STEP), MAX_STEP)
            centre[k] = here + step
            longest = max(longest, abs(step) / spread[k])
        if longest < ENOUGH:
            break


@kernel
def draw_fitted(rng, likelihood, parameters, is_drawn):
    """Draw parameters from the fitted density (or take them); give their log density."""
    log_density = 0.0
    for k in range(parameters.size):
        if is_drawn:
            parameters[k] = likelihood.centre[k] + likelihood.spread[k] * rng.standard_normal()
        deviation = (parameters[k] - likelihood.centre[k]) / likelihood.spread[k]
        log_density -= 0.5 * deviation * deviation
        log_density -= HALF_LOG_TWO_PI + math.log(likelihood.spread[k])
    return log_density
