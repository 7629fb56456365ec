"""One log file per process, kept to a sane size while the process goes on writing into it."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

MAX_BYTES = 20_000_000
_CHECK_SECONDS = 5.0


def open_log(file: Path) -> int:
    """A descriptor that always appends, so that the file may be cut under its writer."""
    return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)


def last_lines(file: Path, count: int) -> str:
    """The end of a log, for a message about a process that failed."""
    if not file.exists():
        return ""
    return "\n".join(file.read_text(errors="replace").splitlines()[-count:])


async def keep_small(folder: Path) -> None:
    """For ever: copy a log that has grown too large to `NAME.1` and begin it anew."""
    while True:
        for file in folder.glob("*.log"):
            if file.stat().st_size > MAX_BYTES:
                # Not on a thread: the launcher forks, and must have no other thread when it does.
                _begin_anew(file)
        await asyncio.sleep(_CHECK_SECONDS)


def _begin_anew(file: Path) -> None:
    shutil.copyfile(file, file.with_name(f"{file.name}.1"))
    os.truncate(file, 0)
