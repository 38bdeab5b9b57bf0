"""The one way in which kernels are compiled.

Kernels allocate nothing, so numba's reference counting is switched off
(``_nrt``): with it, every access to an array of a NamedTuple costs an atomic
increment and decrement, and a sweep on the Diabetes data took 2.4 ms instead of 0.5.
An allocation in a kernel is then a compile-time error. Division follows NumPy, without a
branch for zero. Everything is inlined into ``run_sweeps`` (``forceinline``), which saved
another 30 %.
"""

from numba import njit

OPTIONS = {"_nrt": False, "error_model": "numpy", "nogil": True, "forceinline": True}

kernel = njit(**OPTIONS)
