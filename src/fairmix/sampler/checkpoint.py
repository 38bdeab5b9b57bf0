"""Checkpoints: what chains have done, in a folder, so that a fit that was killed can go on.

Each chain has its own files, so that chains in threads, or in processes that see the folder, never
wait for each other. A file is there whole or not at all, and each is enough by itself: draws,
snapshot, and what they are draws of. The last two of a chain are kept. A file is a zip archive of
NumPy arrays and a page of JSON, with checksums; nothing in it is ever executed.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import re
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.files import UNFINISHED, write_whole
from fairmix.sampler.past import Bookmark, Past
from fairmix.tables.checks import warn

Arrays = dict[str, NDArray[Any]]

#: A chain is written down every so many seconds, but never for more than this share of its time.
CHECKPOINT_SECONDS, LARGEST_SHARE = 60.0, 0.05
#: How many files of a chain are kept.
N_KEPT = 2
#: Labels are mostly alike from draw to draw: the fastest compression does nearly all there is to
#: do.
COMPRESSION = 1
#: Values that differ are shown if that takes no more characters.
LONGEST_SHOWN = 100
_NAME = re.compile(r"chain-(\d+)-(\d+)\.npz")
#: What reading a damaged file may raise.
_DAMAGES = (
    OSError, ValueError, KeyError, TypeError, EOFError, AttributeError, MemoryError, RecursionError,
    NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


class OtherRunError(ValueError):
    """What was kept is of another run; the message says what differs."""


@dataclass(frozen=True)
class Checkpoint:
    """A folder with what the chains of one run have done.

    Attributes
    ----------
    folder : Path
        The folder.
    identity : dict
        What the draws depend on, as JSON has it: data, settings, seed, version.
    """

    folder: Path
    identity: dict[str, Any]

    def write(self, number: int, past: Past) -> float:
        """Write down what a chain has done; if that fails, say so and leave what was there.

        Parameters
        ----------
        number : int
            Number of the chain.
        past : Past
            What it has done.

        Returns
        -------
        float
            Seconds until it should be written down again.
        """
        began = time.monotonic()
        known = _generations(self.folder, number)
        generation = max(known, default=0) + 1
        try:
            contents = _pack(self.identity, past)
            write_whole(self.folder / f"chain-{number}-{generation:06d}.npz", contents)
        except OSError as error:
            warn(
                f"checkpoint = {str(self.folder)!r}: chain {number} could not be written down "
                f"({error}); the fit goes on, and what was written before is still there. Make "
                "room, or see that you may write to the folder."
            )
        else:
            for old in sorted(known)[: len(known) + 1 - N_KEPT]:
                _remove(known[old])
            for unfinished in self.folder.glob(f".chain-{number}-*{UNFINISHED}"):
                _remove(unfinished)  # whoever wrote it was killed
        took = time.monotonic() - began
        return max(CHECKPOINT_SECONDS, took * (1 - LARGEST_SHARE) / LARGEST_SHARE)


def read_checkpoint(folder: Path) -> tuple[dict[str, Any] | None, dict[int, Past]]:
    """Read what chains have done from a folder, and make the folder if there is none.

    Parameters
    ----------
    folder : Path
        The folder.

    Returns
    -------
    identity : dict or None
        What the draws depend on; None if there are none.
    pasts : dict of int to Past
        What each chain has done, by number: as its last good file has it, with a warning if that
        is not the last one.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, "it may only be read")
        numbers = sorted({number for number, _, _ in _files(folder)})
    except OSError as error:
        raise OSError(
            error.errno,
            f"checkpoint = {str(folder)!r} cannot be a folder to write to ({error.strerror}); "
            "name another one.",
        ) from error
    identity, pasts = None, {}
    for number in numbers:
        for _, path in sorted(_generations(folder, number).items(), reverse=True):
            try:
                own, past = _unpack(path.read_bytes())
            except FileNotFoundError:  # another process has removed it just now
                continue
            except _DAMAGES as error:
                warn(
                    f"checkpoint: {path} is damaged ({type(error).__name__}: {error}); the chain "
                    "goes on from the file before, or from its beginning."
                )
                continue
            refuse_other_run(identity, own, f"{path} and the other files of that folder")
            identity, pasts[number] = own, past
            break
    return identity, pasts


