"""What a command tells: the answer on standard output, all else on standard error.

With ``--json`` standard output has one JSON document and nothing else.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from typing import Any

#: Exit codes.
DONE, FAILED, USAGE, DISAGREE, INTERRUPTED = 0, 1, 2, 3, 130
#: How the library's parameters are called here.
OPTION_OF = {
    "components_prior": "--k",
    "extra": "--extra",
    "family": "--family",
    "gap_kind": "--gap-kind",
    "max_gap": "--max-gap",
    "max_seconds": "--max-minutes",
    "method": "--method",
    "min_balance": "--min-balance",
    "min_group_size": "--min-group-size",
    "missing": "--missing",
    "n_chains": "--chains",
    "n_clusters (or None)": "--k",
    "n_draws": "--draws",
    "n_jobs": "--jobs",
    "n_masked": "--n-masked",
    "n_seeds": "--seeds",
    "n_warmup": "--warmup",
    "random_state": "--seed",
    "sensitive_features": "--sensitive",
    "time_limit": "--max-minutes",
}
#: Width of lines that no terminal has to break.
UNBROKEN = 10_000
#: Seconds of a limit, which are minutes here.
_LIMIT = re.compile(r"(?:max_seconds|time_limit) ?= ?([\d.]*\d)(?: s\b)?")
_PARAMETER = re.compile(
    rf"(?<![\w'-])({'|'.join(map(re.escape, OPTION_OF))})(?!\w)( ?= ?(?:'([^']*)'|([\w.]+)))?"
)


class CommandError(Exception):
    """The command ends here; the message says why, and what to do."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        super().__init__(message)
        self.code = code


def in_options(text: str) -> str:
    """Say in options what the library says in parameters, in one line.

    Parameters
    ----------
    text : str
        A message of the library.

    Returns
    -------
    str
        The message.
    """

    def translate(match: re.Match[str]) -> str:
        value = match[3] if match[3] is not None else match[4]
        if value is None:  # some are English words, and then often no more than that
            is_meant = "_" in match[1] or text_after(match).startswith(" must")
            return OPTION_OF[match[1]] if is_meant else match[0]
        end = "." if value.endswith(".") else ""
        return f"{OPTION_OF[match[1]]} {value.removesuffix('.')}{end}"

    def text_after(match: re.Match[str]) -> str:
        return match.string[match.end() :]

    plain = text.replace("until='converged'", "--until-converged").replace("X: ", "")
    plain = _LIMIT.sub(lambda limit: f"--max-minutes {float(limit[1]) / 60:.3g}", plain)
    plain = plain.replace("Fit again to have all.", "fairmix resume goes on from there.")
    # An option that is left out is what None is in Python.
    plain = re.sub(r" must be None(?: or|,) ", " must be ", plain)
    return " ".join(_PARAMETER.sub(translate, plain).split())


class Teller:
    """Tells of one command.

    Parameters
    ----------
    is_quiet : bool, default=False
        Whether to leave out all but answers, warnings and errors.
    as_json : bool, default=False
        Whether the answer is a JSON document.
    """

    def __init__(self, is_quiet: bool = False, as_json: bool = False) -> None:
        self.is_quiet = is_quiet
        self.as_json = as_json
        self._told: set[str] = set()

    def note(self, text: Any) -> None:
        """Tell how things go, on standard error.

        Parameters
        ----------
        text : str or renderable of rich
            What is told.
        """
        if not self.is_quiet:
            _print(text, sys.stderr)

    def warn(self, text: str) -> None:
        """Tell of something that the user should know, once.

        Parameters
        ----------
        text : str
            What is told.
        """
        if text not in self._told:
            self._told.add(text)
            _print(f"warning: {text}", sys.stderr, "yellow")

    def answer(self, text: Any, plain: Any) -> None:
        """Tell the answer, on standard output.

        Parameters
        ----------
        text : str or renderable of rich
            For people.
        plain : object
            For programs, as JSON has it.
        """
        if self.as_json:
            print(json.dumps(plain, ensure_ascii=False, allow_nan=False), flush=True)
        else:
            _print(text, sys.stdout)

    def take_warnings(self) -> None:
        """Show warnings of the library as short lines from now on, and none of other libraries."""
        if not sys.warnoptions:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = self._show_warning  # type: ignore[assignment]

    def _show_warning(self, message: Warning | str, *_: Any) -> None:
        # What the answer says about the chains anyway is not said twice.
        if not str(message).startswith(("The chains ", "It cannot be told")):
            self.warn(in_options(str(message)))


def sentence(text: str) -> str:
    """Give a text that ends as sentences do."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def tell_error(text: str) -> None:
    """Tell in a line why a command ends.

    Parameters
    ----------
    text : str
        The reason.
    """
    _print(f"error: {' '.join(text.split())}", sys.stderr, "bold red")


def _print(text: Any, stream: Any, style: str = "") -> None:
    """Print plain text, or what rich renders; colours and line breaks are for terminals."""
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False)
    if isinstance(text, str):
        # What stands in a table must not command the terminal.
        text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
        head, colon, rest = text.partition(": ") if style else ("", "", text)
        text = Text.assemble((head + colon, style), rest)
    if console.is_terminal:
        console.print(text)
    else:
        console.width = UNBROKEN
        with console.capture() as captured:
            console.print(text)
        lines = captured.get().splitlines()
        stream.write("".join(f"{line.rstrip()}\n" for line in lines))
    stream.flush()
