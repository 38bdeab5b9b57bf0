"""What the estimators that sample a mixture have in common: the way from a table to labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from fairmix.callbacks import FitTask, set_callbacks, with_callbacks
from fairmix.course import Course
from fairmix.families import Product
from fairmix.families.choice import choose_family
from fairmix.model.grouping import Grouping, arrange_groups
from fairmix.model.model import Model
from fairmix.model.problem import Problem, family_of_kept, read_table
from fairmix.posterior.glance import show_model
from fairmix.posterior.labelling import Predictor
from fairmix.posterior.posterior import Posterior, warn_if_chains_disagree
from fairmix.posterior.prediction import Prediction, log_weights_of
from fairmix.posterior.profile import Profile
from fairmix.posterior.storage import save_model
from fairmix.posterior.training import Training
from fairmix.tables.checks import check_parameters
from fairmix.tables.frames import open_columns
from fairmix.tables.groups import Groups, read_groups, refuse_groups_as_y, split_sensitive
from fairmix.tables.rare_groups import merge_rare_groups
from fairmix.tables.schema import Schema, Table


class SampledMixture(ClusterMixin, BaseEstimator):
    """A mixture whose partition is sampled.

    A subclass has the parameters below (and others that ``sampler.assembly.Settings`` names) and
    the method ``_pose``, which says what is clustered and which groups that is fair to.
    """

    # Lets Pipeline and searches hand the argument on without set_fit_request.
    __metadata_request__fit = {"sensitive_features": True}  # noqa: RUF012
    __metadata_request__predict = {"sensitive_features": True, "method": True}  # noqa: RUF012
    __metadata_request__predict_proba = __metadata_request__predict

    #: Whether groups are made fair, so that they should be there.
    _makes_fair = True
    #: What the clusters are, of a model that was loaded without its rows.
    kept_profile: Profile | None = None

    family: Any
    annealing: bool
    n_chains: int
    n_warmup: int
    n_draws: int
    thin: int
    standardize: bool
    missing: str = "error"
    min_group_size: int | None = None
    max_seconds: float | None = None
    until: str | None = None
    warm_start: bool = False
    checkpoint: Any = None
    n_jobs: int | None
    random_state: Any
    verbose: int | str

    def __getstate__(self) -> dict[str, Any]:
        """Leave the chains behind: what they could go on from has the draws once more."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_left"}

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn whether missing cells are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "ignore"
        return tags

    def _repr_html_inner(self) -> str:
        """Give what a notebook shows: the answer, if there is one, above scikit-learn's diagram."""
        diagram: str = super()._repr_html_inner()
        return show_model(self) + diagram if hasattr(self, "posterior_") else diagram

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Give the same to what asks for several forms at once, as notebooks do."""
        forms: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        return forms | {"text/html": self._repr_html_inner()} if "text/html" in forms else forms

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set callbacks of scikit-learn (from its version 1.9 on), such as its ``ProgressBar``.

        They hear of the fit, of each chain and of each hundredth of a chain. If one asks to stop,
        all chains stop and what they have drawn so far is given, with a warning.

        Parameters
        ----------
        *callbacks : callback
            The callbacks, which replace those of before.

        Returns
        -------
        self : object
            The estimator.
        """
        set_callbacks(self, callbacks)
        return self

    @with_callbacks
    def fit(self, X: Any, y: Any = None, *, sensitive_features: Any = None) -> Self:
        """Sample the posterior of clusterings.

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
        self : object
            The fitted estimator.
        """
        from fairmix.sampler.assembly import Settings, make_chain, make_model
        from fairmix.sampler.recorder import Audit, DrawRecorder
        from fairmix.sampler.run import run_chains

        if self._makes_fair:
            refuse_groups_as_y(y, sensitive_features)
        self._check_parameters()
        task = FitTask.of(self, X, {"sensitive_features": sensitive_features})
        course = Course(self)
        settings = Settings.of(self)
        features, sensitive_features = split_sensitive(X, sensitive_features)
        columns = open_columns(features)
        family = choose_family(self.family, columns)
        groups = read_groups(sensitive_features, columns.n_rows)
        groups = merge_rare_groups(groups, self.min_group_size)
        schema, table = read_table(
            columns,
            family,
            standardize=self.standardize,
            allow_missing=self.missing == "ignore",
            group_names=groups.names,
        )
        schema = replace(schema, merged_groups=tuple(groups.merged.items()))
        seed = course.choose_seed(self.random_state)
        model_seed, *chain_seeds = np.random.SeedSequence(seed).spawn(self.n_chains + 1)
        model_rng = np.random.default_rng(model_seed)
        grouping = arrange_groups(groups.names, groups.codes, model_rng)
        kept_family = family_of_kept(family, schema)
        problem = self._pose(table, schema, kept_family, groups, grouping, model_rng)
        model = make_model(problem, settings, model_rng)
        audit = Audit(
            problem.place_of_row,
            problem.measured.codes,
            tuple(problem.measured.names),
            problem.cost,
            settings.gap_kind,
        )
        make_recorder = partial(
            DrawRecorder,
            audit,
            n_chains=self.n_chains,
            n_labels=problem.enforced.n_anchors,
            n_masked=int(model.n_masked.sum()),
        )
        course.identify(self, seed, schema, table, groups)
        somewhere = replace(settings, init_match="random", init_partition="one")
        record = course.run(
            lambda n_kept: make_recorder(n_kept=n_kept),
            partial(
                run_chains,
                partial(make_chain, model, settings, chain_seeds),
                remake=partial(make_chain, model, somewhere, chain_seeds),
                n_warmup=self.n_warmup,
                thin=self.thin,
                annealing=self.annealing,
                n_jobs=self.n_jobs,
                verbose=self.verbose,
                listener=task,
            ),
        )
        measured = replace(problem.measured, attributes=groups.attributes)
        training = Training(schema, table, measured, kept_family, settings.gap_kind)
        # Whatever comes next, it is not lost.
        self.posterior_ = Posterior.from_record(record, training)
        self._left = course.left
        self.provenance_ = course.provenance()
        every = family.families if isinstance(family, Product) else [family] * len(schema.columns)
        self.families_ = dict(zip(schema.names, every, strict=True))
        self._set_fitted(schema, grouping, model)
        self._learn_to_predict(problem, model)
        if task is not None:
            task.finish()
        return self

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
        return self.fit(X, y, sensitive_features=sensitive_features).labels_

    def profile(self, *, names: Mapping[Any, str] | None = None) -> Profile:
        """Tell what each cluster of ``labels_`` is, in the user's own units.

        Parameters
        ----------
        names : mapping, default=None
            Names of your own by number of the cluster, such as ``{0: "seniors"}``.

        Returns
        -------
        Profile
            As of :meth:`fairmix.Posterior.profile`.
        """
        check_is_fitted(self)
        if self.posterior_.training is None and self.kept_profile is not None:
            return self.kept_profile if names is None else self.kept_profile.named(names)
        return self.posterior_.profile(self.labels_, names=names)

    def feature_importance(self) -> pd.DataFrame:
        """Tell how much of the log likelihood that ``labels_`` gains each column brings.

        Returns
        -------
        pandas.DataFrame
            As of :meth:`fairmix.Posterior.feature_importance`.
        """
        check_is_fitted(self)
        return self.posterior_.feature_importance(self.labels_)

    def save(self, path: Any, include_data: bool = False) -> None:
        """Write the fitted model to a file, which :func:`fairmix.load` reads.

        It is one NetCDF4 file, whole or not there at all: draws, labels, parameters, the schema,
        and where the draws come from (``provenance_``). No code is in it, and none is run when it
        is loaded.

        Parameters
        ----------
        path : str or path
            The file; one that is there is replaced.
        include_data : bool, default=False
            Whether the rows are kept, too, as ``posterior_.training``. Without them, who gets the
            file cannot read the people in it: it has a label for each row, but no row.
        """
        save_model(self, path, include_data=include_data)

    def predict(
        self, X: Any, *, sensitive_features: Any = None, method: str = "auto"
    ) -> NDArray[np.int64]:
        """Give new rows labels of the clusters of ``labels_``, and be fair about it.

        The table that was fitted, row for row and with its groups, gets ``labels_``. Estimators
        that enforce no fairness label every row by its log predictive alone, and so does a fit with
        one group.

        Parameters
        ----------
        X : data frame or array-like of shape (n_rows, n_features)
            The rows. If both tables have names, columns are found by these, others are left out.
        sensitive_features : array-like, data frame, str or list of str, default=None
            Sensitive group of each row, as in :meth:`fit`. With None, rows are labelled by their
            log predictive alone, with a warning.
        method : {"auto", "batch", "prices", "match"}, default="auto"
            "batch" gives the rows of each group the clusters' shares in ``labels_``, exactly but
            for whole numbers, at the least loss of log predictive: for a list of rows. "prices"
            looks at one row at a time and is fair on average: for a stream. "match" is the paper's
            rule: rows of the smallest group go with the rows that were fitted, others with these.
            "auto" is "batch" if every group that X has comes with ten rows a cluster, else
            "prices".

        Returns
        -------
        ndarray of shape (n_rows,)
            Cluster of each row.

        Examples
        --------
        >>> from fairmix import FairBayesianClustering
        >>> from fairmix.datasets import load_toy
        >>> old, new = load_toy(random_state=0), load_toy(random_state=1)
        >>> model = FairBayesianClustering(n_warmup=100, n_draws=100, random_state=0)
        >>> model = model.fit(old.data, sensitive_features=old.sensitive_features)
        >>> labels = model.predict(new.data, sensitive_features=new.sensitive_features)
        """
        check_is_fitted(self, "labels_")
        return self._predictor.labels_of(X, sensitive_features, method)

    def predict_proba(
        self, X: Any, *, sensitive_features: Any = None, method: str = "auto"
    ) -> NDArray[np.float64]:
        r"""Give the probability that new rows are in each cluster of ``labels_``.

        Without fairness, :math:`p_c \propto P(c)\, p(x \mid X_c)` with the weights that the model
        gives clusters. With it, :math:`p_c \propto p(x \mid X_c)\, e^{-u_{gc}}` with the price
        :math:`u_{gc}` of cluster c for the row's group g, as learned by the fit ("prices") or from
        X itself ("batch"): prices take the weights' place. A row's label by prices has the largest
        probability; in a batch, one of the largest if several are equal.

        Parameters
        ----------
        X : data frame or array-like of shape (n_rows, n_features)
            The rows.
        sensitive_features : array-like, data frame, str or list of str, default=None
            Sensitive group of each row, as in :meth:`predict`.
        method : {"auto", "batch", "prices"}, default="auto"
            Which prices, as in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_rows, n_clusters)
            Probabilities that add up to 1 for each row.
        """
        check_is_fitted(self, "labels_")
        return self._predictor.probabilities_of(X, sensitive_features, method)

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Give the log predictive density of rows: how well the clustering foresees them.

        It is that of the mixture given ``labels_``, with the chance of a new cluster, whatever the
        row's group. Columns of numbers count in the user's own units.

        Parameters
        ----------
        X : data frame or array-like of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            The log densities.
        """
        check_is_fitted(self, "labels_")
        return self._predictor.log_density_of(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Give the mean of :meth:`score_samples`.

        Parameters
        ----------
        X : data frame or array-like of shape (n_rows, n_features)
            The rows.
        y : None
            Not used.

        Returns
        -------
        float
            Mean log predictive density of a row.
        """
        return float(np.mean(self.score_samples(X)))

    def _learn_to_predict(self, problem: Problem, model: Model) -> None:
        """Keep what predictions are learned from, when they are asked for."""
        label_of_unit = np.empty(len(problem.units.rows), dtype=np.int64)
        label_of_unit[problem.unit_of_row] = self.labels_
        prior, grouping = model.partition_prior, problem.enforced
        of_units = label_of_unit[grouping.order[: grouping.n_anchors]]
        assert self.posterior_.training is not None
        self._predictor = Predictor(
            self.posterior_.training,
            self.labels_,
            log_weights_of(np.bincount(of_units), prior.concentration, prior.components_prior),
            makes_fair=self._makes_fair,
            owner=type(self).__name__,
        )

    def learned_prediction(self) -> Prediction:
        """Give what was learned for new rows, learned now if need be; used by :meth:`save`.

        Returns
        -------
        Prediction
            It has none of the rows.
        """
        check_is_fitted(self, "labels_")
        learned: Prediction = self._predictor.prediction
        return learned

    def know_prediction(self, prediction: Prediction) -> None:
        """Take up what a fit like this one has learned for new rows; used by ``fairmix.load``.

        Parameters
        ----------
        prediction : Prediction
            What was learned.
        """
        self._predictor = Predictor.of(
            prediction,
            self.labels_,
            makes_fair=self._makes_fair,
            owner=type(self).__name__,
            training=self.posterior_.training,
        )

    def _check_parameters(self) -> None:
        """Check the parameters as far as that goes without the data."""
        check_parameters(self.get_params(deep=False))

    def _pose(
        self,
        table: Table,
        schema: Schema,
        family: Any,
        groups: Groups,
        grouping: Grouping,
        rng: np.random.Generator,
    ) -> Problem:
        """Give the problem of clustering a table whose rows have these groups."""
        raise NotImplementedError

    def _set_fitted(self, schema: Schema, grouping: Grouping, model: Model) -> None:
        """Set the attributes that users read, beside the posterior."""
        posterior = self.posterior_
        warn_if_chains_disagree(posterior, self.get_params(deep=False))
        estimate = posterior.point_estimate()
        self.labels_ = estimate.labels
        self.n_clusters_ = estimate.n_clusters
        self.groups_ = dict(zip(grouping.names, grouping.sizes.tolist(), strict=True))
        self.schema_ = schema
        schema.note_on(self)
