"""Run experiments, keep what they give, and go on where that was interrupted.

Each has one JSON file of results: after every part it is written whole, with the part's rows, so a
run that was stopped goes on with the next part. A picture stands beside it. All of them are
gathered in one page.
"""

from __future__ import annotations

import io
import json
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments.data import reason_missing
from experiments.items import NAMES, get_experiment
from experiments.page import write_page
from experiments.protocol import Effort, Experiment, Part, Row
from experiments.provenance import describe_machine, describe_source, now
from fairmix.cli.interrupts import noting_interrupts
from fairmix.files import write_whole
from fairmix.sampler.display import format_seconds

#: Where results go; those of full runs are committed.
RESULTS = Path(__file__).parent / "results"
#: Digits that numbers are kept with.
DIGITS = 6


def reproduce(
    names: Sequence[str],
    effort: Effort,
    folder: Path,
    tell: Callable[[str], None],
    is_anew: bool = False,
) -> list[str]:
    """Run experiments and write their results, pictures and the page.

    Parameters
    ----------
    names : sequence of str
        The experiments.
    effort : Effort
        How much is run. What the quick form has left behind is made anew, since it is there to
        judge the code as it is.
    folder : Path
        Where results go.
    tell : callable
        Is told what goes on.
    is_anew : bool
        Whether a full form's results, too, are made anew.

    Returns
    -------
    list of str
        What went wrong: parts that failed, and claims that do not hold.
    """
    folder.mkdir(parents=True, exist_ok=True)
    results = {name: Results(name, effort, folder) for name in names}
    if is_anew or effort.name == "quick":
        for each in results.values():
            each.forget()
    course = Course([(each, part) for each in results.values() for part in each.missing_parts()])
    reasons: set[str] = set()  # told of once
    for each in results.values():
        for part in each.missing_parts():
            reason = reason_missing(part.data)
            if reason:
                if reason not in reasons:
                    tell(f"{each.name}, {part.name}: what needs this is left out. {reason}")
                reasons.add(reason)
                course.note(each.name, None)
                each.leave_out(part, reason)
                continue
            seconds = each.make(part)
            course.note(each.name, seconds)
            tell(
                f"{course.place} {each.name}: {part.name}, {format_seconds(seconds)}; "
                f"{course.time_left}"
            )
        each.finish()
    kept = [Results(name, effort, folder) for name in NAMES]
    write_page([each for each in kept if each.is_whole], folder / "index.html")
    return [problem for each in results.values() for problem in each.problems()]


