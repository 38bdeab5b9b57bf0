"""Cells that a spreadsheet would run are defused."""

import csv
import io

import numpy as np
import pytest

from fairmix.cli.safe_csv import csv_of, defuse


@pytest.mark.parametrize(
    "cell",
    [
        "=1+1",
        "+cmd|' /C calc'!A0",
        "-2+3",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "-",
        "+1.2.3",
        "-inf",
    ],
)
def test_what_would_be_run_is_not(cell):
    assert defuse(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["-1.5", "+3", "-2e-05", "-.5", "a=b", "'x", "5-3", ""])
def test_numbers_and_text_stay(cell):
    assert defuse(cell) == cell


def test_values_of_other_types():
    cells = [None, float("nan"), -1, -0.5, np.float64(-2.5), True, ("=a", "b")]
    assert list(map(defuse, cells)) == ["", "", "-1", "-0.5", "-2.5", "True", "('=a', 'b')"]


def test_tables():
    written = csv_of(["=id", "x"], [('say "hi", =you', 1), ("@\nme", -2.5)])
    assert list(csv.reader(io.StringIO(written.decode()))) == [
        ["'=id", "x"],
        ['say "hi", =you', "1"],
        ["'@\nme", "-2.5"],
    ]
