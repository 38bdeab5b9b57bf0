"""Fair Bayesian clustering: every sensitive group has the same share in every cluster."""

from fairmix import baselines, datasets, families, metrics
from fairmix._version import __version__
from fairmix.comparison import Comparison, compare
from fairmix.estimator import FairBayesianClustering
from fairmix.partition import Fixed, Geometric, ShiftedPoisson, Uniform
from fairmix.posterior import Posterior

__all__ = [
    "Comparison",
    "FairBayesianClustering",
    "Fixed",
    "Geometric",
    "Posterior",
    "ShiftedPoisson",
    "Uniform",
    "__version__",
    "baselines",
    "compare",
    "datasets",
    "families",
    "metrics",
]
