"""What compiled code depends on, as a hash: after any change of it, it is compiled anew."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np


def digest_of_sampler() -> Any:
    """Give a hash, to go on with, of the kernels, the software and the processor.

    Returns
    -------
    hashlib hash
        The hash.
    """
    import llvmlite
    import numba
    from numba.core.registry import cpu_target

    machine = cpu_target.target_context.codegen().magic_tuple()
    versions = (numba.__version__, llvmlite.__version__, sys.version, machine)
    digest = hashlib.sha256(repr(versions).encode())
    here = Path(__file__).parent
    for source in sorted([*(here / "kernels").rglob("*.py"), here / "one_module.py"]):
        digest.update(source.read_bytes())
    return digest


def digest_of_tuple(digest: Any, value: Any, verbs: tuple[str, ...]) -> None:
    """Add the class of a NamedTuple, its verbs and those of NamedTuples inside it.

    Parameters
    ----------
    digest : hashlib hash
        What is added to.
    value : NamedTuple
        The tuple.
    verbs : tuple of str
        Names of the methods that are compiled.

    Raises
    ------
    TypeError
        If a verb refers to something whose changes cannot be seen.
    """
    owner = type(value)
    digest.update(f"({owner.__qualname__} {owner._fields}".encode())
    for verb in verbs:
        if hasattr(owner, verb):
            digest.update(verb.encode())
            _digest_value(digest, getattr(owner, verb), set())
    for field in value:
        if hasattr(field, "_fields"):
            digest_of_tuple(digest, field, verbs)
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
