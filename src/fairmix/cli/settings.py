"""The settings of a run: options of the command line, keys of ``run.toml``, one and the same.

A setting is a field of :class:`Settings` with its help; options are made of the fields
(``options.py``), and so is the table in the documentation.
"""

from __future__ import annotations

import difflib
import json
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self

from fairmix._version import __version__
from fairmix.cli.telling import CommandError, sentence

#: Headings of the options in ``--help``.
TABLE, FAIRNESS, MODEL, SAMPLING = "The table", "Fairness", "Model", "Sampling"
#: What some settings may be.
MISSING, GAP_KINDS = ("ignore", "error"), ("paper", "mean", "worst")
EXTRAS = ("auto", "random", "medoids", "free")


def _told(kind: Any, heading: str, told: str, choices: Sequence[str] = ()) -> dict[str, Any]:
    """Give what is known of a setting: what it holds (a type, one by name, or names), its help."""
    if choices:
        told = f"{told}: {', '.join(choices[:-1])} or {choices[-1]}."
    return {"kind": kind, "heading": heading, "told": told, "choices": tuple(choices)}


@dataclass(frozen=True)
class Settings:
    """What is to be fitted, and how.

    Most are parameters of :class:`fairmix.FairBayesianClustering`. A value that may differ by
    column or group is one value or a dict: on the command line ``0.05`` or ``sex=0.05,age=0.1``.
    """

    data: str = field(default="", metadata=_told(str, TABLE, "The table."))
    sensitive: tuple[str, ...] = field(
        default=(),
        metadata=_told("names", TABLE, "Sensitive column; several (a,b or again) are crossed."),
    )
    id: str | None = field(
        default=None,
        metadata=_told(str, TABLE, "Column that names the rows. Found out if left out."),
    )
    columns: tuple[str, ...] = field(
        default=(),
        metadata=_told("names", TABLE, "Cluster by just these columns, whatever they hold."),
    )
    drop: tuple[str, ...] = field(
        default=(), metadata=_told("names", TABLE, "Column to leave out (a,b or again).")
    )
    delimiter: str | None = field(
        default=None,
        metadata=_told(str, TABLE, "What is between cells of a text. Found out if left out."),
    )
    decimal: str | None = field(
        default=None,
        metadata=_told(str, TABLE, "Decimal point or comma of a text. Found out if left out."),
    )
    encoding: str | None = field(
        default=None, metadata=_told(str, TABLE, "Encoding of a text. Found out if left out.")
    )
    na: tuple[str, ...] = field(
        default=(),
        metadata=_told("cells", TABLE, "What else stands for a missing cell, such as -999."),
    )
    missing: str = field(
        default="ignore",
        metadata=_told(str, TABLE, "What to do about missing cells", MISSING),
    )
    max_gap: Any = field(
        default=None,
        metadata=_told(
            (float,), FAIRNESS, "Largest gap of any draw: 0.05, or by column: sex=0.05,age=0.1."
        ),
    )
    min_balance: float | None = field(
        default=None, metadata=_told(float, FAIRNESS, "Least balance of any draw.")
    )
    gap_kind: str = field(
        default="paper", metadata=_told(str, FAIRNESS, "What the gap is", GAP_KINDS)
    )
    min_group_size: int | None = field(
        default=None, metadata=_told(int, FAIRNESS, "Put groups of fewer rows together into one.")
    )
    n_masked: Any = field(
        default=0,
        metadata=_told(
            (int,), FAIRNESS, "Rows of each larger group that are exempt from matching."
        ),
    )
    extra: str = field(
        default="auto",
        metadata=_told(str, FAIRNESS, "Who is matched to a row more", EXTRAS),
    )
    family: Any = field(
        default="auto",
        metadata=_told(
            (str,), MODEL, "What columns hold, of all or by column: months=exponential."
        ),
    )
    k: int | None = field(
        default=None,
        metadata=_told(int, MODEL, "Number of components, if it is not to be inferred."),
    )
    chains: int = field(default=4, metadata=_told(int, SAMPLING, "Number of chains."))
    warmup: int = field(
        default=1000, metadata=_told(int, SAMPLING, "Sweeps of each chain that are thrown away.")
    )
    draws: int = field(
        default=1000, metadata=_told(int, SAMPLING, "Sweeps of each chain after the warm-up.")
    )
    until_converged: bool = field(
        default=False,
        metadata=_told(bool, SAMPLING, "Go on until chains agree, up to ten times the draws."),
    )
    max_minutes: float | None = field(
        default=None,
        metadata=_told(float, SAMPLING, "End sampling then (the warm-up is never cut)."),
    )
    seed: int | None = field(
        default=None,
        metadata=_told(int, SAMPLING, "Seed. If left out, one is chosen and written down."),
    )
    jobs: int = field(
        default=-1,
        metadata=_told(int, SAMPLING, "Chains at the same time; -1 is one a processor."),
    )
    with_plain: bool = field(
        default=False,
        metadata=_told(bool, SAMPLING, "Fit the plain mixture, too: what does fairness cost?"),
    )

    @classmethod
    def of_file(cls, path: Path) -> Self:
        """Read settings from a file.

        Parameters
        ----------
        path : Path
            A TOML file; a path of data in it is seen from the file's folder.

        Returns
        -------
        Settings
            The settings.
        """
        try:
            found = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise CommandError(f"{path} does not exist; name the file with the settings.") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise CommandError(
                f"{path} is not TOML: {error}. See docs/how_to/command_line.md."
            ) from None
        made = cls().with_given(found, str(path))
        return replace(made, data=str(path.parent / made.data)) if made.data else made

    def with_given(self, given: Mapping[str, Any], source: str = "") -> Self:
        """Give these settings with others in their place.

        Parameters
        ----------
        given : mapping
            Values by name; None and empty ones are not given.
        source : str, optional
            Where they come from, for messages.

        Returns
        -------
        Settings
            The settings.
        """
        known = {each.name: each.metadata for each in fields(self)}
        changed = {}
        for name, value in given.items():
            if name not in known:
                hint = nearest(name, known)
                raise CommandError(sentence(f"{source}: {name} is no setting{hint}"))
            if value is not None and value != [] and value != ():
                changed[name] = _read(option_of(name), value, known[name]["kind"])
                choices = known[name]["choices"]
                if choices and changed[name] not in choices:
                    raise CommandError(
                        f"{option_of(name)} is one of {', '.join(choices)}, got {value!r}."
                    )
        if changed.get("max_minutes") == math.inf:
            changed["max_minutes"] = None
        return replace(self, **changed)

    def parameters(self) -> dict[str, Any]:
        """Give the parameters of the estimator.

        Returns
        -------
        dict
            Parameters by name.
        """
        from fairmix.model.partition_prior import Fixed

        same = ("family", "missing", "max_gap", "min_balance", "gap_kind", "min_group_size")
        return {name: getattr(self, name) for name in (*same, "n_masked", "extra")} | {
            "components_prior": None if self.k is None else Fixed(self.k),
            "n_chains": self.chains,
            "n_warmup": self.warmup,
            "n_draws": self.draws,
            "until": "converged" if self.until_converged else None,
            "max_seconds": None if self.max_minutes is None else 60 * self.max_minutes,
            "random_state": self.seed,
            "n_jobs": self.jobs,
        }

    def as_toml(self, note: str) -> str:
        """Write the settings as a file has them.

        Parameters
        ----------
        note : str
            What is said at the top.

        Returns
        -------
        str
            TOML with every setting that has a value.
        """
        lines = [f"# {line}" for line in (f"fairmix {__version__}", *note.splitlines())]
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None:
                lines.append(f"{each.name} = {_as_toml(value)}")
        return "\n".join(lines) + "\n"


