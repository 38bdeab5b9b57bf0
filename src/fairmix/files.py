"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

#: How the name of a file ends that is not whole yet.
UNFINISHED = ".part"


def write_whole(path: Path, contents: bytes | memoryview) -> None:
    """Write a file so that whoever looks sees all of it, or what was there before.

    The contents go to a new file beside it, and onto the disk; only then does that one take the
    other's name. Whoever may look into the folder may read it, unlike files that ``tempfile``
    makes.

    Parameters
    ----------
    path : Path
        The file.
    contents : bytes or memoryview
        What is to be in it.

    Raises
    ------
    OSError
        If that fails; nothing has changed then.
    """
    path = path.resolve()  # a link stays one
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(8)}{UNFINISHED}")
    try:
        with unfinished.open("xb") as file:
            file.write(contents)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink()  # gone already if all went well
    _keep_name(path.parent)


def _keep_name(folder: Path) -> None:
    """Bring a folder's new names onto the disk, where the system has a way to."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
