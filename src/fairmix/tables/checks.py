"""Check the estimator's parameters: every error names the argument, its value and the remedy."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairmix.matching import Grouping

IntArray = NDArray[np.int64]

#: With fewer rows than this in the smallest group, a warning is given.
SMALL_GROUP = 10


def check_integer(name: str, value: Any, smallest: int) -> int:
    """Give an integer parameter, or raise an error.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
        What was passed.
    smallest : int
        The least value that is allowed.

    Returns
    -------
    int
        The value.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer of at least {smallest}, got {value!r}.")
    if value < smallest:
        raise ValueError(f"{name} must be an integer of at least {smallest}, got {value!r}.")
    return int(value)


def check_positive(name: str, value: Any, *, allow_infinite: bool = False) -> float:
    """Give a positive number, or raise an error.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
        What was passed.
    allow_infinite : bool, default=False
        Whether infinity is allowed.

    Returns
    -------
    float
        The value.
    """
    allowed = "a positive number" + (" or inf" if allow_infinite else "")
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name} must be {allowed}, got {value!r}.")
    number = float(value)
    if not number > 0 or (np.isinf(number) and not allow_infinite):
        raise ValueError(f"{name} must be {allowed}, got {value!r}.")
    return number


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Give one of several names, or raise an error.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
        What was passed.
    choices : tuple of str
        What is allowed.

    Returns
    -------
    str
        The value.
    """
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")
    return value


def check_parameters(estimator: Any) -> None:
    """Check those parameters of an estimator that do not depend on the data.

    Parameters
    ----------
    estimator : FairBayesianClustering
        The estimator.
    """
    check_positive("temperature", estimator.temperature, allow_infinite=True)
    check_positive("concentration", estimator.concentration)
    check_choice("matching_step", estimator.matching_step, ("separate", "joint"))
    for name in ("matching_moves", "split_merge_moves"):
        if getattr(estimator, name) != "auto":
            check_integer(f"{name} (or 'auto')", getattr(estimator, name), 0)
    if estimator.max_gap is not None or estimator.min_balance is not None:
        _check_cap_parameters(estimator)
    check_choice("missing", estimator.missing, ("error", "ignore"))
    check_choice("init_match", estimator.init_match, ("transport", "random"))
    check_integer("n_chains", estimator.n_chains, 1)
    check_integer("n_warmup", estimator.n_warmup, 0)
    check_integer("n_draws", estimator.n_draws, 1)
    check_integer("thin", estimator.thin, 1)
    if estimator.thin > estimator.n_draws:
        raise ValueError(
            f"thin = {estimator.thin} keeps none of the n_draws = {estimator.n_draws} sweeps; "
            "pass a smaller thin or more n_draws."
        )


def _check_cap_parameters(estimator: Any) -> None:
    """Check what a cap needs."""
    name = "max_gap" if estimator.max_gap is not None else "min_balance"
    shown = f"{name} = {getattr(estimator, name)!r}"
    if not (isinstance(estimator.extra, str) and estimator.extra in ("auto", "free")):
        raise ValueError(
            f"extra = {estimator.extra!r} together with {shown}: a cap needs anchors with an extra "
            "follower to be free; pass extra='auto' or 'free'."
        )
    if estimator.split_merge_moves == 0:
        raise ValueError(
            f"split_merge_moves = 0 together with {shown}: under a cap, chains get from "
            "one clustering to others by splits and merges; pass split_merge_moves='auto'."
        )


def resolve_masks(n_masked: Any, grouping: Grouping) -> IntArray:
    """Give the number of masked rows of each group, the anchor group first.

    Parameters
    ----------
    n_masked : int or dict
        One number for every follower group, or a dict by group name.
    grouping : Grouping
        The groups.

    Returns
    -------
    ndarray of shape (n_groups,)
        The numbers; 0 for the anchors.
    """
    anchor, followers = grouping.names[0], list(grouping.names[1:])
    if isinstance(n_masked, Mapping):
        for name in n_masked:
            if name == anchor:
                raise ValueError(
                    f"n_masked names {name!r}, the smallest group, which others are matched to; "
                    f"only rows of {followers} can be masked."
                )
            if name not in followers:
                raise ValueError(
                    f"n_masked names {name!r}, which is not a group; "
                    f"the groups whose rows can be masked are {followers}."
                )
        wanted = {name: n_masked.get(name, 0) for name in followers}
    else:
        check_integer("n_masked", n_masked, 0)
        if n_masked and not followers:
            raise ValueError(
                f"n_masked = {n_masked}, but there is one group only, so there is nothing to "
                "mask; pass n_masked=0 or sensitive_features with several groups."
            )
        wanted = dict.fromkeys(followers, n_masked)
    masks = np.zeros(grouping.n_groups, dtype=np.int64)
    for group, name in enumerate(followers, start=1):
        masks[group] = check_integer(f"n_masked[{name!r}]", wanted[name], 0)
        if masks[group] > grouping.sizes[group]:
            raise ValueError(
                f"n_masked = {masks[group]} is more than the {grouping.sizes[group]} rows of group "
                f"{name!r}; pass a smaller number, or a dict group -> number."
            )
    return masks


def check_memory(n_chains: int, n_kept: int, n_rows: int, bytes_per_label: int) -> None:
    """Raise an error if the draws would not fit in memory.

    Parameters
    ----------
    n_chains, n_kept, n_rows : int
        Size of the array of labels.
    bytes_per_label : int
        Bytes of one label.
    """
    # Twice: the chains' own arrays, and all of them put together.
    needed = 2 * n_chains * n_kept * n_rows * bytes_per_label
    try:
        available = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not on every system
        return
    if needed > 0.8 * available:
        raise ValueError(
            f"the draws (n_chains = {n_chains}, {n_kept:,} draws kept, {n_rows:,} rows) need about "
            f"{needed / 1e9:,.1f} GB, but this machine has {available / 1e9:,.1f} GB; keep fewer "
            f"with thin={int(np.ceil(needed / (0.5 * available)))} times what it is, or fewer "
            "n_draws or n_chains."
        )


def describe_groups(grouping: Grouping) -> str:
    """Give names and counts of the groups, for messages.

    Parameters
    ----------
    grouping : Grouping
        The groups.

    Returns
    -------
    str
        Such as ``'a': 3, 'b': 10``.
    """
    shown = [
        f"{name!r}: {size}"
        for name, size in zip(grouping.names[:20], grouping.sizes[:20], strict=True)
    ]
    rest = grouping.n_groups - len(shown)
    return ", ".join(shown) + (f", ... and {rest} more groups" if rest else "")


def warn_about_one_group(stacklevel: int) -> None:
    """Warn that there is nothing to be fair about.

    Parameters
    ----------
    stacklevel : int
        Where the warning points to.
    """
    warnings.warn(
        "sensitive_features has one group only, so nothing was made fair: this is ordinary "
        "clustering. Pass the sensitive attribute as sensitive_features.",
        UserWarning,
        stacklevel=stacklevel,
    )


def check_groups(grouping: Grouping) -> None:
    """Refuse or warn about groups that cannot be made fair.

    Parameters
    ----------
    grouping : Grouping
        The groups.
    """
    if grouping.n_groups == 1:
        warn_about_one_group(stacklevel=5)
    elif grouping.n_anchors == 1:
        raise ValueError(
            f"sensitive_features: the smallest group, {grouping.names[0]!r}, has a single row "
            f"({describe_groups(grouping)}), so there could be only one cluster; merge rare groups "
            "or drop their rows."
        )
    elif grouping.n_anchors < SMALL_GROUP:
        warnings.warn(
            f"sensitive_features: the smallest group, {grouping.names[0]!r}, has "
            f"{grouping.n_anchors} rows ({describe_groups(grouping)}), and there can be no more "
            "clusters than that; merge rare groups or drop their rows.",
            UserWarning,
            stacklevel=4,
        )
