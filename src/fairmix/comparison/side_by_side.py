"""One command that clusters the same data in several ways."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pandas as pd

from fairmix.comparison.durations import OF_SAMPLERS, Durations, time_sampling
from fairmix.comparison.measure import Data
from fairmix.comparison.methods import (
    FINDER,
    N_DRAWS,
    N_WARMUP,
    NOT_TOLD,
    Run,
    check_estimators,
    choose_names,
    default_methods,
    list_runs,
)
from fairmix.comparison.result import Comparison
from fairmix.comparison.schedule import Schedule
from fairmix.model.problem import prepare_points
from fairmix.tables.checks import check_each, check_integer, check_positive, warn
from fairmix.tables.groups import read_groups, split_sensitive

#: More seeds than this are a slip; and no seed may be larger.
MOST_SEEDS, LARGEST_SEED = 10**6, 2**32 - 1
#: The number of clusters that time is planned for while it is not known.
USUAL_NUMBER = 8


def compare(
    X: Any,
    sensitive_features: Any,
    *,
    methods: Any = None,
    n_clusters: int | None = None,
    family: Any = None,
    n_seeds: int = 1,
    random_state: int = 0,
    n_warmup: int = N_WARMUP,
    n_draws: int = N_DRAWS,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    verbose: int | str = "auto",
) -> Comparison:
    """Cluster the same data in several ways, and measure fairness, cost and time.

    Parameters
    ----------
    X : data frame or array-like of shape (n_rows, n_features)
        The data.
    sensitive_features : array-like, data frame, str or list of str
        Sensitive group of each row; a string or a list of strings names columns of X.
    methods : list of str, dict or None, default=None
        Names of methods (see :func:`fairmix.comparison.default_methods`; None is all of them), or
        a dict from names to estimators, or to lists of estimators with different settings. Any
        clusterer with ``fit_predict`` will do; it is given ``sensitive_features`` if it takes them.
    n_clusters : int or None, default=None
        Number of clusters for the methods that must be told. None is the number that
        ``FairBayesianClustering`` finds, as in the paper, in the first run of "FBC".
    family : str, family, dict or None, default=None
        Family for the methods that sample. None is "gaussian" if all columns are numbers,
        else "auto".
    n_seeds : int, default=1
        Number of runs of each setting, with the seeds ``random_state``, ``random_state`` + 1, ...
    random_state : int, default=0
        The first seed.
    n_warmup, n_draws : int, default=150
        Sweeps of warm-up and draws of the methods that sample, of two chains each. These are few,
        for a first look; take some thousands for figures to publish. Estimators in a dict keep
        their own.
    time_limit : float or None, default=None
        Seconds that all may take. A run is begun only if it is expected to end in time: first the
        strictest setting of each method, then other settings, then other seeds. Runs that are left
        out are rows of the result, too, and a warning counts them.
    n_jobs : int or None, default=None
        Number of processes, as in scikit-learn (None is 1). Each run has one, so that seconds can
        be compared.
    verbose : int or "auto", default="auto"
        Whether to say on standard error what will be run, about how long that takes, and how each
        run has ended. "auto" does so in a terminal or a notebook if it takes more than five
        seconds, 1 always, 0 never.

    Returns
    -------
    Comparison
        All runs (``runs``), means (``summary()``) and a picture (``plot()``). A run that failed is
        a row with its error.

    Examples
    --------
    >>> from fairmix import compare
    >>> from fairmix.datasets import load_toy
    >>> toy = load_toy(n_rows=120)
    >>> found = compare(toy.data, toy.sensitive_features, n_clusters=3,
    ...                 methods=["k-means", "Fair k-means"])
    >>> found.summary()["gap"].round(2).tolist()
    [1.0, 0.0]
    """
    began = time.perf_counter()
    check_integer("n_seeds", n_seeds, 1, MOST_SEEDS)
    check_integer("random_state", random_state, 0, LARGEST_SEED - n_seeds)
    check_each({"n_warmup": n_warmup, "n_draws": n_draws, "n_jobs": n_jobs, "verbose": verbose})
    limit = math.inf if time_limit is None else check_positive("time_limit (or None)", time_limit)
    if n_clusters is not None:
        check_integer("n_clusters (or None)", n_clusters, 1)
    if sensitive_features is None:
        raise ValueError("sensitive_features is None; pass the group of each row.")
    X, sensitive_features = split_sensitive(X, sensitive_features)
    schema, points = prepare_points(X)
    groups = read_groups(sensitive_features, len(points))
    has_categories = any(column.is_category for column in schema.kept)
    if family is None:
        family = "auto" if has_categories else "gaussian"
    data = Data(X, sensitive_features, points)
    seeds = range(random_state, random_state + n_seeds)

    def list_named(names: list[str], number: int) -> list[Run]:
        every = default_methods(number, groups, family, n_warmup=n_warmup, n_draws=n_draws)
        return list_runs({name: every[name] for name in names}, seeds)

    sampling_seconds = 0.0
    if isinstance(methods, Mapping):
        names = []
        runs = list_runs(check_estimators(methods), seeds)
    else:
        names = choose_names(methods, has_categories)
        runs = list_named(names, n_clusters or USUAL_NUMBER)
    # What finds the number, and what can be run meanwhile; none of it depends on that number.
    first: list[Run] = []
    if n_clusters is None and not set(names) <= set(NOT_TOLD):
        some = [FINDER, *(name for name in NOT_TOLD if name in names and name != FINDER)]
        first = [run for run in list_named(some, USUAL_NUMBER) if run.rank == (0, 0)]
    if first or not OF_SAMPLERS.keys().isdisjoint(names):
        sampling_seconds = time_sampling(data, list_named([FINDER], USUAL_NUMBER)[0].estimator)
    schedule = Schedule(
        data,
        Durations(len(points), sampling_seconds),
        began=began,
        time_limit=limit,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    is_extra = bool(first) and FINDER not in names
    schedule.announce([*first[:1], *runs] if is_extra else runs)
    rows = []
    if first:
        rows = schedule.make(first)
        number = _number_found(rows)
        if number is None:
            rows += [schedule.leave_out(run) for run in runs if run.method not in NOT_TOLD]
        else:
            schedule.tell(f"FairBayesianClustering finds {number} clusters")
            runs = list_named(names, number)
    made = {_key(row) for row in rows}
    rows += schedule.make([run for run in runs if (run.method, run.setting, run.seed) not in made])
    by_run = {_key(row): row for row in rows}
    table = pd.DataFrame([by_run[run.method, run.setting, run.seed] for run in runs])
    _warn_of_left_out(table, limit)
    return Comparison(table.astype({"n_clusters": "Int64"}))


def _key(row: Mapping[str, Any]) -> tuple[str, str, int]:
    return row["method"], row["setting"], row["seed"]


def _number_found(rows: list[dict[str, Any]]) -> int | None:
    """Give the number of clusters that our own method has found, if there was time for it."""
    (row,) = (row for row in rows if row["method"] == FINDER)
    if row["error"]:
        raise ValueError(
            "n_clusters is None, and FairBayesianClustering could not find the number of clusters "
            f"({row['error']}); mend that, or pass n_clusters."
        )
    return None if row["left_out"] else int(row["n_clusters"])


def _warn_of_left_out(table: pd.DataFrame, limit: float) -> None:
    """Warn if there was no time for some runs."""
    counts = Counter(table.loc[table["left_out"], "method"])
    if counts:
        shown = ", ".join(f"{method} {number}" for method, number in counts.items())
        warn(
            f"time_limit = {limit:g} s left no room for {counts.total()} of {len(table)} runs "
            f"({shown}); they are the rows of runs whose left_out is True. Pass a longer "
            "time_limit, or fewer methods, n_seeds, n_warmup and n_draws."
        )
