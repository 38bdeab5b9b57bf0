"""Posteriors without a fit: labels by hand, of a table by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd

from fairmix import Posterior
from fairmix.families.choice import choose_family
from fairmix.model.grouping import arrange_groups
from fairmix.model.problem import family_of_kept, measured_groups, read_table
from fairmix.posterior.training import Training
from fairmix.sampler.recorder import canonical_labels
from fairmix.tables.groups import read_groups


def make_training(X, sensitive_features=None, family="auto", standardize=True):
    """Read a table as a fit does."""
    chosen = choose_family(family, X)
    groups = read_groups(sensitive_features, len(X))
    schema, table = read_table(
        X, chosen, standardize=standardize, allow_missing=True, group_names=groups.names
    )
    measured = measured_groups(arrange_groups(groups.names, groups.codes))
    measured = replace(measured, attributes=groups.attributes)
    return Training(schema, table, measured, family_of_kept(chosen, schema))


def make_posterior(labels, log_posterior=None, training=None):
    """Give a posterior with these draws (chain, draw, row); the largest cluster becomes 0."""
    labels = np.asarray(labels)
    canonical = np.empty(labels.shape, dtype=np.uint8)
    for place in np.ndindex(labels.shape[:2]):
        _, codes = np.unique(labels[place], return_inverse=True)
        canonical[place] = canonical_labels(codes, int(codes.max()) + 1)
    shape = labels.shape[:2]
    n_clusters = canonical.max(axis=2).astype(np.int64) + 1
    log_posterior = np.zeros(shape) if log_posterior is None else np.asarray(log_posterior)
    return Posterior(
        labels=canonical,
        n_clusters=n_clusters,
        n_components=n_clusters,
        log_likelihood=log_posterior,
        log_posterior=log_posterior,
        fairness_gap=np.full(shape, 0.01),
        balance=np.ones(shape),
        cost=np.zeros(shape),
        group_gaps=np.full((*shape, 1), 0.01),
        masked_rows=np.empty((*shape, 0), dtype=np.int64),
        group_names=("b",),
        acceptance={},
        training=training,
    )


def random_draws(rng, n_chains, n_draws, n_rows, n_labels):
    """Give labels of draws that scatter about a partition."""
    centre = rng.integers(n_labels, size=n_rows)
    labels = np.broadcast_to(centre, (n_chains, n_draws, n_rows)).copy()
    is_moved = rng.random(labels.shape) < 0.2
    labels[is_moved] = rng.integers(n_labels, size=is_moved.sum())
    return labels


def posterior_of(training, draws):
    """Give a posterior of these labels, one list a draw, all of one chain."""
    return make_posterior([np.atleast_2d(draws)], training=training)


def mixed_table(n_rows=60, seed=0):
    """Give numbers, counts and categories with holes, two attributes, and labels of 3 clusters."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n_rows) % 7 % 3
    X = pd.DataFrame(
        {
            "age": rng.normal(30, 5, n_rows) + 20 * (labels == 1),
            "children": rng.poisson(2.0, n_rows) * (labels != 2),
            "class": rng.choice(["first", "second", "third"], n_rows),
            "alone": rng.random(n_rows) < 0.3 + 0.5 * (labels == 0),
            "fare": rng.exponential(30.0, n_rows),
        }
    )
    X.loc[labels == 1, "class"] = "first"
    X.loc[rng.random(n_rows) < 0.2, "age"] = np.nan
    X.loc[rng.random(n_rows) < 0.2, "class"] = None
    groups = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], n_rows), "home": rng.choice(["a", "b", "c"], n_rows)}
    )
    return X, groups, labels
