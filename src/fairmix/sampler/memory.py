"""How much memory this process may use, and whether the draws fit in it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

#: Draws may take this share of the memory; a remedy is offered that takes the second share.
LARGEST_SHARE, GOOD_SHARE = 0.8, 0.5
#: Where control groups are and which file says their limit, by the controller: version 2 has none.
CGROUP_LIMITS = {
    "": ("sys/fs/cgroup", "memory.max"),
    "memory": ("sys/fs/cgroup/memory", "memory.limit_in_bytes"),
}


def check_memory(n_bytes: int, *, n_chains: int, n_kept: int, n_rows: int) -> None:
    """Raise an error if the draws would not fit in memory.

    Parameters
    ----------
    n_bytes : int
        Bytes of all that is kept.
    n_chains, n_kept, n_rows : int
        Numbers of chains, of draws kept of each, and of rows.
    """
    available = memory_limit()
    if available is None or n_bytes <= LARGEST_SHARE * available:
        return
    raise ValueError(
        f"the draws (n_chains = {n_chains}, {n_kept:,} draws kept, {n_rows:,} rows) need about "
        f"{n_bytes / 1e9:,.1f} GB, but this machine (or its container) has "
        f"{available / 1e9:,.1f} GB; keep fewer with "
        f"thin={math.ceil(n_bytes / (GOOD_SHARE * available))} times what it is, or fewer n_draws "
        "or n_chains."
    )


def memory_limit(root: Path = Path("/")) -> int | None:
    """Give how much memory this process may use.

    Parameters
    ----------
    root : Path, default=Path("/")
        Where the system's files are.

    Returns
    -------
    int or None
        Bytes of the machine, or of the container if that has less; None if nobody can tell.
    """
    limits = list(_container_limits(root))
    with suppress(AttributeError, ValueError, OSError):  # not on every system
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min((limit for limit in limits if limit > 0), default=None)


def _container_limits(root: Path) -> Iterator[int]:
    """Give the limits of the control groups (versions 1 and 2) that this process is in."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:  # not Linux
        return
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if controllers in CGROUP_LIMITS:
            folder, file = CGROUP_LIMITS[controllers]
            own = Path(group.lstrip("/"))
            # A container may see its own group as the root, whatever it is called here.
            for place in (own, *own.parents):
                try:
                    yield int((root / folder / place / file).read_text())
                except (OSError, ValueError):  # no such group, or "max"
                    continue
