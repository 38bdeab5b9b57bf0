"""One compiled sampler per family, kept on disk between processes.

Numba's own cache looks at one file only: after an edit of another kernel, or of a
family, it would run old machine code. So each sampler is cached in a folder
named by a hash of all that goes into it.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

from platformdirs import user_cache_path


@cache
def compiled_sweeps(family: type, distance: type) -> Callable[..., None]:
    """Give ``run_sweeps``, ready to be compiled for (or loaded with) a family and a distance.

    Parameters
    ----------
    family : type
        Class of the prepared family.
    distance : type
        Class of the distance.

    Returns
    -------
    callable
        The function ``fairmix.kernels.sweep.run_sweeps``.
    """
    import numba

    from fairmix.kernels.decorator import OPTIONS
    from fairmix.kernels.sweep import run_sweeps

    if numba.config.DISABLE_JIT:
        return run_sweeps
    folder = _cache_folder(_fingerprint(family, distance))
    if not any(folder.rglob("*.nbi")):
        print(
            f"fairmix: compiling the sampler for {family.__name__} (once, about half a minute) ...",
            file=sys.stderr,
            flush=True,
        )
    users_folder = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        return numba.njit(cache=True, **OPTIONS)(run_sweeps.py_func)
    finally:
        numba.config.CACHE_DIR = users_folder


def _cache_folder(fingerprint: str) -> Path:
    """Give a folder that can be written; a temporary one if the user's cache can't be."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    root = Path(chosen) / "fairmix" if chosen else user_cache_path("fairmix") / "compiled"
    folder = root / fingerprint
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return Path(tempfile.mkdtemp(prefix="fairmix-compiled-"))


def _fingerprint(family: type, distance: type) -> str:
    """Hash everything that the machine code depends on."""
    import numba

    import fairmix.kernels

    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for source in sorted(Path(fairmix.kernels.__path__[0]).glob("*.py")):
        digest.update(source.read_bytes())
    for verb_owner in (family, distance):
        digest.update(_class_bytes(verb_owner))
    return digest.hexdigest()[:24]


def _class_bytes(verb_owner: type) -> bytes:
    """Give the source of a class's module, if there is one, and the bytecode of its methods."""
    try:
        content = inspect.getsource(sys.modules[verb_owner.__module__]).encode()
    except (OSError, TypeError, KeyError):
        content = b""
    for name, method in sorted(vars(verb_owner).items()):
        code = getattr(method, "__code__", None)
        if code is not None:
            content += name.encode() + _code_bytes(code)
    return content


def _code_bytes(code: CodeType) -> bytes:
    constants: list[Any] = [c for c in code.co_consts if not isinstance(c, CodeType)]
    inner = b"".join(_code_bytes(c) for c in code.co_consts if isinstance(c, CodeType))
    return code.co_code + repr((code.co_names, constants)).encode() + inner
