"""Resident memory of a process, as Linux tells it. Other systems tell nothing: there it is 0."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

EVERY_SECONDS: Final = 0.02
MB: Final = 1024 * 1024


def resident(pid: int | str = "self") -> float:
    """MB now."""
    return _status(pid, "VmRSS")


def peak() -> float:
    """MB at most since `forget_peak`: kept by the kernel, so that nothing is missed between two looks."""
    return _status("self", "VmHWM")


def forget_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


@dataclass(slots=True)
class Watched:
    """What another process took while it was watched, in MB."""

    before: float = 0.0
    most: float = 0.0
    after: float = 0.0


@asynccontextmanager
async def watching(pid: int) -> AsyncIterator[Watched]:
    found = Watched(before=resident(pid))

    async def look() -> None:
        while True:
            found.most = max(found.most, resident(pid))
            await asyncio.sleep(EVERY_SECONDS)

    looking = asyncio.create_task(look())
    try:
        yield found
    finally:
        looking.cancel()
        found.after = resident(pid)
        found.most = max(found.most, found.after)


def _status(pid: int | str, name: str) -> float:
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    found = next((line for line in text.splitlines() if line.startswith(f"{name}:")), "0 0")
    return int(found.split()[1]) / 1024
