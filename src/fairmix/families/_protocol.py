r"""What a family is: the distribution of the rows of one cluster.

A family is a ``NamedTuple`` (its fields are the hyperparameters) with plain Python
methods. A conjugate family has

``n_statistics(n_columns)``
    the length of its vector of sufficient statistics;
``write_statistics(rows, out)``
    the statistics of each row, written into ``out`` (rows x statistics); the
    statistics of a set of rows are their sum;
``log_marginal(count, stats)``
    :math:`\log m(X) = \log \int \prod_{x \in X} f(x \mid \phi)\, H(d\phi)` of a set of
    ``count`` rows with statistics ``stats``. This one is compiled into the
    sampler and called in its innermost loop, so it may use numbers, arrays and ``math``;
``prepare(rows)``
    the family to sample with, given all rows: hyperparameters are checked here, and what
    depends on counts alone may be put into tables. It returns ``self`` if there is
    nothing to do.

Two properties may say more: ``values`` is what the columns hold ("numbers", the default;
"categories", coded 0, 1, ...; or "binary"), and a true ``is_location_scale`` asks for columns in
standard units.

A complete example, exponential waiting times with a Gamma(shape, rate) prior::

    class Exponential(NamedTuple):
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

        def prepare(self, rows):
            return self
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Family(Protocol):
    """A conjugate family; see the module's docstring."""

    def n_statistics(self, n_columns: int) -> int:
        """Length of the vector of sufficient statistics."""
        ...

    def write_statistics(self, rows: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        """Write the statistics of each row."""
        ...

    def log_marginal(self, count: int, stats: NDArray[np.float64]) -> float:
        """Log marginal likelihood of a set of rows."""
        ...

    def prepare(self, rows: NDArray[np.float64]) -> Any:
        """Check the hyperparameters and tabulate what depends on counts alone."""
        ...


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
    """Raise an error unless all hyperparameters are positive numbers.

    Parameters
    ----------
    family : str
        Name of the family, for the message.
    **hyperparameters : float
        The hyperparameters by name.
    """
    for name, value in hyperparameters.items():
        if not isinstance(value, (int, float, np.number)) or not 0 < value < np.inf:
            raise ValueError(f"{family}: {name} must be a positive number, got {value!r}.")
