"""Fair Bayesian clustering: every sensitive group has the same share in every cluster.

Public names are imported when they are first used, so that ``fairmix --help`` need not wait for
scikit-learn and pandas.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fairmix._version import __version__

if TYPE_CHECKING:
    from fairmix import baselines, datasets, families, metrics, plots, report
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
    "plots",
    "report",
]

#: The module that each public name is imported from; names that are not here are modules.
_HOMES = {
    "Comparison": "fairmix.comparison",
    "FairBayesianClustering": "fairmix.estimator",
    "Fixed": "fairmix.model.partition_prior",
    "Geometric": "fairmix.model.partition_prior",
    "Posterior": "fairmix.posterior.posterior",
    "Profile": "fairmix.posterior.profile",
    "ShiftedPoisson": "fairmix.model.partition_prior",
    "Uniform": "fairmix.model.partition_prior",
    "compare": "fairmix.comparison",
    "compile": "fairmix.sampler.ahead",
    "load": "fairmix.loading",
    "measure_caps": "fairmix.caps",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in _HOMES:
        found = getattr(import_module(_HOMES[name]), name)
    elif name in __all__:
        found = import_module(f"fairmix.{name}")
    else:
        raise AttributeError(f"module 'fairmix' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List the public names, whether they were imported or not."""
    return sorted({*globals(), *__all__})
