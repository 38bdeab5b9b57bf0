import re
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Annotation
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from fairmix import FairBayesianClustering
from fairmix.datasets import load_toy
from fairmix.plots import plot_clustering
from fairmix.tables.schema import Schema, Wanted

QUICK = {"n_warmup": 5, "n_draws": 5, "n_chains": 1, "random_state": 0}


class Fitted(BaseEstimator):
    """What a fitted model shows of itself, with any labels."""

    def __init__(self, labels, X):
        self.labels = labels
        self.X = X
        self.labels_ = labels
        self.n_clusters_ = labels.max() + 1
        self.schema_ = Schema.fit(X, Wanted(is_location_scale=True))
        self.posterior_ = SimpleNamespace(
            n_clusters=np.full((2, 5), self.n_clusters_),
            verdict=lambda: SimpleNamespace(word="agree"),
        )

    def fit(self, X):
        """Let scikit-learn see an estimator."""


def make_clusters(n_clusters, spread=10.0):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(n_clusters), 20)
    centres = rng.uniform(-spread, spread, (n_clusters, 2))
    X = centres[labels] + rng.normal(size=(len(labels), 2))
    return Fitted(labels, X), X, np.tile(["a", "b"], len(labels) // 2)


@pytest.mark.parametrize("n_columns", [1, 2, 4])
def test_a_picture_with_three_labelled_panels(n_columns, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, n_columns))
    groups = np.tile(["a", "b"], 20)
    model = FairBayesianClustering(**QUICK).fit(X, sensitive_features=groups)
    panels = plot_clustering(model, X, groups, title="A title")
    assert panels.shape == (3,)
    assert all(ax.get_xlabel() for ax in panels)
    assert panels[0].figure.get_suptitle() == "A title"
    plt.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_notebooks_show_the_figure():
    panels = plot_clustering(*make_clusters(3))
    assert plt.gcf() is panels[0].figure
    assert panels[0].figure.get_suptitle() == "Fitted: 3 clusters; the chains agree"


def test_a_table_is_read_as_the_fit_read_it():
    """Columns are found by name; a constant one, and one that came later, is not drawn."""
    toy = load_toy(n_rows=60)
    frame = toy.data.assign(one=1.0)
    with pytest.warns(UserWarning, match="'one' is constant"):
        model = FairBayesianClustering("auto", **QUICK).fit(
            frame, sensitive_features=toy.sensitive_features
        )
    shuffled = frame[["one", "y", "x"]].assign(later="text")
    panels = plot_clustering(model, shuffled, toy.sensitive_features)
    assert (panels[0].get_xlabel(), panels[0].get_ylabel()) == ("x", "y")
    drawn = np.concatenate([np.asarray(dots.get_offsets()) for dots in panels[0].collections])
    assert np.sort(drawn, axis=0) == pytest.approx(np.sort(toy.data.to_numpy(), axis=0))
    with pytest.raises(ValueError, match=r"column 'x' holds text such as '.*', but held numbers"):
        plot_clustering(model, frame.assign(x=frame["x"].astype(str)), toy.sensitive_features)


def test_three_axes_may_be_given():
    figure, given = plt.subplots(3, 1)
    panels = plot_clustering(*make_clusters(3), ax=given)
    assert list(panels) == list(given)
    assert plt.get_fignums() == [figure.number]
    assert figure.get_suptitle() == ""
    plot_clustering(*make_clusters(3), ax=tuple(plt.figure().subfigures().subplots(1, 3)))


def test_other_axes_are_refused():
    for wrong in (plt.subplots()[1], plt.subplots(2, 2)[1], "axes"):
        n_figures = len(plt.get_fignums())
        with pytest.raises(TypeError, match="ax must be None or 3 Axes"):
            plot_clustering(*make_clusters(3), ax=wrong)
        assert len(plt.get_fignums()) == n_figures


