"""The two ways in which kernels are compiled.

Kernels allocate nothing, so numba's reference counting is switched off
(``_nrt``): with it, every access to an array of a NamedTuple costs an atomic
increment and decrement, and a sweep on the Diabetes data took 2.4 ms instead of 0.5.
An allocation in a kernel is then a compile-time error. Division follows NumPy, without a
branch for zero. A ``kernel`` is inlined (``forceinline``) wherever it is called, which saved
another 30 %. A ``routine`` is not: it is for longer functions that are called from several places
or only a few times a sweep, where inlining would do nothing but make compilation slow. Neither can
be called from Python, since unpacking such tuples of arrays makes up a third of the machine code.
"""

from numba import njit

COMMON = {"_nrt": False, "error_model": "numpy", "nogil": True}
OPTIONS = COMMON | {"forceinline": True}  # of run_sweeps, the one function that Python calls
INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

kernel = njit(**OPTIONS, **INNER)
routine = njit(**COMMON, **INNER)
