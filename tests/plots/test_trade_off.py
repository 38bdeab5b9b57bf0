import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from fairmix.plots import plot_trade_off


@pytest.fixture
def runs():
    rows = [
        {"method": f"method {m}", "setting": setting, "gap": gap, "cost": 3.0 + m - gap}
        for m in range(10)
        for setting, gap in (("strict", 0.0), ("loose", 0.1))
        for seed in range(2)
    ]
    runs = pd.DataFrame(rows).assign(n_clusters=3, error="")
    failed = runs["method"] == "method 4"
    runs.loc[failed, "error"] = "ValueError: no"
    runs.loc[failed | (runs["method"] == "method 5"), ["gap", "cost"]] = np.nan
    runs.loc[1, "n_clusters"] = 5
    return runs


def test_a_line_for_each_method(runs):
    ax = plot_trade_off(runs)
    assert plt.gcf() is ax.figure  # so that notebooks show it
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend[0] == "method 0 (3 to 5 clusters)"
    assert legend[4:6] == ["method 4 (failed)", "method 5 (left out)"]
    assert "gap" in ax.get_xlabel()
    assert "Cost" in ax.get_ylabel()
    looks = {(line.get_color(), line.get_marker()) for line in ax.get_legend().get_lines()}
    assert len(looks) == 10


def test_axes_may_be_given(runs):
    figure, (_, given) = plt.subplots(1, 2)
    assert plot_trade_off(runs, ax=given) is given
    assert plt.get_fignums() == [figure.number]


def test_one_bad_method_does_not_press_the_others_together(runs):
    usual = plot_trade_off(runs)
    assert "broken" not in usual.get_ylabel()
    runs.loc[runs["method"] == "method 9", "cost"] = 500.0
    ax = plot_trade_off(runs)
    assert "broken axis" in ax.get_ylabel()
    low, bad = runs[runs["cost"] < 500.0]["cost"], 500.0
    heights = ax.transAxes.inverted().transform(
        ax.transData.transform([(0.0, low.min()), (0.0, low.max()), (0.0, bad)])
    )[:, 1]
    assert heights[1] - heights[0] > 0.6
    assert 0.8 < heights[2] < 1.0
    assert 500.0 in ax.get_yticks()
