"""The draws of a fit, and what they say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from fairmix.posterior.attributes import gaps_of_attributes
from fairmix.posterior.ball import CredibleBall, find_ball
from fairmix.posterior.core import SureCore, find_core
from fairmix.posterior.diagnostics import bulk_ess, r_hat
from fairmix.posterior.estimate import Estimate, estimate_partition
from fairmix.posterior.glance import show_posterior
from fairmix.posterior.importance import gains_of_columns
from fairmix.posterior.pairs import Pairs, compare_pairs
from fairmix.posterior.particles import Particles, find_particles
from fairmix.posterior.profile import Profile
from fairmix.posterior.profiling import make_profile
from fairmix.posterior.reference import distance_series
from fairmix.posterior.similarity import cluster_probabilities, row_similarity
from fairmix.posterior.training import Training, known_table
from fairmix.posterior.verdict import AGREE, CANNOT_TELL, Verdict, judge
from fairmix.sampler.record import Record
from fairmix.tables.checks import warn
from fairmix.tables.groups import read_clusters

if TYPE_CHECKING:  # it takes its time to import
    import xarray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Scalars of each draw that do not depend on how clusters are numbered.
SCALARS = (
    "n_clusters",
    "n_components",
    "log_likelihood",
    "log_posterior",
    "fairness_gap",
    "balance",
    "cost",
)


@dataclass(frozen=True)
class Posterior:
    r"""Draws from the posterior; every array has leading axes (chain, draw).

    Attributes
    ----------
    labels : ndarray of shape (n_chains, n_draws, n_rows)
        Cluster of each row, canonical: 0 is the largest cluster, ties by first row.
    n_clusters : ndarray of shape (n_chains, n_draws)
        Number of occupied clusters, the paper's t.
    n_components : ndarray of shape (n_chains, n_draws)
        Number of components of the mixture, the paper's K, drawn given t.
    log_likelihood : ndarray of shape (n_chains, n_draws)
        Sum of the clusters' log marginal likelihoods, on the data as sampled.
    log_posterior : ndarray of shape (n_chains, n_draws)
        :math:`\log V_n(t) + \sum_c \log \gamma^{(|c|)}` plus log likelihood plus
        :math:`\sum_b \log e(\mathbf T_b)`: the log posterior up to a constant. For families whose
        parameters are sampled, the log prior density of these is in it: a density whose
        dimension changes with the number of clusters.
    fairness_gap, balance, cost : ndarray of shape (n_chains, n_draws)
        As in :mod:`fairmix.metrics`, on the data as sampled.
    group_gaps : ndarray of shape (n_chains, n_draws, n_groups - 1)
        Gap of each group to the smallest one; the fairness gap is their mean.
    masked_rows : ndarray of shape (n_chains, n_draws, n_masked)
        Rows of X that were exempt from matching (the paper's E).
    group_names : tuple
        Names of the groups in ``group_gaps``.
    acceptance : dict of str to ndarray of shape (n_chains, n_draws)
        Share of proposals accepted since the draw before, for each kind of move that was made
        (for the Gibbs moves, the share that changed a label); NaN where nothing was proposed.
    training : Training or None
        The table that was fitted, as far as it is at hand.
    """

    labels: NDArray[np.unsignedinteger]
    n_clusters: IntArray
    n_components: IntArray
    log_likelihood: FloatArray
    log_posterior: FloatArray
    fairness_gap: FloatArray
    balance: FloatArray
    cost: FloatArray
    group_gaps: FloatArray
    masked_rows: IntArray
    group_names: tuple[Any, ...]
    acceptance: dict[str, FloatArray]
    training: Training | None = None

    @classmethod
    def from_record(cls, record: Record, training: Training | None = None) -> Self:
        """Put together what a recorder has kept.

        Parameters
        ----------
        record : Record
            The recorded arrays; they are used as they are, not copied.
        training : Training, optional
            The table that was fitted.

        Returns
        -------
        Posterior
            The draws.
        """
        arrays = dict(record.arrays)
        rates = arrays.pop("acceptance")
        by_move = {move: rates[..., k] for k, move in enumerate(record.moves)}
        return cls(**arrays, group_names=record.group_names, acceptance=by_move, training=training)

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return int(self.labels.shape[0])

    @property
    def n_draws(self) -> int:
        """Number of draws of each chain."""
        return int(self.labels.shape[1])

    def to_dataset(self) -> xarray.Dataset:
        """Give the draws as an xarray Dataset with the dimensions chain, draw, row and so on.

        Returns
        -------
        xarray.Dataset
            All arrays, not copied.
        """
        from fairmix.posterior.dataset import to_dataset

        return to_dataset(self)

    @classmethod
    def from_dataset(cls, dataset: xarray.Dataset) -> Posterior:
        """Make a posterior of what :meth:`to_dataset` gave.

        Parameters
        ----------
        dataset : xarray.Dataset
            The draws.

        Returns
        -------
        Posterior
            The same draws, without ``training``.
        """
        from fairmix.posterior.dataset import from_dataset

        return from_dataset(dataset)

    def to_arviz(self) -> xarray.Dataset:
        """Give what ArviZ can compare between chains: scalars and gaps, but no labels.

        ArviZ takes such a Dataset in its versions 0.2x and 1.x alike, as in
        ``arviz.summary(model.posterior_.to_arviz())``. Labels are left out: their numbers mean
        nothing from draw to draw, so R-hat of them would mean nothing either.

        Returns
        -------
        xarray.Dataset
            Variables with the dimensions chain and draw.
        """
        from fairmix.posterior.dataset import COMPARABLE, to_dataset

        return to_dataset(self)[list(COMPARABLE)].drop_attrs()

    def summary(self) -> pd.DataFrame:
        """Summarise the scalars of the draws, with R-hat and bulk effective sample size.

        Returns
        -------
        pandas.DataFrame
            A row a scalar: mean, sd, 5 % and 95 % quantiles, ess_bulk, r_hat; rounded, to read.
            "distance" is the variation of information in bits to a few reference draws, the last
            ones of up to four chains: the smallest ess_bulk and the largest r_hat of these. With
            several groups, there is the gap of each that is compared. Last comes the gap by
            each sensitive attribute, if several are crossed or rare groups were put together; of
            one draw in so many if there are millions of labels, which is then said.
            ``attrs["verdict"]`` is the word of :meth:`verdict`.
        """
        scalars = {name: [getattr(self, name)] for name in SCALARS}
        scalars["distance"] = list(self.reference_distances)
        if len(self.group_names) > 1:
            for k, group in enumerate(self.group_names):
                scalars[f"gap of {group}"] = [self.group_gaps[..., k]]
        if self.training is not None:
            gaps, thin = gaps_of_attributes(
                self.labels, self.training.groups, self.training.gap_kind
            )
            said = "" if thin == 1 else f" (1 draw in {thin})"
            scalars |= {f"gap by {name}{said}": [values] for name, values in gaps.items()}
        rows = {}
        for name, series in scalars.items():
            low, high = np.quantile(series, [0.05, 0.95])
            rows[name] = {
                "mean": float(np.mean(series)),
                "sd": float(np.std(series)),
                "5%": float(low),
                "95%": float(high),
                "ess_bulk": min(bulk_ess(values) for values in series),
                "r_hat": max(r_hat(values) for values in series),
            }
        summary = pd.DataFrame.from_dict(rows, orient="index").round(
            {"mean": 4, "sd": 4, "5%": 4, "95%": 4, "ess_bulk": 0, "r_hat": 3}
        )
        summary.attrs["verdict"] = self.verdict().word
        return summary

    def particles(self, n: int | None = None) -> Particles:
        """Choose a few draws that stand for all of them, where one is not enough.

        Parameters
        ----------
        n : int, optional
            How many. By default one more as long as it brings the draws nearer: it must lower the
            mean variation of information of a draw to the nearest particle by 3 % of what it is
            with one, and by 0.02 bits.

        Returns
        -------
        Particles
            The draws, with weights where these are known; ``table()`` gives their figures and
            ``describe()`` says what differs.

        References
        ----------
        .. [1] C. Balocchi and S. Wade. Understanding uncertainty in Bayesian cluster analysis.
           arXiv:2506.16295, 2025.

        Examples
        --------
        >>> print(model.posterior_.particles().describe())  # doctest: +SKIP
        One arrangement stands for all draws: 3 clusters. A draw is 0.19 bits from it on average.
        """
        return find_particles(self, n)

    def verdict(self, options: Mapping[str, Any] | None = None) -> Verdict:
        """Find out whether the chains agree, on what, and what to do if they do not.

        Parameters
        ----------
        options : mapping, optional
            Parameters of the estimator (``model.get_params()``), for advice that fits them.

        Returns
        -------
        Verdict
            Its ``word`` is "agree", "agree on the clusters but not on their number" or
            "disagree" (or "cannot tell", with one chain or few draws); ``figures`` and
            ``grounds`` say what it rests on, and ``advice`` what to do. ``print`` shows all.

        Examples
        --------
        >>> model.posterior_.verdict(model.get_params()).word  # doctest: +SKIP
        'agree'
        """
        return judge(self, options)

    def point_estimate(self, loss: str = "vi", *, random_state: Any = None) -> Estimate:
        """Choose one of the draws to stand for all of them.

        Parameters
        ----------
        loss : {"vi", "binder", "map", "random", "last"}, default="vi"
            The draw with the least expected variation of information, or with the least
            expected Binder loss (the share of pairs of rows that are together in one and apart
            in the other), to the draws; with more than 1,000 of them (fewer if the rows are
            many), to so many, evenly over all chains. "map" is the draw with the highest log
            posterior, "random" any, with the same probability each, and "last" the last one of
            the last chain.
        random_state : int, RandomState instance or None, default=None
            Seed of "random".

        Returns
        -------
        Estimate
            The draw's labels, where it is, and its expected loss.

        Examples
        --------
        >>> estimate = model.posterior_.point_estimate(loss="binder")  # doctest: +SKIP
        >>> estimate.n_clusters, round(estimate.expected_loss, 2)  # doctest: +SKIP
        (3, 0.02)
        """
        return estimate_partition(self, loss, random_state=random_state)

    @cached_property
    def pairs(self) -> Pairs:
        """Variation of information between any two draws, evenly thinned if they are many."""
        return compare_pairs(self.labels)

    @cached_property
    def reference_distances(self) -> FloatArray:
        """Variation of information, in bits, of each draw to a few of them.

        Shape (n_references, n_chains, n_draws); of every so many draws if the rows are many.
        """
        return distance_series(self.labels)

    def __getstate__(self) -> dict[str, Any]:
        """Leave behind what can be computed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def probabilities(self, labels: Any = None) -> FloatArray:
        """Give the posterior probability that each row is in each cluster of a partition.

        Numbers of clusters change from draw to draw; so each draw's clusters are matched one to
        one to those of the partition, so that as many rows as possible are in both.

        Parameters
        ----------
        labels : None, Estimate or array-like of shape (n_rows,), default=None
            The partition; None is :meth:`point_estimate`.

        Returns
        -------
        ndarray of shape (n_rows, n_clusters)
            Shares of draws, the clusters in sorted order of their labels. The rows of a draw's
            cluster that has no partner count to none, so a row's sum may be less than 1. Of many
            draws of many rows (more than 1e9 labels), every so many are used.

        Examples
        --------
        >>> model.posterior_.probabilities().min(axis=0)  # doctest: +SKIP
        array([0., 0., 0.])
        """
        return cluster_probabilities(self, labels)

    def similarity(self, rows: Any = None) -> FloatArray:
        """Give the share of draws in which two rows are in the same cluster.

        Parameters
        ----------
        rows : None or array-like of int, default=None
            Which rows, by position, at most 5,000; None are all of them. Of many rows, pass a
            sample.

        Returns
        -------
        ndarray of shape (n_rows, n_rows)
            The shares: of all draws if pairs of rows times draws are at most 1e9 (1,000 draws of
            1,000 rows), else of every so many, but of 50 or more.
        """
        return row_similarity(self, rows)

    def credible_ball(self, level: float = 0.95, estimate: Any = None) -> CredibleBall:
        """Find how far from the estimate the draws mostly are, and which are at the rim.

        Parameters
        ----------
        level : float, default=0.95
            Posterior probability of the ball.
        estimate : None, Estimate or array-like of shape (n_rows,), default=None
            The centre; None is :meth:`point_estimate`.

        Returns
        -------
        CredibleBall
            Its radius (variation of information in bits), centre, and bounds: draws at the rim.

        References
        ----------
        .. [1] S. Wade and Z. Ghahramani. Bayesian cluster analysis: point estimation and credible
           balls. Bayesian Analysis 13:559-626, 2018.

        Examples
        --------
        >>> model.posterior_.credible_ball()  # doctest: +SKIP
        <CredibleBall: 95% of the draws are within 0.52 bits of 3 clusters; they have 3 to 4
        clusters>
        """
        return find_ball(self, level, estimate)

    def sure_core(self, probability: float = 0.5) -> SureCore:
        """Find many rows that are probably in these clusters, all at once (after Dahl et al. 2025).

        Exact is the joint probability: it is the share of draws that have just this partition of
        these rows. Greedy is the search: rows are added one at a time, so there may be a larger
        set; but no row can be added to this one.

        Parameters
        ----------
        probability : float, default=0.5
            The least joint probability.

        Returns
        -------
        SureCore
            The rows and their clusters, the probability, and for every row of the table the
            probability of being together with the core of its own cluster.

        Examples
        --------
        >>> model.posterior_.sure_core()  # doctest: +SKIP
        <SureCore: 171 of 200 rows in 3 clusters, all at once in 50% of 400 draws>
        """
        return find_core(self, probability)

    def profile(self, labels: Any = None, *, names: Mapping[Any, str] | None = None) -> Profile:
        """Tell what each cluster of a partition is, in the user's own units.

        Parameters
        ----------
        labels : array-like of shape (n_rows,), default=None
            The partition. None is the draw of least expected variation of information.
        names : mapping, default=None
            Names of your own by label, such as ``{0: "seniors"}``; other clusters are named by
            their strongest features.

        Returns
        -------
        Profile
            Sizes, shares of groups, features beside those of all rows, and 90 % intervals. It
            reads as text; ``table()`` has a row a cluster, ``features()`` every figure.

        Examples
        --------
        >>> from fairmix import FairBayesianClustering
        >>> from fairmix.datasets import load_toy
        >>> toy = load_toy()
        >>> model = FairBayesianClustering(n_warmup=100, n_draws=100, random_state=0)
        >>> model.fit(toy.data, sensitive_features=toy.sensitive_features).profile().table().shape
        (4, 8)
        """
        training = known_table(self.training, "profile()")
        levels, codes = self._read_partition(labels)
        made = make_profile(training, self.labels, levels, codes)
        return made if names is None else made.named(names)

    def feature_importance(self, labels: Any = None) -> pd.DataFrame:
        """Tell how much of the log likelihood that clustering gains each column brings.

        Parameters
        ----------
        labels : array-like of shape (n_rows,), default=None
            The partition. None is the draw of least expected variation of information.

        Returns
        -------
        pandas.DataFrame
            A row a column, the most important one first: ``gain``, what is lost of the gain if the
            column is left out, and ``share`` of the whole gain. Shares add up to 1 if columns are
            independent within clusters, as with ``family="gaussian"`` or ``"auto"``. A column that
            is told better by one cluster than by several has a negative gain. Shares are NaN if
            the clusters gain nothing.
        """
        training = known_table(self.training, "feature_importance()")
        return gains_of_columns(training, self._read_partition(labels)[1])

    def _read_partition(self, labels: Any) -> tuple[list[Any], IntArray]:
        """Give the labels of a partition's clusters, and each row's place among them."""
        if labels is None:
            labels = self.point_estimate().labels
        return read_clusters(labels, self.labels.shape[2])

    def _repr_html_(self) -> str:
        """Give what a notebook shows."""
        return show_posterior(self)

    def __repr__(self) -> str:
        counts = np.bincount(self.n_clusters.ravel())
        return (
            f"<Posterior: {self.n_chains} chains x {self.n_draws} draws of "
            f"{self.labels.shape[2]} rows; most often {int(np.argmax(counts))} clusters>"
        )


def warn_if_chains_disagree(posterior: Posterior, options: Mapping[str, Any] | None = None) -> None:
    """Warn if chains tell different stories.

    Parameters
    ----------
    posterior : Posterior
        The draws; with one chain, or too few draws to tell, nothing is said.
    options : mapping, optional
        Parameters of the estimator by name, for advice that fits them.
    """
    verdict = posterior.verdict(options)
    if verdict.word not in (AGREE, CANNOT_TELL):
        warn(str(verdict), ConvergenceWarning)
