import numpy as np
import pytest

from fairmix.plots.numbers import push_apart


@pytest.mark.parametrize("n_boxes", [1, 2, 10, 60])
def test_boxes_at_one_place_are_moved_apart(n_boxes):
    box, lowest, highest = np.array([15.0, 12.0]), np.zeros(2), np.array([300.0, 200.0])
    places = push_apart(np.full((n_boxes, 2), 100.0), box, lowest, highest)
    assert (places >= lowest).all()
    assert (places <= highest).all()
    for k in range(n_boxes):
        gaps = np.abs(np.delete(places, k, axis=0) - places[k]) - box
        assert (gaps.max(axis=1, initial=-box.max()) >= -0.1).all()


def test_boxes_that_are_apart_stay_where_they_are():
    centres = np.array([[0.0, 0.0], [50.0, 0.0], [0.0, 50.0]])
    places = push_apart(centres, np.array([20.0, 10.0]), np.full(2, -9.0), np.full(2, 99.0))
    assert places == pytest.approx(centres, abs=0.01)
