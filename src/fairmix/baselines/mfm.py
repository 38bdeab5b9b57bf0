"""The mixture of finite mixtures: our engine with one group."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fairmix.estimator import FairBayesianClustering
from fairmix.matching import Grouping, arrange_groups
from fairmix.preparation import Table


class MixtureOfFiniteMixtures(FairBayesianClustering):
    """Mixture of finite mixtures (Miller & Harrison 2018): fairness measured, not enforced.

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
    verbose : int, default=0
        Print progress if positive.

    See Also
    --------
    fairmix.FairBayesianClustering : The fair mixture, with the same attributes but ``gap_bound_``.

    References
    ----------
    .. [1] J. W. Miller and M. T. Harrison. Mixture models with a prior on the number of
       components. Journal of the American Statistical Association 113:340-356, 2018.
    """

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
        verbose: int = 0,
    ) -> None:
        super().__init__(
            family,
            concentration=concentration,
            components_prior=components_prior,
            split_merge_moves=split_merge_moves,
            init_partition=init_partition,
            annealing=annealing,
            n_chains=n_chains,
            n_warmup=n_warmup,
            n_draws=n_draws,
            thin=thin,
            standardize=standardize,
            missing=missing,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )

    def fit(self, X: Any, y: Any = None, *, sensitive_features: Any = None) -> Self:
        """Sample the posterior of clusterings.

        Parameters
        ----------
        X : data frame or array-like of shape (n_rows, n_features)
            The data.
        y : None
            Not used.
        sensitive_features : array-like, data frame, str or list of str, default=None
            Groups to measure fairness with; columns of X named here are not features.

        Returns
        -------
        self : MixtureOfFiniteMixtures
            The fitted estimator.
        """
        return self._fit(X, sensitive_features, enforce=False)

    def _arrange(
        self, table: Table, audited: Grouping, rng: np.random.Generator
    ) -> tuple[Table, NDArray[np.int64], Grouping]:
        units, unit_of_row = self._make_units(table, audited, rng)
        one_group = np.zeros(len(units.rows), dtype=np.int64)
        return units, unit_of_row, arrange_groups(["all"], one_group, rng)

    def _make_units(
        self, table: Table, audited: Grouping, rng: np.random.Generator
    ) -> tuple[Table, NDArray[np.int64]]:
        """Give what is clustered, and the unit that each row is in: rows themselves."""
        return table, np.arange(len(table.rows))
