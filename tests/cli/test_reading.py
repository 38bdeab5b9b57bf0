"""Tables from files: formats, kinds of columns, and what is wrong with a file."""

import sys

import numpy as np
import pandas as pd
import pytest

from fairmix.cli import reading
from fairmix.cli.reading import read_table
from fairmix.cli.settings import Settings
from fairmix.cli.telling import CommandError
from tests.cli.shell import customers


def read(path, kinds=None, **named):
    return read_table(Settings(data=str(path), **named), kinds)


def write(folder, text, name="table.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def values_of(table):
    return {column.name: column.values.tolist() for column in table.columns}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_delimiter_and_encoding_are_found_out(tmp_path, delimiter, encoding):
    lines = ["name", "größe", "x"], ["Zoë", "1.5", "2"], ["José", "-2.25", "3"]
    text = "\r\n".join(delimiter.join(line) for line in lines)
    table = read(write(tmp_path, text, encoding=encoding))
    assert values_of(table) == {"name": ["Zoë", "José"], "größe": [1.5, -2.25], "x": [2, 3]}
    assert table.column("x").values.dtype == np.int64


def test_windows_letters(tmp_path):
    table = read(write(tmp_path, "price,x\n5 €,1\n", encoding="cp1252"))
    assert values_of(table)["price"] == ["5 €"]


@pytest.mark.parametrize("text", ["a;b\n1,5;2\n-0,25;3\n", '"a","b"\n"1,5","2"\n"-0,25","3"\n'])
def test_decimal_comma_is_found_out(tmp_path, text):
    assert values_of(read(write(tmp_path, text))) == {"a": [1.5, -0.25], "b": [2, 3]}


def test_thousands_are_no_decimals(tmp_path):
    table = read(write(tmp_path, 'a,b\n"1,500",1\n"2,250",2\n'))
    assert values_of(table) == {"a": ["1,500", "2,250"], "b": [1, 2]}
    table = read(write(tmp_path, "a;b\n1,5;1.234\n2,5;2,345\n"))
    assert values_of(table) == {"a": [1.5, 2.5], "b": ["1.234", "2,345"]}


def test_what_looks_like_a_delimiter_in_one_line_is_none(tmp_path):
    assert read(write(tmp_path, "a|b|c,x\np,1\nq,2\n")).names == ["a|b|c", "x"]


def test_empty_lines_are_no_rows(tmp_path):
    assert values_of(read(write(tmp_path, "a,b\n1,2\n\n3,4\n\n"))) == {"a": [1, 3], "b": [2, 4]}


def test_format_can_be_named(tmp_path):
    path = write(tmp_path, "a:b\n1,5:é\n", encoding="cp437")
    table = read(path, delimiter=":", decimal=",", encoding="cp437")
    assert values_of(table) == {"a": [1.5], "b": ["é"]}
    with pytest.raises(CommandError, match="--encoding latin-99 is not known"):
        read(path, encoding="latin-99")
    with pytest.raises(CommandError, match="not written in ascii"):
        read(path, encoding="ascii")
    with pytest.raises(CommandError, match="one character"):
        read(path, delimiter="::")
    with pytest.raises(CommandError, match="--decimal is"):
        read(path, decimal="x")


def test_cells_that_are_missing(tmp_path):
    text = "a,b,c\n1,x,-999\n,NA,2\n?,null,3\n nan , y,4\n"
    table = read(write(tmp_path, text), na=("-999",))
    assert [column.n_missing for column in table.columns] == [3, 2, 1]
    assert values_of(table)["b"] == ["x", None, None, "y"]
    assert np.isnan(table.column("c").values[0])


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_mistakes_are_told_with_their_rows(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(reading, "CHUNK_ROWS", chunk)
    cells = [str(k) for k in range(60)]
    cells[9], cells[41] = "12o", "1_000"
    table = read(write(tmp_path, "\n".join(["a", *cells])))
    column = table.column("a")
    assert column.mistakes == [(10, "12o"), (42, "1_000")]
    assert column.n_mistakes == 2
    assert column.values.tolist() == cells


def test_text_is_text_when_it_turns_up_late(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "CHUNK_ROWS", 2)
    table = read(write(tmp_path, "a\n1\n2\n3\nx\ny\nz\n"))
    assert values_of(table) == {"a": ["1", "2", "3", "x", "y", "z"]}
    assert not table.column("a").mistakes


@pytest.mark.parametrize("cells", [["007", "12"], ["1234567890123456789", "2"]])
def test_digits_that_are_names_stay_what_they_are(tmp_path, cells):
    table = read(write(tmp_path, "\n".join(["a", *cells])))
    assert values_of(table) == {"a": cells}


@pytest.mark.parametrize(
    "cell", ["2024-02-29", "29.2.2024", "2/29/24", "2024-02-29T10:00:00Z", "2024/2/9 9:05", "10:30"]
)
def test_dates_are_known(tmp_path, cell):
    assert read(write(tmp_path, f"a,b\n{cell},1\n,2\n{cell},3\n")).column("a").holds_dates


def test_a_number_is_no_date(tmp_path):
    assert not any(c.holds_dates for c in read(write(tmp_path, "a,b\n2024,1.2\n2025,x\n")).columns)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,b\n", "no rows below its header"),
        ("a,b,a\n1,2,3\n", r"several columns of the same name \(a\)"),
        ("a,b\n1,2\n3\n4,5,6\n", "row 2 has 1 cells, row 3 has 3 cells, but the header has 2"),
        ("1,2\n3,4\n", "looks like a row of data"),
        ("a\0b", "null bytes"),
        ('a,b\n"1,2\n', "the header has 2"),
    ],
)
def test_what_is_wrong_with_a_text(tmp_path, text, message):
    with pytest.raises(CommandError, match=message):
        read(write(tmp_path, text))


