"""The moves of a sweep: their names, how they are counted, and how often each is made.

A new move is named here, once: draws count it, the posterior reports its acceptance, and the table
in the docs is made of these lines.
"""

from typing import NamedTuple


class Move(NamedTuple):
    """A move: its name, the entry of ``Schedule`` that makes it, where it is from, what it does."""

    name: str
    setting: str
    origin: str
    changes: str
    ratio: str


MOVES = (
    Move(
        "follower_swap",
        "follower_swaps",
        "the paper, there in its STEP 1",
        "two followers of one group exchange anchors",
        "marginals of two clusters, energy",
    ),
    Move(
        "anchor_swap",
        "anchor_swaps",
        "ours",
        "two anchors of equal capacity exchange places, their followers stay",
        "marginals of two clusters, energy of both slots",
    ),
    Move(
        "extra",
        "extra_moves",
        "ours, `R` free",
        "a follower goes from an anchor in `R` to one outside",
        "marginals of two clusters, energy",
    ),
    Move(
        "mask_exchange",
        "mask_passes",
        "ours",
        "a masked row returns to its seat, an unmasked one is masked and gets a label from its "
        "full conditional",
        "`p(x_e | its seat) W_u / (p(x_u | its seat) W_e)`, `W_j = sum_c |c| p(x_j | X^c)`",
    ),
    Move(
        "free_match",
        "free_match_passes",
        "ours",
        "a masked row's anchor, from its full conditional",
        "none (Gibbs)",
    ),
    Move(
        "joint",
        "joint_proposals",
        "the paper's STEP 1",
        "two followers exchange anchors, one free match is redrawn and two rows exchange masks, "
        "together",
        "likelihood, energy",
    ),
    Move(
        "gibbs",
        "gibbs_passes",
        "the paper's STEP 2",
        "the label of each slot in turn: Algorithm 3, or 8 with three auxiliary parameters",
        "none (Gibbs)",
    ),
    Move(
        "split",
        "split_merge_proposals",
        "ours",
        "one cluster becomes two; followers, masked rows and extra seats are dealt along with the "
        "anchors",
        "see below",
    ),
    Move("merge", "split_merge_proposals", "ours", "two clusters become one", "see below"),
    Move("redeal", "redeal_proposals", "ours", "two clusters are dealt anew", "see below"),
    Move(
        "partial_redeal",
        "partial_redeal_proposals",
        "ours",
        "a part of two clusters' rows is dealt anew",
        "see below",
    ),
    Move(
        "rematch",
        "rematch_passes",
        "ours",
        "every follower swaps seats with a random one of its own cluster",
        "energy",
    ),
    Move(
        "mask_change",
        "mask_changes",
        "ours, in a relaxed warm-up",
        "a row is masked, with a label from its full conditional, or returns to its seat",
        "`e^(-price) W_u / (n_0 p(x_u | its seat))`, or the inverse",
    ),
)
NAMES = tuple(move.name for move in MOVES)
FOLLOWER_SWAP = NAMES.index("follower_swap")
ANCHOR_SWAP = NAMES.index("anchor_swap")
EXTRA = NAMES.index("extra")
MASK_EXCHANGE = NAMES.index("mask_exchange")
FREE_MATCH = NAMES.index("free_match")
JOINT = NAMES.index("joint")
GIBBS = NAMES.index("gibbs")
SPLIT = NAMES.index("split")
MERGE = NAMES.index("merge")
REDEAL = NAMES.index("redeal")
PARTIAL_REDEAL = NAMES.index("partial_redeal")
REMATCH = NAMES.index("rematch")
MASK_CHANGE = NAMES.index("mask_change")


class Schedule(NamedTuple):
    """How often each move is made: matching and Gibbs moves a round, the others a sweep."""

    rounds: int  # of a sweep
    follower_swaps: int
    anchor_swaps: int
    extra_moves: int
    mask_passes: int
    free_match_passes: int
    mask_changes: int  # only in a relaxed warm-up
    mask_price: float  # what a row that they mask costs (log)
    joint_proposals: int
    rematch_passes: int
    gibbs_passes: int
    split_merge_proposals: int
    redeal_proposals: int
    partial_redeal_proposals: int
    max_waiting: int  # sweeps in a row that may end outside the cap and not count; 0: all count
