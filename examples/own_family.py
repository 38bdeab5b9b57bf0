"""Two families of one's own: one with a conjugate prior, one without. See docs/model/own_family.md.

Run: python examples/own_family.py
"""

import math
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from fairmix import FairBayesianClustering
from fairmix.families import check_family
from fairmix.plots import plot_clustering


class Attempts(NamedTuple):
    """Failures before the first success: geometric, with a Beta prior."""

    alpha: float = 1.0
    beta: float = 1.0

    def n_statistics(self, n_columns):
        """Give the number of statistics."""
        return n_columns

    def write_statistics(self, rows, out):
        """Write the statistics of each row; those of a cluster are their sum."""
        out[:] = rows

    def log_marginal(self, count, stats):
        """Log of the integral over p of prod p (1 - p)^x times the prior."""
        total = 0.0
        for failures in stats:
            total += math.lgamma(self.alpha + self.beta)
            total -= math.lgamma(self.alpha) + math.lgamma(self.beta)
            total += math.lgamma(self.alpha + count) + math.lgamma(self.beta + failures)
            total -= math.lgamma(self.alpha + self.beta + count + failures)
        return total

    @property
    def kind(self):
        """Columns hold counts."""
        return "counts"


class Weibull(NamedTuple):
    """Durations: Weibull in each column; parameters are log shapes, then log scales."""

    shape_sd: float = 0.5
    scale_sd: float = 1.5

    def n_parameters(self, n_columns):
        """Give the number of parameters."""
        return 2 * n_columns

    def log_density(self, params, row):
        """Log density of a row."""
        total = 0.0
        for j in range(row.size):
            shape, log_scale = math.exp(params[j]), params[row.size + j]
            log_ratio = math.log(max(row[j], 1e-9)) - log_scale
            total += params[j] - log_scale + (shape - 1.0) * log_ratio
            total -= math.exp(min(shape * log_ratio, 300.0))
        return total

    def log_prior(self, params):
        """Log density of independent normals around 0."""
        total = 0.0
        for k in range(params.size):
            sd = self.shape_sd if k < params.size // 2 else self.scale_sd
            total -= 0.5 * (params[k] / sd) ** 2 + math.log(sd * math.sqrt(2.0 * math.pi))
        return total

    def sample_prior(self, rng, params):
        """Draw from these normals."""
        for k in range(params.size):
            sd = self.shape_sd if k < params.size // 2 else self.scale_sd
            params[k] = sd * rng.standard_normal()

    @property
    def kind(self):
        """Columns hold numbers from 0 on."""
        return "amounts"

    @property
    def columns_are_independent(self):
        """Parameter k belongs to column k modulo the number of columns."""
        return True


def make_customers(n_rows=300, seed=0):
    """Simulate customers of three kinds, the two regions unequally among them."""
    rng = np.random.default_rng(seed)
    region = rng.choice(["north", "south"], n_rows)
    kind = np.where(rng.random(n_rows) < np.where(region == "north", 0.65, 0.35), 0, 1)
    kind = np.where(rng.random(n_rows) < 0.3, 2, kind)
    scales = np.array([[2.0, 9.0], [8.0, 2.0], [11.0, 12.0]])[kind]
    months = scales * rng.weibull(np.array([3.0, 4.0, 5.0])[kind][:, None], (n_rows, 2))
    return pd.DataFrame(
        {
            "months as customer": months[:, 0],
            "months between orders": months[:, 1],
            "failed calls": rng.geometric(np.array([0.7, 0.3, 0.1])[kind]) - 1,
            "region": region,
        }
    )


def main():
    customers = make_customers()
    durations = customers[["months as customer", "months between orders"]]
    check_family(Attempts(), customers[["failed calls"]])
    check_family(Weibull(), durations)

    # A family of one's own for one column; the others are chosen from their values.
    mixed = FairBayesianClustering(
        {"failed calls": Attempts()}, n_warmup=300, n_draws=300, random_state=0
    ).fit(customers, sensitive_features="region")
    print("family of each column:", {c: type(f).__name__ for c, f in mixed.families_.items()})
    print("clusters:", mixed.n_clusters_)

    # A family without a conjugate prior, for all columns.
    model = FairBayesianClustering(Weibull(), n_warmup=300, n_draws=300, random_state=0, n_jobs=2)
    model.fit(durations, sensitive_features=customers["region"])
    print("clusters of durations:", model.n_clusters_)
    print(model.posterior_.summary())
    folder = Path("demo-output")
    folder.mkdir(exist_ok=True)
    plot_clustering(
        model, durations, customers["region"], title="Weibull durations, fair by region"
    )
    plt.savefig(folder / "own_family.png", dpi=150)
    print(f"wrote {folder / 'own_family.png'}")


if __name__ == "__main__":
    main()