def test_what_is_wrong_with_a_file(tmp_path):
    with pytest.raises(CommandError, match="does not exist"):
        read(tmp_path / "none.csv")
    with pytest.raises(CommandError, match="is a folder"):
        read(tmp_path)
    with pytest.raises(CommandError, match=r"\.pdf has no ending that is known \(\.csv"):
        read(write(tmp_path, "a", "table.pdf"))
    for name in ("a.parquet", "a.feather", "a.xlsx"):
        with pytest.raises(CommandError, match=f"{name} (cannot be read|is no Excel file)"):
            read(write(tmp_path, "a,b\n", name))


def test_columns_without_a_name_are_called_by_their_place(tmp_path):
    assert read(write(tmp_path, ",b\n1,2\n")).names == ["column 1", "b"]


def test_all_formats_hold_the_same(tmp_path):
    table = customers()
    writers = {"csv": "to_csv", "xlsx": "to_excel", "parquet": "to_parquet"}
    for name, method in writers.items():
        getattr(table, method)(tmp_path / f"t.{name}", index=False)
    table.to_feather(tmp_path / "t.feather")
    table.to_csv(tmp_path / "t.tsv", index=False, sep="\t")
    first = read(tmp_path / "t.csv")
    for name in ("xlsx", "parquet", "feather", "tsv"):
        other = read(tmp_path / f"t.{name}")
        for one, two in zip(first.columns, other.columns, strict=True):
            assert one.name == two.name
            assert one.values.dtype == two.values.dtype, (name, one.name)
            assert pd.Series(one.values).equals(pd.Series(two.values)), (name, one.name)
            assert (one.n_missing, one.holds_dates) == (two.n_missing, two.holds_dates)


def test_typed_cells(tmp_path):
    table = pd.DataFrame(
        {
            "when": pd.date_range("2020-01-01", periods=3),
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "flag": [True, False, True],
            "coded": pd.Categorical(["a", None, "b"]),
            "digits": ["1", "2", "3"],
        }
    )
    table.to_parquet(tmp_path / "t.parquet")
    found = read(tmp_path / "t.parquet", na=("3",))
    assert found.column("when").holds_dates
    assert np.array_equal(found.column("whole").values, [1, np.nan, np.nan], equal_nan=True)
    assert values_of(found)["flag"] == ["True", "False", "True"]
    assert values_of(found)["coded"] == ["a", None, "b"]
    assert values_of(found)["digits"] == ["1", "2", None]


@pytest.mark.parametrize(("module", "name"), [("pyarrow", "t.parquet"), ("openpyxl", "t.xlsx")])
def test_what_is_not_installed_is_named(tmp_path, monkeypatch, module, name):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(CommandError, match=rf'{module}: run pip install "fairmix\[tables\]"'):
        read(write(tmp_path, "a", name))


def test_kinds_can_be_given(tmp_path):
    path = write(tmp_path, "a,b\n1,1\nx,2\n")
    table = read(path, kinds={"a": "numbers", "b": "text"})
    assert table.column("a").mistakes == [(2, "x")]
    assert values_of(table)["b"] == ["1", "2"]
