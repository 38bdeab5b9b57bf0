"""Tables from files, each cell read in the same way whatever is installed.

Text is read twice from beginning to end, a few thousand rows at a time: first to find out what each
column holds, then to fill its array. So there is never more in memory than the columns themselves,
without any other library; what is found cannot depend on which ones are there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairmix.cli.cells import FileColumn, Scan, column_of_values
from fairmix.cli.settings import Settings
from fairmix.cli.telling import CommandError
from fairmix.cli.text_format import TextFormat, find_format, open_rows
from fairmix.tables.cells import shorten

TEXTS = (".csv", ".tsv", ".tab", ".txt")
PARQUETS, FEATHERS = (".parquet", ".pq"), (".feather", ".arrow")
EXCELS = (".xlsx", ".xlsm")
#: Rows that are looked at together.
CHUNK_ROWS = 5_000
INSTALL = 'run pip install "fairmix[tables]", or save the table as CSV.'


@dataclass(frozen=True)
class FileTable:
    """A table as a file has it.

    Attributes
    ----------
    path : Path
        The file.
    columns : list of FileColumn
        Its columns; no two have the same name.
    n_rows : int
        Number of rows.
    told : str
        What kind of file it is, for people.
    """

    path: Path
    columns: list[FileColumn]
    n_rows: int
    told: str

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    def column(self, name: str) -> FileColumn:
        """Give the column of a name."""
        return self.columns[self.names.index(name)]


def read_table(settings: Settings, kinds: dict[str, str] | None = None) -> FileTable:
    """Read a table.

    Parameters
    ----------
    settings : Settings
        The file, and what is said about its format.
    kinds : dict, optional
        Columns that must be "text" or "numbers", whatever they look like.

    Returns
    -------
    FileTable
        The table.
    """
    path = Path(settings.data)
    suffix = path.suffix.lower()
    if not path.exists():
        raise CommandError(f"{path} does not exist; name the file with the table.")
    if path.is_dir():
        raise CommandError(f"{path} is a folder; name the file with the table.")
    missing = frozenset(settings.na)
    kinds = kinds or {}
    try:
        if suffix in TEXTS:
            table = _read_text(path, find_format(path, settings), missing, kinds)
        elif suffix in (*PARQUETS, *FEATHERS):
            table = _read_arrow(path, suffix, missing, kinds)
        elif suffix in EXCELS:
            table = _read_excel(path, missing, kinds)
        else:
            known = ", ".join((*TEXTS, *PARQUETS, *FEATHERS, *EXCELS))
            raise CommandError(f"{path} has no ending that is known ({known}); save it as CSV.")
    except OSError as error:
        raise CommandError(f"{path} cannot be read ({error.strerror or error}).") from None
    if table.n_rows == 0:
        raise CommandError(f"{path} has no rows below its header.")
    return table


def _read_text(
    path: Path, form: TextFormat, missing: frozenset[str], kinds: dict[str, str]
) -> FileTable:
    """Read a text: once to learn, once to fill."""
    with open_rows(path, form) as rows:
        names = _names_of(path, next(rows, []))
        scans = [Scan(name, form.decimal, missing, kinds.get(name)) for name in names]
        n_rows = 0
        ragged: list[str] = []
        n_ragged = 0
        for chunk in _chunks(rows):
            for number, row in enumerate(chunk, start=n_rows + 1):
                if len(row) != len(names):
                    n_ragged += 1
                    ragged = [*ragged, f"row {number} has {len(row)} cells"][:3]
            if not n_ragged:
                for scan, cells in zip(scans, zip(*chunk, strict=True), strict=True):
                    scan.look(cells)
            n_rows += len(chunk)
    if n_ragged:
        more = f" ({n_ragged} such rows in all)" if n_ragged > len(ragged) else ""
        raise CommandError(
            f"{path}: {', '.join(ragged)}, but the header has {len(names)}{more}; mend these rows "
            "(a cell that holds the delimiter must stand in quotes), or name --delimiter."
        )
    with open_rows(path, form) as rows:
        next(rows, None)
        for scan in scans:
            scan.begin(n_rows)
        for chunk in _chunks(rows):
            for scan, cells in zip(scans, zip(*chunk, strict=True), strict=True):
                scan.fill(cells)
    return FileTable(path, [scan.column() for scan in scans], n_rows, str(form))


def _chunks(rows: Iterable[list[str]]) -> Iterable[list[list[str]]]:
    """Give rows some at a time; empty lines are no rows."""
    filled = (row for row in rows if row)
    while chunk := list(itertools.islice(filled, CHUNK_ROWS)):
        yield chunk


def _names_of(path: Path, header: Sequence[Any]) -> list[str]:
    """Give the names of the columns; a column without one is called by its place."""
    given = ["" if cell is None else str(cell).strip() for cell in header]
    if not any(given):
        raise CommandError(f"{path} is empty: a table has a row of names, then rows of cells.")
    names = [name or f"column {k}" for k, name in enumerate(given, start=1)]
    twice = list(dict.fromkeys(name for name in names if names.count(name) > 1))
    if twice:
        raise CommandError(
            f"{path} has several columns of the same name ({shorten(twice)}); rename them."
        )
    if all(name[:1].isdigit() or name[:1] in "+-." for name in given if name):
        raise CommandError(
            f"{path} begins with {shorten(given, 3)}, which looks like a row of data; a table has "
            "a row of names first."
        )
    return names


def _read_arrow(
    path: Path, suffix: str, missing: frozenset[str], kinds: dict[str, str]
) -> FileTable:
    try:
        import pyarrow
        from pyarrow import feather, parquet
    except ImportError:
        raise CommandError(f"{path} needs pyarrow: {INSTALL}") from None
    try:
        is_parquet = suffix in PARQUETS
        read = parquet.read_table(path) if is_parquet else feather.read_table(path)
    except pyarrow.ArrowException as error:
        raise CommandError(f"{path} cannot be read ({str(error).splitlines()[0]}).") from None
    names = _names_of(path, read.column_names)
    columns = []
    for name, column in zip(names, read.itercolumns(), strict=True):
        is_plain = pyarrow.types.is_floating(column.type) or pyarrow.types.is_integer(column.type)
        if is_plain and column.null_count == 0 and kinds.get(name) != "text":
            values: Any = column.to_numpy()
        else:
            values = column.to_pylist()
        columns.append(column_of_values(name, values, missing, kinds.get(name)))
    return FileTable(path, columns, read.num_rows, "Parquet" if is_parquet else "Feather")


def _read_excel(path: Path, missing: frozenset[str], kinds: dict[str, str]) -> FileTable:
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise CommandError(f"{path} needs openpyxl: {INSTALL}") from None
    import zipfile

    try:
        book = load_workbook(path, read_only=True, data_only=True)
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise CommandError(f"{path} is no Excel file that can be read ({error}).") from None
    sheet = book.worksheets[0]
    rows = [row for row in sheet.iter_rows(values_only=True) if any(c is not None for c in row)]
    names = _names_of(path, list(_without_tail(rows[0])) if rows else [])
    columns = [
        column_of_values(name, [_cell(row, k) for row in rows[1:]], missing, kinds.get(name))
        for k, name in enumerate(names)
    ]
    more = len(book.sheetnames) - 1
    others = f", the first of {more + 1} sheets" if more else ""
    book.close()
    return FileTable(path, columns, max(len(rows) - 1, 0), f"Excel, sheet {sheet.title!r}{others}")


def _cell(row: Sequence[Any], k: int) -> Any:
    return row[k] if k < len(row) else None


def _without_tail(cells: Sequence[Any]) -> Sequence[Any]:
    """Leave out empty cells at the end of a header."""
    n_used = max((k + 1 for k, cell in enumerate(cells) if cell is not None), default=0)
    return cells[:n_used]
