import matplotlib.pyplot as plt
import numpy as np
import pytest

from fairmix.plots.broken_axis import break_y_axis, find_break


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([3.0, 3.2, 3.5, 60.0], (3.5, 60.0)),
        ([3.0, 3.2, 3.5, 60.0, 70.0], (3.5, 60.0)),
        ([60.0, 3.0, 3.5, 3.2, 3.5, 3.5], (3.5, 60.0)),
        ([3.0, 3.2, 3.5, 3.9], None),  # no gap is wider than all that is beneath
        ([3.0, 50.0, 60.0, 70.0], None),  # one that is good by far is not pressed against the rest
        ([3.0, 3.0, 3.0, 60.0], None),  # nothing that would be seen better
        ([3.0, 60.0], None),
        ([3.0], None),
        ([], None),
    ],
)
def test_where_an_axis_is_broken(values, found):
    assert find_break(values) == found


@pytest.mark.parametrize(
    "values", [[3.0, 3.2, 3.5, 60.0, 70.0], [3.0, 3.2, 3.5, 60.0], [0.0, 1.0, 2.05], [0, 1, 2.9, 3]]
)
def test_the_scale_keeps_the_order_and_can_be_undone(values):
    _, ax = plt.subplots()
    assert break_y_axis(ax, values)
    transform = ax.yaxis.get_transform()
    bottom, top = ax.get_ylim()
    assert bottom < min(values) < max(values) < top
    wide = np.linspace(bottom - 5.0, top + 5.0, 500)
    heights = transform.transform(wide)
    assert (np.diff(heights) > 0).all()
    assert transform.inverted().transform(heights) == pytest.approx(wide)
    ax.figure.draw_without_rendering()
    assert all(bottom <= tick <= top for tick in ax.get_yticks())


def test_nothing_happens_without_need():
    _, ax = plt.subplots()
    assert not break_y_axis(ax, [1.0, 2.0, 3.0])
    assert ax.get_yscale() == "linear"
