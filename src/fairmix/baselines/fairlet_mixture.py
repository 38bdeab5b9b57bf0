"""Fair MFM: a mixture of finite mixtures over fairlets."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fairmix.baselines.fairlet_clustering import centres_of, check_ratio, make_fairlets
from fairmix.baselines.mfm import MixtureOfFiniteMixtures
from fairmix.families import Bundled, bundle_statistics, is_conjugate, prepare
from fairmix.matching import Grouping
from fairmix.parameters import check_groups
from fairmix.preparation import Table

#: When p and q are chosen, there should be so many fairlets.
LEAST_FAIRLETS = 10


class FairletMixture(MixtureOfFiniteMixtures):
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
    verbose : int, default=0
        Print progress if positive.

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
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.p = p
        self.q = q

    def fit(self, X: Any, y: Any = None, *, sensitive_features: Any = None) -> Self:
        """Cut the rows into fairlets and sample the posterior of their clusterings.

        Parameters
        ----------
        X : data frame or array-like of shape (n_rows, n_features)
            The data.
        y : None
            Not used.
        sensitive_features : array-like, data frame, str or list of str, default=None
            The two sensitive groups; columns of X named here are not features.

        Returns
        -------
        self : FairletMixture
            The fitted estimator.
        """
        check_ratio(self.p, self.q)
        return super().fit(X, sensitive_features=sensitive_features)

    def _make_units(
        self, table: Table, audited: Grouping, rng: np.random.Generator
    ) -> tuple[Table, NDArray[np.int64]]:
        """Give fairlets; each is seen through its statistics, and at its centre for distances."""
        check_groups(audited)
        base = prepare(table.family, table.rows)
        if not is_conjugate(base) or hasattr(base, "update_shared"):
            raise ValueError(
                f"family = {self.family!r}: fairlets are clustered through their sufficient "
                "statistics alone; use a conjugate family without parameters that all clusters "
                "share, such as 'gaussian', or FairBayesianClustering."
            )
        points = table.coordinates
        codes = np.empty(len(points), dtype=np.int64)
        codes[audited.order] = audited.group_of
        self.fairlets_, self.ratio_ = make_fairlets(
            points, codes, audited, self.p, self.q, rng, LEAST_FAIRLETS
        )
        centres, _ = centres_of(points, self.fairlets_)
        units = Table(
            rows=bundle_statistics(base, table.rows, self.fairlets_),
            family=Bundled(base),
            points=table.points[centres],
            is_category=table.is_category,
        )
        return units, self.fairlets_
