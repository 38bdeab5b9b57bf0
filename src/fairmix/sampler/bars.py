"""A bar a chain, by rich, in a terminal or in a notebook."""

from __future__ import annotations

import io
import sys
import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from fairmix.sampler.audience import find_notebook, is_terminal
from fairmix.sampler.display import format_number, format_seconds
from fairmix.sampler.headway import Headway, seconds_left

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

#: Terminals of so many columns have room for headings in one line, and for all that there is.
WIDE, MEDIUM = 84, 60
#: The bar itself has so many columns.
LEAST_BAR, LARGEST_BAR = 5, 40
#: Columns on the right that are left free: a terminal writes ^C there, which must not break a line.
SPARE = 3
#: What the other columns need, so that they stay as they are while numbers change.
WIDTHS = {"chain": 3, "percent": 4, "phase": 7, "pace": 6, "left": 6, "log_posterior": 9}
#: Lines of a terminal that are left for what is not a chain.
OTHER_LINES = 5
#: Width of a picture in a notebook.
NOTEBOOK_WIDTH = 100
#: Colours of what is done, of what has ended, and of what is to do.
DONE, ENDED, TO_DO = "#0072B2", "#009E73", "bright_black"
#: How a picture is put into a notebook: nothing but the letters, one as wide as another.
HTML = '<pre style="line-height:normal;font-family:monospace">{code}</pre>'


def make_bars(audience: str, when_closed: Callable[[], None]) -> TerminalBars | NotebookBars | None:
    """Make bars, if they can be shown.

    Parameters
    ----------
    audience : {"terminal", "notebook"}
        Where.
    when_closed : callable
        Called when they are closed.

    Returns
    -------
    TerminalBars, NotebookBars or None
        None if the terminal is not one that bars can be drawn on.
    """
    if audience == "notebook":
        return NotebookBars(when_closed)
    from rich.console import Console

    console = Console(stderr=True)
    if not (console.is_terminal and console.is_interactive):
        return None
    return TerminalBars(console, when_closed)


class TerminalBars:
    """Bars that are drawn over and over at the bottom of a terminal.

    What others write to the terminal meanwhile appears above them. Standard output is left alone if
    it leads elsewhere.

    Parameters
    ----------
    console : Console
        The terminal.
    when_closed : callable
        Called at the end.
    """

    seconds = 0.25

    def __init__(self, console: Console, when_closed: Callable[[], None]) -> None:
        from rich.live import Live

        self._console = console
        self._when_closed = when_closed
        is_shared = is_terminal(sys.stdout)
        self._live = Live(console=console, auto_refresh=False, redirect_stdout=is_shared)
        self._live.start()

    def show(self, headways: Sequence[Headway], elapsed: float) -> None:
        """Draw the chains as they are now.

        Parameters
        ----------
        headways : sequence of Headway
            The chains.
        elapsed : float
            Seconds since they began.
        """
        size = self._console.size
        table = make_table(headways, elapsed, size.width, max(size.height - OTHER_LINES, 1))
        self._live.update(table, refresh=True)

    def close(self, headways: Sequence[Headway], elapsed: float) -> None:
        """Draw the chains for the last time, and give the terminal back.

        Parameters
        ----------
        headways : sequence of Headway
            The chains.
        elapsed : float
            Seconds since they began.
        """
        try:
            self.show(headways, elapsed)
        finally:
            try:
                self._live.stop()
            finally:
                self._when_closed()


class NotebookBars:
    """Bars in the output of a notebook's cell: a picture that is replaced by the next.

    Parameters
    ----------
    when_closed : callable
        Called at the end.
    """

    seconds = 1.0

    def __init__(self, when_closed: Callable[[], None]) -> None:
        self._when_closed = when_closed
        self._publish = find_notebook().display_pub.publish
        self._name = {"display_id": f"fairmix-{uuid.uuid4().hex}"}
        self._is_there = False

    def show(self, headways: Sequence[Headway], elapsed: float) -> None:
        """Replace the picture.

        Parameters
        ----------
        headways : sequence of Headway
            The chains.
        elapsed : float
            Seconds since they began.
        """
        picture = picture_of(make_table(headways, elapsed, NOTEBOOK_WIDTH))
        self._publish(picture, transient=self._name, update=self._is_there)
        self._is_there = True

    def close(self, headways: Sequence[Headway], elapsed: float) -> None:
        """Replace the picture for the last time.

        Parameters
        ----------
        headways : sequence of Headway
            The chains.
        elapsed : float
            Seconds since they began.
        """
        try:
            self.show(headways, elapsed)
        finally:
            self._when_closed()


def picture_of(table: Table) -> dict[str, str]:
    """Give a table as notebooks take it.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    dict
        From kinds of content to content; the text has no control characters.
    """
    from rich.console import Console

    console = Console(
        file=io.StringIO(),
        record=True,
        width=NOTEBOOK_WIDTH,
        force_terminal=False,
        force_jupyter=False,
        color_system="truecolor",
        legacy_windows=False,
    )
    console.print(table)
    html = console.export_html(inline_styles=True, clear=False, code_format=HTML)
    return {"text/plain": console.export_text(styles=False), "text/html": html}


