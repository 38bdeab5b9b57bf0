"""Pictures of an answer: what the clusters are, how sure that is, what a cap costs.

Makes the pictures of docs/how_to/plots.md: python examples/answers.py [FOLDER]
"""

import sys
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.exceptions import ConvergenceWarning

from fairmix import FairBayesianClustering, measure_caps, plots
from fairmix.datasets import load_adult

CAPS = (1.0, 0.1, 0.05, 0.02, 0.01)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)

    def keep(name):
        plt.savefig(folder / f"{name}.png", dpi=80)
        plt.close("all")

    adult = load_adult(n_rows="paper")
    settings = {"n_warmup": 500, "n_draws": 500, "n_jobs": 2, "random_state": 0}
    model = FairBayesianClustering(max_gap=0.02, **settings)
    model.fit(adult.data, sensitive_features=adult.sensitive_features)
    posterior, profile = model.posterior_, model.profile()
    print(profile)
    print(posterior.verdict(model.get_params()))
    print(posterior.particles().describe())
    plots.plot_chains(posterior)
    keep("chains")
    plots.plot_profile(profile)
    keep("profile")
    plots.plot_features(profile)
    keep("features")
    plots.plot_similarity(posterior)
    keep("similarity")
    plots.plot_particles(posterior.particles(2))
    keep("particles")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # hollow points say so
        measured = measure_caps(model, adult.data, adult.sensitive_features, CAPS)
    print(measured.round(4).to_string())
    plots.plot_caps(measured)
    keep("caps")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output"))
