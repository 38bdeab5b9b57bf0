"""Fair Bayesian clustering: every sensitive group has the same share in every cluster."""

from fairmix import baselines, datasets, families, metrics
from fairmix._version import __version__
from fairmix.caps import measure_caps
from fairmix.comparison import Comparison, compare
from fairmix.estimator import FairBayesianClustering
from fairmix.loading import load
from fairmix.model.partition_prior import Fixed, Geometric, ShiftedPoisson, Uniform
from fairmix.posterior.posterior import Posterior
from fairmix.posterior.profile import Profile
from fairmix.sampler.ahead import compile  # noqa: A004 (as fairmix.compile it says what it does)

__all__ = [
    "Comparison",
    "FairBayesianClustering",
    "Fixed",
    "Geometric",
    "Posterior",
    "Profile",
    "ShiftedPoisson",
    "Uniform",
    "__version__",
    "baselines",
    "compare",
    "compile",
    "datasets",
    "families",
    "load",
    "measure_caps",
    "metrics",
]
