"""Where results come from: machine, versions, commit and date."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: What results may depend on.
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "pandas")


def now() -> str:
    """Give the time, in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M")


@cache
def describe_machine() -> dict[str, str]:
    """Give the kind of machine, without its name, and the versions."""
    from fairmix import __version__

    processor = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                processor = line.partition(":")[2].strip()
                break
    versions = {"fairmix": __version__, "python": platform.python_version()}
    versions |= {library: version(library) for library in LIBRARIES}
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": f"{os.cpu_count()} x {processor or 'unknown'}",
    } | versions


@cache
def describe_source() -> str:
    """Give the commit, and whether files differ from it."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(ROOT), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    try:
        commit = git("rev-parse", "--short=12", "HEAD")
        is_changed = git("status", "--porcelain", "--", "src", "experiments/*.py")
    except (OSError, subprocess.CalledProcessError):
        return "no commit is known"
    return f"{commit}, with changes" if is_changed else commit
