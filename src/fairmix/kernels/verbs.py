"""Make the methods of NamedTuples callable in compiled code.

A family (or a distance) is a NamedTuple with plain Python methods. Numba
knows the fields of a NamedTuple but not its methods; one generic overload per
verb compiles the method itself, so the same line runs compiled and,
under ``NUMBA_DISABLE_JIT=1``, as plain Python. The wrappers free a family's
author from matching our argument names and from leaving out annotations.
"""

from numba.core import types
from numba.extending import overload_method

from fairmix.kernels.decorator import kernel


@overload_method(types.BaseNamedTuple, "log_marginal")
def _compile_log_marginal(self, count, stats):
    method = kernel(self.instance_class.log_marginal)

    def log_marginal(self, count, stats):
        return method(self, count, stats)

    return log_marginal


@overload_method(types.BaseNamedTuple, "between")
def _compile_between(self, row, other):
    method = kernel(self.instance_class.between)

    def between(self, row, other):
        return method(self, row, other)

    return between
