"""Machine code on disk, between processes.

Numba's own cache looks at one file only: after an edit of another kernel, or of a family, it would
run old machine code. Ours has a file for each module, named by a hash of all that goes into it. A
file begins with a checksum: one that is damaged is removed, and the module compiled anew. Files are
put in place whole, so two processes that compile at once do no harm. A folder that can't be written
is read all the same; what is not found there goes to a folder beside the user's temporary files,
where later processes find it. If nothing can be written at all, fits do without.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pickle
import secrets
import stat
import tempfile
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

#: Bytes of the checksum that a file begins with.
CHECKSUM = hashlib.sha256().digest_size
#: Nothing takes longer to compile: who says so is damaged.
MOST_SECONDS = 1e6


def cache_folder() -> Path:
    """Give the folder of compiled code: in NUMBA_CACHE_DIR, or in the user's cache.

    Returns
    -------
    pathlib.Path
        The folder, which need not exist.
    """
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    return Path(chosen) / "fairmix" if chosen else user_cache_path("fairmix") / "compiled"


def _spare_folder() -> Path:
    """Give the folder of this user's for what the other one cannot take."""
    return Path(tempfile.gettempdir()) / f"fairmix-{_user()}"


def _user() -> int:
    """Give the user's number; where there is none, the temporary folder is the user's own."""
    return os.getuid() if hasattr(os, "getuid") else 0


def _is_ours(folder: Path) -> bool:
    """Tell whether nobody else can have put a file into a folder, which we would run."""
    if not hasattr(os, "getuid"):
        return True
    status = folder.lstat()
    is_private = status.st_uid == os.getuid() and not status.st_mode & 0o022
    return stat.S_ISDIR(status.st_mode) and is_private


def _folders() -> list[Path]:
    """Give the folders to look into, the one that users know first."""
    folders = [cache_folder()]
    with contextlib.suppress(OSError):  # there may be no temporary folder
        if _is_ours(_spare_folder()):
            folders.append(_spare_folder())
    return folders


def folder_for_more() -> Path | None:
    """Give the folder that machine code can be put into; make it if need be.

    Returns
    -------
    pathlib.Path or None
        The folder; None if nothing can be written at all.
    """
    with contextlib.suppress(OSError):
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    with contextlib.suppress(OSError):
        folder = _spare_folder()
        folder.mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder if _is_ours(folder) else None
    return None


def load(name: str) -> Any:
    """Load what was stored under a name.

    Parameters
    ----------
    name : str
        The name.

    Returns
    -------
    object or None
        What was stored; None if there is nothing, or nothing that is whole.
    """
    for folder in _folders():
        try:
            content = (folder / name).read_bytes()
        except OSError:
            continue
        if hashlib.sha256(content[CHECKSUM:]).digest() == content[:CHECKSUM]:
            return pickle.loads(content[CHECKSUM:])
        _unlink(folder / name)
    return None


def store(name: str, value: Any) -> Path | None:
    """Store a value under a name.

    Parameters
    ----------
    name : str
        The name.
    value : object
        The value.

    Returns
    -------
    pathlib.Path or None
        Where it is; None if it could not be stored: the next process makes it again.
    """
    from numba.core.serialize import dumps

    data = dumps(value)
    folder = folder_for_more()
    if folder is not None:
        with contextlib.suppress(OSError):
            return _put(folder / name, hashlib.sha256(data).digest() + data)
    return None


def _put(path: Path, content: bytes) -> Path:
    """Write a file so that it is there whole or not at all.

    Whoever may look into the folder may read it, unlike files that ``tempfile`` makes: an image is
    built by root, but its users may be others.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        with unfinished.open("xb") as file:
            file.write(content)
        os.replace(unfinished, path)
    except BaseException:
        _unlink(unfinished)
        raise
    return path


def remove(name: str) -> None:
    """Remove what was stored under a name, if that is possible."""
    for folder in _folders():
        _unlink(folder / name)


def _unlink(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def known_seconds(what: str, guess: float) -> float:
    """Give the seconds that compiling something took on this machine last time, or a guess."""
    try:
        known = float(json.loads((cache_folder() / "seconds.json").read_text())[what])
    except (OSError, ValueError, KeyError, TypeError):
        return guess
    return known if 0 <= known < MOST_SECONDS else guess


def note_seconds(what: str, seconds: float) -> None:
    """Remember how long compiling something took."""
    path = cache_folder() / "seconds.json"
    with contextlib.suppress(OSError):
        try:
            known = dict(json.loads(path.read_text()))
        except (OSError, ValueError, TypeError):
            known = {}
        _put(path, json.dumps(known | {what: round(seconds, 1)}).encode())
