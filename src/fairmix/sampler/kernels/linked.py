"""A likelihood behind a table of addresses: compiled apart, called by the sampler.

The sampler is compiled once. For each family a small module is compiled whose only entry,
``write_addresses``, notes where the machine code of each verb begins. The sampler's likelihood is a
``Linked``: these addresses, and that of the packed likelihood, which verbs get as ``self``.
"""

import inspect
from typing import Any, NamedTuple

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from fairmix.sampler.kernels.decorator import kernel
from fairmix.sampler.kernels.likelihood import VERBS, Likelihood
from fairmix.sampler.kernels.reference import load_word
from fairmix.sampler.kernels.verbs import method_of

Linked = NamedTuple(
    "Linked",
    [("block", int), ("follows_rows", bool), *((f"address_of_{verb}", int) for verb in VERBS)],
)
NUMBERS = {int: types.int64, float: types.float64, bool: types.boolean, None: types.none}
SIGNATURES = {verb: inspect.signature(getattr(Likelihood, verb)) for verb in VERBS}


def _argument_types(verb, given):
    """Give the types of a verb's arguments: numbers as declared, all else as given by name."""
    parameters = list(SIGNATURES[verb].parameters.values())[1:]
    return tuple(NUMBERS.get(p.annotation) or given[p.name] for p in parameters)


def _make_call(verb):
    """Make the verb callable on a ``Linked``."""
    return_type = NUMBERS[SIGNATURES[verb].return_annotation]
    names = list(SIGNATURES[verb].parameters)[1:]

    @intrinsic
    def call_address(typing_context, linked, arguments):
        kinds = _argument_types(verb, dict(zip(names, arguments, strict=True)))

        def generate(context, builder, signature, values):
            words = builder.bitcast(values[0], ir.IntType(64).as_pointer())
            block = load_word(builder, words, linked.fields["block"][1])
            address = load_word(builder, words, linked.fields[f"address_of_{verb}"][1])
            every = (types.voidptr, *kinds)
            function = context.call_conv.get_function_type(return_type, every)
            _, result = context.call_conv.call_function(
                builder,
                builder.inttoptr(address, function.as_pointer()),
                return_type,
                every,
                [
                    builder.inttoptr(block, cgutils.voidptr_t),
                    *cgutils.unpack_tuple(builder, values[1]),
                ],
            )
            return result

        return return_type(linked, types.Tuple(kinds)), generate

    return call_address


def make_linked(block: int, follows_rows: bool, addresses: Any) -> Any:
    """Put a ``Linked`` together."""
    return Linked(block, follows_rows, *addresses.tolist())


Linked.call_by_address = {verb: _make_call(verb) for verb in VERBS}


@intrinsic
def _store_addresses(typing_context, likelihood, rng, row_stats, state, work, deal, addresses):
    """Compile all verbs for these types, and store where each begins."""
    one_row = types.Array(types.float64, 1, "C")
    given = {"rng": rng, "row_stats": row_stats, "state": state, "work": work, "deal": deal}
    given["stats"] = one_row
    compiled = []
    for verb in VERBS:
        return_type = NUMBERS[SIGNATURES[verb].return_annotation]
        kinds = (likelihood, *_argument_types(verb, given))
        method = method_of(likelihood, verb)
        method.compile(return_type(*kinds))
        compiled.append(method.overloads[kinds])

    def generate(context, builder, signature, values):
        array = context.make_array(addresses)(context, builder, values[-1])
        for number, result in enumerate(compiled):
            function = context.declare_function(builder.module, result.fndesc)
            context.active_code_library.add_linking_library(result.library)
            place = builder.gep(array.data, [ir.IntType(64)(number)])
            builder.store(builder.ptrtoint(function, ir.IntType(64)), place)
        return context.get_dummy_value()

    arguments = (likelihood, rng, row_stats, state, work, deal, addresses)
    return types.none(*arguments), generate


@kernel
def write_addresses(likelihood, rng, row_stats, state, work, deal, addresses):
    """Write the address of each verb's machine code."""
    _store_addresses(likelihood, rng, row_stats, state, work, deal, addresses)
