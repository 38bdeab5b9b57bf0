"""New rows: how fair and how good labels are that held-out halves get, by each method.

For each table, half of the rows (5,000 at most) are fitted and the others labelled. A line a
method: the gap of the labels, the gap that they would have by chance if they went to rows of all
groups alike (the mean over shuffled groups), their cost (mean squared distance to the clusters'
means, in standard units of the fit) over that of the fitted rows, the mean log predictive of a row
in the cluster that it got, and seconds. "nearest" is the most probable cluster, whatever the group;
the line "fitted" has the fitted rows with ``labels_``. "prices, 200" and "batch, 200" label 200
rows at a time and give the mean gap of these lists.

Run: FAIRMIX_DATA=folder python benchmarks/new_rows.py [--seed N] [--sweeps N] [NAME ...]
"""

import argparse
import time
import warnings

import numpy as np
from real_data import load
from sklearn.exceptions import ConvergenceWarning

from fairmix import FairBayesianClustering, metrics

NAMES = ["diabetes", "adult", "bank_sm", "bank3"]
#: The largest gap of the fit.
MAX_GAP = 0.02
MOST_FITTED = 5000
#: Groups are shuffled so often to see what chance does.
N_SHUFFLES = 20
#: Lists of so many rows are labelled at a time, so many of them.
LIST_LENGTH, N_LISTS = 200, 50
METHODS = ["nearest", "batch", "prices", "match"]


def fit(X, groups, options):
    model = FairBayesianClustering(
        max_gap=MAX_GAP,
        n_chains=2,
        n_warmup=options.sweeps,
        n_draws=options.sweeps,
        random_state=options.seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, sensitive_features=groups)


def label(model, X, groups, method):
    if method != "nearest":
        return model.predict(X, sensitive_features=groups, method=method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.predict(X)


def gap_of_lists(model, X, groups, method, rng):
    """Give the mean gap of lists that are labelled by themselves."""
    gaps = []
    for _ in range(N_LISTS):
        rows = rng.choice(len(groups), LIST_LENGTH, replace=False)
        labels = label(model, X.iloc[rows], groups[rows], method)
        gaps.append(metrics.fairness_gap(labels, groups[rows]))
    return np.mean(gaps)


def gap_by_chance(labels, groups, rng):
    """Give the mean gap of labels that know nothing of groups."""
    gaps = [metrics.fairness_gap(labels, rng.permutation(groups)) for _ in range(N_SHUFFLES)]
    return np.mean(gaps)


def report(name, options):
    X, groups = load(name)
    rng = np.random.default_rng(options.seed)
    order = rng.permutation(len(groups))
    n_fitted = min(len(groups) // 2, MOST_FITTED)
    old, new = order[:n_fitted], order[n_fitted:]
    model = fit(X.iloc[old], groups[old], options)
    new_X, new_groups = X.iloc[new], groups[new]
    began = time.perf_counter()
    model.score_samples(new_X[:1])  # learns how
    learning = time.perf_counter() - began
    points = model.schema_.read(new_X).points
    log_predictive = model._predictor.prediction.log_predictive(model.schema_.read(new_X).rows)
    fitted_points = model.schema_.read(X.iloc[old]).points
    fitted_cost = metrics.cost(fitted_points, model.labels_)
    gap = metrics.fairness_gap(model.labels_, groups[old])
    print(
        f"| {name} | {n_fitted:,} fitted, {model.n_clusters_} clusters | {gap:.4f} "
        f"| | 1.000 | | {learning:.1f} |",
        flush=True,
    )
    for method in METHODS:
        if method == "match" and len(new) > options.most_matched:
            continue
        began = time.perf_counter()
        labels = label(model, new_X, new_groups, method)
        seconds = time.perf_counter() - began
        gap = metrics.fairness_gap(labels, new_groups)
        cost = metrics.cost(points, labels) / fitted_cost
        score = log_predictive[np.arange(len(new)), labels].mean()
        print(
            f"| {name} | {method}, {len(new):,} rows | {gap:.4f} "
            f"| {gap_by_chance(labels, new_groups, rng):.4f} | {cost:.3f} | {score:.3f} "
            f"| {seconds:.1f} |",
            flush=True,
        )
    for method in ("prices", "batch"):
        gap = gap_of_lists(model, new_X, new_groups, method, rng)
        print(f"| {name} | {method}, {LIST_LENGTH} | {gap:.4f} | | | | |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sweeps", type=int, default=300, help="of warm-up, and of draws")
    parser.add_argument("--most-matched", type=int, default=50_000, help="new rows for match")
    options = parser.parse_args()
    print("| data | method | gap | by chance | cost | log predictive | s |")
    print("|---|---|---|---|---|---|---|")
    for name in options.names:
        report(name, options)


if __name__ == "__main__":
    main()