class Results:
    """What an experiment has given so far, and its file.

    Parameters
    ----------
    name : str
        The experiment.
    effort : Effort
        How much is run.
    folder : Path
        Where its file is.
    """

    def __init__(self, name: str, effort: Effort, folder: Path) -> None:
        self.name = name
        self.experiment: Experiment = get_experiment(name)
        self.path, self.picture = folder / f"{name}.json", folder / f"{name}.png"
        self.parts = {part.name: part for part in self.experiment.parts(effort)}
        self._plain: Row = {"name": name, "title": self.experiment.title, "form": effort.name}
        self._plain |= {"effort": asdict(effort), "is_whole": False, "parts": {}}
        if self.path.is_file():
            found = json.loads(self.path.read_text(encoding="utf-8"))
            if found["effort"] == asdict(effort):  # else it is of another form
                self._plain = found

    @property
    def is_whole(self) -> bool:
        """Whether all parts were made, or could not be, and the picture is drawn."""
        return bool(self._plain["is_whole"])

    @property
    def made(self) -> list[Row]:
        """What is kept of each part, in the order of the experiment."""
        kept = self._plain["parts"]
        return [{"name": name} | kept[name] for name in self.parts if name in kept]

    @property
    def rows(self) -> list[Row]:
        """All rows."""
        return [row for part in self.made for row in part["rows"]]

    def forget(self) -> None:
        """Begin anew."""
        self._plain |= {"is_whole": False, "parts": {}}

    def missing_parts(self) -> list[Part]:
        """Give the parts that are not there: not made yet, failed, or left out."""
        done = {name for name, part in self._plain["parts"].items() if not part["error"]}
        return [part for name, part in self.parts.items() if name not in done]

    def make(self, part: Part) -> float:
        """Make a part and keep it; give its seconds. An error is kept, too."""
        began, cpu_began = time.perf_counter(), time.process_time()
        rows, error = [], ""
        with noting_interrupts() as interrupts:
            try:
                rows = part.make()
            except Exception as caught:  # one part's failure must not end the others
                error = f"{type(caught).__name__}: {caught}"
        if interrupts:  # a fit then gives the draws so far, which are no result
            raise KeyboardInterrupt
        seconds = time.perf_counter() - began
        self._plain["parts"][part.name] = {
            "rows": as_plain(rows),
            "seconds": round(seconds, 2),
            "cpu_seconds": round(time.process_time() - cpu_began, 2),
            "error": error,
            "is_left_out": False,
            "date": now(),
            "source": describe_source(),
            "machine": describe_machine(),
        }
        self._write()
        return seconds

    def leave_out(self, part: Part, reason: str) -> None:
        """Keep why a part could not be made."""
        self._plain["parts"][part.name] = {
            "rows": [],
            "seconds": 0.0,
            "cpu_seconds": 0.0,
            "error": reason,
            "is_left_out": True,
            "date": now(),
            "source": describe_source(),
            "machine": describe_machine(),
        }

    def finish(self) -> None:
        """Judge the claims and draw the picture."""
        self._plain["is_whole"] = True
        self._plain["claims"] = self._judge(self.experiment.claims)
        is_full = self._plain["form"] == "full"
        self._plain["findings"] = self._judge(self.experiment.findings) if is_full else []
        if self.rows:
            buffer = io.BytesIO()
            # Without this, the file would name the version that drew it.
            nobody = {"Software": None}
            self.experiment.draw(self.rows).savefig(buffer, dpi=90, metadata=nobody)
            write_whole(self.picture, buffer.getvalue())
        self._write()

    def problems(self) -> list[str]:
        """Give what went wrong."""
        failed = [
            f"{self.name}: {part['name']} failed: {part['error']}"
            for part in self.made
            if part["error"] and not part["is_left_out"]
        ]
        broken = [
            f"{self.name}: does not hold: {claim['sentence']}"
            for claim in self._plain["claims"]
            if not claim["holds"]
        ]
        return failed + broken

    def to_plain(self) -> Row:
        """Give all that the file has."""
        return dict(self._plain)

    def _judge(self, judge: Callable[[list[Row]], Iterable[Any]]) -> list[Row]:
        """Judge what there is; nothing can be said of no rows, or if a part failed."""
        if not self.rows or any(part["error"] and not part["is_left_out"] for part in self.made):
            return []
        return [asdict(claim) for claim in judge(self.rows)]

    def _write(self) -> None:
        write_whole(self.path, write_json(self._plain).encode())


class Course:
    """How far a run is, and how long the rest will take.

    Parameters
    ----------
    waiting : sequence of (Results, Part)
        What is to be made.
    """

    def __init__(self, waiting: Sequence[tuple[Results, Part]]) -> None:
        self._left: dict[str, int] = {}
        for results, _ in waiting:
            self._left[results.name] = self._left.get(results.name, 0) + 1
        self._n_all = len(waiting)
        self._seconds: dict[str, list[float]] = {}

    def note(self, name: str, seconds: float | None) -> None:
        """Note that a part is over; None if it was left out."""
        self._left[name] -= 1
        if seconds is not None:
            self._seconds.setdefault(name, []).append(seconds)

    @property
    def place(self) -> str:
        """The number of the part that was made last."""
        return f"[{self._n_all - sum(self._left.values())}/{self._n_all}]"

    @property
    def time_left(self) -> str:
        """A guess, from parts of the same experiment, or from all if none was made yet."""
        every = [seconds for own in self._seconds.values() for seconds in own]
        usual = sum(every) / len(every)
        left = 0.0
        for name, n_left in self._left.items():
            own = self._seconds.get(name)
            left += n_left * (sum(own) / len(own) if own else usual)
        return f"about {format_seconds(left)} left" if left else "done"


def as_plain(value: Any) -> Any:
    """Give values as JSON has them: numbers with six digits, None for what is no number."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): as_plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_plain(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value


def write_json(plain: Any, depth: int = 0) -> str:
    """Write JSON with a line for each row, so that versions can be compared line by line."""
    if isinstance(plain, dict) and depth < 3:
        inner = [f"{json.dumps(key)}: {write_json(plain[key], depth + 1)}" for key in plain]
        text = "{{\n{}\n}}".format(",\n".join(inner))
    elif isinstance(plain, list) and plain:
        text = "[\n{}\n]".format(",\n".join(json.dumps(each, allow_nan=False) for each in plain))
    else:
        text = json.dumps(plain, allow_nan=False)
    return text if depth else f"{text}\n"
