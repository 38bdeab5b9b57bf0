"""Fair clusters of the packaged toy data: the main job, from data to picture."""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from fairmix import FairBayesianClustering, metrics
from fairmix.baselines import MixtureOfFiniteMixtures
from fairmix.datasets import load_toy
from fairmix.plots import plot_clustering


def describe(name, model, toy):
    labels, sensitive = model.labels_, toy.sensitive_features
    chain, draw = (model.posterior_.labels == labels).all(axis=2).nonzero()
    summary = model.posterior_.summary()
    print(f"\n{name}")
    print(f"  number of clusters  {model.n_clusters_}")
    print(f"  fairness gap Delta  {metrics.fairness_gap(labels, sensitive):.3f}   (0 is fair)")
    print(f"  balance Bal         {metrics.balance(labels, sensitive):.3f}   (1 is the best here)")
    print(f"  Cost                {model.posterior_.cost[chain[0], draw[0]]:.3f}   (standardised)")
    print(f"  R-hat log posterior {summary.loc['log_posterior', 'r_hat']:.3f}")
    print(f"  R-hat n_clusters    {summary.loc['n_clusters', 'r_hat']:.3f}   (1 is converged)")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("demo-output"))
    output = parser.parse_args().output

    toy = load_toy()
    settings = {"n_warmup": 300, "n_draws": 300, "n_jobs": 2, "random_state": 0}
    fair = FairBayesianClustering(**settings, verbose=1)
    fair.fit(toy.data, sensitive_features=toy.sensitive_features)
    plain = MixtureOfFiniteMixtures(**settings)
    plain.fit(toy.data, sensitive_features=toy.sensitive_features)

    describe("Fair Bayesian clustering (FBC)", fair, toy)
    describe("Plain mixture (MFM), for comparison", plain, toy)
    print("\nShare of each group in each fair cluster:")
    print(metrics.group_shares(fair.labels_, toy.sensitive_features).round(3).to_string())

    output.mkdir(parents=True, exist_ok=True)
    table = toy.data.assign(group=toy.sensitive_features, cluster=fair.labels_)
    pd.DataFrame(table).to_csv(output / "labels.csv", index_label="row")
    plot_clustering(
        fair, toy.data, toy.sensitive_features, title="Fair Bayesian clustering of the toy data"
    )
    plt.savefig(output / "fair.png", dpi=120)
    plot_clustering(plain, toy.data, toy.sensitive_features, title="Plain mixture of the toy data")
    plt.savefig(output / "plain.png", dpi=120)
    print(f"\nWritten: {output / 'labels.csv'}, {output / 'fair.png'}, {output / 'plain.png'}")


if __name__ == "__main__":
    main()
