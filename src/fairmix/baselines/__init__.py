"""Other ways to cluster, with the same interface, to compare with."""

from fairmix.baselines.fair_assignment import FairAssignment
from fairmix.baselines.fair_kmeans import FairKMeans
from fairmix.baselines.fairlet_clustering import FairletClustering
from fairmix.baselines.fairlet_mixture import FairletMixture
from fairmix.baselines.mfm import MixtureOfFiniteMixtures
from fairmix.baselines.vfc import VariationalFairClustering

__all__ = [
    "FairAssignment",
    "FairKMeans",
    "FairletClustering",
    "FairletMixture",
    "MixtureOfFiniteMixtures",
    "VariationalFairClustering",
]
