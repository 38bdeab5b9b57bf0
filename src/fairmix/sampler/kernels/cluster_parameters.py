r"""Parameters of a cluster given its rows: slice updates, and a normal density that fits.

Both look at one parameter at a time and need no more than :math:`\log H(\phi)` and
:math:`\log f(x \mid \phi)`, so they serve any family whose parameters range over all numbers.
If columns are independent, parameter k belongs to column k modulo the number of columns, and only
that column (a *block*) is looked at; else all columns are one block.

*Slice update* (Neal 2003): step out from a random interval around the present value, then shrink
it until a value under the slice is hit. Widths are adapted while a chain warms up.

*Fit*: a few rounds of Newton's method with finite differences, from a fixed reference, the first
ones on some of the rows; the fitted density is normal with the curvature as its precision (blocks
independent). Steps are of bounded length and shortened until they lead upwards. A poor fit costs
acceptance, never the law.
"""

import math

from fairmix.sampler.kernels.decorator import kernel

#: The first rounds of a fit look at so many rows at most, the last at all; when no step is
#: longer than ``ENOUGH`` standard deviations, a fit goes on to the last rounds, or ends.
FEW_ROWS, FIRST_ROUNDS, LAST_ROUNDS, ENOUGH = 80, 15, 1, 0.1
#: In larger blocks, parameters are fitted one by one.
MAX_DENSE = 6
#: The longest step, how often it is cut to a quarter if it leads down, and the step of finite
#: differences.
MAX_STEP, MAX_SHORTENED, DIFFERENCE = 2.0, 5, 1e-3
#: Standard deviations of a fitted density are at most this (of a parameter given the others).
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
def log_density_of_row(likelihood, cluster, row):
    """Log density of a row given the parameters of a cluster, times the power."""
    log_density = likelihood.family.log_density(
        likelihood.parameters[cluster], likelihood.rows[row]
    )
    return likelihood.power[0] * log_density


@kernel
def log_density_of(likelihood, parameters, first, last):
    """Log density of listed rows, times the power."""
    total = 0.0
    for k in range(first, last):
        row = likelihood.rows[likelihood.listed[k]]
        total += likelihood.family.log_density(parameters, row)
    return likelihood.power[0] * total


@kernel
def log_target(likelihood, parameters, block, first, last):
    """Log density of a block of the listed rows, and of the block's parameters."""
    n_blocks = likelihood.n_blocks
    width = likelihood.rows.shape[1] // n_blocks
    own = parameters[block::n_blocks]
    total = 0.0
    for k in range(first, last):
        row = likelihood.rows[likelihood.listed[k], block * width : (block + 1) * width]
        total += likelihood.family.log_density(own, row)
    return likelihood.family.log_prior(own) + likelihood.power[0] * total


@kernel
def slice_update(rng, likelihood, parameters, first, last):
    """Update one parameter after the other given the listed rows."""
    for block in range(likelihood.n_blocks):
        log_here = log_target(likelihood, parameters, block, first, last)
        for k in range(block, parameters.size, likelihood.n_blocks):
            log_here = slice_one(rng, likelihood, parameters, block, first, last, k, log_here)


@kernel
def slice_one(rng, likelihood, parameters, block, first, last, k, log_here):
    """Update one parameter; give the log target where it is now."""
    here = parameters[k]
    level = log_here + math.log(1.0 - rng.random())
    width = likelihood.widths[k]
    low = here - width * rng.random()
    high = low + width
    steps = int(MAX_STEPS_OUT * rng.random())
    low = step_out(likelihood, parameters, block, first, last, k, low, -width, level, steps)
    steps = MAX_STEPS_OUT - 1 - steps
    high = step_out(likelihood, parameters, block, first, last, k, high, width, level, steps)
    while True:
        parameters[k] = low + rng.random() * (high - low)
        log_there = log_target(likelihood, parameters, block, first, last)
        if log_there > level:
            log_here = log_there
            break
        if parameters[k] == here or not high - low >= 1e-12 * (1.0 + abs(here)):
            parameters[k] = here  # rounding alone keeps the present value out of the slice
            break
        if parameters[k] < here:
            low = parameters[k]
        else:
            high = parameters[k]
    if likelihood.adapts[0]:
        wanted = WIDTH_PER_MOVE * abs(parameters[k] - here)
        likelihood.widths[k] = max(width + WIDTH_RATE * (wanted - width), MIN_WIDTH)
    return log_here


@kernel
def step_out(likelihood, parameters, block, first, last, k, end, width, level, steps):
    """Move one end of the interval outwards until it is above the slice; give that end."""
    for _ in range(steps):
        parameters[k] = end
        if log_target(likelihood, parameters, block, first, last) <= level:
            break
        end += width
    return end


