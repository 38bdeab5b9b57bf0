"""A deal: room to cut the rows of one or two clusters into two halves.

The rows concerned are *members*, numbered in parts: anchors (part 0), then the unmasked followers
that sit in the slots, a part a group, then masked followers whose label is in one of the clusters
(the last part). Everything here is filled anew by each proposal.
"""

from typing import NamedTuple

import numpy as np


class Deal(NamedTuple):
    """Room to deal the members of two halves."""

    slots: np.ndarray  # slots of S; the last two hold the two anchors
    rows: np.ndarray  # rows of all members
    part_start: np.ndarray  # first member of each part
    loose_end: np.ndarray  # members of a part from its start to here are loose
    flexible: np.ndarray  # (group, slot of S): whether an extra seat may come or go
    capacity: np.ndarray  # (group, slot of S): seats of unmasked followers that do not go
    has_extra: np.ndarray  # (group, slot of S): whether a flexible slot has an extra seat
    gets_extra: np.ndarray  # the same, as proposed
    n_extra: np.ndarray  # group -> extra seats of flexible slots
    lift: np.ndarray  # (group, slot of S): seats to be expected
    in_a: np.ndarray  # member -> whether it is in half A
    preference: np.ndarray  # member -> log predictive in A over that in B
    odds: np.ndarray  # member -> odds of half A
    order: np.ndarray  # members of a part, the most eager for A first
    centre: np.ndarray  # group -> preference at which followers do not mind
    border: np.ndarray  # group -> what a seat adds to the log odds of its anchor
    stats: np.ndarray  # (half, statistic)
    n_rows: np.ndarray  # of each half
    half_groups: np.ndarray  # (half, column of the cap): rows
    price: np.ndarray  # column of the cap -> what is added to the log odds of its rows
    price_range: np.ndarray  # (column, bound): where the price is sought
    expected: np.ndarray  # (column, figure): rows of A to be expected, their slope, the goal
    room: np.ndarray  # (column, half): loose rows that are still to come there
    to_come: np.ndarray  # (column, half): how many of them were to be expected
    pricing: (
        np.ndarray
    )  # two numbers: part of the prices that groups get; cost of an imbalance of 1
    joined: np.ndarray  # statistics of a half with a row added
    half_slots: np.ndarray  # slots of half A from the front, of B from the back
    new_seat: np.ndarray  # member -> seat
    new_slot: np.ndarray  # member -> slot
    log_weights: np.ndarray  # of clusters, or of numbers of extra seats
    max_launched: int  # hard EM looks at about so many members