def make_table(
    headways: Sequence[Headway], elapsed: float, width: int, most_chains: int | None = None
) -> Table:
    """Draw a line a chain, and one for all.

    Parameters
    ----------
    headways : sequence of Headway
        The chains.
    elapsed : float
        Seconds since they began.
    width : int
        Columns of the terminal.
    most_chains : int, optional
        Lines that there is room for. Chains that run come first.

    Returns
    -------
    Table
        To be printed by rich.
    """
    from rich.table import Table

    finished = all(headway.has_ended for headway in headways)
    headings = _headings(width, finished)
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    for name, heading in headings.items():
        is_left = name in ("chain", "bar", "phase")
        justify: Any = "left" if is_left else "right"
        table.add_column(heading, justify=justify, no_wrap=True, min_width=WIDTHS.get(name))
    rows = [_row(headway, finished) for headway in _choose(headways, most_chains)]
    if len(headways) > 1:
        rows.append(_row_of_all(headways, elapsed, finished))
    bar_width = _bar_width(width, headings)
    for row in rows:
        row["bar"] = _bar(row["bar"], row["phase"] == "done", bar_width)
        table.add_row(*(row[name] for name in headings))
    return table


def _choose(headways: Sequence[Headway], most: int | None) -> list[Headway]:
    """Choose the chains that there is room for, those that run first, in their order."""
    by_interest = sorted(headways, key=lambda headway: (not headway.is_running, headway.has_ended))
    return sorted(by_interest[:most], key=lambda headway: headway.number)


def _row(headway: Headway, finished: bool) -> dict[str, Any]:
    """Give the line of a chain."""
    seconds = headway.seconds_taken if finished else headway.seconds_left
    is_known = headway.n_clusters is not None
    return {
        "chain": f"{headway.number}",
        "bar": headway.n_done / headway.n_sweeps,
        "percent": f"{100 * headway.n_done // headway.n_sweeps}%",
        "phase": headway.phase,
        "pace": _format_pace(headway.sweeps_per_second) if headway.is_running else "",
        "left": format_seconds(seconds) if headway.is_running or finished else "",
        "clusters": f"{headway.n_clusters}" if is_known else "",
        "log_posterior": _format_log(headway.log_posterior) if is_known else "",
    }


def _row_of_all(headways: Sequence[Headway], elapsed: float, finished: bool) -> dict[str, Any]:
    """Give the line of all chains together."""
    n_done = sum(headway.n_done for headway in headways)
    n_sweeps = sum(headway.n_sweeps for headway in headways)
    is_done = all(headway.phase == "done" for headway in headways)
    return {
        "chain": "all",
        "bar": n_done / n_sweeps,
        "percent": f"{100 * n_done // n_sweeps}%",
        "phase": "done" if is_done else "",
        "pace": _format_pace(
            sum(headway.sweeps_per_second for headway in headways if headway.is_running)
        ),
        "left": format_seconds(elapsed if finished else seconds_left(headways)),
        "clusters": "",
        "log_posterior": "",
    }


def _format_pace(sweeps_per_second: float) -> str:
    return format_number(sweeps_per_second) if sweeps_per_second > 0.0 else ""


def _format_log(value: float) -> str:
    return f"{value:.1f}" if abs(value) < 1e6 else f"{value:.0f}"


def _headings(width: int, finished: bool) -> dict[str, str]:
    """Give the headings that there is room for."""
    seconds = "taken" if finished else "left"
    if width >= WIDE:
        return {
            "chain": "chain",
            "bar": "",
            "percent": "",
            "phase": "phase",
            "pace": "sweeps/s",
            "left": f"time {seconds}",
            "clusters": "clusters",
            "log_posterior": "log posterior",
        }
    if width >= MEDIUM:
        return {
            "chain": "chain",
            "bar": "",
            "percent": "",
            "phase": "phase",
            "pace": "sweeps\n/s",
            "left": f"time\n{seconds}",
            "clusters": "clusters",
            "log_posterior": "log\nposterior",
        }
    return {"chain": "", "bar": "", "percent": "", "left": seconds, "clusters": "clusters"}


def _bar_width(width: int, headings: dict[str, str]) -> int:
    """Give the room that is left for the bar."""
    needed = sum(
        max(WIDTHS.get(name, 0), *map(len, heading.split("\n"))) + 1
        for name, heading in headings.items()
        if name != "bar"
    )
    return max(min(width - needed - SPARE, LARGEST_BAR), LEAST_BAR)


def _bar(share: float, is_done: bool, width: int) -> Any:
    """Give a bar."""
    from rich.progress_bar import ProgressBar

    return ProgressBar(
        total=1.0,
        completed=share,
        width=width,
        style=TO_DO,
        complete_style=ENDED if is_done else DONE,
        finished_style=ENDED,
    )
