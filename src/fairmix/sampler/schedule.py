"""How often each move is made in a sweep."""

from __future__ import annotations

import math

from fairmix.families import is_conjugate
from fairmix.model.model import Model
from fairmix.sampler.kernels.moves import Schedule

#: Rounds of matching and Gibbs moves in a sweep; one if clusters have parameters, where a Gibbs
#: move costs far more.
ROUNDS = 12
#: The same under a cap on rows: a Gibbs move takes a single row, and no new bundles are made.
ROUNDS_OF_ROWS = 4
#: Follower swaps a sweep, for each follower.
SWAPS_PER_FOLLOWER = 4
#: Exchanges of two rows of a group in a round, for each row, under a cap on rows.
EXCHANGES_PER_ROW = 0.25
#: Times that each follower may be masked or unmasked in a sweep, while fairness is relaxed.
MASK_CHANGES_PER_FOLLOWER = 4
#: Proposals a sweep to split, merge and deal anew, and the shares of two kinds of these:
#: splits and merges change the number of clusters, partial re-deals (the rest) cost least.
SPLIT_MERGE_MOVES = 50
#: The same under a cap on rows.
SPLIT_MERGE_MOVES_OF_ROWS = 130
SPLIT_MERGE_SHARE, REDEAL_SHARE = 0.56, 0.04
#: The same if clusters have parameters, which a split or a merge must fit to its halves.
SPLIT_MERGE_MOVES_WITH_PARAMETERS = 4


def make_schedule(
    model: Model,
    matching_step: str = "separate",
    matching_moves: int | None = None,
    split_merge_moves: int | None = None,
) -> Schedule:
    """Make the schedule of a sweep.

    Parameters
    ----------
    model : Model
        What is sampled.
    matching_step : {"separate", "joint"}, default="separate"
        Our moves, or the paper's joint proposal.
    matching_moves : int, optional
        Follower swaps a sweep (anchor swaps come in proportion), or joint proposals a
        sweep; four a follower by default.
    split_merge_moves : int, optional
        Splits, merges and re-deals a sweep; by default 50, 130 under a cap on rows, or 4 for
        families whose parameters are sampled.

    Returns
    -------
    Schedule
        How often each move is made.
    """
    n_anchors = model.grouping.n_anchors
    n_followers = model.grouping.n_rows - n_anchors
    conjugate = is_conjugate(model.family)
    joint = matching_step == "joint"
    rounds = 1
    if conjugate and not joint:
        rounds = ROUNDS_OF_ROWS if model.may_leave_cap else ROUNDS
    if matching_moves is None:
        matching_moves = SWAPS_PER_FOLLOWER * n_followers
    if n_followers == 0:
        matching_moves = 0
    matching_moves = -(-matching_moves // rounds)
    if split_merge_moves is None:
        split_merge_moves = SPLIT_MERGE_MOVES_WITH_PARAMETERS
        if conjugate:
            of_rows = model.may_leave_cap
            split_merge_moves = SPLIT_MERGE_MOVES_OF_ROWS if of_rows else SPLIT_MERGE_MOVES
    n_split_merge = math.ceil(SPLIT_MERGE_SHARE * split_merge_moves)
    n_redeal = min(math.ceil(REDEAL_SHARE * split_merge_moves), split_merge_moves - n_split_merge)
    anchor_swaps = -(-matching_moves * n_anchors // max(n_followers, 1))
    if model.may_leave_cap:
        anchor_swaps = math.ceil(EXCHANGES_PER_ROW * n_anchors)
    passes = 0 if joint or not model.n_masked.any() else 1
    return Schedule(
        rounds=rounds,
        follower_swaps=0 if joint else matching_moves,
        anchor_swaps=0 if joint else anchor_swaps,
        extra_moves=matching_moves if model.extra is None else 0,
        mask_passes=passes,
        free_match_passes=passes,
        mask_changes=0,
        mask_price=math.inf,
        joint_proposals=matching_moves if joint else 0,
        rematch_passes=0 if joint or matching_moves == 0 else 1,
        gibbs_passes=1,
        split_merge_proposals=n_split_merge,
        redeal_proposals=n_redeal,
        partial_redeal_proposals=split_merge_moves - n_split_merge - n_redeal,
        max_waiting=0,
    )


def relax_schedule(schedule: Schedule, model: Model, mask_price: float) -> Schedule:
    """Let a schedule mask any followers at a price, for a relaxed warm-up.

    Parameters
    ----------
    schedule : Schedule
        How often each move is made otherwise.
    model : Model
        What is sampled.
    mask_price : float
        What a masked row costs in log posterior.

    Returns
    -------
    Schedule
        The same with the moves of masked rows.
    """
    n_followers = model.grouping.n_rows - model.grouping.n_anchors
    return schedule._replace(
        mask_passes=1,
        free_match_passes=1,
        mask_changes=-(-MASK_CHANGES_PER_FOLLOWER * n_followers // schedule.rounds),
        mask_price=mask_price,
    )
