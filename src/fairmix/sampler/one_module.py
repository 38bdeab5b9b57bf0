"""Compile many small functions as one module.

Numba gives every function a library of its own: it links in all that the function calls, optimises
the whole, and makes machine code of it, though nobody but the next function up will ever call it.
What is called at depth ten is compiled ten times or more; for the sampler that was four fifths of
the time and most of the memory. Here the libraries of inner functions stay as they are until the
*entry*, the one function that Python calls, is finished: then all are linked into it, each once,
and optimised together.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target


class _WaitingLibrary(JITCodeLibrary):
    """The library of a function that is compiled on the way to an entry."""

    entry = ""  # name of the entry that is being compiled

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self._is_entry = name == self.entry
        self._linking_libraries: list[Any] = []
        self._shared_module: Any = None
        self._standing: JITCodeLibrary | None = None

    def add_linking_library(self, library: Any) -> None:
        self._linking_libraries.append(library)

    def finalize(self) -> None:
        if not self._is_entry:
            self._finalized = True  # as far as those above need to know
            return
        own = {function.name for function in self._final_module.functions}
        self._link_all_into(self._final_module)
        for function in self._final_module.functions:
            if not function.is_declaration and function.name not in own:
                function.linkage = "internal"  # called from in here only
        self._linking_libraries.clear()
        super().finalize()

    def get_pointer_to_function(self, name: str) -> int:
        if self._is_entry:
            return int(super().get_pointer_to_function(name))
        if name not in {f.name for f in self._final_module.functions if not f.is_declaration}:
            return 0  # an inner kernel: Python cannot call it
        if self._standing is None:  # somebody else's function, which Python may call
            self._standing = JITCodeLibrary(self._codegen, self.name)
            self._link_all_into(self._standing._final_module)
            self._standing._final_module.link_in(self._final_module.clone())
            self._standing.finalize()
        return int(self._standing.get_pointer_to_function(name))

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None and not self._is_entry:
            module = self._final_module.clone()
            self._link_all_into(module)
            for function in module.functions:
                if not function.is_declaration and function.linkage == binding.Linkage.external:
                    function.linkage = "linkonce_odr"
            self._shared_module = module
        return super()._get_module_for_linking()

    def _link_all_into(self, module: Any) -> None:
        """Link everything that is called from here, however deep, into a module."""
        seen: set[Any] = {self}
        waiting, finished = list(self._linking_libraries), []
        while waiting:
            library = waiting.pop()
            if library in seen:
                continue
            seen.add(library)
            if isinstance(library, _WaitingLibrary) and not library._is_entry:
                module.link_in(library._final_module.clone())
                waiting.extend(library._linking_libraries)
            else:
                finished.append(library)
        # Last, when what calls them is there: what nobody calls is left out.
        for library in finished:
            module.link_in(library._get_module_for_linking(), preserve=True)


@contextmanager
def one_module(entry: str) -> Iterator[None]:
    """Compile as one module whatever is compiled here on the way to an entry.

    Parameters
    ----------
    entry : str
        Name of the function that Python will call.
    """
    codegen = cpu_target.target_context.codegen()
    set_environment = codegen.set_env

    def set_environment_if_compiled(name: str, environment: Any) -> None:
        if codegen._engine.is_symbol_defined(name):
            set_environment(name, environment)

    with global_compiler_lock:
        _WaitingLibrary.entry = entry
        codegen._library_class = _WaitingLibrary
        codegen.set_env = set_environment_if_compiled
        try:
            yield
        finally:
            del codegen._library_class, codegen.set_env
            _WaitingLibrary.entry = ""
