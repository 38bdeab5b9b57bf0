"""What fairness cost: the fair clusters beside those of the plain mixture of the same table."""

from __future__ import annotations

import math
from typing import Any

from fairmix.posterior.matched import match_clusters


def measure_price(model: Any, plain: Any) -> dict[str, Any]:
    """Put a fair fit beside a plain one.

    Log posteriors of the two have other normalisations when rows are matched; the log likelihood
    and the cost of a clustering have not, so these are compared, as means over draws.

    Parameters
    ----------
    model : estimator
        The fair fit.
    plain : MixtureOfFiniteMixtures
        The plain mixture, fitted to the same table.

    Returns
    -------
    dict
        Plain values; ``docs/summary.md`` says which.
    """
    n_rows = len(model.labels_)
    if not hasattr(plain, "posterior_") or len(plain.labels_) != n_rows:
        raise ValueError(
            f"plain must be a fitted MixtureOfFiniteMixtures of the same {n_rows:,} rows, got "
            f"{plain!r}; fit it to the table that the model was fitted to."
        )
    fits = {"fair": model, "plain": plain}

    def means_of(scalar: str) -> dict[str, float]:
        return {name: float(getattr(fit.posterior_, scalar).mean()) for name, fit in fits.items()}

    log_likelihood = means_of("log_likelihood")
    lost = (log_likelihood["plain"] - log_likelihood["fair"]) / n_rows
    matched = match_clusters(model.labels_, plain.labels_)
    return {
        "n_clusters": means_of("n_clusters"),
        "gap": means_of("fairness_gap"),
        "cost": means_of("cost"),
        "log_likelihood": log_likelihood,
        "likelihood_ratio_of_a_row": math.exp(min(lost, 100.0)),
        "n_rows_elsewhere": int((matched[model.labels_] != plain.labels_).sum()),
        "verdict_of_plain": plain.posterior_.verdict().word,
    }
