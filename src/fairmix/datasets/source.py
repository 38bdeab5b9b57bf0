"""Where public data comes from: a folder of the user's, the cache, or the public source.

A dataset is one file in a form of ours (CSV with a header), whose SHA-256 is known. It
is looked for in the folder that the environment variable FAIRMIX_DATA names (where the public file
itself will do), then in the user's cache; else the public file is downloaded, brought into that
form, checked and kept. Archives are never unpacked to disk: one named member is read, up to
a size.
"""

from __future__ import annotations

import hashlib
import http.client
import io
import os
import sys
import tempfile
import time
import urllib.error
import urllib.request
import warnings
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from platformdirs import user_cache_path

#: The environment variable that names a folder with the files.
FOLDER_VARIABLE = "FAIRMIX_DATA"
#: Nothing larger than this is downloaded or taken out of an archive.
MAX_BYTES = 50_000_000
#: Seconds that a server may be silent, and that a download may take.
SILENCE_SECONDS, DOWNLOAD_SECONDS = 30.0, 300.0
_CHUNK_BYTES = 1 << 16


class DownloadError(OSError):
    """A public dataset could not be had; the message says why and what to do."""


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
        If it is neither in the user's folder nor in the cache, and cannot be downloaded.
    """
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder:
        if not Path(folder).is_dir():
            raise NotADirectoryError(f"{FOLDER_VARIABLE} = {folder!r} is not a folder.")
        path = Path(folder) / source.file_name
        if path.exists():
            return _read_checked(path, source)
        public = Path(folder) / source.public_name
        if public.exists():
            return _read_public(public, source)
    cached = user_cache_path("fairmix") / "data" / source.file_name
    if cached.exists():
        try:
            return _read_checked(cached, source)
        except ValueError:
            print(f"fairmix: {cached} is damaged and is downloaded again", file=sys.stderr)
    print(f"fairmix: downloading {source.file_name} from {source.url}", file=sys.stderr, flush=True)
    contents = _bring_into_form(_fetch(source), source)
    _keep(contents, cached)
    return contents


def _read_checked(path: Path, source: Source) -> bytes:
    contents = path.read_bytes()
    found = hashlib.sha256(contents).hexdigest()
    if found != source.sha256:
        raise ValueError(
            f"{path} has the SHA-256 {found}, not {source.sha256}: it is another version, or "
            "damaged. Remove it, and it will be downloaded again."
        )
    return contents


def _read_public(path: Path, source: Source) -> bytes:
    """Read the public file from the user's folder."""
    try:
        with path.open("rb") as file:
            return _bring_into_form(_read_at_most(file, source), source)
    except DownloadError as error:
        raise ValueError(
            f"{path} is damaged, or another version of {source.url}. Remove it, and it will be "
            "downloaded again."
        ) from error


def _bring_into_form(contents: bytes, source: Source) -> bytes:
    """Take the data out of the public file, and check that it is what we know."""
    for member in source.members:
        contents = _take_out(contents, member, source)
    try:
        contents = source.convert(contents)
    except ValueError as error:
        raise DownloadError(f"{source.url} is not what it was: {error}. {source.remedy}") from error
    found = hashlib.sha256(contents).hexdigest()
    if found != source.sha256:
        raise DownloadError(
            f"{source.url} gives a file with the SHA-256 {found}, not {source.sha256}: it has "
            f"changed, or was damaged on its way, and is not used. {source.remedy}"
        )
    return contents


def _fetch(source: Source) -> bytes:
    request = urllib.request.Request(source.url, headers={"User-Agent": "fairmix"})
    deadline = time.monotonic() + DOWNLOAD_SECONDS
    chunks, n_bytes = [], 0
    try:
        with urllib.request.urlopen(request, timeout=SILENCE_SECONDS) as response:
            while chunk := response.read1(_CHUNK_BYTES):
                chunks.append(chunk)
                n_bytes += len(chunk)
                if time.monotonic() > deadline:
                    raise TimeoutError(f"it took more than {DOWNLOAD_SECONDS:g} seconds")
                _refuse_large(n_bytes, source)
            announced = response.headers.get("Content-Length")
    except DownloadError:
        raise
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        raise DownloadError(
            f"{source.url} could not be downloaded ({error}). {source.remedy}"
        ) from error
    if announced is not None and n_bytes < int(announced):
        raise DownloadError(
            f"{source.url}: the connection ended after {n_bytes:,} of {int(announced):,} bytes; "
            f"try again. {source.remedy}"
        )
    return b"".join(chunks)


def _take_out(archive: bytes, member: str, source: Source) -> bytes:
    """Read one member of an archive; nothing is unpacked, and no other member is looked at."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            info = opened.getinfo(member)
            _refuse_large(info.file_size, source)
            with opened.open(info) as file:
                contents = _read_at_most(file, source)
    except DownloadError:
        raise
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, RuntimeError, OSError) as error:
        raise DownloadError(
            f"{source.url} is not the archive it was: {member} cannot be read ({error}). "
            f"{source.remedy}"
        ) from error
    return contents


def _read_at_most(file: IO[bytes], source: Source) -> bytes:
    contents = file.read(MAX_BYTES + 1)  # the size that an archive announces may be a lie
    _refuse_large(len(contents), source)
    return contents


def _refuse_large(n_bytes: int, source: Source) -> None:
    if n_bytes > MAX_BYTES:
        raise DownloadError(
            f"{source.url} holds more than {MAX_BYTES:,} bytes, which the data never had; it was "
            f"not read any further. {source.remedy}"
        )


def _keep(contents: bytes, path: Path) -> None:
    """Write a file so that it is there as a whole or not at all."""
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            temporary = file.name
            file.write(contents)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        warnings.warn(
            f"{path.name} was downloaded but could not be kept in {path.parent} ({error}), so it "
            f"will be downloaded again. Let {FOLDER_VARIABLE} name a folder that holds it.",
            UserWarning,
            stacklevel=4,
        )
