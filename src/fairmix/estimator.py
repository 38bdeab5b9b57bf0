"""The estimator: parameters, fit, labels and posterior."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fairmix.mixture import SampledMixture
from fairmix.model.feasible import certain_gap
from fairmix.model.grouping import Grouping, warn_about_one_group
from fairmix.model.model import Model
from fairmix.model.problem import Problem, groups_of_attributes, measured_groups
from fairmix.model.smallest_group import (
    check_capped_groups,
    check_groups,
    limits_clusters,
    remedies,
    warn_if_crowded,
)
from fairmix.posterior.verdict import MIN_DRAWS
from fairmix.tables.checks import check_constraint
from fairmix.tables.groups import Groups, warn_about_copies
from fairmix.tables.schema import Schema, Table


class FairBayesianClustering(SampledMixture):
    r"""Fair Bayesian Clustering: a mixture model whose clusters are fair by construction.

    There are two ways to be fair. By *matching*, the paper's way: rows of the smallest sensitive
    group (the *anchors*) are clustered by a mixture of finite mixtures; every other row is matched
    to an anchor and goes where that anchor goes, so that every group has (nearly) the same share in
    every cluster. By a *gap*: all rows are clustered by a mixture of finite mixtures whose prior is
    cut to clusterings with a fairness gap of at most ``max_gap``. Clusters, their number and
    the matching are sampled from their posterior by MCMC.

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
    constraint : {"auto", "matching", "gap"}, default="auto"
        How fairness is enforced. "auto" is "gap" with ``max_gap`` or ``min_balance``, and
        "matching" without. Parameters of the matching (``n_masked``, ``extra``, ``temperature``,
        ``matching_step``, ``matching_moves``, ``init_match``) are errors with "gap".
    max_gap : float, dict or None, default=None
        The largest fairness gap of any draw, whatever the group sizes; ``gap_bound_`` says what is
        certain without. With several sensitive columns, a dict from some of them to numbers caps
        the gap of each of these instead of that of all columns crossed.
    min_balance : float or None, default=None
        The least balance of any draw, likewise.
    gap_kind : {"paper", "mean", "worst"}, default="paper"
        What the gap is, as in :func:`fairmix.metrics.fairness_gap`. "mean" and "worst" compare
        groups with all rows. "mean" weighs them by their rows, so that a group of a few rows does
        no harm.
    min_group_size : int or None, default=None
        Sensitive groups of fewer rows are put together into one, "other" ("other (merged)" if a
        group has that name). While that one is too small, the next smallest joins it. Of crossed
        attributes it is the crossed groups. Draws are fair to the groups that this leaves;
        ``merged_groups_`` says which are in "other", and :mod:`fairmix.metrics` measures any.
    n_masked : int or dict, default=0
        Rows of each follower group that are exempt from matching (the paper's m), for relaxed
        fairness; a dict maps group names to numbers. With m of n_b rows masked (and group
        sizes that are multiples), the gap is at most m / n_b.
    extra : {"auto", "random", "medoids", "free"}, rows or dict, default="auto"
        When a group's size is not a multiple of the smallest group's, some anchors take one
        follower more (the paper's R): random ones, medoids of the anchors, these rows
        of X (0-based; for several follower groups a dict group -> rows), all chosen once for
        all chains since they belong to the model; or "free": any, sampled with all the rest.
        "auto" is "random", or "free" with a cap on the matching, which needs it.
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
        matched rows and all ("auto": 50, 130 with a gap, or 4 for families whose parameters are
        sampled).
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
        for 45 % of its sweeps each; under a cap on the matching only the first, for 60 %. With a
        gap, the first 40 % know no cap, and then a price of being outside rises. Chains that start
        cold often stay in the first arrangement of clusters they come across.
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
    verbose : int or "auto", default="auto"
        Whether to show on standard error how far the chains are: a bar a chain in a terminal or a
        notebook, plain lines elsewhere. "auto" does so in a terminal or a notebook if the fit takes
        more than five seconds, 1 always, 0 never.
    max_seconds : float or None, default=None
        Sampling ends after so many seconds with the draws that there are, and a note. The warm-up
        is never cut, since draws from before its end are not from the posterior; chains that run
        one after the other share the time.
    until : {"converged"} or None, default=None
        "converged" goes on beyond ``n_draws``, by half as many again each time, until R-hat of the
        log posterior and of the number of clusters is at most 1.01 and the effective sample size
        of both at least 400, or there are ten times ``n_draws``.
    warm_start : bool, default=False
        Whether the next ``fit`` on the same data goes on where the last one ended, with a larger
        ``n_draws``. The draws are those of one long run, bit for bit.
    checkpoint : str, path or None, default=None
        A folder that chains are written down in, about every minute. When a fit was killed, the
        same call goes on from there, bit for bit; other data, settings or versions are refused.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row: the draw with the least posterior expected variation of information.
    n_clusters_ : int
        Number of clusters in ``labels_``.
    posterior_ : Posterior
        All draws, with diagnostics in ``posterior_.summary()``.
    gap_bound_ : float
        What is certain about the fairness gap of every draw: ``max_gap`` (the largest, if there
        are several), or for a matching the mean over groups of
        :math:`m_b/n_b + r_b (n_0 - r_b)/(n_0 n_b)`, if that is smaller.
    constraint_ : {"matching", "gap"}
        How fairness was enforced.
    families_ : dict
        Family of each feature, by name (or position, if X has no names).
    schema_ : Schema
        What the fit learned about X: kinds, categories and units of its columns, and the groups;
        ``schema_.read(X)`` reads other tables by it, ``schema_.to_json()`` writes it.
    groups_ : dict
        Number of rows of each sensitive group, the anchor group first, rare ones put together.
    matches_ : ndarray of shape (n_rows,) or None
        The row of the smallest group that each row was matched to in the last draw of the first
        chain (masked rows are matched, too, but need not go there); None without matching.
    merged_groups_ : dict
        The group that each rare group was put into, by the rare group's name.
    provenance_ : dict
        Where the draws come from: seed, versions, hashes of the data, seconds of the last ``fit``.
    n_features_in_ : int
        Number of features (sensitive columns that were given by name do not count).
    feature_names_in_ : ndarray of shape (n_features,)
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

    def __init__(
        self,
        family: Any = "gaussian",
        *,
        constraint: str = "auto",
        max_gap: Any = None,
        min_balance: float | None = None,
        gap_kind: str = "paper",
        min_group_size: int | None = None,
        n_masked: Any = 0,
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
        verbose: int | str = "auto",
        max_seconds: float | None = None,
        until: str | None = None,
        warm_start: bool = False,
        checkpoint: Any = None,
    ) -> None:
        self.family = family
        self.constraint = constraint
        self.max_gap = max_gap
        self.min_balance = min_balance
        self.gap_kind = gap_kind
        self.min_group_size = min_group_size
        self.n_masked = n_masked
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
        self.max_seconds = max_seconds
        self.until = until
        self.warm_start = warm_start
        self.checkpoint = checkpoint

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
            "constraint": "matching",
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
        return cls(**(preset | parameters))

    def _pose(
        self,
        table: Table,
        schema: Schema,
        family: Any,
        groups: Groups,
        grouping: Grouping,
        rng: np.random.Generator,
    ) -> Problem:
        given = self.get_params(deep=False)
        remedy = remedies(groups, given, self.constraint_)
        if self.constraint_ == "matching":
            check_groups(grouping, remedy)
        elif grouping.n_groups == 1:
            warn_about_one_group()
        measured = measured_groups(grouping)
        warn_about_copies(table.rows, [column.name for column in schema.kept], measured)
        if self.constraint_ == "matching":
            return Problem.of_rows(table, family, grouping)
        capped: tuple[Groups, ...] = (measured,)
        if isinstance(self.max_gap, Mapping):
            capped = groups_of_attributes(groups, self.max_gap)
        check_capped_groups(capped, given, remedy)
        every_row = np.arange(len(table.rows))
        return Problem.without_groups(table, grouping, table, family, every_row, rng, capped)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self.constraint_ = check_constraint(self.get_params(deep=False))

    def _set_fitted(self, schema: Schema, grouping: Grouping, model: Model) -> None:
        super()._set_fitted(schema, grouping, model)
        self.merged_groups_ = dict(schema.merged_groups)
        self._warn_if_crowded()
        self.matches_ = None
        if self.constraint_ == "matching" and grouping.n_groups > 1:
            self.matches_ = self._last_matches(grouping)
        bounds = self.max_gap.values() if isinstance(self.max_gap, Mapping) else [self.max_gap]
        self.gap_bound_ = max(1.0 if bound is None else float(bound) for bound in bounds)
        if self.constraint_ == "matching":
            self.gap_bound_ = min(self.gap_bound_, certain_gap(grouping, model.n_masked))
        elif grouping.n_groups == 1:
            self.gap_bound_ = 0.0

    def _last_matches(self, grouping: Grouping) -> NDArray[np.int64]:
        """Give each row's match in the last draw of the first chain."""
        assert self._left is not None
        state = self._left.pasts[min(self._left.pasts)].bookmark.snapshot["state"]
        matches = np.empty(grouping.n_rows, dtype=np.int64)
        matches[grouping.order] = grouping.order[state["anchor_at"][state["slot_of"]]]
        return matches

    def _warn_if_crowded(self) -> None:
        """Warn if the smallest group has few rows for as many clusters as there are."""
        posterior, given = self.posterior_, self.get_params(deep=False)
        assert posterior.training is not None
        groups = posterior.training.groups
        by_gap = self.constraint_ == "gap"
        if posterior.n_draws < MIN_DRAWS or (by_gap and not limits_clusters(given)):
            return
        enforced: tuple[Groups, ...] = (groups,)
        if isinstance(self.max_gap, Mapping):
            enforced = groups_of_attributes(groups, self.max_gap)
        n_wanted = float(posterior.n_clusters.mean())
        remedy = remedies(groups, given, self.constraint_, n_wanted)
        warn_if_crowded(posterior.n_clusters, enforced, remedy)
