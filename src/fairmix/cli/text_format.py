"""The format of a text file: encoding, delimiter and decimal sign, found out or named."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fairmix.cli.settings import Settings
from fairmix.cli.telling import CommandError

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
#: Characters at the beginning that the format is found from.
SAMPLE = 1 << 16
#: A delimiter must cut so large a share of the lines into as many cells as the first.
REGULAR = 0.9
#: What an encoding is called if its first bytes say it.
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_WITH_COMMA, _WITH_POINT = re.compile(r"[+-]?\d+,\d+"), re.compile(r"[+-]?\d*\.\d+")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")


class TextFormat(NamedTuple):
    """How a text is to be read.

    Parameters
    ----------
    delimiter, decimal, encoding : str
        What is between cells, what is before the decimals, and how letters are written.
    """

    delimiter: str
    decimal: str
    encoding: str

    def __str__(self) -> str:
        between = DELIMITERS.get(self.delimiter, repr(self.delimiter))
        comma = ", decimal comma" if self.decimal == "," else ""
        return f"text, {between} between cells{comma}, {self.encoding}"


def find_format(path: Path, settings: Settings) -> TextFormat:
    """Find the format of a text, as far as it is not named.

    Parameters
    ----------
    path : Path
        The file.
    settings : Settings
        What is named.

    Returns
    -------
    TextFormat
        The format.
    """
    encoding = settings.encoding or _find_encoding(path)
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise CommandError(f"--encoding {encoding} is not known; name one such as utf-8.") from None
    if settings.decimal not in (None, ".", ","):
        raise CommandError(f"--decimal is '.' or ',', got {settings.decimal!r}.")
    delimiter = settings.delimiter
    if delimiter is not None:
        delimiter = {"tab": "\t", r"\t": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1:
            raise CommandError(f"--delimiter is one character (or 'tab'), got {delimiter!r}.")
    try:
        with path.open(encoding=encoding, newline="") as file:
            sample = file.read(SAMPLE)
            if file.read(1):
                sample = sample[: sample.rfind("\n") + 1] or sample
    except UnicodeError as error:
        raise _wrong_encoding(path, encoding, error) from None
    delimiter = delimiter or _find_delimiter(sample)
    decimal = settings.decimal or _find_decimal(sample, delimiter)
    return TextFormat(delimiter, decimal, encoding)


@contextlib.contextmanager
def open_rows(path: Path, form: TextFormat) -> Iterator[Iterator[list[str]]]:
    """Open a text as rows of cells.

    Parameters
    ----------
    path : Path
        The file.
    form : TextFormat
        Its format.

    Yields
    ------
    iterator of list of str
        The rows, from the header on.
    """
    with path.open(encoding=form.encoding, newline="") as file:
        reader = csv.reader(file, delimiter=form.delimiter, skipinitialspace=True)
        try:
            yield reader
        except csv.Error as error:
            raise CommandError(
                f"{path}, line {reader.line_num}: {error}; is a quote open?"
            ) from None
        except UnicodeError as error:
            raise _wrong_encoding(path, form.encoding, error) from None


def _wrong_encoding(path: Path, encoding: str, error: UnicodeError) -> CommandError:
    return CommandError(f"{path} is not written in {encoding} ({error}); name another --encoding.")


def _find_encoding(path: Path) -> str:
    """Find how a file is written: by its mark, else utf-8 if it can be, else as in the West."""
    with path.open("rb") as file:
        first = file.read(4)
        for mark, name in MARKS.items():
            if first.startswith(mark):
                return name
        file.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        is_utf8, has_gaps = True, False
        while chunk := file.read(1 << 20):
            if b"\0" in chunk:
                raise CommandError(
                    f"{path} holds null bytes, so it is no text; save the table as CSV."
                )
            if is_utf8:
                try:
                    decoder.decode(chunk)
                except UnicodeDecodeError:
                    is_utf8 = False
            has_gaps |= any(byte in chunk for byte in b"\x81\x8d\x8f\x90\x9d")
        if is_utf8:
            try:
                decoder.decode(b"", final=True)
            except UnicodeDecodeError:
                is_utf8 = False
    if is_utf8:
        return "utf-8"
    return "latin-1" if has_gaps else "cp1252"  # which is latin-1 with quotes and the euro


def _find_delimiter(sample: str) -> str:
    """Find what cuts the lines into as many cells each, and into most."""
    best, most = ",", 1
    for delimiter in DELIMITERS:
        try:
            rows = [row for row in csv.reader(io.StringIO(sample), delimiter=delimiter) if row]
        except csv.Error:
            continue
        n_cells = len(rows[0]) if rows else 0
        n_regular = sum(len(row) == n_cells for row in rows)
        if n_cells > most and n_regular >= REGULAR * len(rows):
            best, most = delimiter, n_cells
    return best


def _find_decimal(sample: str, delimiter: str) -> str:
    """Find the decimal sign: a comma if more cells have one than a point."""
    n_commas = n_points = 0
    reader = csv.reader(io.StringIO(sample), delimiter=delimiter, skipinitialspace=True)
    with contextlib.suppress(csv.Error):
        for cell in (cell.strip() for row in reader for cell in row):
            n_points += _WITH_POINT.fullmatch(cell) is not None
            is_comma = _WITH_COMMA.fullmatch(cell) is not None
            n_commas += is_comma and (delimiter != "," or _THOUSANDS.fullmatch(cell) is None)
    return "," if n_commas > n_points else "."
