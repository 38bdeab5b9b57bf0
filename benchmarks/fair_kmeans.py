"""K given: FBC with a tied spherical Gaussian as a fair k-means with uncertainty.

Diabetes, and five draws each of Adult, Bank and Bank with three groups, at the paper's K
(``Fixed(K)``, which bounds the number of clusters), one small variance for all clusters,
``max_gap=0.005`` and a least balance as that of the best peer. Cost, gap and balance of ``labels_``
and of the draw with the largest log posterior, beside the figures of other software on the same
rows (``reference/fair_peers_runs.csv``).

Run: FAIRMIX_DATA=folder python benchmarks/fair_kmeans.py [DATASET ...]
"""

import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from real_data import load
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from fairmix import FairBayesianClustering, Fixed, metrics
from fairmix.families import GaussianTied

VARIANCE = 0.05
#: Dataset -> number of clusters, least balance (that of FCA, or of the LP), draws.
DATASETS = {
    "diabetes": (4, 0.936, [""]),
    "adult": (3, 0.402, [" 0", " 1", " 2", " 3", " 4"]),
    "bank": (7, 0.641, [" 0", " 1", " 2", " 3", " 4"]),
    "bank3": (3, 0.165, [" 0", " 1", " 2", " 3", " 4"]),
}
PEERS = {
    "FCA": ("FCA(best-balance iterate)",),
    "LP, delta 0": ("BeraLP(delta=0.0)",),
    "VFC, lambda 10,000, L 50": ("VFC(lambda=10000;L=50)",),
    "SFC, tightest p, q": ("SFC(p=15,q=16)", "SFC(p=7,q=16)", "SFC(p=13,q=20)"),
}
FIGURES = ["cost", "gap", "balance", "seconds"]


def fit(dataset, draw):
    """Give the figures of two labellings of one draw."""
    n_clusters, least_balance, _ = DATASETS[dataset]
    X, groups = load(dataset + draw)
    scaled = StandardScaler().fit_transform(X)
    began = time.perf_counter()
    model = FairBayesianClustering(
        GaussianTied(VARIANCE),
        components_prior=Fixed(n_clusters),
        max_gap=0.005,
        min_balance=least_balance,
        n_chains=16,
        n_warmup=1500,
        n_draws=200,
        n_jobs=2,
        random_state=0,
    ).fit(X, sensitive_features=groups)
    seconds = time.perf_counter() - began
    posterior = model.posterior_
    best = np.unravel_index(posterior.log_posterior.argmax(), posterior.log_posterior.shape)
    figures = {}
    for name, labels in (("labels_", model.labels_), ("best draw", posterior.labels[best])):
        figures[f"fairmix, {name}"] = (
            metrics.cost(scaled, labels),
            metrics.fairness_gap(labels, groups),
            metrics.balance(labels, groups),
            seconds,
        )
    return figures


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    reference = Path(os.environ["FAIRMIX_DATA"]).parent / "reference" / "fair_peers_runs.csv"
    peers = pd.read_csv(reference).rename(columns={"delta": "gap", "bal": "balance"})
    print("| data | method | cost | gap | balance | seconds |\n|---|---|---|---|---|---|")
    for dataset in sys.argv[1:] or DATASETS:
        runs = [fit(dataset, draw) for draw in DATASETS[dataset][2]]
        table = {name: np.mean([run[name] for run in runs], axis=0) for name in runs[0]}
        for name, methods in PEERS.items():
            chosen = peers[(peers["dataset"] == dataset) & peers["method"].isin(methods)]
            if len(chosen):
                table[name] = chosen[FIGURES].mean().to_numpy()
        for name, (cost, gap, ratio, seconds) in table.items():
            print(f"| {dataset} | {name} | {cost:.3f} | {gap:.4f} | {ratio:.3f} | {seconds:.1f} |")
        for draw, run in zip(DATASETS[dataset][2], runs, strict=True):
            costs = ", ".join(f"{name} {figures[0]:.3f}" for name, figures in run.items())
            print(f"  {dataset}{draw}: {costs}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
