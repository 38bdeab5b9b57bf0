"""Several ways to cluster the same data, side by side."""

from __future__ import annotations

import contextlib
import inspect
import sys
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import silhouette_score

from fairmix.baselines import (
    FairAssignment,
    FairKMeans,
    FairletClustering,
    FairletMixture,
    MixtureOfFiniteMixtures,
    VariationalFairClustering,
)
from fairmix.baselines.fairlet_clustering import FAIRLETS_PER_CLUSTER
from fairmix.baselines.fairlets import choose_ratio
from fairmix.estimator import FairBayesianClustering
from fairmix.families import GaussianTied
from fairmix.inputs import Groups, columns_of, read_groups, read_labels, split_sensitive
from fairmix.metrics import balance, fairness_gap, squared_distance_cost
from fairmix.parameters import check_integer
from fairmix.partition import Fixed
from fairmix.preparation import prepare_points

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FloatArray = NDArray[np.float64]

#: Silhouettes are measured on so many rows at most.
SILHOUETTE_ROWS = 2000
#: Sweeps of warm-up and draws of the methods that sample.
SWEEPS: dict[str, Any] = {"n_warmup": 500, "n_draws": 500}
#: Variance of clusters in "FBC, K given", in standard units.
SMALL_VARIANCE = 0.05
#: Along the lines of the picture, the strictest first: shares of rows that are exempt from
#: matching, balance of fairlets (as a share of the tightest one), weight of the penalty for each
#: row, slack.
MASKED_SHARES = (0.0, 0.05, 0.1, 0.2)
BALANCE_SHARES = (1.0, 0.75, 0.5)
PENALTY_WEIGHTS = (100.0, 10.0, 1.0)
SLACKS = (0.0, 0.1, 0.2, 0.4)


@dataclass(frozen=True)
class Comparison:
    """What :func:`compare` found.

    Attributes
    ----------
    runs : pandas.DataFrame
        A row for each method, setting and seed: ``method``, ``setting``, ``seed``, ``n_clusters``,
        ``cost``, ``gap``, ``balance``, for several sensitive columns ``gap of NAME`` for each,
        ``silhouette``, ``seconds``, ``memory`` (MB that the process held at most during the fit;
        on Linux only), ``warning`` and ``error`` (empty if there was none).
    """

    runs: pd.DataFrame

    def summary(self) -> pd.DataFrame:
        """Give means over seeds, a row for each method and setting; failed runs do not count.

        Returns
        -------
        pandas.DataFrame
            Means, and the numbers of runs and of failures.
        """
        by_setting = self.runs.groupby(["method", "setting"], sort=False)
        figures = self.runs.select_dtypes("number").columns.drop("seed")
        table = by_setting[list(figures)].mean()
        table["runs"] = by_setting.size()
        table["failures"] = by_setting["error"].agg(lambda errors: int((errors != "").sum()))
        return table

    def plot(self) -> Figure:
        """Draw cost against the fairness gap, one line for each method as its setting changes.

        Returns
        -------
        matplotlib.figure.Figure
            The picture; save it with ``figure.savefig("trade_off.png")``.
        """
        from fairmix.plotting import plot_trade_off

        return plot_trade_off(self.runs)


def compare(
    X: Any,
    sensitive_features: Any,
    *,
    methods: Any = None,
    n_clusters: int | None = None,
    family: Any = None,
    n_seeds: int = 3,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Comparison:
    """Cluster the same data in several ways, and measure fairness, cost and time.

    Parameters
    ----------
    X : data frame or array-like of shape (n_rows, n_features)
        The data.
    sensitive_features : array-like, data frame, str or list of str
        Sensitive group of each row; a string or a list of strings names columns of X.
    methods : list of str, dict or None, default=None
        Names of methods (see :func:`default_methods`; None is all of them), or a dict from names
        to estimators, or to lists of estimators with different settings. Any clusterer with
        ``fit_predict`` will do; it is given ``sensitive_features`` if it takes them.
    n_clusters : int or None, default=None
        Number of clusters for the methods that must be told. None is the number that
        ``FairBayesianClustering`` finds, as in the paper.
    family : str, family, dict or None, default=None
        Family for the methods that sample. None is "gaussian" if all columns are numbers,
        else "auto".
    n_seeds : int, default=3
        Number of runs of each setting, with the seeds 0, 1, ...
    n_jobs : int or None, default=None
        Number of processes, as in scikit-learn (None is 1).
    verbose : int, default=0
        Print a line for each run that has ended if positive.

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
    >>> found = compare(toy.data, toy.sensitive_features, n_clusters=3, n_seeds=1,
    ...                 methods=["k-means", "Fair k-means"])
    >>> found.summary()["gap"].round(2).tolist()
    [1.0, 0.0]
    """
    check_integer("n_seeds", n_seeds, 1)
    if sensitive_features is None:
        raise ValueError("sensitive_features is None; pass the group of each row.")
    X, sensitive_features = split_sensitive(X, sensitive_features)
    features, points = prepare_points(X)
    groups = read_groups(sensitive_features, len(points))
    if family is None:
        family = "auto" if features.is_category.any() else "gaussian"
    if n_clusters is None:
        n_clusters = _find_number(X, sensitive_features, family, n_jobs, verbose)
    check_integer("n_clusters (or None)", n_clusters, 1)
    chosen = _choose(methods, default_methods(n_clusters, groups, family))
    data = _Data(X, sensitive_features, points, _attributes(sensitive_features))
    tasks = [
        (name, setting, estimator, seed)
        for name, estimators in chosen.items()
        for setting, estimator in zip(_describe(estimators), estimators, strict=True)
        for seed in range(n_seeds)
    ]
    began = time.perf_counter()
    rows = []
    running = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_run)(data, *task) for task in tasks
    )
    for number, row in enumerate(running, 1):
        rows.append(row)
        if verbose:
            seconds = time.perf_counter() - began
            what = ", ".join(filter(None, (row["method"], row["setting"], f"seed {row['seed']}")))
            ended = row["error"] or f"gap {row['gap']:.4f}, cost {row['cost']:.4g}"
            print(
                f"fairmix: {number} of {len(tasks)} runs, {seconds:.0f} s: {what}: {ended}",
                file=sys.stderr,
                flush=True,
            )
    return Comparison(pd.DataFrame(rows).astype({"n_clusters": "Int64"}))


