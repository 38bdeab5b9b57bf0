r"""Mixed tables: every column has its own family, columns independent given the cluster.

Columns of one family make a block; the log marginal is the sum over blocks,
:math:`\log m(X) = \sum_k \log m_k(X_k)`, and so the statistics stand one block after the other.
Blocks are nested in pairs, so that each keeps its own compiled code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairmix.families.protocol import is_conjugate, prepare

FloatArray = NDArray[np.float64]


class Product(NamedTuple):
    """A family for every column.

    Parameters
    ----------
    families : tuple of family
        The family of each column, in the order of the columns. They must be conjugate, unless
        it is the same for all.
    """

    families: tuple[Any, ...]

    @property
    def kind(self) -> tuple[str, ...]:
        """What each column holds."""
        return tuple(getattr(family, "kind", "numbers") for family in self.families)

    @property
    def is_location_scale(self) -> tuple[bool, ...]:
        """Which columns are put into standard units."""
        return tuple(getattr(family, "is_location_scale", False) for family in self.families)

    @property
    def allows_missing(self) -> tuple[bool, ...]:
        """Of which columns missing cells can be left out."""
        return tuple(getattr(family, "allows_missing", False) for family in self.families)

    def select(self, columns: Sequence[int]) -> Product:
        """Give the product of some columns' families."""
        return Product(tuple(self.families[k] for k in columns))

    def prepare(self, rows: FloatArray) -> Any:
        """Prepare each block and nest them; a single block is the family itself."""
        blocks: list[tuple[Any, list[int]]] = []
        for column, family in enumerate(self.families):
            columns = next((known for other, known in blocks if _are_same(other, family)), None)
            if columns is None:
                blocks.append((family, [column]))
            else:
                columns.append(column)
        prepared = [
            (prepare(family, np.ascontiguousarray(rows[:, columns])), columns)
            for family, columns in blocks
        ]
        if len(prepared) == 1:
            return prepared[0][0]
        for (block, _), (family, _) in zip(prepared, blocks, strict=True):
            if not is_conjugate(block):
                raise ValueError(
                    f"family: {type(family).__name__} has no conjugate prior, so it cannot be "
                    "mixed with other families in one table; use it for all columns, or a "
                    "conjugate family (such as 'gaussian') for its columns."
                )
        if sum(_has_shared(block) for block, _ in prepared) > 1:
            raise ValueError(
                "family: two different families whose clusters share parameters (such as "
                "GaussianTied) in one table; give their columns the same one."
            )
        # One order whatever that of the columns, so that a set of families compiles once.
        prepared.sort(key=lambda pair: (_has_shared(pair[0]), type(pair[0]).__name__))
        nested, order = prepared[0]
        for block, columns in prepared[1:]:
            make = PairWithShared if _has_shared(block) else Pair
            n_first = block.n_statistics(len(columns))
            nested = make(block, nested, len(columns), n_first, np.arange(len(columns + order)))
            order = columns + order
        return nested._replace(order=np.array(order))


def _are_same(family: Any, other: Any) -> bool:
    """Tell whether families are the same; as tuples, Bernoulli() and Categorical() are equal."""
    return type(family) is type(other) and all(map(np.array_equal, family, other))


def _has_shared(family: Any) -> bool:
    return hasattr(family, "update_shared")


class Pair(NamedTuple):
    """Two prepared families side by side; the second may be a pair again."""

    first: Any
    second: Any
    n_first_columns: int
    n_first_statistics: int
    order: NDArray[np.int64]  # of the columns, those of the first family first

    def n_statistics(self, n_columns: int) -> int:
        """Statistics of both."""
        n_second_columns = n_columns - self.n_first_columns
        return self.n_first_statistics + int(self.second.n_statistics(n_second_columns))

    def write_statistics(self, rows: FloatArray, out: FloatArray) -> None:
        """Write the statistics of both, one after the other."""
        rows = rows[:, self.order]
        first, second = rows[:, : self.n_first_columns], rows[:, self.n_first_columns :]
        self.first.write_statistics(first, out[:, : self.n_first_statistics])
        self.second.write_statistics(second, out[:, self.n_first_statistics :])

    def log_marginal(self, count: int, stats: FloatArray) -> float:
        """Log marginal likelihood of ``count`` rows."""
        first = self.first.log_marginal(count, stats[: self.n_first_statistics])
        return first + self.second.log_marginal(count, stats[self.n_first_statistics :])


class PairWithShared(Pair):
    """A pair whose first family has parameters that all clusters share."""

    def update_shared(
        self, rng: np.random.Generator, counts: FloatArray, stats: FloatArray
    ) -> float:
        """Redraw what clusters share; give its log prior density."""
        return float(self.first.update_shared(rng, counts, stats[:, : self.n_first_statistics]))