@kernel
def fit(likelihood, first, last):
    """Fit ``centre`` and ``factors`` to the listed rows, starting at the reference."""
    copy_into(likelihood.reference, likelihood.centre)
    for block in range(likelihood.n_blocks):
        few = min(last, first + FEW_ROWS)
        for _ in range(FIRST_ROUNDS):
            if newton_round(likelihood, block, first, few) < ENOUGH:
                break
        if few < last:
            for _ in range(LAST_ROUNDS):
                if newton_round(likelihood, block, first, last) < ENOUGH:
                    break


@kernel
def newton_round(likelihood, block, first, last):
    """Make one step in the parameters of a block; give its length in standard deviations."""
    centre, factor, step = likelihood.centre, likelihood.factors[block], likelihood.step
    size = step.size
    middle = differentiate(likelihood, block, first, last)
    factorise(factor, size)
    for i in range(size):  # the slope in standard units
        for j in range(i):
            step[i] -= factor[i, j] * step[j]
        step[i] /= factor[i, i]
    length = 0.0
    for i in range(size):
        length += step[i] * step[i]
    longest = 0.0
    for i in range(size - 1, -1, -1):
        for j in range(i + 1, size):
            step[i] -= factor[j, i] * step[j]
        step[i] /= factor[i, i]
        if not abs(step[i]) < math.inf:
            return 0.0
        longest = max(longest, abs(step[i]))
    share = min(1.0, MAX_STEP / max(longest, 1e-300))
    walk(likelihood, block, share)
    for _ in range(MAX_SHORTENED):
        if log_target(likelihood, centre, block, first, last) >= middle:
            return math.sqrt(length)
        walk(likelihood, block, -0.75 * share)
        share *= 0.25
    walk(likelihood, block, -share)
    return 0.0


@kernel
def walk(likelihood, block, share):
    """Move the centre by a share of the step."""
    for i in range(likelihood.step.size):
        likelihood.centre[block + i * likelihood.n_blocks] += share * likelihood.step[i]


@kernel
def differentiate(likelihood, block, first, last):
    """Write a block's slope into ``step`` and its curvature, with signs changed, into ``factors``.

    Of large blocks only the diagonal of the curvature is taken. Gives the log target.
    """
    centre, factor, step = likelihood.centre, likelihood.factors[block], likelihood.step
    n_blocks, size = likelihood.n_blocks, likelihood.step.size
    above = likelihood.above
    middle = log_target(likelihood, centre, block, first, last)
    for i in range(size):
        k = block + i * n_blocks
        here = centre[k]
        centre[k] = here - DIFFERENCE
        below = log_target(likelihood, centre, block, first, last)
        centre[k] = here + DIFFERENCE
        above[i] = log_target(likelihood, centre, block, first, last)
        step[i] = (above[i] - below) / (2.0 * DIFFERENCE)
        factor[i, i] = (2.0 * middle - above[i] - below) / (DIFFERENCE * DIFFERENCE)
        for j in range(i):
            factor[i, j] = 0.0
            if size <= MAX_DENSE:
                other = centre[block + j * n_blocks]
                centre[block + j * n_blocks] = other + DIFFERENCE
                both = log_target(likelihood, centre, block, first, last)
                centre[block + j * n_blocks] = other
                factor[i, j] = (above[i] + above[j] - middle - both) / (DIFFERENCE * DIFFERENCE)
        centre[k] = here
    return middle


@kernel
def factorise(factor, size):
    """Replace a matrix by its Cholesky factor.

    Where it is not positive definite, a parameter is taken to be independent of those before it.
    """
    least = 1.0 / (MAX_SPREAD * MAX_SPREAD)
    for i in range(size):
        pivot = factor[i, i]
        for j in range(i):
            for m in range(j):
                factor[i, j] -= factor[i, m] * factor[j, m]
            factor[i, j] /= factor[j, j]
            pivot -= factor[i, j] * factor[i, j]
        if not pivot > least:
            factor[i, :i] = 0.0
            pivot = max(factor[i, i], least)
        factor[i, i] = math.sqrt(pivot) if pivot < math.inf else 1.0 / MAX_SPREAD


@kernel
def draw_fitted(rng, likelihood, parameters, is_drawn):
    """Draw parameters from the fitted density (or take them); give their log density."""
    centre, n_blocks, size = likelihood.centre, likelihood.n_blocks, likelihood.step.size
    log_density = -HALF_LOG_TWO_PI * centre.size
    for block in range(n_blocks):
        factor = likelihood.factors[block]
        # With L the factor of the precision, L' (parameters - centre) is standard normal.
        for i in range(size - 1, -1, -1):
            k = block + i * n_blocks
            others = 0.0
            for j in range(i + 1, size):
                other = block + j * n_blocks
                others += factor[j, i] * (parameters[other] - centre[other])
            if is_drawn:
                standard = rng.standard_normal()
                parameters[k] = centre[k] + (standard - others) / factor[i, i]
            else:
                standard = others + factor[i, i] * (parameters[k] - centre[k])
            log_density += math.log(factor[i, i]) - 0.5 * standard * standard
    return log_density
