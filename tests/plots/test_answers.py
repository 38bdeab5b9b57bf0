"""Pictures of chains, profiles, certainty, shares and caps, of posteriors made by hand."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from fairmix import FairBayesianClustering, measure_caps, plots
from fairmix.posterior.particles import find_particles
from tests.posterior.hand_made import make_posterior, make_training, mixed_table, random_draws


@pytest.fixture
def posterior():
    rng = np.random.default_rng(0)
    draws = random_draws(rng, 3, 120, 60, 4)
    return make_posterior(draws, log_posterior=rng.normal(size=(3, 120)))


@pytest.fixture
def profile():
    X, groups, labels = mixed_table()
    training = make_training(X, groups)
    return make_posterior(np.tile(labels, (1, 5, 1)), training=training).profile()


def test_chains_that_follow_one_law_have_level_ranks(posterior):
    traces, ranks, correlation = plots.plot_chains(posterior)
    assert len(traces.lines) == 3
    levels = [line.get_ydata() for line in ranks.lines if len(line.get_ydata()) == 20]
    assert len(levels) == 3
    for level in levels:  # every draw is in one range
        assert np.mean(level) == pytest.approx(1.0)
    low, high = ranks.patches[0].get_extents().transformed(ranks.transData.inverted()).intervaly
    assert 0.0 <= low < 1.0 < high < 3.0  # the band that most of them are in
    assert all(line.get_ydata()[0] == pytest.approx(1.0) for line in correlation.lines[:3])
    assert "R-hat 0.997, effective" in traces.figure.get_suptitle()


def test_a_chain_that_is_elsewhere_is_seen_in_its_ranks():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(2, 200)) + np.array([[0.0], [50.0]])
    posterior = make_posterior(np.zeros((2, 200, 6), dtype=int), log_posterior=values)
    _, ranks, _ = plots.plot_chains(posterior)
    first, second = (line.get_ydata() for line in ranks.lines if len(line.get_ydata()) == 20)
    assert np.array_equal(first, np.repeat([2.0, 0.0], 10))
    assert np.array_equal(second, np.repeat([0.0, 2.0], 10))


def test_a_scalar_that_is_not_there_is_an_error(posterior):
    with pytest.raises(ValueError, match=r"scalar must be one of .*'log_posterior'"):
        plots.plot_chains(posterior, "height")


def test_one_chain_and_few_draws(posterior):
    few = make_posterior(posterior.labels[:1, :6])
    plots.plot_chains(few, "n_clusters")
    plots.plot_number_of_clusters(few)


def test_number_of_clusters_by_chain(posterior):
    ax = plots.plot_number_of_clusters(posterior)
    heights = {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in ax.patches}
    values, counts = np.unique(posterior.n_clusters, return_counts=True)
    assert heights == pytest.approx(dict(zip(values.tolist(), counts / 360, strict=True)))
    assert sum(len(lines.get_segments()) for lines in ax.collections) == 3 * len(values)


def test_heat_map_of_effects(profile):
    ax = plots.plot_profile(profile, n_features=3)
    shown = ax.images[0].get_array()
    assert shown.shape == (3, 3)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names[0] in ("class: first", "children", "age")
    strongest = np.abs(shown).max(axis=1)
    assert list(strongest) == sorted(strongest, reverse=True)
    place = [column.name for column in profile.columns].index("age")
    whole = plots.plot_profile(profile)
    names = [label.get_text() for label in whole.get_yticklabels()]
    row = whole.images[0].get_array()[names.index("age")]
    assert list(row) == pytest.approx([c.traits[place].effects[0] for c in profile.clusters])
    assert "alone: True" in names or "alone: 1" in names or "alone" in names
    assert not any(name.startswith("alone: F") for name in names)  # the other level says it all


def test_spread_of_the_strongest_features(profile):
    panels = plots.plot_features(profile, n_features=10)
    assert len(panels) == 5
    titles = {panel.get_title() for panel in panels}
    assert titles == {"age", "children", "class", "alone", "fare"}
    for panel in panels:
        assert [t.get_text() for t in panel.get_yticklabels()] == ["0", "1", "2", "all"]
        bars = [bar.get_width() for bar in panel.patches]
        if bars:  # shares of levels, in three clusters and in all rows
            assert sum(bars) == pytest.approx(4.0)


def test_similarity_is_ordered_by_cluster_with_the_core_marked(posterior):
    ax = plots.plot_similarity(posterior)
    shown = np.asarray(ax.images[0].get_array())
    labels = np.sort(posterior.point_estimate().labels)
    same = labels[:, None] == labels
    assert shown[same].mean() > shown[~same].mean() + 0.3
    n_core = len(posterior.sure_core().rows)
    marked = sum(
        abs(np.diff(segment[:, 1])[0]) for c in ax.collections for segment in c.get_segments()
    )
    assert marked == pytest.approx(n_core)
    assert f"{n_core / 60:.0%} of the rows" in ax.get_title()


@pytest.mark.parametrize("n", [1, 3])
def test_particles_side_by_side(posterior, n):
    particles = find_particles(posterior, n)
    ax = plots.plot_particles(particles)
    heights = [bar.get_height() for bar in ax.patches]
    assert sum(heights) == pytest.approx(n)
    assert len(heights) == particles.n_clusters.sum()
    names = [label.get_text().splitlines()[0] for label in ax.get_xticklabels()]
    assert names == particles.names
    bands = sum(np.ptp(band.get_paths()[0].vertices[:2, 1]) for band in ax.collections)
    assert bands == pytest.approx(n - 1, abs=1e-6)  # all rows go somewhere
    for side in (0, 1):  # and no band leaves where another one does, nor arrives there
        edges = {}
        for band in ax.collections:
            x, y = band.get_paths()[0].vertices.T
            at = x.max() if side else x.min()
            edges.setdefault(round(at, 6), []).append((y[x == at].min(), y[x == at].max()))
        for each in edges.values():
            ends = np.array(sorted(each))
            assert (ends[1:, 0] >= ends[:-1, 1] - 1e-9).all()


@pytest.mark.parametrize("n_clusters", [3, 12, 30])
def test_shares_of_any_labels(n_clusters):
    labels = np.arange(300) % n_clusters
    groups = np.where(np.arange(300) % 7 < 3, "a", "b")
    ax = plots.plot_shares(labels, groups)
    widths = np.array([bar.get_width() for bar in ax.patches])
    assert widths.reshape(2, n_clusters + 1).sum(axis=0) == pytest.approx(np.ones(n_clusters + 1))


def test_what_caps_cost():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) + 4 * rng.integers(2, size=(60, 1))
    groups = (X[:, 0] + rng.normal(size=60) > 2).astype(int)
    model = FairBayesianClustering(n_chains=2, n_warmup=40, n_draws=20, random_state=0)
    before = model.get_params()
    measured = measure_caps(model, X, groups, caps=(1.0, 0.2))
    assert model.get_params() == before
    assert list(measured["max_gap"]) == [1.0, 0.2]
    assert (measured["largest_gap"] <= measured["max_gap"]).all()
    assert measured["gap"][1] < measured["gap"][0]
    assert measured["log_posterior"][1] < measured["log_posterior"][0]
    for figure in ("log_posterior", "cost", "n_clusters"):
        ax = plots.plot_caps(measured, figure)
        assert {text.get_text() for text in ax.texts} == {"1", "0.2"}
    with pytest.raises(ValueError, match="figure must be one of"):
        plots.plot_caps(measured, "gap")
    with pytest.raises(ValueError, match="caps"):
        measure_caps(model, X, groups, caps=(0.0,))


def test_hollow_points_are_fits_whose_chains_do_not_agree():
    figures = {"gap": [0.1, 0.05], "max_gap": [1.0, 0.05], "verdict": ["agree", "disagree"]}
    figures |= {"cost": [1.0, 2.0], "cost_sd": [0.1, 0.1]}
    ax = plots.plot_caps(pd.DataFrame(figures), "cost")
    faces = [line.get_markerfacecolor() for line in ax.lines if line.get_marker() == "o"]
    assert faces[0] != "white"
    assert faces[1] == "white"


def test_your_own_axes(posterior):
    _, ax = plt.subplots()
    assert plots.plot_number_of_clusters(posterior, ax=ax) is ax
    with pytest.raises(TypeError, match="ax must be None or an Axes, got 'here'"):
        plots.plot_number_of_clusters(posterior, ax="here")
    with pytest.raises(TypeError, match="ax must be None or 3 Axes"):
        plots.plot_chains(posterior, ax=ax)


def test_matches_join_rows_of_different_groups():
    X = np.random.default_rng(0).normal(size=(50, 3))
    groups = np.repeat(["few", "many"], [20, 30])
    settings = {"n_chains": 2, "n_warmup": 20, "n_draws": 20, "random_state": 0}
    model = FairBayesianClustering(**settings).fit(X, sensitive_features=groups)
    matches = model.matches_
    assert np.array_equal(matches[:20], np.arange(20))
    assert set(np.bincount(matches[20:], minlength=20)) == {1, 2}
    labels = model.posterior_.labels[0, -1]
    assert np.array_equal(labels, labels[matches])  # what is matched goes together
    ax = plots.plot_matches(model, X, n_pairs=10)
    lines = [line.get_xydata() for line in ax.lines if line.get_linestyle() == "-"]
    assert len(lines) == 10
    assert all(np.ptp(ends, axis=0).max() > 0 for ends in lines)
    assert "10 of 30 pairs; dots: few" in ax.get_title()
    assert "% of the variance" in ax.get_xlabel()
    with pytest.raises(ValueError, match="X has 49 rows"):
        plots.plot_matches(model, X[:49])
    capped = model.set_params(max_gap=0.2).fit(X, sensitive_features=groups)
    with pytest.raises(ValueError, match="model has no matches_"):
        plots.plot_matches(capped, X)
