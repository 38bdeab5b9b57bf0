"""Edges of bins read well and tell no single row."""

import numpy as np
import pytest

from fairmix.report.disclosure import LEAST_CELL
from fairmix.report.histograms import choose_edges, count_in_bins


def test_edges_are_round_and_the_farthest_rows_are_beyond_them():
    values = np.concatenate([np.linspace(0, 100, 1000), [1e6, -1e6]])
    edges = choose_edges(values, "numbers")
    assert edges == [float(edge) for edge in range(0, 110, 10)]
    counts = count_in_bins(values, edges)
    assert None not in counts
    assert sum(counts) == 1002


def test_bins_of_counts_are_whole():
    edges = choose_edges(np.tile([0, 1, 2, 3], 20).astype(float), "counts")
    assert edges == [0, 1, 2, 3, 4]
    assert count_in_bins(np.array([0.0] * 7 + [3.0] * 8), edges) == [7, 0, 0, 8]


def test_a_bar_of_a_few_rows_is_not_told():
    edges = [0.0, 1.0, 2.0, 3.0]
    values = np.repeat([0.5, 1.5, 2.5], [LEAST_CELL - 1, LEAST_CELL, 0])
    assert count_in_bins(values, edges) == [None, LEAST_CELL, 0]


def test_a_value_at_an_edge_belongs_to_the_bin_above():
    assert count_in_bins(np.full(9, 1.0), [0.0, 1.0, 2.0]) == [0, 9]


def test_nearly_constant_and_hardly_known_columns():
    spike = np.concatenate([np.zeros(990), np.full(10, 5.0)])
    edges = choose_edges(spike, "numbers")
    assert edges[0] < 0 < edges[-1]
    assert sum(each or 0 for each in count_in_bins(spike, edges)) == 1000
    assert choose_edges(np.full(50, 3.0), "numbers") is None
    assert choose_edges(np.append(np.arange(5.0), np.nan), "numbers") is None


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e12])
def test_a_column_of_any_size_has_some_ten_bins(scale):
    values = scale * np.random.default_rng(0).normal(size=500)
    edges = choose_edges(values, "numbers")
    assert 6 <= len(edges) <= 18
    assert sum(each or 0 for each in count_in_bins(values, edges)) > 450
