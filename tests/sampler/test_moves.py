"""Moves are counted under their own names."""

import pytest

from fairmix.sampler.kernels.moves import MOVES, NAMES
from tests.sampler.test_invariants import make_random_chain
from tests.tiny import only


@pytest.mark.parametrize("setting", sorted({move.setting for move in MOVES}))
def test_a_move_is_counted_under_its_name(setting):
    chain = make_random_chain("gaussian", (9, 14, 20), 4, seed=1, extra="free")
    how_often = only(**{setting: 10}) | {"mask_price": 1.0}
    chain.schedule = chain.schedule._replace(**how_often)
    before = chain.state.n_clusters[0]
    draws = chain.run(30)
    proposed = dict(zip(NAMES, draws.n_proposed.sum(axis=0), strict=True))
    accepted = dict(zip(NAMES, draws.n_accepted.sum(axis=0), strict=True))
    made = {move.name for move in MOVES if move.setting == setting}
    assert {name for name in NAMES if proposed[name] > 0} == made
    assert {name for name in NAMES if accepted[name] > 0} == made
    assert all(accepted[name] <= proposed[name] for name in NAMES)
    if setting != "gibbs_passes":  # which opens clusters, too
        assert draws.n_clusters[-1] - before == accepted["split"] - accepted["merge"]
