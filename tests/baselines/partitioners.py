"""The baselines as tests see them: with settings that run in no time."""

from fairmix.baselines import (
    FairAssignment,
    FairKMeans,
    FairletClustering,
    VariationalFairClustering,
)

PARTITIONERS = {
    "fairlets": lambda k: FairletClustering(k, random_state=0),
    "variational": lambda k: VariationalFairClustering(k, n_init=2, random_state=0),
    "assignment": lambda k: FairAssignment(k, n_init=2, random_state=0),
    "kmeans": lambda k: FairKMeans(k, n_init=2, max_iter=20, random_state=0),
}
