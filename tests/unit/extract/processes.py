"""Looking at processes through /proc."""

import asyncio
from collections.abc import Callable
from pathlib import Path

PATIENCE_SECONDS = 60


def children_of(pid: int | None) -> list[int]:
    """Living and dead-but-unreaped children of `pid`; none of a process that is not there yet."""
    if pid is None:
        return []
    return [int(stat.parent.name) for stat in Path("/proc").glob("[0-9]*/stat") if _parent(stat) == pid]


def is_running(pid: int) -> bool:
    """Whether `pid` exists and is not merely waiting to be reaped."""
    return _fields(Path(f"/proc/{pid}/stat"))[:1] not in ([], ["Z"])


def cpu_ticks(pid: int) -> int:
    """Processor time `pid` has used, in hundredths of a second."""
    return sum(map(int, _fields(Path(f"/proc/{pid}/stat"))[11:13]))


async def eventually[Value](look: Callable[[], Value]) -> Value:
    """What `look` returns once it is true; fails when that takes too long."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (seen := look()):  # noqa: ASYNC110  # another process has no event to offer
            await asyncio.sleep(0.01)
    return seen


def _parent(stat: Path) -> int | None:
    fields = _fields(stat)
    return int(fields[1]) if fields else None


def _fields(stat: Path) -> list[str]:
    """State, parent and the rest; empty when the process is gone."""
    try:
        return stat.read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []
