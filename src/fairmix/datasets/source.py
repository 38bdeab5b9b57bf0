"""Where public data comes from: a folder of the user's, the cache, or the public source.

A dataset is one file in a form of ours (CSV with a header), whose SHA-256 is known. It
is looked for in the folder that the environment variable FAIRMIX_DATA names (where the public file
itself will do), then in the user's cache; else the public file is downloaded, brought into that
form, checked and kept. Archives are never unpacked to disk: one named member is read, up to
a size. Whatever goes wrong on the way is a :class:`DownloadError`.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import queue
import sys
import threading
import time
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from platformdirs import user_cache_path

from fairmix.files import write_whole

#: The environment variable that names a folder with the files.
FOLDER_VARIABLE = "FAIRMIX_DATA"
#: Nothing larger than this is downloaded or taken out of an archive.
MAX_BYTES = 50_000_000
#: Seconds that a server may be silent, and that a download may take from first to last.
SILENCE_SECONDS, DOWNLOAD_SECONDS = 30.0, 300.0
_CHUNK_BYTES = 1 << 16


class DownloadError(OSError):
    """A file of a dataset could not be had or read; the message says why and what to do."""


@dataclass(frozen=True)
class Source:
    """A public file and our form of it.

    Attributes
    ----------
    file_name : str
        Name of our form, in the user's folder and in the cache.
    sha256 : str
        Its checksum.
    url : str
        The public file.
    members : tuple of str
        Where the data is inside it, if it is an archive (of archives).
    convert : callable
        From the public bytes to our form.
    """

    file_name: str
    sha256: str
    url: str
    members: tuple[str, ...]
    convert: Callable[[bytes], bytes]

    @property
    def public_name(self) -> str:
        """Name of the public file."""
        return self.url.rsplit("/", 1)[-1]

    @property
    def remedy(self) -> str:
        """What users can do by hand."""
        return (
            f"If it can be had in another way, put {self.public_name} into a folder and let the "
            f"environment variable {FOLDER_VARIABLE} name that folder."
        )


def read_source(source: Source) -> bytes:
    """Give the contents of a dataset's file, from wherever it can be had.

    Parameters
    ----------
    source : Source
        The dataset.

    Returns
    -------
    bytes
        Our form of the file; its checksum is right.

    Raises
    ------
    DownloadError
        If it is neither in the user's folder nor in the cache, and cannot be downloaded; or if
        the one in the user's folder cannot be read, or is not what we know.
    FileNotFoundError
        If the user's folder does not exist.
    """
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        if not os.path.isdir(named):
            failure = DownloadError if os.path.exists(named) else FileNotFoundError
            raise failure(
                f"{FOLDER_VARIABLE} = {named!r} is not a folder. Let it name the one that holds "
                f"{source.file_name}, or unset it, and the file will be downloaded."
            )
        for path, read in (
            (Path(named) / source.file_name, _check),
            (Path(named) / source.public_name, _bring_into_form),
        ):
            with contextlib.suppress(FileNotFoundError):
                return _read_given(path, read, source)
    cached = user_cache_path("fairmix") / "data" / source.file_name
    try:
        return _check(_read_file(cached), source)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError:
        print(f"fairmix: {cached} is damaged and is downloaded again", file=sys.stderr)
    print(f"fairmix: downloading {source.file_name} from {source.url}", file=sys.stderr, flush=True)
    try:
        contents = _bring_into_form(_fetch(source.url), source)
    except OSError as error:
        raise DownloadError(
            f"{source.url} could not be downloaded, or is not what it was: {_tell(error)}. "
            f"{source.remedy}"
        ) from error
    _keep(contents, cached)
    return contents


def _read_given(path: Path, read: Callable[[bytes, Source], bytes], source: Source) -> bytes:
    """Read a file in the user's folder. That it is not there is no failure: another may be."""
    try:
        return read(_read_file(path), source)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise DownloadError(
            f"{path} cannot be read, is damaged, or is another version of {source.url}: "
            f"{_tell(error)}. Remove it, and it will be downloaded again."
        ) from error