def default_methods(n_clusters: int, groups: Groups, family: Any) -> dict[str, list[Any]]:
    """Give all methods, each with the settings of its line in the picture.

    Parameters
    ----------
    n_clusters : int
        Number of clusters for the methods that must be told.
    groups : Groups
        The sensitive groups.
    family : str, family or dict
        Family for the methods that sample.

    Returns
    -------
    dict
        Name -> estimators: "FBC" (rows exempt from matching), "FBC, K given" (the same as a fair
        k-means: one small variance for all clusters), "Plain mixture", "Fair MFM" and "SFC"
        (balance of fairlets), "VFC" (weight of the penalty), "Fair assignment" (slack), "Fair
        k-means" and "k-means".
    """
    counts = dict(zip(groups.names, groups.counts.tolist(), strict=True))
    followers = dict(counts)
    followers.pop(min(counts, key=lambda name: counts[name]))
    masks = [
        {name: int(share * size) for name, size in followers.items()} if share else 0
        for share in MASKED_SHARES
    ]
    ratios = dict.fromkeys(_ratio(groups, share, n_clusters) for share in BALANCE_SHARES)
    n_rows = sum(counts.values())
    return {
        "FBC": [FairBayesianClustering(family, n_masked=mask, **SWEEPS) for mask in masks],
        "FBC, K given": [
            FairBayesianClustering(
                GaussianTied(SMALL_VARIANCE),
                components_prior=Fixed(n_clusters),
                n_masked=mask,
                **SWEEPS,
            )
            for mask in masks
        ],
        "Plain mixture": [MixtureOfFiniteMixtures(family, **SWEEPS)],
        "Fair MFM": [FairletMixture(family, p=p, q=q, **SWEEPS) for p, q in ratios],
        "SFC": [FairletClustering(n_clusters, p=p, q=q) for p, q in ratios],
        "VFC": [
            VariationalFairClustering(n_clusters, fairness_weight=weight * n_rows)
            for weight in PENALTY_WEIGHTS
        ],
        "Fair assignment": [FairAssignment(n_clusters, slack=slack) for slack in SLACKS],
        "Fair k-means": [FairKMeans(n_clusters)],
        "k-means": [VariationalFairClustering(n_clusters, fairness_weight=0)],
    }


def _ratio(groups: Groups, share: float, n_clusters: int) -> tuple[int | None, int | None]:
    """Give p and q for fairlets with a share of the tightest balance."""
    if len(groups.names) != 2:
        return None, None  # which will be refused
    if share == 1.0:
        n_small, n_large = sorted(groups.counts.tolist())
        return choose_ratio(n_small, n_large, FAIRLETS_PER_CLUSTER * n_clusters)
    ratio = share * float(groups.counts.min() / groups.counts.max())
    return (int(20 * ratio), 20) if 20 * ratio >= 1 else (1, int(np.ceil(1 / ratio)))


