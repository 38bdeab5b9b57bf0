"""What an experiment is: parts that give rows, a table and a picture of these, and claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Plain values by name: what a part has measured, or what the paper says.
Row = dict[str, Any]


@dataclass(frozen=True)
class Effort:
    """How much is run.

    Attributes
    ----------
    name : str
        "quick" or "full".
    n_rows : int or None
        Rows of each table; None is as many as in the paper.
    n_tables : int
        Tables that are drawn of each dataset; of one that is used as a whole, seeds.
    n_chains, n_warmup, n_draws : int
        Chains of a fit and their sweeps. The paper's sampler has its own number of sweeps.
    n_jobs : int or None
        Threads that chains run in; no result depends on it.
    max_gap : float
        The cap on the gap where one is asked for; a few rows cannot obey a tight one.
    seed : int
        Where all randomness comes from.
    """

    name: str
    n_rows: int | None
    n_tables: int
    n_chains: int
    n_warmup: int
    n_draws: int
    n_jobs: int | None
    max_gap: float
    seed: int = 0

    def choose(self, quick: Any, full: Any) -> Any:
        """Give the one or the other, for what belongs to one experiment only."""
        return quick if self.name == "quick" else full


#: To see that all of it works, and that no claim is broken; no figure of it is worth quoting.
QUICK = Effort("quick", 200, 1, 2, 100, 100, None, 0.05)
FULL = Effort("full", None, 5, 4, 1000, 1000, 2, 0.005)


@dataclass(frozen=True)
class Part:
    """What is run and kept at once.

    Attributes
    ----------
    name : str
        Its name within the experiment.
    make : callable
        Gives its rows; the same each time but for seconds.
    data : str or None
        The dataset that it needs, None if that is made.
    """

    name: str
    make: Callable[[], list[Row]]
    data: str | None = None


@dataclass(frozen=True)
class Claim:
    """A sentence about rows, and whether it is true of them."""

    sentence: str
    holds: bool


def _nothing(rows: list[Row]) -> list[Claim]:
    return []


@dataclass(frozen=True)
class Experiment:
    """A table or a figure of the paper.

    Attributes
    ----------
    number : int
        Its place on the page.
    title, place : str
        What it is about, and where it is in the paper.
    about : str
        What was run, in a few sentences.
    parts : callable
        From an effort to the parts.
    by, figures : tuple of str
        Columns of the table: what tells its rows apart, and what is averaged over all rows that
        are alike in these.
    draw : callable
        From rows to a picture.
    claims : callable
        From rows to what must be true of them, with any effort.
    findings : callable
        From rows of a full run to what the paper says, and whether that was found.
    paper : tuple of Row
        The paper's own figures, typed from it.
    paper_says : str
        The paper's own conclusion.
    """

    number: int
    title: str
    place: str
    about: str
    parts: Callable[[Effort], list[Part]]
    by: tuple[str, ...]
    figures: tuple[str, ...]
    draw: Callable[[list[Row]], Figure]
    claims: Callable[[list[Row]], list[Claim]]
    findings: Callable[[list[Row]], list[Claim]] = _nothing
    paper: tuple[Row, ...] = ()
    paper_says: str = ""

    def quick(self) -> list[Row]:
        """Run the quick form, and give its rows."""
        return rows_of(self.parts(QUICK))

    def full(self) -> list[Row]:
        """Run the full form, and give its rows."""
        return rows_of(self.parts(FULL))


def rows_of(parts: Sequence[Part]) -> list[Row]:
    """Run parts one after the other, and give their rows."""
    return [row for part in parts for row in part.make()]


def where(rows: Sequence[Row], **wanted: Any) -> list[Row]:
    """Give the rows that have these values."""
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


def values_of(rows: Sequence[Row], name: str) -> list[Any]:
    """Give the different values that rows have, in the order in which they come."""
    return list(dict.fromkeys(row[name] for row in rows if name in row))


def mean_of(rows: Sequence[Row], name: str, **wanted: Any) -> float:
    """Give the mean of a figure over the rows that have these values; NaN if there are none."""
    found = [row[name] for row in where(rows, **wanted) if row.get(name) is not None]
    return sum(found) / len(found) if found else float("nan")
