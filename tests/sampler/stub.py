"""A chain that is no sampler: it draws labels at random, fast, and fails when it is told to."""

import copy
from dataclasses import asdict
from functools import partial
from types import SimpleNamespace

import numpy as np

from fairmix.model.cost import squared_distance_cost
from fairmix.model.partition_prior import Geometric, PartitionPrior
from fairmix.sampler.chain import Warmth
from fairmix.sampler.kernels.moves import MOVES
from fairmix.sampler.kernels.sweep import Draws
from fairmix.sampler.past import make_generator
from fairmix.sampler.recorder import Audit, DrawRecorder

N_ROWS, N_ANCHORS, N_MASKED = 12, 5, 2
MODEL = SimpleNamespace(
    grouping=SimpleNamespace(n_anchors=N_ANCHORS, order=np.random.default_rng(1).permutation(12)),
    partition_prior=PartitionPrior(N_ANCHORS, 1.0, Geometric(0.1)),
)
GROUP_CODES = np.repeat([0, 1, 2], [5, 3, 4])
AUDIT = Audit(
    place_of_row=np.argsort(MODEL.grouping.order),
    group_codes=GROUP_CODES,
    group_names=("a", "b", "c"),
    cost=partial(squared_distance_cost, np.random.default_rng(2).normal(size=(N_ROWS, 2))),
)


class StubChain:
    """Draws labels, and calls ``on_sweep(number, sweep)`` after each sweep."""

    can_relax = may_leave_cap = False

    def __init__(self, number, on_sweep):
        self.number = number
        self.on_sweep = on_sweep
        self.model = MODEL
        self.schedule = SimpleNamespace(
            **dict.fromkeys((move.setting for move in MOVES), 1) | {"extra_moves": 0}
        )
        self.warmth = Warmth()
        self.rng = np.random.default_rng([7, number])
        self.sweep = 0

    def run(self, n_draws, sweeps_per_draw=1):
        """Make sweeps; each uses up as many random numbers as any other."""
        uniforms = np.empty((n_draws, N_ROWS + 3))
        for draw in range(n_draws):
            for _ in range(sweeps_per_draw):
                uniforms[draw] = self.rng.random(N_ROWS + 3)
                self.sweep += 1
                self.on_sweep(self.number, self.sweep)
        labels = (uniforms[:, :N_ROWS] * 3).astype(np.int32) + 1
        n_proposed = np.ones((n_draws, len(MOVES)), dtype=np.int64)
        n_proposed[:, 0] = 0
        return Draws(
            labels=labels,
            n_clusters=np.array([len(np.unique(draw)) for draw in labels]),
            log_likelihood=uniforms[:, N_ROWS],
            prior_log_density=uniforms[:, N_ROWS + 1],
            log_energy=uniforms[:, N_ROWS + 2],
            masked_rows=np.argsort(uniforms[:, :N_ROWS])[:, :N_MASKED],
            n_proposed=n_proposed,
            n_accepted=(n_proposed * uniforms[:, :1] > 0.5).astype(np.int64),
            n_written=np.array([n_draws]),
        )

    def snapshot(self):
        """Give all that is carried."""
        return {
            "state": {"sweep": np.array(self.sweep)},
            "likelihood": {},
            "generator": copy.deepcopy(self.rng.bit_generator.state),
            "seed": self.rng.bit_generator.seed_seq.state,
            "warmth": asdict(self.warmth),
        }

    def restore(self, snapshot):
        """Take it up."""
        self.sweep = int(snapshot["state"]["sweep"])
        self.rng = make_generator(snapshot["generator"], snapshot["seed"])
        self.warmth = Warmth(**snapshot["warmth"])

    def heat(self, power):
        """Do nothing."""

    def relax(self, mask_price):
        """Do nothing."""

    def cool(self):
        """Do nothing."""


def do_nothing(number, sweep):
    """Let a chain go on."""


def make_recorder(n_chains=3, n_kept=20):
    """Give a recorder for such chains."""
    return DrawRecorder(
        AUDIT, n_chains=n_chains, n_kept=n_kept, n_labels=N_ANCHORS, n_masked=N_MASKED
    )
