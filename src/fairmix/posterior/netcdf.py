"""One NetCDF4 file: draws as variables that any tool reads, and parts of our own in groups.

The root has what ``Posterior.to_dataset`` gives: ``xarray.open_dataset(path)`` shows it. A group
for each *part* has a page of JSON and the arrays beside it (see ``packing``), so that whatever can
be said in plain values can be kept under a name. The last bytes of a file, which NetCDF does not
look at, are a checksum of all before: a file that was damaged is told from a good one
before the HDF5 library sees any of it.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.files import write_whole
from fairmix.posterior.packing import Arrays, pack, unpack

#: Version of the file.
FORMAT = 1
#: What a file ends with, before 64 hexadecimal digits of SHA-256.
ENDING = b"\nfairmix sha256 "
_N_DIGITS = 64
#: Draws of labels are put together until they are about so many bytes, and compressed fast: what is
#: alike from draw to draw is found by any level.
CHUNK_BYTES, COMPRESSION = 1 << 20, 1
#: Smaller variables are not compressed. No more than so many bytes come out of one that is: a file
#: that says otherwise asks for memory that its data do not need.
LEAST_BYTES, MOST_FOR_ONE = 1 << 10, 1100
#: Filters that a variable may have: others would be looked for among plug-ins.
_FILTERS = {"gzip", "shuffle", "fletcher32"}

Variables = dict[str, tuple[tuple[str, ...], NDArray[Any]]]


class NotAFileOfOursError(ValueError):
    """A file is not what was saved; the message says why."""


def write_netcdf(
    path: Path, variables: Variables, names: Mapping[str, str], parts: Mapping[str, Any]
) -> None:
    """Write a file whole, or not at all.

    Parameters
    ----------
    path : Path
        The file.
    variables : dict of str to (dimensions, ndarray)
        The draws.
    names : mapping of str to str
        Attributes of the draws.
    parts : mapping of str to object
        Plain values by name of the part; see ``packing.pack`` for what is plain.
    """
    import h5netcdf

    buffer = io.BytesIO()
    with h5netcdf.File(buffer, "w") as file:
        file.attrs["fairmix_format"] = FORMAT
        file.attrs.update(names)
        for name, (dimensions, values) in variables.items():
            _write_variable(file, name, dimensions, values)
        for name, value in parts.items():
            arrays: Arrays = []
            page = json.dumps(pack(value, arrays), allow_nan=False)
            group = file.create_group(f"parts/{name}")
            text = np.frombuffer(page.encode(), np.uint8)
            _write_variable(group, "page", ("page_byte",), text)
            for number, each in enumerate(arrays):
                own = tuple(f"axis_{number}_{axis}" for axis in range(each.ndim))
                _write_variable(group, f"array_{number}", own, each)
    contents = buffer.getbuffer()
    digest = hashlib.sha256(contents).hexdigest()
    del contents
    buffer.seek(0, io.SEEK_END)
    buffer.write(ENDING + digest.encode())
    write_whole(path, buffer.getbuffer())


def read_netcdf(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str], dict[str, Any]]:
    """Read what :func:`write_netcdf` wrote.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    arrays : dict of str to ndarray
        The draws.
    names : dict of str to str
        Attributes of the draws.
    parts : dict of str to object
        Plain values by name of the part.

    Raises
    ------
    NotAFileOfOursError
        If it is not such a file, or damaged.
    OSError
        If there is none, or it cannot be read.
    """
    import h5py

    contents = path.read_bytes()
    end = len(contents) - len(ENDING) - _N_DIGITS
    if end < 0 or contents[end : end + len(ENDING)] != ENDING:
        raise NotAFileOfOursError("it does not end as files do that save has written")
    if hashlib.sha256(memoryview(contents)[:end]).hexdigest().encode() != contents[-_N_DIGITS:]:
        raise NotAFileOfOursError("it was damaged or changed: its checksum is wrong")
    with h5py.File(io.BytesIO(contents), "r") as file:
        version = file.attrs.get("fairmix_format")
        if version != FORMAT:
            raise NotAFileOfOursError(
                f"it has format {version}, but this version of fairmix reads {FORMAT}"
            )
        arrays = {name: _read_variable(file, name) for name in _variables_of(file)}
        names = {name: text for name, text in file.attrs.items() if isinstance(text, str)}
        parts = {}
        if "parts" in file:
            for name in _plain_names(file["parts"]):
                group = file[f"parts/{name}"]
                page = json.loads(_read_variable(group, "page").tobytes())
                n_arrays = len(list(_variables_of(group))) - 1
                beside = [_read_variable(group, f"array_{k}") for k in range(n_arrays)]
                parts[name] = unpack(page, beside)
    return arrays, names, parts


def _write_variable(
    group: Any, name: str, dimensions: tuple[str, ...], values: NDArray[Any]
) -> None:
    """Write an array; what NetCDF has no type for is said in an attribute."""
    kept, options = values, dict[str, Any]()
    if values.size == 0:  # NetCDF takes a dimension of size 0 for one without limit
        dimensions, kept = (), np.zeros((), values.dtype)
    if kept.dtype.kind == "b":
        kept = kept.astype(np.uint8)
    if kept.dtype.kind == "u":  # labels: the smallest type that holds them
        kept = kept.astype(np.min_scalar_type(int(kept.max())), copy=False)
    if kept.nbytes > LEAST_BYTES:
        options = {"compression": "gzip", "compression_opts": COMPRESSION, "shuffle": True}
        options["chunks"] = _chunks_of(kept)
    for dimension, size in zip(dimensions, kept.shape, strict=True):
        if dimension not in group.dimensions:
            group.dimensions[dimension] = size
    variable = group.create_variable(name, dimensions, kept.dtype, data=kept, **options)
    variable.attrs["shape"] = json.dumps(values.shape)
    variable.attrs["type"] = values.dtype.name


def _chunks_of(values: NDArray[Any]) -> tuple[int, ...]:
    """Give the shape of pieces of an array: some places of the last but one axis, all after."""
    if values.ndim == 1:
        return (min(len(values), CHUNK_BYTES // values.itemsize),)
    lead = 2 if values.ndim > 2 else 1
    n_each = values.itemsize * int(np.prod(values.shape[lead:]))
    n_places = min(max(CHUNK_BYTES // max(n_each, 1), 1), values.shape[lead - 1])
    return (*(1,) * (lead - 1), n_places, *values.shape[lead:])


def _plain_names(group: Any) -> Iterator[str]:
    """Give what is in a group and nowhere else: links to other files are refused."""
    import h5py

    for name in group:
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            raise NotAFileOfOursError(f"{name} is a link to somewhere else")
        yield name


def _variables_of(group: Any) -> Iterator[str]:
    """Give the names of the variables of a group that we wrote."""
    import h5py

    for name in _plain_names(group):
        if isinstance(group[name], h5py.Dataset) and "shape" in group[name].attrs:
            yield name


def _read_variable(group: Any, name: str) -> NDArray[Any]:
    """Read an array, if it is what it says and where it says."""
    variable = group[name]
    creation = variable.id.get_create_plist()
    filters = {variable.compression, "shuffle" if variable.shuffle else None} - {None}
    if variable.is_virtual or variable.external or filters - _FILTERS:
        raise NotAFileOfOursError(f"{name} is not in the file as save writes it")
    if creation.get_nfilters() != len(filters):
        raise NotAFileOfOursError(f"{name} has filters that save does not use")
    shape = tuple(json.loads(variable.attrs["shape"]))
    dtype = np.dtype(str(variable.attrs["type"]))
    if dtype.kind not in "biuf" or variable.dtype.kind not in "iuf":
        raise NotAFileOfOursError(f"{name} holds no numbers")
    if 0 in shape:
        return np.empty(shape, dtype)
    if variable.shape != shape:
        raise NotAFileOfOursError(f"{name} does not have the shape that it says")
    if variable.nbytes > MOST_FOR_ONE * variable.id.get_storage_size() + LEAST_BYTES:
        raise NotAFileOfOursError(f"{name} says that it is larger than its data can be")
    return variable[()].astype(dtype, copy=False)
