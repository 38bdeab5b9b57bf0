"""The mixture of finite mixtures: our engine with one group."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairmix.mixture import SampledMixture
from fairmix.model.grouping import Grouping
from fairmix.model.problem import Problem
from fairmix.tables.groups import Groups
from fairmix.tables.schema import Schema, Table


class MixtureOfFiniteMixtures(SampledMixture):
    """Mixture of finite mixtures (Miller & Harrison 2018): fairness measured, not enforced.

    The argument ``sensitive_features`` of ``fit`` has the groups to measure fairness with.

    Parameters
    ----------
    family : str, family or dict, default="gaussian"
        Distribution of the rows of a cluster, as in ``FairBayesianClustering``.
    concentration : float, default=1.0
        Dirichlet parameter of the mixture's weights.
    components_prior : prior, callable or None, default=None
        Prior on the number of components; None is ``Geometric(0.1)``.
    split_merge_moves : int or "auto", default="auto"
        Proposals a sweep to split a cluster, merge two or deal two anew.
    init_partition : {"auto", "kmeans", "one", "singletons"}, int, labels or tuple, default="auto"
        The first partition, as in ``FairBayesianClustering``.
    annealing : bool, default=True
        Whether the warm-up begins with a flattened likelihood.
    n_chains, n_warmup, n_draws, thin : int
        Number of chains, sweeps of warm-up, sweeps after that, and every how many are kept.
    standardize : bool, default=True
        Scale Gaussian columns to mean 0 and variance 1.
    missing : {"error", "ignore"}, default="error"
        What to do about missing cells, as in ``FairBayesianClustering``.
    n_jobs : int, default=None
        Number of threads that chains run in.
    random_state : int, RandomState instance or None, default=None
        Seed.
    verbose : int or "auto", default="auto"
        Whether to show on standard error how far the chains are: a bar a chain in a terminal or a
        notebook, plain lines elsewhere. "auto" does so in a terminal or a notebook if the fit takes
        more than five seconds, 1 always, 0 never.

    See Also
    --------
    fairmix.FairBayesianClustering : The fair mixture, with the same attributes but ``gap_bound_``.

    References
    ----------
    .. [1] J. W. Miller and M. T. Harrison. Mixture models with a prior on the number of
       components. Journal of the American Statistical Association 113:340-356, 2018.
    """

    _makes_fair = False

    def __init__(
        self,
        family: Any = "gaussian",
        *,
        concentration: float = 1.0,
        components_prior: Any = None,
        split_merge_moves: int | str = "auto",
        init_partition: Any = "auto",
        annealing: bool = True,
        n_chains: int = 4,
        n_warmup: int = 1000,
        n_draws: int = 1000,
        thin: int = 1,
        standardize: bool = True,
        missing: str = "error",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | str = "auto",
    ) -> None:
        self.family = family
        self.concentration = concentration
        self.components_prior = components_prior
        self.split_merge_moves = split_merge_moves
        self.init_partition = init_partition
        self.annealing = annealing
        self.n_chains = n_chains
        self.n_warmup = n_warmup
        self.n_draws = n_draws
        self.thin = thin
        self.standardize = standardize
        self.missing = missing
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _pose(
        self,
        table: Table,
        schema: Schema,
        family: Any,
        groups: Groups,
        grouping: Grouping,
        rng: np.random.Generator,
    ) -> Problem:
        every_row = np.arange(len(table.rows))
        return Problem.without_groups(table, grouping, table, family, every_row, rng)
