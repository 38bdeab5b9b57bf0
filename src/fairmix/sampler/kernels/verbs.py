"""Make the methods of packed NamedTuples callable in compiled code.

A family, a likelihood or a distance is a NamedTuple with plain Python methods. One generic overload
per verb compiles the method itself, so the same line runs compiled and, under
``NUMBA_DISABLE_JIT=1``, as plain Python. The wrappers free a family's author from matching our
argument names and from leaving out annotations.
"""

from functools import cache

from numba.extending import overload, overload_method

from fairmix.sampler.kernels.decorator import inlined, kernel
from fairmix.sampler.kernels.likelihood import VERBS
from fairmix.sampler.kernels.reference import Reference

#: What families and distances may define; these are part of what compiled code depends on.
FAMILY_VERBS = ("log_marginal", "update_shared", "log_density", "log_prior", "sample_prior")
DISTANCE_VERBS = ("between",)
#: What likelihoods ask of themselves, beside the verbs that the sampler asks for.
#: Short, and wanted in innermost loops.
INLINED = ("log_marginal", "between")
INNER_VERBS = ("list_rows", "log_density_of_bundle")


@cache  # or each of numba's attempts to type a call would compile the method again
def method_of(owner, verb):
    """Give the compiled method of a packed type; a nested family's is another function."""
    compile_it = inlined if verb in INLINED else kernel
    return compile_it(getattr(owner.instance_class, verb))


def _make_callable(verb):
    @overload_method(Reference, verb)
    def compile_verb(self, *arguments):
        if hasattr(self.instance_class, "call_by_address"):  # see linked.py
            call_address = self.instance_class.call_by_address[verb]
            return lambda self, *arguments: call_address(self, arguments)
        method = method_of(self, verb)

        def call(self, *arguments):
            return method(self, *arguments)

        return call


for _verb in dict.fromkeys((*FAMILY_VERBS, *DISTANCE_VERBS, *VERBS, *INNER_VERBS)):
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