def _read_file(path: Path) -> bytes:
    with path.open("rb") as file:
        return _read_at_most(file)


def _check(contents: bytes, source: Source) -> bytes:
    """Give contents back if they have the checksum that we know."""
    found = hashlib.sha256(contents).hexdigest()
    if found != source.sha256:
        raise DownloadError(f"{source.file_name} has the SHA-256 {found}, not {source.sha256}")
    return contents


def _bring_into_form(contents: bytes, source: Source) -> bytes:
    """Take the data out of the public file, and check that it is what we know."""
    for member in source.members:
        contents = _take_out(contents, member)
    try:
        contents = source.convert(contents)
    except ValueError as error:
        raise DownloadError(_tell(error)) from error
    return _check(contents, source)


def _fetch(url: str) -> bytes:
    """Download a file within the time limit.

    A socket knows how long its server is silent, not how long name, connection, headers and body
    take together. So a thread waits for the server, and this one for the thread.
    """
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
    deadline = time.monotonic() + DOWNLOAD_SECONDS

    def work() -> None:
        try:
            answers.put(_download(url, deadline))
        except Exception as error:  # whatever it is, it is raised where it was asked for
            answers.put(error)

    threading.Thread(target=work, name="fairmix-download", daemon=True).start()
    try:
        answer = answers.get(timeout=DOWNLOAD_SECONDS)
    except queue.Empty:
        raise _too_late() from None
    if isinstance(answer, Exception):
        raise DownloadError(_tell(answer)) from answer
    return answer


def _download(url: str, deadline: float) -> bytes:
    """Download a file; once the deadline has passed, nobody waits for it, and it is given up."""
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    chunks, n_bytes = [], 0
    try:
        request = Request(url, headers={"User-Agent": "fairmix"})
        with urlopen(request, timeout=SILENCE_SECONDS) as response:
            while chunk := response.read1(_CHUNK_BYTES):
                if time.monotonic() > deadline:
                    raise _too_late()
                chunks.append(chunk)
                n_bytes += len(chunk)
                _refuse_large(n_bytes)
            announced = response.headers.get("Content-Length") or ""
    except HTTPError as error:
        error.close()
        raise
    if announced.isdecimal() and n_bytes < int(announced):
        raise DownloadError(
            f"the connection ended after {n_bytes:,} of {int(announced):,} bytes; try again"
        )
    return b"".join(chunks)


def _too_late() -> DownloadError:
    return DownloadError(f"it took more than {DOWNLOAD_SECONDS:g} seconds")


def _take_out(archive: bytes, member: str) -> bytes:
    """Read one member of an archive; nothing is unpacked, and no other member is looked at."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            info = opened.getinfo(member)
            _refuse_large(info.file_size)
            with opened.open(info) as file:
                return _read_at_most(file)
    except DownloadError:
        raise
    except Exception as error:  # each compression has errors of its own, and names may be garbled
        raise DownloadError(
            f"it is not the archive it was: {member} cannot be read ({_tell(error)})"
        ) from error


def _read_at_most(file: IO[bytes]) -> bytes:
    contents = file.read(MAX_BYTES + 1)  # the size that an archive announces may be a lie
    _refuse_large(len(contents))
    return contents


def _refuse_large(n_bytes: int) -> None:
    if n_bytes > MAX_BYTES:
        raise DownloadError(
            f"it holds more than {MAX_BYTES:,} bytes, which the data never had, and was not read "
            "any further"
        )


def _tell(error: Exception) -> str:
    """Say what happened; some errors have no words of their own."""
    return str(error) or type(error).__name__


def _keep(contents: bytes, path: Path) -> None:
    """Write a file so that it is there as a whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, contents)
    except OSError as error:
        warnings.warn(
            f"{path.name} was downloaded but could not be kept in {path.parent} ({error}), so it "
            f"will be downloaded again. Let {FOLDER_VARIABLE} name a folder that holds it.",
            UserWarning,
            stacklevel=4,
        )
