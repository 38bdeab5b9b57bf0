"""The ways in which kernels are compiled.

Kernels allocate nothing, so numba's reference counting is switched off (``_nrt``): with it, every
access to an array of a NamedTuple costs an atomic increment and decrement, and a sweep on the
Diabetes data took 2.4 ms instead of 0.5. An allocation in a kernel is then a compile-time error.
Division follows NumPy, without a branch for zero. Kernels cannot be called from Python, which saves
the code that unpacks their arguments.

An ``inlined`` kernel is pasted wherever it is called. That is for a few lines in innermost loops;
everywhere else it makes compilation slow and gains nothing. LLVM decides about all the others.
(``forceinline`` must be said for each: numba lets callees inherit it.)
"""

from numba import njit

OPTIONS = {"_nrt": False, "error_model": "numpy", "nogil": True, "forceinline": False}
INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

kernel = njit(**OPTIONS, **INNER)
inlined = njit(**(OPTIONS | {"forceinline": True}), **INNER)
