"""The estimator: parameters, fit, labels and posterior."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state

from fairmix.cap import certain_gap, resolve_cap
from fairmix.families import Product, prepare
from fairmix.family_choice import choose_family
from fairmix.features import Features, read_features, refuse_holes
from fairmix.inputs import read_groups, split_sensitive
from fairmix.matching import Grouping, arrange_groups, choose_extra, initial_match
from fairmix.model import Model
from fairmix.parameters import check_groups, check_memory, check_parameters, resolve_masks
from fairmix.partition import PartitionPrior, as_components_prior
from fairmix.point_estimate import least_expected_information
from fairmix.posterior import Posterior, warn_if_chains_disagree
from fairmix.preparation import Table, prepare_table, warn_about_copies

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


class FairBayesianClustering(ClusterMixin, BaseEstimator):
    r"""Fair Bayesian Clustering: a mixture model whose clusters are fair by construction.

    Rows of the smallest sensitive group (the *anchors*) are clustered by a mixture of finite
    mixtures; every other row is matched to an anchor and goes where that anchor goes, so that
    every group has (nearly) the same share in every cluster. Partition, matching and the
    number of clusters are sampled from their posterior by MCMC.

    Parameters
    ----------
    family : str, family or dict, default="gaussian"
        Distribution of the rows of a cluster. For numbers "gaussian" (a variance for each column
        and cluster), "gaussian-spherical" (one for all columns of a cluster), "gaussian-tied"
        (one for all clusters), "gaussian-full" (any covariance), "student-t" (robust) or
        "skew-normal"; for counts "poisson", for durations "exponential", for columns of two values
        "bernoulli", for any values "categorical". "auto" chooses for each column from its values
        (``families_`` says what), a dict maps columns to families and leaves the others to
        "auto". A family object from :mod:`fairmix.families`, or your own, sets hyperparameters.
    n_masked : int or dict, default=0
        Rows of each follower group that are exempt from matching (the paper's m), for relaxed
        fairness; a dict maps group names to numbers. With m of n_b rows masked (and group
        sizes that are multiples), the gap is at most m / n_b.
    max_gap : float or None, default=None
        The largest fairness gap of any draw: the prior is cut to clusterings that obey it, so
        the bound is certain, whatever the group sizes. None is no cap; ``gap_bound_`` says what
        is certain then.
    min_balance : float or None, default=None
        The least balance of any draw, likewise.
    extra : {"auto", "random", "medoids", "free"}, rows or dict, default="auto"
        When a group's size is not a multiple of the smallest group's, some anchors take one
        follower more (the paper's R): random ones, medoids of the anchors, these rows
        of X (0-based; for several follower groups a dict group -> rows), all chosen once for
        all chains since they belong to the model; or "free": any, sampled with all the rest.
        "auto" is "free" with a cap, which needs it, and "random" without.
    temperature : float, default=1.0
        Temperature tau of the prior of the matching, :math:`\exp(-\text{mean distance}/\tau)`.
        The distance is a mean over a group's rows, so the prior is nearly flat from 0.1 on;
        only a temperature of the order of 1 / n_b has an effect. ``inf`` is exactly flat.
    concentration : float, default=1.0
        Dirichlet parameter gamma of the mixture's weights.
    components_prior : prior, callable or None, default=None
        Prior on the number of components: ``Geometric``, ``Fixed``, ``Uniform`` or
        ``ShiftedPoisson`` from fairmix, or a function k -> log p_K(k). None is
        ``Geometric(0.1)``.
    matching_step : {"separate", "joint"}, default="separate"
        How the matching is sampled: our moves, or the paper's joint proposal.
    matching_moves : int or "auto", default="auto"
        Follower swaps a sweep, with anchor swaps in proportion ("auto": four a follower), shared
        out over its rounds (rounded up); in the joint step, joint proposals a sweep (the paper
        makes 10).
    split_merge_moves : int or "auto", default="auto"
        Proposals a sweep to split a cluster, merge two, or deal two (or a part of them) anew,
        matched rows and all ("auto": 50, or 4 for families whose parameters are sampled).
        Without them chains hardly leave the place where they start.
    init_match : {"transport", "random"}, default="transport"
        The first matching: least total distance, or at random.
    init_partition : {"auto", "kmeans", "one", "singletons"}, int, labels or tuple, default="auto"
        The first partition: k-means on the means of matched rows, one cluster, every anchor its
        own, this many random clusters, or labels of the rows of X (those of the anchors count).
        A tuple of these is one start a chain, in turn; "auto" is ("kmeans", "one", 20,
        "singletons"), so that chains that agree do so from different places (singletons with at
        most 1,000 anchors).
    annealing : bool, default=True
        Whether the warm-up begins with a flattened likelihood (a tenth of its power, raised to
        the whole) and goes on with relaxed fairness (any rows may be masked, at a rising price),
        for 45 % of its sweeps each; under a cap only the first, for 60 %. Chains that start cold
        often stay in the first arrangement of clusters they come across.
    n_chains : int, default=4
        Number of chains.
    n_warmup : int, default=1000
        Sweeps of each chain that are thrown away.
    n_draws : int, default=1000
        Sweeps of each chain after warm-up. If chains disagree (R-hat of the log posterior or of
        the number of clusters above 1.05), a ``ConvergenceWarning`` says so.
    thin : int, default=1
        Keep every so many of them.
    standardize : bool, default=True
        Scale columns of Gaussian and other families with a location and a scale to mean 0 and
        (population) variance 1, which their default hyperparameters are made for.
    missing : {"error", "ignore"}, default="error"
        What to do about missing cells: raise an error, or leave them out of the likelihood, as if
        they had never been asked for. That is right if being missing says nothing about the
        cell's own value beyond what the row's other cells say.
    n_jobs : int, default=None
        Number of threads that chains run in, as in scikit-learn (None is 1). The draws do not
        depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed; the same seed gives the same draws.
    verbose : int, default=0
        Print progress if positive.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row: the draw with the least posterior expected variation of information.
    n_clusters_ : int
        Number of clusters in ``labels_``.
    posterior_ : Posterior
        All draws, with diagnostics in ``posterior_.summary()``.
    gap_bound_ : float
        What is certain about the fairness gap of every draw: ``max_gap``, or the mean over
        groups of :math:`m_b/n_b + r_b (n_0 - r_b)/(n_0 n_b)`, whichever is smaller.
    families_ : dict
        Family of each feature, by name (or position, if X has no names).
    groups_ : dict
        Number of rows of each sensitive group, the anchor group first.
    n_features_in_ : int
        Number of features (sensitive columns that were given by name do not count).
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has string column names.

    References
    ----------
    .. [1] J. Lee, K. Kim and Y. Kim. Fair Bayesian Model-Based Clustering. 2025.
    .. [2] J. W. Miller and M. T. Harrison. Mixture models with a prior on the number of
       components. Journal of the American Statistical Association 113:340-356, 2018.
    .. [3] R. M. Neal. Markov chain sampling methods for Dirichlet process mixture models.
       Journal of Computational and Graphical Statistics 9:249-265, 2000.

    Examples
    --------
    >>> from fairmix import FairBayesianClustering
    >>> from fairmix.datasets import load_toy
    >>> toy = load_toy()
    >>> model = FairBayesianClustering(n_warmup=100, n_draws=100, random_state=0)
    >>> model.fit(toy.data, sensitive_features=toy.sensitive_features).n_clusters_
    3
    """

    # Lets Pipeline and searches hand the argument on without set_fit_request.
    __metadata_request__fit = {"sensitive_features": True}  # noqa: RUF012

    def __init__(
        self,
        family: Any = "gaussian",
        *,
        n_masked: Any = 0,
        max_gap: float | None = None,
        min_balance: float | None = None,
        extra: Any = "auto",
        temperature: float = 1.0,
        concentration: float = 1.0,
        components_prior: Any = None,
        matching_step: str = "separate",
        matching_moves: int | str = "auto",
        split_merge_moves: int | str = "auto",
        init_match: str = "transport",
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
        self.family = family
        self.n_masked = n_masked
        self.max_gap = max_gap
        self.min_balance = min_balance
        self.extra = extra
        self.temperature = temperature
        self.concentration = concentration
        self.components_prior = components_prior
        self.matching_step = matching_step
        self.matching_moves = matching_moves
        self.split_merge_moves = split_merge_moves
        self.init_match = init_match
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

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn whether missing cells are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "ignore"
        return tags

    @classmethod
    def paper(cls, **parameters: Any) -> Self:
        """Give an estimator that samples exactly as the paper does.

        Ten joint proposals a sweep, no split-merge, from one cluster and a random matching,
        1,000 sweeps of warm-up and 200 more. It is there to compare with: on real data such
        chains end far from each other.

        Parameters
        ----------
        **parameters
            Parameters of the estimator, to set others or change these.

        Returns
        -------
        FairBayesianClustering
            The estimator.
        """
        preset: dict[str, Any] = {
            "extra": "random",
            "matching_step": "joint",
            "matching_moves": 10,
            "split_merge_moves": 0,
            "init_match": "random",
            "init_partition": "one",
            "annealing": False,
            "n_warmup": 1000,
            "n_draws": 200,
        }
        known = cls().get_params()  # the plain mixture has no matching to set up
        preset = {name: value for name, value in preset.items() if name in known}
        return cls(**(preset | parameters))

    def fit(self, X: Any, y: Any = None, *, sensitive_features: Any = None) -> Self:
        """Sample the posterior of fair clusterings.

        Parameters
        ----------
        X : data frame or array-like of shape (n_rows, n_features)
            The data: pandas, polars, NumPy or lists.
        y : None
            Not used; scikit-learn's convention.
        sensitive_features : array-like, data frame, str or list of str, default=None
            Sensitive group of each row. Several columns are crossed. A string, or a list of
            strings that are all columns of X, names columns of X, which are then not
            features. None is one group: nothing is made fair.

        Returns
        -------
        self : FairBayesianClustering
            The fitted estimator.
        """
        return self._fit(X, sensitive_features, enforce=True)

    def fit_predict(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None
    ) -> NDArray[np.int64]:
        """Sample the posterior and give ``labels_``.

        Parameters
        ----------
        X : data frame or array-like of shape (n_rows, n_features)
            The data.
        y : None
            Not used.
        sensitive_features : array-like, data frame, str or list of str, default=None
            Sensitive group of each row, as in :meth:`fit`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Cluster of each row.
        """
        return self.fit(X, sensitive_features=sensitive_features).labels_

    def _fit(self, X: Any, sensitive_features: Any, *, enforce: bool) -> Self:
        """Fit with fairness enforced, or (for the plain mixture) only measured."""
        from fairmix.sampling import Audit, label_type, sample_posterior

        check_parameters(self)
        X, sensitive_features = split_sensitive(X, sensitive_features)
        family = choose_family(self.family, X)
        kinds = getattr(family, "values", "numbers")
        features = read_features(X, kinds, allow_missing=self.missing == "ignore")
        refuse_holes(features, family, self.family)
        groups = read_groups(sensitive_features, len(features.rows))
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        model_seed, *chain_seeds = np.random.SeedSequence(seed).spawn(self.n_chains + 1)
        model_rng = np.random.default_rng(model_seed)
        audited = arrange_groups(groups.names, groups.codes, model_rng)
        if enforce:
            check_groups(audited)
            warn_about_copies(features, groups)
        table = prepare_table(features, family, standardize=self.standardize)
        units, unit_of_row, grouping = self._arrange(table, audited, model_rng)
        n_rows = len(table.rows)
        check_memory(
            self.n_chains,
            self.n_draws // self.thin,
            n_rows,
            label_type(grouping.n_anchors).itemsize,
        )

        model = self._make_model(units, grouping, model_rng)
        chains = [
            self._make_chain(model, number, np.random.default_rng(chain_seed))
            for number, chain_seed in enumerate(chain_seeds)
        ]

        group_codes = np.empty(n_rows, dtype=np.int64)
        group_codes[audited.order] = audited.group_of
        posterior = sample_posterior(
            chains,
            n_warmup=self.n_warmup,
            n_draws=self.n_draws,
            thin=self.thin,
            audit=Audit(
                np.argsort(grouping.order)[unit_of_row], group_codes, audited.names, table.cost
            ),
            annealing=self.annealing,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        self._set_fitted(posterior, features, audited)
        names = features.names or range(self.n_features_in_)
        every = family.families if isinstance(family, Product) else [family] * self.n_features_in_
        self.families_ = dict(zip(names, every, strict=True))
        if enforce:
            self.gap_bound_ = min(model.cap.max_gap, certain_gap(grouping, model.n_masked))
        return self

    def _arrange(
        self, table: Table, audited: Grouping, rng: np.random.Generator
    ) -> tuple[Table, IntArray, Grouping]:
        """Give what is sampled (rows, or bundles of them), each row's place in it, and groups."""
        return table, np.arange(len(table.rows)), audited

    def _make_model(self, table: Table, grouping: Grouping, rng: np.random.Generator) -> Model:
        """Put data, family and priors together, rows in internal order."""
        cap = resolve_cap(self.max_gap, self.min_balance, grouping)
        extra = self.extra
        if isinstance(extra, str) and extra == "auto":
            extra = "free" if cap.is_tight else "random"
        is_free = isinstance(extra, str) and extra == "free"
        ordered = np.ascontiguousarray(table.rows[grouping.order])
        distance = table.distance(grouping.order)
        return Model(
            rows=ordered,
            family=prepare(table.family, ordered),
            distance=distance,
            grouping=grouping,
            extra=None if is_free else choose_extra(extra, grouping, distance, rng),
            n_masked=resolve_masks(self.n_masked, grouping),
            temperature=float(self.temperature),
            partition_prior=PartitionPrior(
                grouping.n_anchors,
                float(self.concentration),
                as_components_prior(self.components_prior),
            ),
            cap=cap,
        )

    def _make_chain(self, model: Model, number: int, rng: np.random.Generator) -> Any:
        """Make a chain with its own start."""
        from fairmix.chain import Chain, initial_start
        from fairmix.schedule import make_schedule
        from fairmix.start import initial_labels, repair_start, start_of_chain

        extra = model.extra
        if extra is None:  # some R to start with
            extra = choose_extra("random", model.grouping, model.distance, rng)
        match = initial_match(self.init_match, model.grouping, extra, model.distance, rng)
        start = start_of_chain(self.init_partition, number, model)
        labels = initial_labels(start, model, match, rng)
        labels, match = repair_start(model, labels, match, rng)
        schedule = make_schedule(
            model,
            self.matching_step,
            None if self.matching_moves == "auto" else int(self.matching_moves),
            None if self.split_merge_moves == "auto" else int(self.split_merge_moves),
        )
        return Chain(model, initial_start(model, labels, match, rng), schedule, rng)

    def _set_fitted(self, posterior: Posterior, features: Features, grouping: Grouping) -> None:
        """Set the attributes that users read."""
        warn_if_chains_disagree(posterior)
        chain, draw = least_expected_information(posterior.labels)
        self.posterior_ = posterior
        self.labels_ = posterior.labels[chain, draw].astype(np.int64)
        self.n_clusters_ = int(posterior.n_clusters[chain, draw])
        self.groups_ = dict(zip(grouping.names, grouping.sizes.tolist(), strict=True))
        features.note_on(self)
