"""The cap: what max_gap = 0.005 costs in log posterior and in time.

Diabetes, Adult and Bank (two and three groups), free R with and without the cap, four chains each:
the largest gap of any draw, the mean log posterior (per row below the one without), and the
time of a sweep, measured in turns. With --caps, what each of these caps costs instead.

Run: FAIRMIX_DATA=folder python benchmarks/cap.py [NAME ...] [--caps GAP ...]
"""

import argparse
import time
import warnings

import numpy as np
from real_data import load
from sklearn.exceptions import ConvergenceWarning

from fairmix import FairBayesianClustering

NAMES = ["diabetes", "adult 0", "bank 0", "bank3 0"]
MAX_GAP = 0.005
N_SWEEPS = 600
N_ROUNDS = 2


def run(X, groups, max_gap, seed):
    began = time.perf_counter()
    model = FairBayesianClustering(
        max_gap=max_gap,
        extra="free",
        n_warmup=N_SWEEPS,
        n_draws=N_SWEEPS,
        n_jobs=2,
        random_state=seed,
    ).fit(X, sensitive_features=groups)
    return model, time.perf_counter() - began


def compare(name):
    """Compare free R with and without the cap, in turns; print a row."""
    X, groups = load(name)
    gaps, reached, seconds = {}, {}, {}
    for seed in range(N_ROUNDS):
        for max_gap in (None, MAX_GAP):
            model, taken = run(X, groups, max_gap, seed)
            posterior = model.posterior_
            gaps.setdefault(max_gap, []).append(posterior.fairness_gap.max())
            reached.setdefault(max_gap, []).append(posterior.log_posterior.mean())
            seconds.setdefault(max_gap, []).append(taken)
    free, capped = (np.mean(reached[max_gap]) for max_gap in (None, MAX_GAP))
    ratio = np.median(np.array(seconds[MAX_GAP]) / seconds[None])
    print(
        f"| {name} | {max(gaps[None]):.4f} | {max(gaps[MAX_GAP]):.4f} | {free:,.0f} "
        f"| {capped:,.0f} | {(free - capped) / len(X):+.3f} | {ratio:.2f} |",
        flush=True,
    )


def trace(name, caps):
    """Print a row for each cap: gaps, and the log posterior that each chain reaches."""
    X, groups = load(name)
    for max_gap in caps:
        posterior = run(X, groups, max_gap, seed=0)[0].posterior_
        reached = " ".join(f"{mean:,.0f}" for mean in posterior.log_posterior.mean(axis=1))
        gaps = posterior.fairness_gap
        print(
            f"| {name} | {max_gap} | {gaps.mean():.4f} | {gaps.max():.4f} | {reached} "
            f"| {posterior.n_clusters.mean():.1f} |",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--caps", nargs="+", type=float, help="trace these caps, then none")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    if options.caps:
        print("| data | cap | mean gap | largest gap | log posterior by chain | t |")
        print("|---|---|---|---|---|---|")
    else:
        print(
            "| data | largest gap, free | capped | log posterior, free | capped | per row | time |"
        )
        print("|---|---|---|---|---|---|---|")
    for name in options.names:
        if options.caps:
            trace(name, [*options.caps, None])
        else:
            compare(name)


if __name__ == "__main__":
    main()
