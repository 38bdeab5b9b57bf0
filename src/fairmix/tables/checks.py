"""Checks of arguments, each error with the argument, its value and the remedy; and warnings."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

#: The largest floating point number.
LARGEST_FLOAT = sys.float_info.max


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn the user, at the line of their code that called this package.

    Parameters
    ----------
    message : str
        What is wrong, and the remedy.
    category : type, default=UserWarning
        Class of the warning.
    """
    frame = sys._getframe(1)
    stacklevel = 2
    while frame.f_globals.get("__name__", "").partition(".")[0] == "fairmix" and frame.f_back:
        frame = frame.f_back
        stacklevel += 1
    warnings.warn(message, category, stacklevel=stacklevel)


def check_integer(name: str, value: Any, smallest: int, largest: int | None = None) -> int:
    """Give an integer parameter, or raise an error.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
        What was passed.
    smallest : int
        The least value that is allowed.
    largest : int, optional
        The largest one.

    Returns
    -------
    int
        The value.
    """
    wanted = f"an integer of at least {smallest}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be {wanted}, got {value!r}.")
    number = int(value)
    if number < smallest:
        raise ValueError(f"{name} must be {wanted}, got {value!r}.")
    if largest is not None and number > largest:
        raise ValueError(f"{name} must be {wanted} and at most {largest:,}, got {number:,}.")
    return number


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
    number: Any = value
    if not 0 < number < np.inf and not (allow_infinite and number == np.inf):
        raise ValueError(f"{name} must be {allowed}, got {value!r}.")
    if LARGEST_FLOAT < number < np.inf:  # an integer
        raise ValueError(f"{name} must be {allowed}, at most {LARGEST_FLOAT:g}.")
    return float(number)


def check_probability(name: str, value: Any) -> float:
    """Give a probability that is not 0, or raise an error.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
        What was passed.

    Returns
    -------
    float
        The value.
    """
    wanted = "a probability: a number above 0 and at most 1"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name} must be {wanted}, got {value!r}.")
    number: Any = value
    if not 0 < number <= 1:
        raise ValueError(f"{name} must be {wanted}, got {value!r}.")
    return float(number)


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


def check_flag(name: str, value: Any) -> bool:
    """Give a truth value, or raise an error.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
        What was passed.

    Returns
    -------
    bool
        The value.
    """
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def check_seed(random_state: Any) -> int:
    """Give a seed for NumPy's generators, drawn as scikit-learn's convention has it.

    Parameters
    ----------
    random_state : int, RandomState instance or None
        The estimator's parameter.

    Returns
    -------
    int
        The seed.
    """
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise ValueError(
            f"random_state must be None, an integer from 0 to 2**32 - 1 or a RandomState, got "
            f"{random_state!r}."
        ) from error


def check_each(given: Mapping[str, Any]) -> None:
    """Check those of some parameters that are known here, each by itself.

    Parameters
    ----------
    given : mapping
        Parameters by name.
    """
    for name, check in CHECKS.items():
        if name in given:
            check(name, given[name])


def check_parameters(given: Mapping[str, Any]) -> None:
    """Check those parameters of an estimator that do not depend on the data.

    Parameters
    ----------
    given : mapping
        Parameters by name; those of them that are there are checked.
    """
    check_each(given)
    if given["thin"] > given["n_draws"]:
        raise ValueError(
            f"thin = {given['thin']} keeps none of the n_draws = {given['n_draws']} sweeps; "
            "pass a smaller thin or more n_draws."
        )


def _check_scale(name: str, value: Any) -> None:
    """Check a positive number whose inverse and logarithm must be numbers, too."""
    number = check_positive(name, value, allow_infinite=name == "temperature")
    if not (SMALLEST <= number <= LARGEST or np.isinf(number)):
        raise ValueError(
            f"{name} = {value!r} is out of all proportion; pass a number from {SMALLEST:g} to "
            f"{LARGEST:g}."
        )


def _check_group_size(name: str, value: Any) -> None:
    if value is not None:
        check_integer(f"{name} (or None)", value, 2)


def _check_moves(name: str, value: Any) -> None:
    if not (isinstance(value, str) and value == "auto"):
        check_integer(f"{name} (or 'auto')", value, 0, MOST_MOVES)


def _check_jobs(name: str, value: Any) -> None:
    if (
        value is not None
        and check_integer(f"{name} (or None)", value, -MOST_CHAINS, MOST_CHAINS) == 0
    ):
        raise ValueError(f"{name} = 0 runs nothing; pass None, a number of threads, or -1 for all.")


def _check_seconds(name: str, value: Any) -> None:
    if value is not None:
        check_positive(f"{name} (or None)", value)


def _check_until(name: str, value: Any) -> None:
    if value is not None:
        check_choice(f"{name} (or None)", value, ("converged",))


