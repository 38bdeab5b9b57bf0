"""NamedTuples that compiled code is given by reference.

Numba passes a NamedTuple field by field, and every array as seven scalars: a call with the
sampler's tuples has some 700 arguments, and machine code for them takes long to compile. Here a
tuple is *packed* into a block of words instead: for each array its address, shape and strides, for
each number its value, for a tuple inside the tuple its own words. Compiled code gets the block's
address; reading a field is a load that may be moved anywhere (``invariant.load``), since a block
never changes while compiled code runs.

Methods hang on packed tuples as on plain ones (see ``verbs.py``). Under ``NUMBA_DISABLE_JIT=1``
nothing is packed, and the same kernels take the plain tuples.
"""

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.arrayobj import populate_array
from numba.np.numpy_support import from_dtype

WORD = np.dtype(np.int64)


class Reference(types.Type):
    """The type of a packed NamedTuple: its class, and where each field is in the block."""

    def __init__(self, instance_class, fields):
        self.instance_class = instance_class
        self.fields = fields  # name -> (type, first word)
        self._key = instance_class, tuple(fields.items())
        self._hash = hash(self._key)  # asked for several times in every call from Python
        super().__init__(name=instance_class.__name__)

    @property
    def key(self):
        """What tells one type from another."""
        return self._key

    def __hash__(self):
        """Give the hash of the key."""
        return self._hash

    def __reduce__(self):
        """Pickle by name: machine code on disk does not ask for the class."""
        return types.Opaque, (self.name,)


class Packed:
    """A NamedTuple and its block of words."""

    __slots__ = ("kept", "numba_type", "words")

    def __init__(self, values: Any, *others: Any) -> None:
        self.kept = values, others  # as long as addresses of theirs are in the block
        numba_type, words = _pack(values, 0)
        self.numba_type = numba_type
        self.words = np.array(words, dtype=WORD)

    @property
    def address(self):
        """Where the block is."""
        return self.words.ctypes.data


def _pack(values, first):
    """Give the type and the words of a NamedTuple whose words begin at this place."""
    kinds, words = [], []
    for name, value in zip(values._fields, values, strict=True):
        place = first + len(words)
        if hasattr(value, "_fields"):
            kind, own_words = _pack(value, place)
        elif isinstance(value, np.ndarray):
            kind = _type_of_array(value.dtype, value.ndim, value.flags.c_contiguous)
            own_words = [value.ctypes.data, *value.shape, *value.strides]
        else:
            kind, own_words = _pack_number(values, name, value)
        kinds.append((kind, place))
        words += own_words
    return _type_of_tuple(type(values), tuple(kinds)), words


@cache  # numba takes its time to make types, and draws are packed in every run
def _type_of_tuple(instance_class, kinds):
    return Reference(instance_class, dict(zip(instance_class._fields, kinds, strict=True)))


@cache
def _type_of_array(dtype, n_dimensions, is_contiguous):
    return types.Array(from_dtype(dtype), n_dimensions, "C" if is_contiguous else "A")


def _pack_number(values, name, value):
    if isinstance(value, (bool, np.bool_)):
        return types.boolean, [int(value)]
    if isinstance(value, (int, np.integer)):
        return types.int64, [int(value)]
    if isinstance(value, (float, np.floating)):
        return types.float64, [int(np.float64(value).view(WORD))]
    raise TypeError(
        f"{type(values).__name__}.{name} is {value!r}; compiled code takes numbers, arrays and "
        "NamedTuples of these."
    )


@typeof_impl.register(Packed)
def _type_of_packed(value, context):
    return value.numba_type


@register_model(Reference)
class _ReferenceModel(models.OpaqueModel):
    """A pointer to the block."""


@unbox(Reference)
def _unbox_reference(kind, instance, context):
    words = context.pyapi.object_getattr_string(instance, "words")
    array = types.Array(types.int64, 1, "C")
    native = context.unbox(array, words)
    block = context.context.make_array(array)(context.context, context.builder, native.value)
    pointer = context.builder.bitcast(block.data, cgutils.voidptr_t)
    context.pyapi.decref(words)
    return NativeValue(pointer)


@infer_getattr
class _ReferenceFields(AttributeTemplate):
    key = Reference

    def generic_resolve(self, kind, name):
        if name in kind.fields:
            return kind.fields[name][0]
        return None


@lower_getattr_generic(Reference)
def _get_field(context, builder, kind, value, name):
    field_type, place = kind.fields[name]
    if isinstance(field_type, Reference):
        return value  # its words are in the same block
    words = builder.bitcast(value, ir.IntType(64).as_pointer())
    if isinstance(field_type, types.Array):
        return _load_array(context, builder, words, field_type, place)
    word = load_word(builder, words, place)
    if field_type == types.float64:
        return builder.bitcast(word, ir.DoubleType())
    if field_type == types.boolean:
        return builder.trunc(word, ir.IntType(1))
    return word


def _load_array(context, builder, words, kind, place):
    address = load_word(builder, words, place)
    shape = [load_word(builder, words, place + 1 + k) for k in range(kind.ndim)]
    strides = [load_word(builder, words, place + 1 + kind.ndim + k) for k in range(kind.ndim)]
    array = context.make_array(kind)(context, builder)
    data = builder.inttoptr(address, context.get_data_type(kind.dtype).as_pointer())
    itemsize = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    populate_array(array, data, shape, strides, itemsize, None)
    return array._getvalue()


def load_word(builder, words, place):
    """Generate the load of one word of a block."""
    word = builder.load(builder.gep(words, [ir.IntType(64)(place)]))
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word
