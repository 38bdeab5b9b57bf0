"""Trainings and predictors made by hand: no fit is needed to predict."""

import numpy as np

from fairmix.families import Gaussian
from fairmix.model.partition_prior import Geometric
from fairmix.model.problem import family_of_kept, read_table
from fairmix.posterior.labelling import Predictor
from fairmix.posterior.prediction import log_weights_of
from fairmix.posterior.training import Training
from fairmix.tables.groups import Groups, read_groups


def make_training(X, family=None, sensitive=None, **options):
    """Give the training of a table; groups come smallest first, as in a fit."""
    family = family or Gaussian()
    groups = read_groups(sensitive, len(X))
    schema, table = read_table(X, family, group_names=groups.names, **options)
    order = np.argsort(groups.counts, kind="stable")
    rank = np.argsort(order)
    measured = Groups([groups.names[k] for k in order], rank[groups.codes])
    return Training(schema, table, measured, family_of_kept(family, schema))


def make_predictor(X, labels, family=None, sensitive=None, makes_fair=True, **options):
    """Give a predictor of labels that nobody has drawn."""
    labels = np.asarray(labels)
    return Predictor(
        make_training(X, family, sensitive, **options),
        labels,
        log_weights_of(np.bincount(labels), 1.0, Geometric(0.1)),
        makes_fair=makes_fair,
        owner="FairBayesianClustering",
    )
