r"""What a family is: the distribution of the rows of one cluster, with a prior of its parameters.

A family is a ``NamedTuple`` (its fields are the hyperparameters) with plain Python
methods. Some of them are compiled into the sampler and called in its innermost loop; these
may use numbers, loops, the arrays they are given and ``math``, and must make no new arrays.

A **conjugate** family has

``n_statistics(n_columns)``
    the length of its vector of sufficient statistics;
``write_statistics(rows, out)``
    the statistics of each row, written into ``out`` (rows x statistics); the
    statistics of a set of rows are their sum;
``log_marginal(count, stats)`` (compiled)
    :math:`\log m(X) = \log \int \prod_{x \in X} f(x \mid \phi)\, H(d\phi)` of a set of
    ``count`` rows with statistics ``stats``;
``update_shared(rng, counts, stats)`` (compiled, optional)
    redraw parameters that all clusters share, given numbers of rows and statistics of all
    clusters, and give the log prior density of what was drawn. Such parameters are arrays among
    the fields of the prepared family; each chain has its own copy.

Any other family has, with parameters that range over all numbers (the log of a scale, say),

``n_parameters(n_columns)``
    the number of parameters of a cluster;
``log_density(params, row)`` (compiled)
    :math:`\log f(x \mid \phi)`, finite for all parameters and rows;
``log_prior(params)`` (compiled)
    the log density of :math:`H` at these parameters;
``sample_prior(rng, params)`` (compiled)
    draw parameters from :math:`H` and write them into ``params``.

Either may have

``prepare(rows)``
    the family to sample with, given all rows: hyperparameters are checked here, and what
    depends on counts alone may be put into tables;
``kind``
    a property that says what the columns hold: "numbers" (the default), "counts", "amounts",
    "categories" (coded 0, 1, ...) or "binary" (0 and 1);
``is_location_scale``
    a true property asks for columns in standard units;
``allows_missing``
    a true property says that the family leaves out cells that are NaN;
``columns_are_independent``
    for families that are not conjugate: a true property says that density and prior are products
    over columns, and that parameter k belongs to column k modulo the number of columns. Then an
    update of a parameter looks at its own column alone, which is faster.

A complete example, exponential waiting times with a Gamma(shape, rate) prior::

    class Waiting(NamedTuple):
        shape: float = 1.0
        rate: float = 1.0

        def n_statistics(self, n_columns):
            return n_columns

        def write_statistics(self, rows, out):
            out[:] = rows

        def log_marginal(self, count, stats):
            total = 0.0
            for j in range(stats.size):
                total += self.shape * math.log(self.rate) - math.lgamma(self.shape)
                total += math.lgamma(self.shape + count)
                total -= (self.shape + count) * math.log(self.rate + stats[j])
            return total
"""

from __future__ import annotations

from numbers import Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fairmix.tables.checks import LARGEST, SMALLEST

CONJUGATE_VERBS = ("n_statistics", "write_statistics", "log_marginal")
OTHER_VERBS = ("n_parameters", "log_density", "log_prior", "sample_prior")
#: Names that compiled code takes for methods, so that no field may have them.
RESERVED = ("update_shared", *CONJUGATE_VERBS, *OTHER_VERBS)
#: Whole numbers beyond have no type in an array.
LARGEST_INTEGER = 2**63 - 1


class Family(Protocol):
    """A conjugate family as it is sampled; see the module's docstring."""

    def n_statistics(self, n_columns: int) -> int:
        """Length of the vector of sufficient statistics."""
        ...

    def write_statistics(self, rows: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        """Write the statistics of each row."""
        ...

    def log_marginal(self, count: int, stats: NDArray[np.float64]) -> float:
        """Log marginal likelihood of a set of rows."""
        ...


def prepare(family: Any, rows: NDArray[np.float64]) -> Any:
    """Give the family to sample with.

    Parameters
    ----------
    family : family
        A family.
    rows : ndarray of shape (n_rows, n_columns)
        All rows.

    Returns
    -------
    family
        What its ``prepare`` gives, or the family itself if it has none.
    """
    return family.prepare(rows) if hasattr(family, "prepare") else family


def missing_verbs(family: Any) -> str | None:
    """Say what keeps an object from being a family.

    Parameters
    ----------
    family : object
        The object.

    Returns
    -------
    str or None
        A sentence about what is missing or misnamed; empty if nothing is. None if it is no
        family at all.
    """
    if not hasattr(family, "_fields"):
        return None
    if hasattr(family, "prepare"):
        return ""
    taken = [field for field in family._fields if field in RESERVED]
    if taken:
        return f"has a field named {taken[0]!r}, which is the name of a method; rename the field."
    has_any = [verb for verb in (*CONJUGATE_VERBS, *OTHER_VERBS) if hasattr(family, verb)]
    if not has_any:
        return None
    wanted = CONJUGATE_VERBS if hasattr(family, "log_marginal") else OTHER_VERBS
    lacking = [verb for verb in wanted if not hasattr(family, verb)]
    if not lacking:
        return ""
    kind = "conjugate" if wanted is CONJUGATE_VERBS else "not conjugate (it has no log_marginal)"
    return f"is {kind} and lacks {', '.join(lacking)}; see fairmix.families.protocol."


def is_conjugate(family: Any) -> bool:
    """Tell whether a family's parameters can be integrated out.

    Parameters
    ----------
    family : family
        A prepared family.

    Returns
    -------
    bool
        Whether it has ``log_marginal``.
    """
    return hasattr(family, "log_marginal")


def check_positive(family: str, **hyperparameters: float) -> None:
    """Raise an error unless all hyperparameters are positive numbers, within reason.

    Parameters
    ----------
    family : str
        Name of the family, for the message.
    **hyperparameters : float
        The hyperparameters by name.
    """
    for name, value in hyperparameters.items():
        is_number = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
        # Integers that no array holds cannot be computed with.
        largest = LARGEST_INTEGER if isinstance(value, int) else LARGEST
        if not is_number or not SMALLEST <= value <= largest:
            raise ValueError(
                f"{family}: {name} must be a positive number (a float from {SMALLEST:g} to "
                f"{LARGEST:g}), got {value!r}."
            )
