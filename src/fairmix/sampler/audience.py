"""Whether a person looks on, and where: in a terminal, in a notebook, or nowhere."""

from __future__ import annotations

import multiprocessing
import os
import sys
from typing import Any

#: Terminals that cannot move the cursor.
PLAIN_TERMINALS = ("dumb", "unknown")


def find_audience() -> str:
    """Find out where somebody sees what is written now.

    Returns
    -------
    {"terminal", "notebook", "none"}
        "none" also in processes that another one has started, where many might write at a time.
    """
    if multiprocessing.parent_process() is not None:
        return "none"
    if find_notebook() is not None:
        return "notebook"
    return "terminal" if is_terminal(sys.stderr) else "none"


def find_notebook() -> Any:
    """Give the IPython shell of the notebook that this is; None if it is none."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell if getattr(shell, "kernel", None) is not None else None


def say(text: str) -> None:
    """Write a line to standard error, if there is one.

    Parameters
    ----------
    text : str
        The line.
    """
    if sys.stderr is not None:  # print would write to standard output
        print(f"fairmix: {text}", file=sys.stderr, flush=True)


def is_terminal(stream: Any) -> bool:
    """Tell whether a stream leads to a terminal that can move the cursor.

    Parameters
    ----------
    stream : file or None
        The stream.

    Returns
    -------
    bool
        Whether it does.
    """
    try:
        return bool(stream.isatty()) and os.environ.get("TERM") not in PLAIN_TERMINALS
    except (AttributeError, ValueError):  # no stream, or a closed one
        return False
