"""Seconds and memory of every stage, for jobs of several sizes, each in a process of its own."""

import asyncio
import json
import statistics
import sys
from collections.abc import Sequence
from typing import Any, Final

from benchmarks.figures import Figures

# Door to submitted, and collected to settled, at this size.
_AIMED_AT: Final = 50_000
_SUBMITTED_SECONDS: Final = 15.0
_SETTLED_SECONDS: Final = 10.0
_MOST_MB: Final = 400.0
_TO_SUBMITTED: Final = ("accept", "plan", "stage")


async def measure(figures: Figures, *, storage: str, size: int, runs: int) -> None:
    group = f"{size:,} requests of 4 kB, in process"
    found = [await _run(storage, "--size", str(size)) for _ in range(runs)]
    _note(figures, group, found)
    aimed = size == _AIMED_AT
    submitted = sum(_median(found, name, "seconds") for name in _TO_SUBMITTED)
    figures.add(group, "door to submitted", submitted, "s", at_most=_SUBMITTED_SECONDS if aimed else None)
    settled = _median(found, "settle", "seconds")
    figures.add(group, "collected to settled", settled, "s", at_most=_SETTLED_SECONDS if aimed else None)


async def measure_many(figures: Figures, *, storage: str, size: int) -> None:
    """Requests so small that only their number counts."""
    found = [await _run(storage, "--size", str(size), "--line-bytes", "200")]
    _note(figures, f"{size:,} requests of 200 bytes, in process", found)


async def measure_references(figures: Figures, *, storage: str, size: int) -> None:
    found = [await _run(storage, "--size", str(size), "--references")]
    _note(figures, f"{size:,} documents of 5k to 50k tokens by reference, in process", found)


def _note(figures: Figures, group: str, found: Sequence[dict[str, Any]]) -> None:
    for name in found[0]["stages"]:
        figures.add(group, name, _median(found, name, "seconds"), "s")
        figures.add(group, name, _median(found, name, "cpu"), "s of work")
        figures.add(group, name, _median(found, name, "peak"), "MB", at_most=_MOST_MB)
        figures.add(group, name, 1000 * _median(found, name, "lag"), "ms")


def _median(found: Sequence[dict[str, Any]], stage: str, what: str) -> float:
    values: list[float] = [run["stages"][stage][what] for run in found]
    return statistics.median(values)


async def _run(storage: str, *options: str) -> dict[str, Any]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.one_job", "--storage", storage, *options),
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"one_job {' '.join(options)} ended with {process.returncode}")
    found: dict[str, Any] = json.loads(output)
    return found
