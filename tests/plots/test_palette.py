from fairmix.plots.palette import mark_cluster, mark_line


def test_marks_differ():
    assert len({mark_cluster(k) for k in range(32)}) == 32
    assert len({mark_line(k) for k in range(144)}) == 144


def test_lines_differ_in_colour_and_in_grey():
    assert len({mark_line(k).colour for k in range(9)}) == 9
    assert len({mark_line(k).marker for k in range(12)}) == 12
    assert all(mark_line(k).dashes != mark_line(k + 1).dashes for k in range(30))
