"""The command line: ``fairmix fit data.csv --sensitive sex --out run/`` and what goes with it.

``app.py`` has the commands, and what each does is in a file of its own. What a command needs is
imported when it runs, so that ``--help`` waits for nothing.
"""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows the name of the program; by default that of this process.
    """
    from fairmix.cli.app import run

    sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))
