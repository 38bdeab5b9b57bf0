"""A fit in plain values: all that a page tells, and what a script may want to read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fairmix.posterior.posterior import Posterior
from fairmix.posterior.profile import Profile
from fairmix.posterior.wording import short_text, text_of_column
from fairmix.report.answer import tell_answer
from fairmix.report.audit import audit_fairness
from fairmix.report.certainty import tell_certainty
from fairmix.report.described import describe_clusters, describe_features
from fairmix.report.disclosure import LEAST_CELL, LEAST_ROWS
from fairmix.report.matches import measure_matches
from fairmix.report.price import measure_price

#: Version of what :func:`summarize` gives.
FORMAT = 1
#: What a caller may know of where the table comes from.
SOURCE: dict[str, Any] = {"name": None, "id": None, "left_out": {}, "command": None}
#: Parameters that are about the machine of who fitted.
NOT_TOLD = ("checkpoint", "n_jobs", "verbose")


def summarize(
    model: Any, *, source: Mapping[str, Any] | None = None, plain: Any = None
) -> dict[str, Any]:
    """Summarise a fitted model in plain values.

    Parameters
    ----------
    model : estimator
        A fitted ``FairBayesianClustering``, ``MixtureOfFiniteMixtures`` or ``FairletMixture``, or
        one that was loaded. Without its rows, what needs them is None.
    source : mapping, optional
        What is known of the table: its ``name``, the name of its ``id`` column, the columns that
        were ``left_out`` with the reasons, and the ``command`` that was run.
    plain : MixtureOfFiniteMixtures, optional
        The plain mixture, fitted to the same table, to tell what fairness cost.

    Returns
    -------
    dict
        Dicts, lists, text and finite numbers, as JSON has them; ``docs/summary.md`` lists all.

    Examples
    --------
    >>> from fairmix import FairBayesianClustering
    >>> from fairmix.datasets import load_toy
    >>> from fairmix.report import summarize
    >>> toy = load_toy()
    >>> model = FairBayesianClustering(n_warmup=100, n_draws=100, random_state=0)
    >>> model = model.fit(toy.data, sensitive_features=toy.sensitive_features)
    >>> summarize(model)["n_clusters"]["labels"]
    3
    """
    check_is_fitted(model, "posterior_")
    posterior, labels, profile = model.posterior_, model.labels_, model.profile()
    estimate = posterior.point_estimate()
    features = describe_features(profile, model.schema_, posterior.training)
    summary = {
        "format": FORMAT,
        "source": _read_source(source),
        "table": _tell_table(model, profile),
        "model": _tell_model(model),
        "n_clusters": _tell_number(posterior, len(profile.clusters)),
        "chains": _tell_chains(model),
        "fairness": audit_fairness(model, profile, estimate.chain, estimate.draw),
        "features": features,
        "clusters": describe_clusters(profile, features, posterior.training, labels),
        "certainty": tell_certainty(posterior, labels),
        "price": None if plain is None else measure_price(model, plain),
        "matching": measure_matches(model),
        "disclosure": {"least_rows": LEAST_ROWS, "least_cell": LEAST_CELL},
        "run": _tell_run(model),
    }
    return {**summary, "answer": tell_answer(summary)}


def _read_source(source: Mapping[str, Any] | None) -> dict[str, Any]:
    """Take over what the caller knows."""
    given = dict(source or {})
    unknown = sorted(set(given) - set(SOURCE))
    if unknown:
        raise ValueError(f"source has {unknown[0]!r}; it may have {', '.join(SOURCE)}.")
    known = SOURCE | given
    told = {name: None if known[name] is None else str(known[name]) for name in SOURCE}
    left_out = {str(name): str(why) for name, why in dict(known["left_out"] or {}).items()}
    return told | {"left_out": left_out}


def _tell_table(model: Any, profile: Profile) -> dict[str, Any]:
    """Tell of the table."""
    constant = [column.name for column in model.schema_.columns if not column.is_kept]
    return {
        "n_rows": profile.n_rows,
        "n_columns": len(profile.columns),
        "n_missing": sum(feature.overall.n_missing for feature in profile.columns),
        "constant": [text_of_column(name) for name in constant],
        "has_rows": model.posterior_.training is not None,
    }


def _tell_model(model: Any) -> dict[str, Any]:
    """Tell which model it is, and its parameters."""
    given = model.get_params(deep=False)
    return {
        "class": type(model).__name__,
        "parameters": {k: _plain(given[k]) for k in sorted(given) if k not in NOT_TOLD},
    }


def _plain(value: Any) -> Any:
    """Give a parameter as JSON has it; objects as text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        return {short_text(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return short_text(value, 200)


def _tell_number(posterior: Posterior, n_labels: int) -> dict[str, Any]:
    """Tell how probable each number of clusters is."""
    numbers = posterior.n_clusters
    values, counts = np.unique(numbers, return_counts=True)
    fewest, most = np.quantile(numbers, [0.05, 0.95], method="nearest")
    return {
        "labels": n_labels,
        "mean": float(numbers.mean()),
        "likely": [int(fewest), int(most)],
        "distribution": [
            {
                "n": int(n),
                "share": float(count / numbers.size),
                "by_chain": (numbers == n).mean(axis=1).tolist(),
            }
            for n, count in zip(values, counts, strict=True)
        ],
    }


def _tell_chains(model: Any) -> dict[str, Any]:
    """Tell whether the chains agree."""
    posterior = model.posterior_
    verdict = posterior.verdict(model.get_params(deep=False))
    figures = {k: float(v) if math.isfinite(v) else None for k, v in verdict.figures.items()}
    return {
        "n_chains": posterior.n_chains,
        "n_draws": posterior.n_draws,
        "verdict": verdict.word,
        "figures": figures,
        "grounds": verdict.grounds,
        "advice": list(verdict.advice),
    }


def _tell_run(model: Any) -> dict[str, Any]:
    """Tell where the draws come from."""
    now = datetime.now(UTC).replace(microsecond=0)
    return {**model.provenance_, "summarized": now.isoformat()}