def option_of(name: str) -> str:
    """Give the option of a setting."""
    return f"--{name.replace('_', '-')}"


def nearest(name: str, names: Iterable[Any]) -> str:
    """Say which of some names may be meant.

    Parameters
    ----------
    name : str
        What was written.
    names : iterable
        What there is.

    Returns
    -------
    str
        The end of a sentence; empty if none is near.
    """
    by_folded = {str(each).casefold(): str(each) for each in names}
    found = difflib.get_close_matches(name.casefold(), by_folded, n=1)
    return f"; do you mean {by_folded[found[0]]!r}?" if found else ""


def _read(option: str, value: Any, kind: Any) -> Any:
    """Read a value as text or TOML has it."""
    try:
        if kind in ("names", "cells"):
            return tuple(map(str, [value] if isinstance(value, str) else value))
        if isinstance(kind, tuple):
            return _read_each(value, kind[0])
        return _read_one(value, kind)
    except (TypeError, ValueError):
        wanted = {int: "a whole number", float: "a number", bool: "true or false"}
        single = kind[0] if isinstance(kind, tuple) else kind
        raise CommandError(f"{option} takes {wanted.get(single, 'text')}, got {value!r}.") from None


def _read_each(value: Any, kind: type) -> Any:
    """Read one value, or one by name."""
    if isinstance(value, Mapping):
        return {str(name): _read_one(each, kind) for name, each in value.items()}
    if isinstance(value, str) and "=" in value:
        pairs = (part.rpartition("=") for part in value.split(","))
        return {name.strip(): _read_one(each.strip(), kind) for name, _, each in pairs}
    return _read_one(value, kind)


def _read_one(value: Any, kind: type) -> Any:
    """Read a value; text is as good as what it stands for, but 1.5 is no whole number."""
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    if kind in (int, float) and isinstance(value, (str, int)) and not isinstance(value, bool):
        return kind(value)
    raise TypeError


def _as_toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        pairs = (f"{_as_toml(name)} = {_as_toml(each)}" for name, each in value.items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_as_toml, value))}]"
    return repr(value)
