r"""What the sampler asks of a likelihood.

A *likelihood* is how a chain sees its family: with the parameters of clusters integrated out
(``collapsed.py``) or as part of the state (``instantiated.py``). The rest of the sampler knows
nothing of the family and asks for verbs. Every verb is asked for by a table of addresses
(``linked.py``), so the sampler is compiled once for all families; that is why verbs are coarse: one
that is wanted for each cluster, or for each member of a deal, has the loop inside.

A cluster's *log likelihood* is kept in ``state.cluster_log_likelihood``: its log marginal, or the
log density of its rows given its parameters.
"""

from typing import Protocol

import numpy as np

from fairmix.sampler.kernels.deal import Deal
from fairmix.sampler.kernels.state import State, Workspace

Array = np.ndarray


class Likelihood(Protocol):
    """The verbs of a likelihood; numbers have the types that are written here."""

    @property
    def carried(self) -> tuple[str, ...]:
        """Fields that a chain carries from sweep to sweep."""
        ...

    @property
    def room(self) -> tuple[str, ...]:
        """Fields that are room to work in; all others are fixed while kernels run."""
        ...

    @property
    def follows_rows(self) -> bool:
        """Whether log likelihoods change row by row, so that ``add_row`` must be called."""
        ...

    def begin(self, rng: np.random.Generator, state: State) -> None:
        """Set up what a chain's first state lacks."""

    def recompute(self, state: State) -> None:
        """Recompute the log likelihood of all clusters."""

    def refresh(self, state: State, cluster: int) -> None:
        """Bring a cluster's log likelihood up to date with its statistics."""

    def refresh_trial(self, state: State, work: Workspace) -> None:
        """Do the same for all clusters that a trial has changed."""

    def add_row(self, state: State, row: int, cluster: int, sign: float) -> None:
        """Add a row to a cluster's log likelihood, or subtract it."""

    def predict_row(self, row_stats: Array, state: State, work: Workspace, row: int) -> None:
        """Write the log density of a row given each cluster, by its place, to ``candidates``."""

    def list_bundles(self, state: State) -> None:
        """Get ready for the three verbs that follow: bundles are as they are now."""

    def drop_bundle(self, state: State, slot: int, cluster: int) -> None:
        """Bring a cluster that a bundle has left up to date."""

    def join_bundle(self, state: State, work: Workspace, slot: int) -> None:
        """Write the log likelihood of each cluster with a bundle in it to ``candidates``.

        The cluster that the bundle's label names is left out: it is known.
        """

    def log_opened(
        self,
        rng: np.random.Generator,
        state: State,
        slot: int,
        source: int,
        was_alone: bool,
        source_log_likelihood: float,
    ) -> float:
        """Log likelihood of a bundle on its own."""

    def open(self, rng: np.random.Generator, cluster: int, log_likelihood: float) -> float:
        """Let that bundle open a cluster; give the cluster's log likelihood."""

    def log_marginal(self, count: int, stats: Array) -> float:
        """Log marginal of ``count`` rows with these statistics: which rows belong together."""

    def log_marginal_of(self, state: State, cluster: int) -> float:
        """Log marginal of a cluster."""

    def prefer_by_fit(self, row_stats: Array, deal: Deal) -> None:
        """Let loose members of a deal prefer the half that fits them better."""

    def weigh_others(self, row_stats: Array, deal: Deal) -> None:
        """Let each loose member's preference be the log marginal of half A without it."""

    def weigh_half(
        self,
        rng: np.random.Generator,
        deal: Deal,
        half: int,
        cluster: int,
        is_new: bool,
        keeps_parameters: bool,
    ) -> float:
        """Log marginal of a half, or an unbiased estimate of it."""

    def keep_half(self, state: State, deal: Deal, half: int, cluster: int) -> None:
        """Let a cluster be a half that was weighed."""

    def update_parameters(self, rng: np.random.Generator, state: State) -> None:
        """Redraw the parameters that are part of the state."""

    def log_prior_of_parameters(self, state: State) -> float:
        """Log prior density of these."""


#: The verbs, in the order of their addresses.
VERBS = tuple(
    name for name, value in vars(Likelihood).items() if callable(value) and name[0] != "_"
)
