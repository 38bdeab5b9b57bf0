"""Chains that start from different places tell the same story, or the result says they do not."""

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

from fairmix import FairBayesianClustering, Fixed
from fairmix.baselines import MixtureOfFiniteMixtures
from fairmix.datasets import load_adult, load_toy
from fairmix.families import GaussianTied
from tests.monte_carlo import FALSE_ALARM, N_BATCHES, share_of, standard_error

STARTS = ("one", "singletons", "kmeans", 20)


@pytest.mark.slow
@pytest.mark.parametrize("annealing", [True, False])
@pytest.mark.parametrize(
    ("estimator", "n_clusters"), [(MixtureOfFiniteMixtures, 6), (FairBayesianClustering, 3)]
)
def test_toy_data_from_all_starts(estimator, n_clusters, annealing):
    toy = load_toy()
    model = estimator(
        init_partition=STARTS,
        n_chains=8,
        n_warmup=50,
        n_draws=share_of(1000),
        annealing=annealing,
        n_jobs=2,
        random_state=0,
    ).fit(toy.data, sensitive_features=toy.sensitive_features)
    posterior = model.posterior_
    assert (np.median(posterior.n_clusters[:, :100], axis=1) == n_clusters).all()
    reached = posterior.log_posterior
    errors = standard_error(reached.T)
    bound = stats.t.isf(FALSE_ALARM / 28 / 2, N_BATCHES - 1)
    for one in range(8):
        for other in range(one):
            difference = abs(reached[one].mean() - reached[other].mean())
            assert difference <= bound * np.hypot(errors[one], errors[other])


def test_chains_agree_when_the_number_of_clusters_is_given():
    """At t = K nothing can be split: re-deals alone lead from one optimum of k-means to another."""
    adult = load_adult(n_rows="paper", random_state=0)
    model = FairBayesianClustering(
        GaussianTied(0.05),
        components_prior=Fixed(3),
        n_chains=4,
        n_warmup=300,
        n_draws=200,
        n_jobs=2,
        random_state=0,
    ).fit(adult.data, sensitive_features=adult.sensitive_features)
    reached = model.posterior_.log_posterior
    within = reached.std(axis=1).max()
    assert np.ptp(reached.mean(axis=1)) < within


def test_chains_start_from_different_places_by_default():
    toy = load_toy()
    model = FairBayesianClustering(
        matching_step="joint",  # a sweep of one round: nothing but one pass of Gibbs moves
        matching_moves=0,
        split_merge_moves=0,
        n_chains=5,
        n_warmup=0,
        n_draws=1,
        random_state=0,
    ).fit(toy.data, sensitive_features=toy.sensitive_features)
    found = model.posterior_.n_clusters[:, 0]
    assert found[1] <= 3  # from one cluster
    assert found[3] > found[0] == found[4]  # from singletons, from k-means twice


def test_starts_respect_a_bounded_number_of_components():
    toy = load_toy()
    model = FairBayesianClustering(
        components_prior=Fixed(4), n_warmup=5, n_draws=20, random_state=0
    ).fit(toy.data, sensitive_features=toy.sensitive_features)
    assert model.posterior_.n_clusters.max() <= 4


def test_a_tuple_of_starts_must_not_be_empty():
    toy = load_toy()
    with pytest.raises(ValueError, match="init_partition is an empty tuple"):
        FairBayesianClustering(init_partition=()).fit(
            toy.data, sensitive_features=toy.sensitive_features
        )


def test_disagreement_is_reported():
    toy = load_toy()
    model = FairBayesianClustering.paper(
        n_chains=2, init_partition=("one", "singletons"), n_warmup=0, random_state=0
    )
    with pytest.warns(ConvergenceWarning, match="The chains disagree"):
        model.fit(toy.data, sensitive_features=toy.sensitive_features)