def _check_folder(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name} must be None or the path of a folder, got {value!r}.")


def _check_verbose(name: str, value: Any) -> None:
    if not (isinstance(value, (bool, np.bool_)) or (isinstance(value, str) and value == "auto")):
        check_integer(f"{name} (or 'auto')", value, 0)


#: Bounds of parameters: beyond them numbers overflow, or a fit never ends.
SMALLEST, LARGEST = 1e-100, 1e100
MOST_MOVES, MOST_SWEEPS, MOST_CHAINS = 10**9, 10**15, 10**4
#: The check of each parameter, by its name.
CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "temperature": _check_scale,
    "concentration": _check_scale,
    "matching_step": partial(check_choice, choices=("separate", "joint")),
    "matching_moves": _check_moves,
    "split_merge_moves": _check_moves,
    "annealing": check_flag,
    "standardize": check_flag,
    "constraint": partial(check_choice, choices=("auto", "matching", "gap")),
    "gap_kind": partial(check_choice, choices=("paper", "mean", "worst")),
    "min_group_size": _check_group_size,
    "missing": partial(check_choice, choices=("error", "ignore")),
    "init_match": partial(check_choice, choices=("transport", "random")),
    "n_chains": partial(check_integer, smallest=1, largest=MOST_CHAINS),
    "n_warmup": partial(check_integer, smallest=0, largest=MOST_SWEEPS),
    "n_draws": partial(check_integer, smallest=1, largest=MOST_SWEEPS),
    "thin": partial(check_integer, smallest=1, largest=MOST_SWEEPS),
    "max_seconds": _check_seconds,
    "until": _check_until,
    "warm_start": check_flag,
    "checkpoint": _check_folder,
    "n_jobs": _check_jobs,
    "verbose": _check_verbose,
}


#: What only the matching has, and what it is if it was not asked for.
OF_MATCHING: dict[str, Any] = {
    "n_masked": 0,
    "extra": "auto",
    "temperature": 1.0,
    "matching_step": "separate",
    "matching_moves": "auto",
    "init_match": "transport",
}


def check_constraint(given: Mapping[str, Any]) -> str:
    """Find out how fairness is enforced, and check what that needs.

    Parameters
    ----------
    given : mapping
        Parameters of the estimator by name.

    Returns
    -------
    {"matching", "gap"}
        By a matching of rows, or by a cap on the clusterings of rows.
    """
    capped = [name for name in ("max_gap", "min_balance") if given[name] is not None]
    shown = f"{capped[0]} = {given[capped[0]]!r}" if capped else ""
    constraint: str = given["constraint"]
    if constraint == "auto":
        constraint = "gap" if capped else "matching"
    if capped and given["split_merge_moves"] == 0:
        raise ValueError(
            f"split_merge_moves = 0 together with {shown}: under a cap, chains get from "
            "one clustering to others by splits and merges; pass split_merge_moves='auto'."
        )
    if given["min_group_size"] is not None and isinstance(given["max_gap"], Mapping):
        raise ValueError(
            f"min_group_size = {given['min_group_size']} together with {shown}: crossed groups are "
            "put together, but the caps are on each attribute; put rare values of an attribute "
            "together in sensitive_features, and leave min_group_size out."
        )
    if constraint == "gap":
        if not capped:
            raise ValueError(
                "constraint = 'gap' needs to know how unfair a clustering may be: pass max_gap, "
                "such as max_gap=0.05, or min_balance."
            )
        _refuse_matching(given, shown)
    elif capped:
        _check_matched_cap(given, shown)
    return constraint


def _refuse_matching(given: Mapping[str, Any], shown: str) -> None:
    """Refuse parameters of the matching where there is none."""
    for name, usual in OF_MATCHING.items():
        value = given[name]
        if not (np.isscalar(value) and value == usual):
            raise ValueError(
                f"{name} = {value!r} together with {shown}: rows are not matched under a cap, so "
                f"{name} means nothing; leave it out, or pass constraint='matching'."
            )


def _check_matched_cap(given: Mapping[str, Any], shown: str) -> None:
    """Check what a cap on a matching needs."""
    if not (isinstance(given["extra"], str) and given["extra"] in ("auto", "free")):
        raise ValueError(
            f"extra = {given['extra']!r} together with {shown}: a cap needs anchors with an extra "
            "follower to be free; pass extra='auto' or 'free'."
        )
    if isinstance(given["max_gap"], Mapping):
        raise ValueError(
            f"{shown} has a cap for each attribute, but constraint = 'matching' matches rows of "
            "crossed groups; pass constraint='gap', or one number."
        )
    if given["gap_kind"] != "paper":
        raise ValueError(
            f"gap_kind = {given['gap_kind']!r} together with constraint = 'matching': there a cap "
            "is on the paper's gap; pass gap_kind='paper' or constraint='gap'."
        )