def _choose(methods: Any, known: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Give the methods that were asked for, each as a list of estimators."""
    if methods is None:
        return known
    if isinstance(methods, Mapping):
        given = {
            name: list(some) if isinstance(some, (list, tuple)) else [some]
            for name, some in methods.items()
        }
        if not given or not all(given.values()):
            raise ValueError(f"methods = {methods!r} has nothing to run; pass some estimators.")
        return given
    named = [methods] if isinstance(methods, str) else list(methods)
    unknown = [name for name in named if name not in known]
    if unknown or not named:
        shown = unknown[0] if unknown else methods
        raise ValueError(
            f"methods: {shown!r} is not one of {', '.join(map(repr, known))}; pass "
            "some of these, or a dict from names to estimators."
        )
    return {name: known[name] for name in named}


@dataclass(frozen=True)
class _Data:
    """What every run needs."""

    X: Any
    sensitive_features: Any
    points: FloatArray
    attributes: dict[str, Any]


def _attributes(sensitive_features: Any) -> dict[str, Any]:
    """Give the sensitive columns by name, if there are several."""
    columns = columns_of(sensitive_features)
    return {str(name): values for name, values in columns} if len(columns) > 1 else {}


def _find_number(X: Any, sensitive_features: Any, family: Any, n_jobs: Any, verbose: int) -> int:
    """Let our own method say how many clusters there are."""
    model = FairBayesianClustering(family, n_jobs=n_jobs, random_state=0, verbose=verbose, **SWEEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they come again with the runs
        found = model.fit(X, sensitive_features=sensitive_features).n_clusters_
    if verbose:
        print(f"fairmix: FairBayesianClustering finds {found} clusters", file=sys.stderr)
    return found


def _run(data: _Data, method: str, setting: str, estimator: Any, seed: int) -> dict[str, Any]:
    """Fit one estimator with one seed, and measure; an error is part of the answer."""
    row: dict[str, Any] = {"method": method, "setting": setting, "seed": seed}
    measured = ["n_clusters", "cost", "gap", "balance"]
    measured += [f"gap of {name}" for name in data.attributes]
    row |= dict.fromkeys([*measured, "silhouette", "seconds", "memory"], np.nan)
    row |= {"warning": "", "error": ""}
    _forget_peak_memory()
    began = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            labels = _fit_predict(clone(estimator), data, seed)
        row["seconds"] = time.perf_counter() - began
        row["memory"] = _peak_memory()
        row["warning"] = "; ".join(dict.fromkeys(str(warning.message) for warning in caught))
        row |= _measure(data, labels)
    except Exception as error:  # one method's failure must not end the others
        row["error"] = f"{type(error).__name__}: {error}"
    return row


def _forget_peak_memory() -> None:
    """Let the system measure the process's peak memory from now on, where it can."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak_memory() -> float:
    """Give the process's peak memory in MB; NaN where the system does not say."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    return float("nan")


def _fit_predict(model: Any, data: _Data, seed: int) -> NDArray[np.int64]:
    """Give the labels of an estimator, ours or any clusterer of scikit-learn's kind."""
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    takes = inspect.signature(model.fit_predict).parameters.values()
    is_told = any(p.name == "sensitive_features" or p.kind == p.VAR_KEYWORD for p in takes)
    told = {"sensitive_features": data.sensitive_features} if is_told else {}
    return read_labels(model.fit_predict(data.X, **told), len(data.points))


def _describe(estimators: list[Any]) -> list[str]:
    """Tell the settings of one method apart: what is not as usual, and what differs."""
    quiet = {"n_clusters", "components_prior", "family", *SWEEPS}
    quiet |= {"random_state", "n_jobs", "verbose"}
    every = [estimator.get_params(deep=False) for estimator in estimators]
    described = []
    for estimator, given in zip(estimators, every, strict=True):
        usual = {
            name: repr(parameter.default)
            for name, parameter in inspect.signature(type(estimator)).parameters.items()
        }
        shown = [
            f"{name}={value}"
            for name, value in given.items()
            if len({repr(other.get(name)) for other in every}) > 1
            or (name not in quiet and repr(value) != usual.get(name))
        ]
        described.append(", ".join(shown))
    is_unique = len(set(described)) == len(described)
    return described if is_unique else [f"{k}: {text}" for k, text in enumerate(described)]


def _measure(data: _Data, labels: Any) -> dict[str, Any]:
    """Measure one clustering."""
    found: dict[str, Any] = {
        "n_clusters": len(np.unique(labels)),
        "cost": float(squared_distance_cost(data.points, labels[None])[0]),
        "gap": fairness_gap(labels, data.sensitive_features),
        "balance": balance(labels, data.sensitive_features),
    }
    for name, values in data.attributes.items():
        found[f"gap of {name}"] = fairness_gap(labels, values)
    rows = np.arange(len(labels))
    if len(rows) > SILHOUETTE_ROWS:
        rows = np.random.default_rng(0).choice(rows, SILHOUETTE_ROWS, replace=False)
    if 1 < len(np.unique(labels[rows])) < len(rows):
        found["silhouette"] = float(silhouette_score(data.points[rows], labels[rows]))
    return found
