"""What is compared: methods, each with the settings of its line in the picture."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

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
from fairmix.model.partition_prior import Fixed
from fairmix.tables.groups import Groups

#: Chains of the methods that sample, and their sweeps of warm-up and draws: few, since there are
#: many runs.
N_CHAINS = 2
N_WARMUP, N_DRAWS = 150, 150
#: Names of all methods, and of those that find the number of clusters without any help.
FINDER = "FBC"
#: ... and of the one that takes numbers only.
NUMBERS_ONLY = "FBC, K given"
METHODS = (
    FINDER,
    NUMBERS_ONLY,
    "Plain mixture",
    "Fair MFM",
    "SFC",
    "VFC",
    "Fair assignment",
    "Fair k-means",
    "k-means",
)
NOT_TOLD = (FINDER, "Plain mixture")
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
class Run:
    """One fit of one estimator.

    Attributes
    ----------
    method, setting : str
        Its name, and what tells its setting from others of this method.
    estimator : estimator
        What is fitted.
    seed : int
        Its seed.
    rank : tuple of int
        Runs of a lower rank are made first: of each method the strictest setting, then other
        settings, then other seeds.
    """

    method: str
    setting: str
    estimator: Any
    seed: int
    rank: tuple[int, int]


def list_runs(chosen: Mapping[str, Sequence[Any]], seeds: Sequence[int]) -> list[Run]:
    """Give all runs, in the order of the table that they will be.

    Parameters
    ----------
    chosen : mapping
        From names of methods to estimators.
    seeds : sequence of int
        The seeds.

    Returns
    -------
    list of Run
        The runs.
    """
    return [
        Run(name, setting, estimator, seed, (turn, place))
        for name, estimators in chosen.items()
        for place, (setting, estimator) in enumerate(
            zip(describe_settings(estimators), estimators, strict=True)
        )
        for turn, seed in enumerate(seeds)
    ]


def default_methods(
    n_clusters: int,
    groups: Groups,
    family: Any,
    *,
    n_warmup: int = N_WARMUP,
    n_draws: int = N_DRAWS,
) -> dict[str, list[Any]]:
    """Give all methods, each with the settings of its line in the picture.

    Parameters
    ----------
    n_clusters : int
        Number of clusters for the methods that must be told.
    groups : Groups
        The sensitive groups.
    family : str, family or dict
        Family for the methods that sample.
    n_warmup, n_draws : int
        Their sweeps of warm-up and draws.

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
    sampling: dict[str, Any] = {"n_chains": N_CHAINS, "n_warmup": n_warmup, "n_draws": n_draws}
    every: tuple[list[Any], ...] = (
        [FairBayesianClustering(family, n_masked=mask, **sampling) for mask in masks],
        [
            FairBayesianClustering(
                GaussianTied(SMALL_VARIANCE),
                components_prior=Fixed(n_clusters),
                n_masked=mask,
                **sampling,
            )
            for mask in masks
        ],
        [MixtureOfFiniteMixtures(family, **sampling)],
        [FairletMixture(family, p=p, q=q, **sampling) for p, q in ratios],
        [FairletClustering(n_clusters, p=p, q=q) for p, q in ratios],
        [
            VariationalFairClustering(n_clusters, fairness_weight=weight * n_rows)
            for weight in PENALTY_WEIGHTS
        ],
        [FairAssignment(n_clusters, slack=slack) for slack in SLACKS],
        [FairKMeans(n_clusters)],
        [VariationalFairClustering(n_clusters, fairness_weight=0)],
    )
    return dict(zip(METHODS, every, strict=True))


def choose_names(methods: Any, has_categories: bool) -> list[str]:
    """Give the names of the methods of ours that were asked for.

    Parameters
    ----------
    methods : list of str, str or None
        As the user has it.
    has_categories : bool
        Whether any column holds categories.

    Returns
    -------
    list of str
        The names; all that take these columns if there was None.
    """
    if methods is None:
        return [name for name in METHODS if not (has_categories and name == NUMBERS_ONLY)]
    if not isinstance(methods, Iterable):
        raise TypeError(
            f"methods must be None, a list of names, or a dict from names to estimators, got "
            f"{methods!r}."
        )
    named = [methods] if isinstance(methods, str) else list(methods)
    unknown = [name for name in named if name not in METHODS]
    if unknown or not named:
        shown = unknown[0] if unknown else methods
        raise ValueError(
            f"methods: {shown!r} is not one of {', '.join(map(repr, METHODS))}; pass "
            "some of these, or a dict from names to estimators."
        )
    return list(dict.fromkeys(named))


def check_estimators(methods: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Give methods of the user's own, each as a list of estimators.

    Parameters
    ----------
    methods : mapping
        From names to estimators or lists of them.

    Returns
    -------
    dict
        From names to lists.
    """
    given = {
        name: list(some) if isinstance(some, (list, tuple)) else [some]
        for name, some in methods.items()
    }
    if not given or not all(given.values()):
        raise ValueError(f"methods = {methods!r} has nothing to run; pass some estimators.")
    for name, some in given.items():
        for one in some:
            if not (hasattr(one, "fit_predict") and hasattr(one, "get_params")):
                raise TypeError(
                    f"methods[{name!r}] must be an estimator with fit_predict, or a list of "
                    f"some, got {one!r}."
                )
    return given


def describe_settings(estimators: Sequence[Any]) -> list[str]:
    """Tell the settings of one method apart: what is not as usual, and what differs.

    Parameters
    ----------
    estimators : sequence of estimators
        The method's.

    Returns
    -------
    list of str
        Words for each.
    """
    quiet = {"n_clusters", "components_prior", "family", "n_chains", "n_warmup", "n_draws"}
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


def _ratio(groups: Groups, share: float, n_clusters: int) -> tuple[int | None, int | None]:
    """Give p and q for fairlets with a share of the tightest balance."""
    if len(groups.names) != 2:
        return None, None  # which will be refused
    if share == 1.0:
        n_small, n_large = sorted(groups.counts.tolist())
        return choose_ratio(n_small, n_large, FAIRLETS_PER_CLUSTER * n_clusters)
    ratio = share * float(groups.counts.min() / groups.counts.max())
    return (int(20 * ratio), 20) if 20 * ratio >= 1 else (1, int(np.ceil(1 / ratio)))
