"""Convergence: do chains that start from different places tell the same story.

Diabetes, and Adult and Bank on five draws each: eight chains, two from each of one cluster,
singletons, k-means and 20 random clusters, diagonal Gaussian with the paper's prior. For each: the
log posterior that every chain reaches (mean of its draws), R-hat of log posterior and number of
clusters, seconds. Then the paper's own set-up on the same data.

Run: FAIRMIX_DATA=folder python benchmarks/convergence.py [--warmup N] [--draws N] [--seed N]
    [--paper] [NAME ...]
"""

import argparse
import time
import warnings

import numpy as np
from real_data import DRAWS, load
from sklearn.exceptions import ConvergenceWarning

from fairmix import FairBayesianClustering
from fairmix.posterior.diagnostics import bulk_ess, r_hat

STARTS = ("one", "singletons", "kmeans", 20) * 2


def run(name, model):
    X, groups = load(name)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        posterior = model.fit(X, sensitive_features=groups).posterior_
    seconds = time.perf_counter() - began
    log_posterior, n_clusters = posterior.log_posterior, posterior.n_clusters
    reached = " ".join(f"{mean:,.0f}" for mean in log_posterior.mean(axis=1))
    clusters = " ".join(f"{mean:.1f}" for mean in n_clusters.mean(axis=1))
    print(
        f"| {name} | {r_hat(log_posterior):.3f} | {r_hat(n_clusters):.3f} "
        f"| {bulk_ess(log_posterior):.0f} | {bulk_ess(n_clusters):.0f} | {reached} | {clusters} "
        f"| {seconds:.0f} |",
        flush=True,
    )
    return posterior


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=DRAWS)
    parser.add_argument("--warmup", type=int, default=1400, help="sweeps of warm-up")
    parser.add_argument("--draws", type=int, default=2300, help="sweeps after that")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--paper", action="store_true", help="the paper's set-up instead")
    options = parser.parse_args()
    common = {"n_chains": 8, "n_jobs": 2, "random_state": options.seed}
    if options.paper:
        model = FairBayesianClustering.paper(**common)
    else:
        model = FairBayesianClustering(
            init_partition=STARTS, n_warmup=options.warmup, n_draws=options.draws, **common
        )
    print("| data | R-hat log posterior | R-hat t | ESS | ESS t | log posterior by chain | t | s |")
    print("|---|---|---|---|---|---|---|---|")
    acceptance = []
    for name in options.names:
        acceptance.append(run(name, model).acceptance)
    print()
    for move in acceptance[0]:
        rates = ", ".join(f"{np.nanmean(rates[move]):.4f}" for rates in acceptance)
        print(f"{move}: {rates} accepted")


if __name__ == "__main__":
    main()
