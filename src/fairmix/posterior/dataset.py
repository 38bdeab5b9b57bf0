"""Draws as an xarray Dataset, for ArviZ and other tools, and back.

Every variable has the dimensions chain and draw, then its own. The same names, dimensions and
arrays are what a saved file has, so there is one layout.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairmix.posterior.posterior import SCALARS, Posterior
from fairmix.tables.as_json import from_plain, to_plain

if TYPE_CHECKING:  # it takes its time to import
    import xarray

#: The dimensions of each variable, after chain and draw.
OWN_DIMENSIONS: dict[str, tuple[str, ...]] = {
    "labels": ("row",),
    **dict.fromkeys(SCALARS, ()),
    "group_gaps": ("group",),
    "masked_rows": ("masked_row",),
    "acceptance": ("move",),
}
#: Variables whose chains can be compared: not labels, whose numbers mean nothing from draw to draw.
COMPARABLE = (*SCALARS, "group_gaps")


def arrays_of(posterior: Posterior) -> dict[str, NDArray[Any]]:
    """Give what a posterior holds of each draw.

    Parameters
    ----------
    posterior : Posterior
        The draws.

    Returns
    -------
    dict of str to ndarray
        Arrays by name; the acceptance rates of all moves are one.
    """
    arrays = {name: getattr(posterior, name) for name in OWN_DIMENSIONS if name != "acceptance"}
    rates = list(posterior.acceptance.values())
    shape = (posterior.n_chains, posterior.n_draws)
    return arrays | {"acceptance": np.stack(rates, axis=-1) if rates else np.empty((*shape, 0))}


def names_of(posterior: Posterior) -> dict[str, str]:
    """Give the names that arrays are about.

    Parameters
    ----------
    posterior : Posterior
        The draws.

    Returns
    -------
    dict of str to str
        Names of the groups and of the moves, as JSON.
    """
    return {
        "group_names": json.dumps(to_plain(posterior.group_names)),
        "moves": json.dumps(list(posterior.acceptance)),
    }


def posterior_from(arrays: dict[str, NDArray[Any]], names: dict[str, str]) -> Posterior:
    """Make a posterior from what :func:`arrays_of` and :func:`names_of` gave.

    Parameters
    ----------
    arrays : dict of str to ndarray
        Arrays by name.
    names : dict of str to str
        Names of the groups and of the moves, as JSON.

    Returns
    -------
    Posterior
        The draws.

    Raises
    ------
    ValueError
        If they do not belong together.
    """
    missing = [name for name in OWN_DIMENSIONS if name not in arrays]
    missing += [name for name in ("group_names", "moves") if name not in names]
    if missing:
        raise ValueError(f"the draws lack {', '.join(missing)}")
    group_names, moves = from_plain(json.loads(names["group_names"])), json.loads(names["moves"])
    labels, leading = arrays["labels"], arrays["labels"].shape[:2]
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(SCALARS, leading)
    shapes["group_gaps"] = (*leading, len(group_names))
    shapes["acceptance"] = (*leading, len(moves))
    shapes["masked_rows"] = (*leading, arrays["masked_rows"].shape[-1])
    wrong = [name for name, shape in shapes.items() if arrays[name].shape != shape]
    if wrong or labels.ndim != 3 or min(labels.shape) == 0 or labels.dtype.kind != "u":
        raise ValueError(f"the arrays {wrong or ['labels']} do not have the shape that draws have")
    if not np.array_equal(labels.max(axis=2).astype(np.int64) + 1, arrays["n_clusters"]):
        raise ValueError("the labels are not as many as n_clusters says")
    kept: dict[str, Any] = {name: arrays[name] for name in OWN_DIMENSIONS}
    rates = kept.pop("acceptance")
    acceptance = {str(move): rates[..., k] for k, move in enumerate(moves)}
    return Posterior(**kept, group_names=tuple(group_names), acceptance=acceptance)


def to_dataset(posterior: Posterior) -> xarray.Dataset:
    """Give draws as an xarray Dataset.

    Parameters
    ----------
    posterior : Posterior
        The draws.

    Returns
    -------
    xarray.Dataset
        Variables with the dimensions chain, draw and their own; no copies.
    """
    import xarray

    variables = {
        name: (("chain", "draw", *OWN_DIMENSIONS[name]), values)
        for name, values in arrays_of(posterior).items()
    }
    coordinates = {
        "chain": np.arange(posterior.n_chains),
        "draw": np.arange(posterior.n_draws),
        "group": [str(name) for name in posterior.group_names],
        "move": list(posterior.acceptance),
    }
    return xarray.Dataset(variables, coordinates, dict(names_of(posterior)))


def from_dataset(dataset: xarray.Dataset) -> Posterior:
    """Make a posterior of the Dataset that :func:`to_dataset` gave.

    Parameters
    ----------
    dataset : xarray.Dataset
        The draws.

    Returns
    -------
    Posterior
        The draws.
    """
    absent = [name for name in OWN_DIMENSIONS if name not in dataset.variables]
    if absent:
        raise ValueError(
            f"dataset lacks {', '.join(absent)}; pass what posterior_.to_dataset() gave, "
            "with all its variables."
        )
    arrays = {
        name: dataset[name].transpose("chain", "draw", *own).to_numpy()
        for name, own in OWN_DIMENSIONS.items()
    }
    return posterior_from(arrays, {str(name): text for name, text in dataset.attrs.items()})
