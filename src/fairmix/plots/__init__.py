"""Pictures of a clustering, of what is sure about it, and of its fairness."""

from fairmix.plots.caps import plot_caps
from fairmix.plots.certainty import plot_particles, plot_similarity
from fairmix.plots.chains import plot_chains
from fairmix.plots.clustering import plot_clustering
from fairmix.plots.how_many import plot_number_of_clusters
from fairmix.plots.matches import plot_matches
from fairmix.plots.profile import plot_features, plot_profile
from fairmix.plots.shares import plot_shares
from fairmix.plots.trade_off import plot_trade_off

__all__ = [
    "plot_caps",
    "plot_chains",
    "plot_clustering",
    "plot_features",
    "plot_matches",
    "plot_number_of_clusters",
    "plot_particles",
    "plot_profile",
    "plot_shares",
    "plot_similarity",
    "plot_trade_off",
]
