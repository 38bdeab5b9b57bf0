"""A stream that says it is a terminal, and keeps what is written to it."""

import io

SHOW_CURSOR, HIDE_CURSOR = "\x1b[?25h", "\x1b[?25l"


class Terminal(io.StringIO):
    """Standard error, as a person has it."""

    def isatty(self):
        """Claim to be one."""
        return True


def use_terminal(monkeypatch, columns=80):
    """Let standard error be a terminal of a usual kind."""
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "JPY_PARENT_PID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("LINES", "24")
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    return terminal
