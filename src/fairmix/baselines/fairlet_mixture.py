"""Fair MFM: a mixture of finite mixtures over fairlets."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairmix.baselines.fairlet_clustering import centres_of, check_ratio, make_fairlets
from fairmix.families import bundle_statistics, make_bundled
from fairmix.mixture import SampledMixture
from fairmix.model.grouping import Grouping
from fairmix.model.problem import Problem, coordinates_of
from fairmix.model.smallest_group import check_groups
from fairmix.tables.groups import Groups
from fairmix.tables.schema import Schema, Table

#: When p and q are chosen, there should be so many fairlets.
LEAST_FAIRLETS = 10


class FairletMixture(SampledMixture):
    """Fair MFM: rows of two groups are cut into fairlets once, then a mixture clusters fairlets.

    The number of clusters is inferred, given the fairlets: prior and sampler see fairlets as
    the units that are clustered, each with the likelihood of all its rows. Every draw
    has a balance of at least p / q.

    Parameters
    ----------
    family : str, family or dict, default="gaussian"
        Distribution of the rows of a cluster, as in ``FairBayesianClustering``; it must be
        conjugate.
    p, q : int or None, default=None
        The balance p / q of fairlets, as in ``FairletClustering``.
    concentration : float, default=1.0
        Dirichlet parameter of the mixture's weights.
    components_prior : prior, callable or None, default=None
        Prior on the number of components; None is ``Geometric(0.1)``.
    split_merge_moves : int or "auto", default="auto"
        Proposals a sweep to split a cluster, merge two or deal two anew.
    init_partition : {"auto", "kmeans", "one", "singletons"}, int or tuple, default="auto"
        The first partition of the fairlets, as in ``FairBayesianClustering``.
    annealing : bool, default=True
        Whether the warm-up begins with a flattened likelihood.
    n_chains, n_warmup, n_draws, thin : int
        Number of chains, sweeps of warm-up, sweeps after that, and every how many are kept.
    standardize : bool, default=True
        Scale Gaussian columns to mean 0 and variance 1.
    n_jobs : int, default=None
        Number of threads that chains run in.
    random_state : int, RandomState instance or None, default=None
        Seed.
    verbose : int or "auto", default="auto"
        Whether to show on standard error how far the chains are: a bar a chain in a terminal or a
        notebook, plain lines elsewhere. "auto" does so in a terminal or a notebook if the fit takes
        more than five seconds, 1 always, 0 never.

    Attributes
    ----------
    fairlets_ : ndarray of shape (n_rows,)
        Fairlet of each row.
    ratio_ : tuple of int
        p and q.

    See Also
    --------
    fairmix.FairBayesianClustering : Samples the matching, too; has the other attributes.

    References
    ----------
    .. [1] J. Lee, K. Kim and Y. Kim. Fair Bayesian Model-Based Clustering. 2025.
    .. [2] A. Backurs, P. Indyk, K. Onak, B. Schieber, A. Vakilian and T. Wagner. Scalable fair
       clustering. International Conference on Machine Learning, 2019.
    """

    def __init__(
        self,
        family: Any = "gaussian",
        *,
        p: int | None = None,
        q: int | None = None,
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
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | str = "auto",
    ) -> None:
        self.family = family
        self.p = p
        self.q = q
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_ratio(self.p, self.q)

    def _pose(
        self,
        table: Table,
        schema: Schema,
        family: Any,
        groups: Groups,
        grouping: Grouping,
        rng: np.random.Generator,
    ) -> Problem:
        """Cluster fairlets, each seen through its statistics, and at its centre for distances."""
        check_groups(grouping)
        bundled = make_bundled(family, table.rows)
        points = coordinates_of(table)
        self.fairlets_, self.ratio_ = make_fairlets(
            points, grouping.group_of_user_row, grouping, self.p, self.q, rng, LEAST_FAIRLETS
        )
        centres, _ = centres_of(points, self.fairlets_)
        units = Table(
            rows=bundle_statistics(bundled.base, table.rows, self.fairlets_),
            points=table.points[centres],
            is_category=table.is_category,
        )
        return Problem.without_groups(table, grouping, units, bundled, self.fairlets_, rng)
