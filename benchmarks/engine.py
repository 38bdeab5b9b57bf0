"""Speed of the engine, side by side with a peer in one run, as ratios.

* a sweep (STEP 2 over all bundles plus as many swap proposals as followers) against one EM
  iteration of scikit-learn's BayesianGaussianMixture(30, diag) on the same rows;
* the same with the default schedule, and what each move takes of it;
* ten times the rows at the same number of clusters;
* the first call (compiles) and a second process (loads).

Run: python benchmarks/engine.py [--data FOLDER]   (FAIRMIX_DATA by default)
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.mixture import BayesianGaussianMixture

from fairmix import Fixed
from fairmix.families import Gaussian
from fairmix.model.grouping import arrange_groups
from fairmix.model.problem import Problem, read_table
from fairmix.sampler.assembly import Settings, make_chain, make_model
from fairmix.tables.groups import read_groups

NO_DEALS = {"split_merge_proposals": 0, "redeal_proposals": 0, "partial_redeal_proposals": 0}
N_ROUNDS = 7


def start_chain(X, groups, components_prior=None):
    """Give a Gaussian chain as fit makes it, and the rows in standard units."""
    rng = np.random.default_rng(0)
    groups = read_groups(groups, len(X))
    _, table = read_table(X, Gaussian())
    grouping = arrange_groups(groups.names, groups.codes, rng)
    problem = Problem.of_rows(table, Gaussian(), grouping)
    settings = Settings(components_prior=components_prior, init_partition="kmeans")
    model = make_model(problem, settings, rng)
    return make_chain(model, settings, [np.random.SeedSequence(0)], 0), table.rows


def time_sweeps(chain, n_sweeps):
    began = time.perf_counter()
    chain.run(1, n_sweeps)
    return (time.perf_counter() - began) / n_sweeps


def time_em(X, n_iterations=50):
    peer = BayesianGaussianMixture(
        n_components=30,
        covariance_type="diag",
        max_iter=n_iterations,
        tol=0.0,
        random_state=0,
        init_params="random",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        peer.fit(X)
    return (time.perf_counter() - began) / n_iterations


def sweep_of_the_issue(chain):
    """Give the schedule of STEP 2 and as many follower swaps as followers, nothing else."""
    n_followers = chain.model.grouping.n_rows - chain.model.grouping.n_anchors
    only = {"rounds": 1, "follower_swaps": n_followers, "anchor_swaps": 0, "rematch_passes": 0}
    return chain.schedule._replace(**only, **NO_DEALS)


def compare_with_em(X, groups):
    chain, rows = start_chain(X, groups)
    default, issue = chain.schedule, sweep_of_the_issue(chain)
    n_followers = issue.follower_swaps
    chain.run(1, 1000)
    ratios, sweeps, defaults, iterations = [], [], [], []
    for _ in range(N_ROUNDS):  # interleaved, since machines are noisy
        chain.schedule = issue
        sweeps.append(time_sweeps(chain, 300))
        chain.schedule = default
        defaults.append(time_sweeps(chain, 100))
        iterations.append(time_em(rows))
        ratios.append(sweeps[-1] / iterations[-1])
    n_clusters = int(chain.state.n_clusters[0])
    print(f"  sweep (Gibbs + {n_followers} follower swaps)  {np.median(sweeps) * 1e3:8.3f} ms")
    print(f"  EM iteration, 30 components         {np.median(iterations) * 1e3:8.3f} ms")
    print(
        f"  ratio, median of {N_ROUNDS} rounds           {np.median(ratios):8.3f}"
        f"   (from {min(ratios):.3f} to {max(ratios):.3f}; {n_clusters} clusters now)"
    )
    print(f"  default sweep                       {np.median(defaults) * 1e3:8.3f} ms")
    for field in ("follower_swaps", "anchor_swaps", "rematch_passes", "gibbs_passes", *NO_DEALS):
        kept = (field, "rounds", "mask_price")
        off = {name: 0 for name in default._fields if name not in kept}
        chain.schedule = default._replace(**off)
        share = np.median([time_sweeps(chain, 100) for _ in range(3)]) / np.median(defaults)
        print(f"    {field:16s}                    {100 * share:8.0f} %")


def scaling(X, groups):
    X, groups = np.asarray(X, dtype=float), np.asarray(groups)
    chains = {}
    for times in (1, 10, 100):
        rng = np.random.default_rng(0)
        rows = np.tile(X, (times, 1))
        rows += 0.05 * X.std(axis=0) * rng.normal(size=rows.shape)
        # Ten components, so that every size has the same number of clusters.
        chains[times], _ = start_chain(rows, np.tile(groups, times), Fixed(10))
        chains[times].run(1, 3)
        n_clusters = chains[times].state.n_clusters[0]
        print(f"  {len(rows):6,d} rows, {n_clusters} clusters")
    default = {times: chain.schedule for times, chain in chains.items()}
    without = {times: s._replace(**NO_DEALS) for times, s in default.items()}
    issue = {times: sweep_of_the_issue(chain) for times, chain in chains.items()}
    for name, schedules in (
        ("sweep", issue),
        ("default without split-merge", without),
        ("default", default),
    ):
        seconds = {times: [] for times in chains}
        for _ in range(N_ROUNDS):  # interleaved, since machines are noisy
            for times, chain in chains.items():
                chain.schedule = schedules[times]
                seconds[times].append(time_sweeps(chain, 200 // times))
        first, second, third = (np.array(values) for values in seconds.values())
        print(
            f"  {name:28s} {np.median(first) * 1e3:6.2f}, {np.median(second) * 1e3:7.2f}, "
            f"{np.median(third) * 1e3:8.2f} ms; 10 x the rows take "
            f"{np.median(second / first):.1f} and {np.median(third / second):.1f} x the time"
        )


START_UP = """
import time; began = time.perf_counter()
import fairmix, numpy as np
X = np.random.default_rng(0).normal(size=(200, 4))
model = fairmix.FairBayesianClustering(n_chains=1, n_warmup=1, n_draws=1)
loaded = time.perf_counter()
model.fit(X, sensitive_features=np.arange(200) % 2)
print(loaded - began, time.perf_counter() - loaded)
"""


def start_up():
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "NUMBA_CACHE_DIR": folder}
        for name in ("first process, compiles", "second process", "third process"):
            began = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-c", START_UP],
                env=env,
                capture_output=True,
                text=True,
                check=True,
            )
            whole = time.perf_counter() - began
            imported, fitted = map(float, done.stdout.split())
            print(
                f"  {name:24s} import {imported:5.2f} s, fit {fitted:5.2f} s, "
                f"process {whole:5.2f} s; says: {done.stderr.strip() or '(nothing)'}"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("FAIRMIX_DATA") or None)
    folder = parser.parse_args().data
    if folder:
        table = pd.read_csv(Path(folder) / "diabetes.csv")
        X, groups = table.drop(columns=["age", "outcome"]), table["age"] > 29
        print("Diabetes, 768 rows x 7 columns, two groups")
        compare_with_em(X, groups)
        print("Scaling in rows, Diabetes repeated with noise")
        scaling(X, groups)
    else:
        print("No --data and no FAIRMIX_DATA: the comparisons on Diabetes are left out.")
    print("Start-up")
    start_up()


if __name__ == "__main__":
    main()
