"""Make the methods of NamedTuples callable in compiled code.

A family, a likelihood or a distance is a NamedTuple with plain Python methods. Numba
knows the fields of a NamedTuple but not its methods; one generic overload per
verb compiles the method itself, so the same line runs compiled and,
under ``NUMBA_DISABLE_JIT=1``, as plain Python. The wrappers free a family's
author from matching our argument names and from leaving out annotations.
"""

from functools import cache

from numba.core import types
from numba.extending import overload, overload_method

from fairmix.kernels.decorator import kernel

#: What families and distances may define; these are part of what a compiled sampler depends on.
FAMILY_VERBS = ("log_marginal", "update_shared", "log_density", "log_prior", "sample_prior")
DISTANCE_VERBS = ("between",)
#: How kernels see a family: see collapsed.py and instantiated.py.
LIKELIHOOD_VERBS = (
    "begin",
    "add_row",
    "refresh",
    "recompute",
    "log_predictive",
    "list_bundles",
    "drop_bundle",
    "log_joined",
    "log_opened",
    "open",
    "log_marginal_of",
    "weigh_half",
    "keep_half",
    "update_parameters",
    "log_prior_of_parameters",
    "list_rows",
    "log_density_of_bundle",
)


@cache  # or each of numba's attempts to type a call would compile the method again
def _compile(method, owner):
    """Compile a method for one type; families may be nested, and numba knows no recursion."""
    return kernel(method)


def _make_callable(verb):
    @overload_method(types.BaseNamedTuple, verb)
    def compile_verb(self, *arguments):
        method = _compile(getattr(self.instance_class, verb), self)

        def call(self, *arguments):
            return method(self, *arguments)

        return call


for _verb in (*FAMILY_VERBS, *DISTANCE_VERBS, *LIKELIHOOD_VERBS):
    _make_callable(_verb)


def update_shared(family, rng, counts, stats):
    """Redraw the parameters that all clusters share, if a family has some; give their log prior."""
    if hasattr(family, "update_shared"):
        return family.update_shared(rng, counts, stats)
    return 0.0


@overload(update_shared)
def _compile_update_shared(family, rng, counts, stats):
    if hasattr(family.instance_class, "update_shared"):
        return lambda family, rng, counts, stats: family.update_shared(rng, counts, stats)
    return lambda family, rng, counts, stats: 0.0
