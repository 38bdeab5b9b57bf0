"""Compile before the first fit: a tiny table of each kind, and a chain that makes no sweep."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.families import Product, bundle_statistics, make_bundled
from fairmix.families.choice import FAMILIES, resolve_family, wanted_by
from fairmix.model.grouping import arrange_groups
from fairmix.model.problem import Problem
from fairmix.tables.schema import Table

#: Rows of the tiny table, and its columns if one family is for all.
N_ROWS, N_COLUMNS = 12, 2
ALLOWED = (
    f"one of {', '.join(map(repr, FAMILIES))}, a family object such as "
    "fairmix.families.Gaussian(rate=0.5), a tuple of these for a table that mixes them, or a list "
    "of what to compile"
)


def compile(families: Any, *, bundled: bool = False) -> None:  # noqa: A001 (fairmix.compile)
    """Compile the sampler for some families now, so that no fit has to wait for it.

    What is compiled is kept on disk, in the folder that the environment variable
    ``NUMBA_CACHE_DIR`` names or in the user's cache, and later processes load it. The sampler
    itself serves all families. Each family adds a few seconds, and so does each *set* of
    families that a table mixes, in whatever order its columns come.

    Parameters
    ----------
    families : str, family, tuple or list
        The name of a family or a family object; a tuple of these for a mixed table (each family
        once; ``family="auto"`` mixes ``"gaussian"``, ``"poisson"``, ``"bernoulli"`` and
        ``"categorical"``, or some of them); or a list of all this.
    bundled : bool, default=False
        Whether to compile for ready-made bundles of rows, as
        :class:`fairmix.baselines.FairletMixture` clusters them, instead of for rows.

    Raises
    ------
    TypeError
        If something is neither a name nor a family.
    ValueError
        If there is no family of a name, or families cannot be mixed or bundled.

    Notes
    -----
    Machine code is made for the processor at hand; another kind of processor compiles anew. For an
    image that runs on any, set ``NUMBA_CPU_NAME=generic`` both where it is built and where it runs.
    In a Dockerfile::

        ENV NUMBA_CACHE_DIR=/opt/fairmix NUMBA_CPU_NAME=generic
        RUN python -c "import fairmix; fairmix.compile(['gaussian', ('gaussian', 'categorical')])"

    A family of one's own is compiled for the types of its fields: ``Own(1)`` is not ``Own(1.0)``.
    With ``NUMBA_DISABLE_JIT=1`` nothing is compiled.

    Examples
    --------
    >>> import fairmix
    >>> fairmix.compile("gaussian")  # doctest: +SKIP
    >>> fairmix.compile(["student-t", ("gaussian", "poisson")])  # doctest: +SKIP
    """
    from fairmix.sampler.assembly import Settings, make_chain, make_model

    every = families if isinstance(families, list) else [families]
    if not every:
        raise ValueError("families is an empty list; name what to compile, such as 'gaussian'.")
    for problem in [_make_problem(_read_family(family), bundled) for family in every]:
        settings = Settings(init_partition="one")
        model = make_model(problem, settings, np.random.default_rng(0))
        make_chain(model, settings, [np.random.SeedSequence(0)], 0).run(0)


def _read_family(family: Any) -> Any:
    """Give a family object, for a mixed table a ``Product``."""
    if isinstance(family, str) and family == "auto":
        raise ValueError(
            "families: 'auto' chooses families when it sees a table; name what it may choose, such "
            "as ('gaussian', 'poisson', 'bernoulli', 'categorical')."
        )
    if isinstance(family, Product):
        family = family.families
    if isinstance(family, tuple) and not hasattr(family, "_fields"):
        if not family:
            raise ValueError("families has an empty tuple; name the families of a mixed table.")
        return Product(tuple(resolve_family(each, "families", ALLOWED) for each in family))
    return resolve_family(family, "families", ALLOWED)


def _make_problem(family: Any, bundled: bool) -> Problem:
    """Give a tiny table of two groups that the family can be fitted to."""
    n_columns = len(family.families) if isinstance(family, Product) else N_COLUMNS
    kinds = [wanted.kind for wanted in wanted_by(family, n_columns)]
    rng = np.random.default_rng(0)
    rows = np.column_stack([_make_column(kind, rng) for kind in kinds])
    table = Table(rows, rows, np.array([kind in ("categories", "binary") for kind in kinds]))
    grouping = arrange_groups(["a", "b"], np.arange(N_ROWS) % 2, rng)
    if not bundled:
        return Problem.of_rows(table, family, grouping)
    every_row = np.arange(N_ROWS)
    family = make_bundled(family, rows)
    units = Table(bundle_statistics(family.base, rows, every_row), rows, table.is_category)
    return Problem.without_groups(table, grouping, units, family, every_row, rng)


def _make_column(kind: str, rng: np.random.Generator) -> NDArray[np.float64]:
    """Give a column of what a family takes: 0 and 1, categories, or numbers that all can be."""
    n_levels = {"binary": 2, "categories": 3}.get(kind, N_ROWS)
    return (rng.permutation(N_ROWS) % n_levels).astype(np.float64)