def test_categories_and_one_group():
    rng = np.random.default_rng(0)
    words = pd.DataFrame(rng.choice(["u", "v", "w"], size=(40, 3)), columns=["a", "b", "c"])
    frame = words.assign(s=np.tile(["x", "y"], 20), t=np.arange(40) < 20)
    model = FairBayesianClustering("categorical", **QUICK)
    model.fit(frame, sensitive_features=["s", "t"])
    panels = plot_clustering(model, frame, ["s", "t"])
    assert re.fullmatch(r"principal component 1 \(\d+% of the variance\)", panels[0].get_xlabel())
    assert panels[1].get_legend().get_texts()[0].get_text() == "x, False"
    with pytest.raises(ValueError, match=r"sensitive_features is None, .*groups \('x', False\), "):
        plot_clustering(model, frame.drop(columns="t"))
    with pytest.raises(ValueError, match="X: column 'a' is missing"):
        plot_clustering(model, frame.drop(columns="a"), ["s", "t"])
    assert len(plt.get_fignums()) == 1  # nothing is left of what failed


@pytest.mark.parametrize(("n_clusters", "spread"), [(3, 10.0), (12, 10.0), (30, 3.0)])
def test_numbers_stand_apart_inside_the_panel(n_clusters, spread):
    panels = plot_clustering(*make_clusters(n_clusters, spread))
    panels[0].figure.draw_without_rendering()
    numbers = [text for text in panels[0].texts if isinstance(text, Annotation)]
    assert [text.get_text() for text in numbers] == [str(k) for k in range(n_clusters)]
    boxes = [text.get_bbox_patch().get_window_extent() for text in numbers]
    frame = panels[0].get_window_extent()
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:k])
        assert frame.padded(1.0).fully_contains(box.x0, box.y0)
        assert frame.padded(1.0).fully_contains(box.x1, box.y1)


def test_a_number_stands_within_a_clump_even_if_groups_are_far_apart():
    toy = load_toy(n_rows=600)
    heights = np.rint(toy.data["y"] / 30).astype(int).to_numpy() + 1
    panels = plot_clustering(Fitted(heights, toy.data), toy.data, toy.sensitive_features)
    for number, y in zip(panels[0].texts, (-30, 0, 30), strict=True):
        assert abs(number.xy[0]) == pytest.approx(5, abs=1)  # clumps are at x = -5 and x = 5
        assert number.xy[1] == pytest.approx(y, abs=2)


@pytest.mark.parametrize("n_clusters", [3, 12, 30])
def test_ticks_can_be_read(n_clusters):
    panels = plot_clustering(*make_clusters(n_clusters))
    panels[0].figure.draw_without_rendering()
    ticks = panels[1].get_yticklabels()
    assert [tick.get_text() for tick in ticks] == [*map(str, range(n_clusters)), "all"]
    boxes = [tick.get_window_extent() for tick in ticks]
    assert not any(box.overlaps(other) for box, other in zip(boxes[1:], boxes, strict=False))
    assert all(tick.get_fontsize() >= 6 for tick in ticks)


def test_clusters_of_one_colour_have_different_marks():
    panels = plot_clustering(*make_clusters(30))
    marks = {
        (tuple(face), tuple(edge))
        for drawn in panels[0].collections
        for face, edge in zip(drawn.get_facecolors(), drawn.get_edgecolors(), strict=True)
    }
    assert len(marks) == 30
    dots = [line for line in panels[1].lines if line.get_marker() == "o"]
    assert len({(dot.get_mfc(), dot.get_mec()) for dot in dots}) == 30


def test_long_names_are_broken_and_cut():
    model, X, groups = make_clusters(3)
    long = np.where(groups == "a", "a group with a name that does not end " * 5, "b")
    panels = plot_clustering(model, X, long)
    shown = panels[1].get_legend().get_texts()[0].get_text().splitlines()
    assert len(shown) == 3
    assert max(map(len, shown)) <= 24
    assert shown[-1].endswith("\u2026")


def test_a_model_must_be_fitted():
    with pytest.raises(NotFittedError):
        plot_clustering(FairBayesianClustering(), [[1.0], [2.0]])


def test_another_table_is_refused():
    toy = load_toy(n_rows=60)
    model = FairBayesianClustering(**QUICK)
    model.fit(toy.data, sensitive_features=toy.sensitive_features)
    with pytest.raises(ValueError, match="54 rows, but the model was fitted to 60"):
        plot_clustering(model, toy.data[:54], toy.sensitive_features[:54])
