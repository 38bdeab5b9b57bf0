"""The compiled sampler, and the likelihood of each family linked to it.

Two kinds of modules are compiled, each once on a machine: the sampler itself, which serves all
families, and for each family a small one with the verbs of its likelihood (``kernels/linked.py``).
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fairmix.sampler import code_cache
from fairmix.sampler.fingerprint import digest_of_sampler, digest_of_tuple

#: Seconds that compiling takes, as long as nothing is known of this machine.
GUESSES = {"the sampler": 30.0, "a family": 5.0, "predictions": 2.0}
#: What users know families by that kernels see under another name.
KNOWN_AS = {
    "Pair": "a mix of families",
    "PairWithShared": "a mix of families",
    "Bundled": "bundles of rows",
    "TabulatedFull": "GaussianFull",
    "TabulatedSpherical": "GaussianSpherical",
    "TiedGaussian": "GaussianTied",
}
_lock = threading.RLock()


def is_compiled() -> bool:
    """Tell whether kernels are compiled, rather than run as plain Python.

    Returns
    -------
    bool
        False if NUMBA_DISABLE_JIT is set.
    """
    import numba

    return not numba.config.DISABLE_JIT


def pack(values: Any) -> Any:
    """Give a NamedTuple as kernels take it: by reference if they are compiled.

    Parameters
    ----------
    values : NamedTuple
        The tuple.

    Returns
    -------
    Packed or NamedTuple
        What to pass to a kernel.
    """
    if not is_compiled():
        return values
    from fairmix.sampler.kernels import reference

    return reference.Packed(values)


def run_sweeps(*arguments: Any) -> None:
    """Call the kernel of that name, compiled (or loaded) before the first call.

    Parameters
    ----------
    *arguments : object
        What it takes, NamedTuples packed.
    """
    from fairmix.sampler.kernels import sweep

    call = sweep.run_sweeps
    if is_compiled():
        entry = _entry_of_sampler()
        call = _compile(entry, arguments, "the sampler", digest_of_sampler, "the sampler")
    call(*arguments)


def write_log_densities(*arguments: Any) -> None:
    """Call the kernel of that name, compiled (or loaded) before the first call.

    Parameters
    ----------
    *arguments : object
        What it takes, NamedTuples packed.
    """
    from fairmix.sampler import prediction_kernel

    if not is_compiled():
        prediction_kernel.write_log_densities(*arguments)
        return

    def digest_of_predictions() -> Any:
        digest = digest_of_sampler()
        digest.update(Path(prediction_kernel.__file__).read_bytes())
        return digest

    entry = _entry_of_predictions()
    call = _compile(entry, arguments, "predictions", digest_of_predictions, "predictions")
    call(*arguments)


def link(likelihood: Any, *others: Any) -> Any:
    """Compile a likelihood's verbs (or load them); give what the sampler calls them by.

    Parameters
    ----------
    likelihood : NamedTuple
        The likelihood.
    *others : object
        Packed arguments of verbs, as ``write_addresses`` takes them.

    Returns
    -------
    Packed or NamedTuple
        A packed ``Linked``, or the likelihood itself if nothing is compiled.
    """
    if not is_compiled():
        return likelihood
    from fairmix.sampler.kernels import reference
    from fairmix.sampler.kernels.likelihood import VERBS
    from fairmix.sampler.kernels.linked import make_linked
    from fairmix.sampler.kernels.verbs import FAMILY_VERBS

    packed = reference.Packed(likelihood)
    addresses = np.zeros(len(VERBS), dtype=np.int64)
    arguments = (packed, *others, addresses)

    def digest_of_likelihood() -> Any:
        digest = digest_of_sampler()
        try:  # the likelihood itself is a kernel
            for part in likelihood:
                if hasattr(part, "_fields"):
                    digest_of_tuple(digest, part, FAMILY_VERBS)
        except TypeError:
            return None
        return digest

    entry, name = _entry_of_likelihood(), type(likelihood.family).__name__
    shown = KNOWN_AS.get(name, name.removeprefix("Tabulated"))
    call = _compile(entry, arguments, "a family", digest_of_likelihood, shown)
    call(*arguments)
    return reference.Packed(make_linked(packed.address, likelihood.follows_rows, addresses), packed)


@cache
def _entry_of_sampler() -> Any:
    from numba import njit

    from fairmix.sampler.kernels import linked, verbs  # noqa: F401 (numba gets to know them)
    from fairmix.sampler.kernels.decorator import OPTIONS
    from fairmix.sampler.kernels.sweep import run_sweeps as kernel

    return njit(**OPTIONS)(kernel.py_func)


@cache
def _entry_of_predictions() -> Any:
    from numba import njit

    from fairmix.sampler.kernels import linked, verbs  # noqa: F401 (numba gets to know them)
    from fairmix.sampler.kernels.decorator import OPTIONS
    from fairmix.sampler.prediction_kernel import write_log_densities as kernel

    return njit(**OPTIONS)(kernel)


@cache
def _entry_of_likelihood() -> Any:
    from numba import njit

    from fairmix.sampler.kernels.decorator import OPTIONS
    from fairmix.sampler.kernels.linked import write_addresses

    return njit(**OPTIONS)(write_addresses.py_func)


def _compile(
    entry: Any, arguments: tuple[Any, ...], kind: str, make_digest: Callable[[], Any], shown: str
) -> Callable[..., Any]:
    """Have an entry compiled for these arguments, from disk if it is there; give what to call.

    The compiled function itself is given: numba's dispatcher would find out the types once more.
    """
    from numba import typeof

    types = tuple(getattr(each, "numba_type", None) or typeof(each) for each in arguments)
    if types not in entry.overloads:
        with _lock:
            if types not in entry.overloads:
                _make_overload(entry, types, kind, make_digest, shown)
    found: Callable[..., Any] = entry.overloads[types].entry_point
    return found


def _make_overload(
    entry: Any, types: tuple[Any, ...], kind: str, make_digest: Callable[[], Any], shown: str
) -> None:
    """Load an entry for these types, or compile it."""
    name = None
    digest = make_digest()  # reads all sources: not at every call
    if digest is not None:
        digest.update(" ".join(_describe(each) for each in types).encode())
        name = f"{entry.__name__}-{digest.hexdigest()[:24]}.bin"
        if _load(entry, types, name):
            return
    _compile_anew(entry, types, kind, name, shown)


def _compile_anew(
    entry: Any, types: tuple[Any, ...], kind: str, name: str | None, shown: str
) -> None:
    """Compile an entry, say so, and keep the machine code."""
    from fairmix.sampler.one_module import one_module

    seconds = code_cache.known_seconds(kind, GUESSES[kind])
    folder = code_cache.folder_for_more() if name else None
    kept = f"kept in {folder}" if folder else "cannot be kept on disk"
    print(
        f"fairmix: compiling {shown} (once, about {seconds:.0f} s; {kept}) ...",
        file=sys.stderr,
        flush=True,
    )
    began = time.perf_counter()
    with one_module(entry.__name__):
        entry.compile(types)
    code_cache.note_seconds(kind, time.perf_counter() - began)
    result = entry.overloads[types]
    if name and not result.library.has_dynamic_globals:
        code_cache.store(name, result._reduce())


def _load(entry: Any, types: tuple[Any, ...], name: str) -> bool:
    """Load an entry's machine code, if it is on disk; tell whether it was."""
    from numba.core.compiler import CompileResult

    context = entry.targetctx
    try:
        context.refresh()
        stored = code_cache.load(name)
        if stored is None:
            return False
        result = CompileResult._rebuild(context, *stored)
    except Exception:  # whatever a stale or damaged file may lead to
        code_cache.remove(name)
        return False
    # What was pickled names types by their names only; these are the types themselves.
    result = result._replace(signature=result.signature.return_type(*types))
    context.insert_user_function(result.entry_point, result.fndesc, [result.library])
    entry.add_overload(result)
    return True


def _describe(kind: Any) -> str:
    """Write down a type by its names, which are the same in every process."""
    if not hasattr(kind, "instance_class"):
        return str(kind)
    fields = ", ".join(f"{name}: {_describe(each)}" for name, (each, _) in kind.fields.items())
    return f"{kind.instance_class.__qualname__}({fields})"
