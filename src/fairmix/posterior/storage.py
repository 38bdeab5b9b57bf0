"""A fitted model in a file, and out of it.

What is kept: the draws; the estimator's parameters; its fitted attributes that are plain values
(any attribute that ends with an underscore, so that a new one is kept without a word here); and
*parts*, which have a line each in ``PARTS``. The rows are such a part, and left out unless they are
asked for: they may be about people, and whoever is handed a model need not see them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fairmix.posterior.dataset import OWN_DIMENSIONS, arrays_of, names_of, posterior_from
from fairmix.posterior.netcdf import read_netcdf, write_netcdf
from fairmix.posterior.options import own_names, pack_parameters, stand_in
from fairmix.posterior.packing import pack, unpack
from fairmix.posterior.prediction import Prediction
from fairmix.posterior.profile import Profile
from fairmix.posterior.training import Training
from fairmix.tables.checks import check_flag, warn
from fairmix.tables.groups import Groups
from fairmix.tables.schema import Schema, Table

#: Fitted attributes that are kept in a way of their own, or follow from the schema.
KEPT_ELSEWHERE = {
    "posterior_", "schema_", "families_", "labels_", "n_features_in_", "feature_names_in_",
}  # fmt: skip
#: Parameters that are about the machine of who saved: a folder, and a source of numbers.
NOT_KEPT = ("checkpoint",)


class Part(NamedTuple):
    """Something that a fitted model may have and a file may keep.

    Parameters
    ----------
    take : callable
        Gives it of a model in plain values (see ``packing.pack``), or None if there is none.
    put : callable
        Gives it to a model that was loaded, from these values.
    """

    take: Callable[[Any], Any]
    put: Callable[[Any, Any], None]


def save_model(model: Any, path: Any, *, include_data: bool) -> None:
    """Write a fitted model to a file.

    Parameters
    ----------
    model : estimator
        The model.
    path : str or path
        The file; one that is there is replaced when the new one is whole.
    include_data : bool
        Whether the rows are kept.
    """
    check_is_fitted(model, "posterior_")
    check_flag("include_data", include_data)
    posterior = model.posterior_
    if include_data and posterior.training is None:
        raise ValueError(
            "include_data = True, but this model was loaded from a file without the rows; fit "
            "again to have them, or pass include_data=False."
        )
    variables = {
        name: (("chain", "draw", *OWN_DIMENSIONS[name]), values)
        for name, values in arrays_of(posterior).items()
    }
    variables["point_estimate"] = (("row",), model.labels_)
    parts = {"model": _take_model(model)}
    for name, part in PARTS.items():
        if (name != "training" or include_data) and (plain := part.take(model)) is not None:
            parts[name] = plain
    target = _as_path(path)
    try:
        write_netcdf(target, variables, names_of(posterior), parts)
    except OSError as error:
        raise OSError(
            error.errno,
            f"{target} could not be written ({error.strerror or error}); if there was such a file, "
            "it is as it was. Pass a path in a folder that is there, has room and may be written "
            "to",
        ) from error


def load_model(path: Any, classes: tuple[Any, ...]) -> Any:
    """Read a fitted model from a file.

    Parameters
    ----------
    path : str or path
        The file.
    classes : tuple of type
        What it may be.

    Returns
    -------
    estimator
        The model.
    """
    source = _as_path(path)
    try:
        arrays, names, parts = read_netcdf(source)
        model = _make_model(arrays, names, parts.pop("model"), classes)
        for name, plain in parts.items():
            PARTS[name].put(model, plain)
    except OSError as error:
        if error.errno is None:  # of the HDF5 library
            raise _not_ours(source, error) from error
        raise type(error)(
            error.errno,
            f"{source} could not be read ({error.strerror}); pass the path of a file that "
            "model.save has written",
        ) from error
    except Exception as error:  # whatever a file that is not ours makes go wrong
        raise _not_ours(source, error) from error
    return model


def _as_path(path: Any) -> Path:
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be the path of a file, got {path!r}.")
    return Path(path)


def _not_ours(source: Path, error: Exception) -> ValueError:
    """Give the error about a file that cannot be used."""
    return ValueError(
        f"{source} is not a model that fairmix can load: {error or type(error).__name__}. Pass a "
        "file that model.save has written with this version, or save the model anew."
    )


def _take_model(model: Any) -> dict[str, Any]:
    """Give what a model is, apart from its draws."""
    kept = {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_") and name not in KEPT_ELSEWHERE
    }
    for name, value in kept.items():
        try:
            pack(value)
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from error
    given = model.get_params(deep=False)
    if isinstance(given["random_state"], np.random.RandomState):
        given["random_state"] = None  # the seed is in provenance_
    return {
        "class": type(model).__name__,
        "parameters": pack_parameters({k: v for k, v in given.items() if k not in NOT_KEPT}),
        "attributes": kept,
        "families": pack(model.families_, None, stand_in),
        "schema": model.schema_.to_json(),
    }


def _make_model(
    arrays: dict[str, Any], names: dict[str, str], plain: dict[str, Any], classes: tuple[Any, ...]
) -> Any:
    """Make a model of what :func:`_take_model` gave and of its draws."""
    kind = {each.__name__: each for each in classes}[plain["class"]]
    model = kind(**{name: unpack(value) for name, value in plain["parameters"].items()})
    for name, value in plain["attributes"].items():
        if not name.isidentifier() or not name.endswith("_") or name.startswith("_"):
            raise ValueError(f"{name!r} is no name of a fitted attribute")
        if hasattr(kind, name):
            raise ValueError(f"{name!r} would hide a method")
        setattr(model, name, value)
    model.labels_ = arrays["point_estimate"]
    model.posterior_ = posterior_from(arrays, names)
    if model.labels_.shape != model.posterior_.labels.shape[2:]:
        raise ValueError("labels_ has another number of rows than the draws")
    model.families_ = unpack(plain["families"])
    model.schema_ = Schema.from_json(plain["schema"])
    model.schema_.note_on(model)
    if own := sorted(set(own_names(plain["parameters"]))):
        warn(
            f"{', '.join(own)}: code of your own is not kept in files. The model does all that "
            "does not need it; give it back by set_params before you fit again."
        )
    return model


def _take_training(model: Any) -> dict[str, Any]:
    """Give the rows of a model, and what is known of them."""
    training = model.posterior_.training
    table, groups = training.table, training.groups
    return {
        "rows": table.rows,
        "points": table.points,
        "is_category": table.is_category,
        "groups": _groups_to_plain(groups),
        "family": pack(training.family, None, stand_in),
        "gap_kind": training.gap_kind,
    }


def _put_training(model: Any, plain: dict[str, Any]) -> None:
    """Give a model its rows back."""
    table = Table(plain["rows"], plain["points"], plain["is_category"])
    if table.rows.shape != (len(model.labels_), len(model.schema_.kept)):
        raise ValueError("its table has another shape than its schema and its labels")
    # A family of the user's own is not kept, but all else of the table is.
    family = None if own_names(plain["family"]) else unpack(plain["family"])
    groups = _groups_from_plain(plain["groups"])
    training = Training(model.schema_, table, groups, family, plain["gap_kind"])
    model.posterior_ = replace(model.posterior_, training=training)


def _groups_to_plain(groups: Groups) -> dict[str, Any]:
    attributes = {name: _groups_to_plain(each) for name, each in groups.attributes.items()}
    named = {"attributes": attributes, "merged": groups.merged}
    return {"names": groups.names, "codes": groups.codes} | named


def _groups_from_plain(plain: dict[str, Any]) -> Groups:
    attributes = {name: _groups_from_plain(each) for name, each in plain["attributes"].items()}
    return Groups(plain["names"], plain["codes"], attributes, plain["merged"])


def _take_profile(model: Any) -> dict[str, Any]:
    """Give what the clusters of a model are."""
    return dict(model.profile().to_plain())


def _put_profile(model: Any, plain: dict[str, Any]) -> None:
    """Let a model know what its clusters are, without the rows."""
    model.kept_profile = Profile.from_plain(plain)


def _take_prediction(model: Any) -> dict[str, Any] | None:
    """Give what a model predicts by; None if that is code of the user's own."""
    if own_names(pack(model.posterior_.training.family, None, stand_in)):
        return None
    return dict(model.learned_prediction().to_plain())


def _put_prediction(model: Any, plain: dict[str, Any]) -> None:
    """Let a model predict, without the rows."""
    model.know_prediction(Prediction.from_plain(plain))


#: What else a file may hold, by name; its order is that in which a loaded model gets them. Whatever
#: can be said in plain values is one more line here.
PARTS: dict[str, Part] = {
    "training": Part(_take_training, _put_training),
    "profile": Part(_take_profile, _put_profile),
    "prediction": Part(_take_prediction, _put_prediction),
}