def refuse_other_run(kept: Mapping[str, Any] | None, wanted: Mapping[str, Any], where: str) -> None:
    """Raise an error if what was kept is of another run, and say what differs.

    Parameters
    ----------
    kept : mapping or None
        What the draws that were kept depend on; None if there are none.
    wanted : mapping
        What those of this run depend on.
    where : str
        What has the draws that were kept, for messages.
    """
    differing = [] if kept is None else list(_differences(kept, wanted))
    if differing:
        raise OtherRunError(
            f"{where}: there are draws of another run; what differs: {'; '.join(differing)}. Fit "
            "as before to go on, or anew without them (another checkpoint folder, or "
            "warm_start=False)."
        )


def _differences(kept: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    """Tell what differs, by name."""
    for name in dict.fromkeys([*kept, *wanted]):
        one, other = kept.get(name), wanted.get(name)
        if isinstance(one, dict) and isinstance(other, dict) and name == "settings":
            yield from _differences(one, other)
        elif one != other:
            shown = f"{name} was {one!r} and is {other!r}"
            yield shown if len(shown) <= LONGEST_SHOWN else name


def _files(folder: Path) -> Iterator[tuple[int, int, Path]]:
    """Give the files of a folder: number of the chain, generation and path."""
    for path in folder.iterdir():
        if match := _NAME.fullmatch(path.name):
            yield int(match[1]), int(match[2]), path


def _generations(folder: Path, number: int) -> dict[int, Path]:
    """Give the files of one chain by generation."""
    with contextlib.suppress(OSError):
        return {generation: path for own, generation, path in _files(folder) if own == number}
    return {}


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _pack(identity: Mapping[str, Any], past: Past) -> memoryview:
    """Give the contents of a file."""
    snapshot = past.bookmark.snapshot
    page = {
        "identity": identity,
        "moves": past.moves,
        "n_draws": past.n_draws,
        "writer": past.bookmark.generator,
        **{part: snapshot[part] for part in ("generator", "seed", "warmth")},
    }
    arrays = {f"draws.{name}": values for name, values in past.draws.items()}
    for part in ("state", "likelihood"):
        arrays |= {f"{part}.{name}": values for name, values in snapshot[part].items()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION) as archive:
        archive.writestr("page.json", json.dumps(page))
        for name, values in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asarray(values), allow_pickle=False)
    return buffer.getbuffer()


def _unpack(contents: bytes) -> tuple[dict[str, Any], Past]:
    """Give what a run's draws depend on, and what one of its chains has done."""
    parts: dict[str, Arrays] = {"draws": {}, "state": {}, "likelihood": {}}
    with zipfile.ZipFile(io.BytesIO(contents)) as archive:
        page = json.loads(archive.read("page.json"))
        for entry in archive.namelist():
            if entry != "page.json":
                part, name = entry.removesuffix(".npy").split(".")
                with archive.open(entry) as file:
                    values = np.lib.format.read_array(file, allow_pickle=False)
                    if file.read(1):  # the checksum is looked at in the end only
                        raise ValueError(f"{entry} goes on after its array")
                parts[part][name] = values
    draws = parts.pop("draws")
    snapshot = {part: page[part] for part in ("generator", "seed", "warmth")} | parts
    bookmark = Bookmark(snapshot, page["writer"], int(page["n_draws"]))
    if {len(values) for values in draws.values()} - {bookmark.n_draws}:
        raise ValueError("its draws are not as many as it says")
    return dict(page["identity"]), Past(bookmark, draws, tuple(page["moves"]))
