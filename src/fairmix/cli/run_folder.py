"""The folder of a run: what is in it, who may begin one there, and how it ends.

While a run is under way its folder has ``config.toml`` and ``checkpoint/``; the latter is removed
when all that was asked for is there. So a folder with a checkpoint is one to go on with.
"""

from __future__ import annotations

import dataclasses
import errno
import os
import shlex
import shutil
from pathlib import Path

from fairmix.cli.settings import Settings, option_of
from fairmix.cli.telling import FAILED, CommandError
from fairmix.files import write_whole

#: Settings that may change when a run goes on: the draws do not depend on them.
FREE = ("seed", "jobs", "draws", "max_minutes", "until_converged", "with_plain")


class RunFolder:
    """The folder of a run.

    Parameters
    ----------
    path : Path
        The folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "config.toml"
        self.checkpoint = path / "checkpoint"
        self.model = path / "model.nc"
        self.labels = path / "labels.csv"
        self.clusters = path / "clusters.csv"
        self.summary = path / "summary.json"
        self.report = path / "report.html"

    @property
    def as_typed(self) -> str:
        """The folder as a shell takes it."""
        return shlex.quote(str(self.path))

    @property
    def is_under_way(self) -> bool:
        """Whether a run was begun here and has not ended."""
        return self.config.is_file() and self.checkpoint.is_dir()

    def refuse_others(self) -> None:
        """Refuse a path that no run can be written to."""
        if self.path.exists() and not self.path.is_dir():
            raise CommandError(f"--out {self.path} is a file; name a folder.")
        if self.path.is_dir() and any(self.path.iterdir()) and not self.is_under_way:
            what = "has a run that has ended" if self.config.is_file() else "is not empty"
            raise CommandError(
                f"--out {self.path} {what}; name another folder, or remove what is in it."
            )

    def begin(self, settings: Settings) -> Settings:
        """Begin a run here, or go on with the one that is under way if it is the same.

        Parameters
        ----------
        settings : Settings
            The settings of the run.

        Returns
        -------
        Settings
            The same with the seed of the run that goes on.
        """
        self.refuse_others()
        if self.is_under_way:
            kept = Settings.of_file(self.config)
            settings = dataclasses.replace(
                settings, seed=kept.seed if settings.seed is None else settings.seed
            )
            names = [field.name for field in dataclasses.fields(settings)]
            same = [name for name in names if name not in FREE] + ["seed"]
            differing = [n for n in same if getattr(kept, n) != getattr(settings, n)]
            if differing:
                raise CommandError(
                    f"--out {self.path} has another run under way (what differs: "
                    f"{', '.join(map(option_of, differing))}); name another folder, or go on with "
                    f"that one by fairmix resume {self.as_typed}"
                )
        elif settings.seed is None:
            import secrets

            settings = dataclasses.replace(settings, seed=secrets.randbelow(1_000_000))
        try:
            self.checkpoint.mkdir(parents=True, exist_ok=True)
            if not os.access(self.path, os.W_OK):
                raise PermissionError(errno.EACCES, "it may only be read")
            self.write_config(settings)
        except OSError as error:
            raise refusal_to_write(self.path, error) from None
        return settings

    def write_config(self, settings: Settings, note: str = "") -> None:
        """Write the settings down.

        Parameters
        ----------
        settings : Settings
            The settings.
        note : str, optional
            What else is to be said about the run.
        """
        lines = "fairmix fit --config config.toml repeats this run, bit for bit."
        text = settings.as_toml(f"{lines}\n{note}".strip())
        write_whole(self.config, text.encode())

    def end(self) -> None:
        """Remove what a run needs to go on."""
        shutil.rmtree(self.checkpoint, ignore_errors=True)


def free_folder(data: Path) -> Path:
    """Give a folder for a run that none was named for: beside where one is, called like the table.

    Parameters
    ----------
    data : Path
        The table.

    Returns
    -------
    Path
        A folder that is not there.
    """
    number = 1
    while True:
        path = Path(f"{data.stem}-run" if number == 1 else f"{data.stem}-run-{number}")
        if not path.exists():
            return path
        number += 1


def refusal_to_write(path: Path, error: OSError) -> CommandError:
    """Give the error about a place that cannot be written to.

    Parameters
    ----------
    path : Path
        The place.
    error : OSError
        What went wrong.

    Returns
    -------
    CommandError
        What to raise.
    """
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        what = "the disk is full; make room"
    else:
        what = f"{error.strerror or error}; name another place by --out"
    return CommandError(f"{path} cannot be written to: {what}", FAILED)
