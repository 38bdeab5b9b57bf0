"""One compiled sampler per family, kept on disk between processes.

Numba's own cache looks at one file only: after an edit of another kernel, or of a
family, it would run old machine code. So each sampler is cached in a folder
named by a hash of all that goes into it.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from platformdirs import user_cache_path


def classes_of(value: Any) -> tuple[Any, ...]:
    """Give the classes that a likelihood or a distance is made of.

    Parameters
    ----------
    value : NamedTuple
        The likelihood or distance; its fields may be NamedTuples again.

    Returns
    -------
    tuple
        Its class, and the same of those of its fields that are NamedTuples.
    """
    parts = (classes_of(field) for field in value if hasattr(field, "_fields"))
    return (type(value), *parts)


@cache
def compiled_sweeps(likelihood: tuple[Any, ...], distance: tuple[Any, ...]) -> Callable[..., None]:
    """Give ``run_sweeps``, ready to be compiled for (or loaded with) a family and a distance.

    Parameters
    ----------
    likelihood : tuple
        Classes of the likelihood and the family that is in it.
    distance : tuple
        Classes of the distance.

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
    fingerprint = _fingerprint(likelihood, distance)
    users_folder = numba.config.CACHE_DIR
    if fingerprint is not None:
        numba.config.CACHE_DIR = str(_cache_folder(fingerprint))
    try:
        compiled = numba.njit(cache=fingerprint is not None, **OPTIONS)(run_sweeps.py_func)
    finally:
        numba.config.CACHE_DIR = users_folder
    if fingerprint is None or not any(Path(compiled.stats.cache_path).glob("*.nbi")):
        print(
            f"fairmix: compiling the sampler for {likelihood[1][0].__name__} (once, a minute or "
            "two) ...",
            file=sys.stderr,
            flush=True,
        )
    return compiled


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


def _fingerprint(likelihood: tuple[Any, ...], distance: tuple[Any, ...]) -> str | None:
    """Hash everything that the machine code depends on; None if that is not possible."""
    import numba

    import fairmix.kernels
    from fairmix.kernels.verbs import DISTANCE_VERBS, FAMILY_VERBS

    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for source in sorted(Path(fairmix.kernels.__path__[0]).glob("*.py")):
        digest.update(source.read_bytes())
    digest.update(likelihood[0].__name__.encode())
    try:
        for part in (*likelihood[1:], distance):  # the likelihood itself is a kernel
            _digest_classes(digest, part, (*FAMILY_VERBS, *DISTANCE_VERBS))
    except TypeError:
        return None
    return digest.hexdigest()[:24]


def _digest_classes(digest: Any, classes: tuple[Any, ...], verbs: tuple[str, ...]) -> None:
    """Hash the verbs of a class, and of the classes inside it."""
    digest.update(f"({getattr(classes[0], '_fields', ())}".encode())
    for verb in verbs:
        if hasattr(classes[0], verb):
            digest.update(verb.encode())
            _digest_value(digest, getattr(classes[0], verb), set())
    for part in classes[1:]:
        _digest_classes(digest, part, verbs)
    digest.update(b")")


def _digest_value(digest: Any, value: Any, seen: set[int]) -> None:
    """Hash a value that compiled code refers to: numba freezes it when it compiles."""
    value = getattr(value, "py_func", value)  # a function that is compiled already
    if isinstance(value, FunctionType):
        if id(value) not in seen:
            seen.add(id(value))
            _digest_code(digest, value.__code__)
            _digest_value(digest, (value.__defaults__, *(value.__kwdefaults__ or {}).items()), seen)
            for name in sorted(_names_in(value.__code__)):
                if name in value.__globals__:
                    digest.update(name.encode())
                    _digest_value(digest, value.__globals__[name], seen)
            for cell in value.__closure__ or ():
                _digest_value(digest, cell.cell_contents, seen)
    elif isinstance(value, np.ndarray):
        digest.update(value.tobytes())
    elif isinstance(value, (tuple, list)):
        for item in value:
            _digest_value(digest, item, seen)
    elif isinstance(value, ModuleType) and value.__name__ not in ("math", "numpy"):
        raise TypeError(f"cannot tell whether {value.__name__} has changed")
    elif isinstance(value, (ModuleType, BuiltinFunctionType, type, np.ufunc)):
        digest.update(f"{value.__name__}".encode())
    elif isinstance(value, (bool, int, float, complex, str, bytes, np.generic, type(None))):
        digest.update(repr(value).encode())
    else:
        raise TypeError(f"cannot tell whether {value!r} has changed")


def _digest_code(digest: Any, code: CodeType) -> None:
    digest.update(code.co_code)
    digest.update(repr(code.co_names).encode())
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _digest_code(digest, constant)
        else:
            digest.update(repr(constant).encode())


def _names_in(code: CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names_in(constant)
    return names
