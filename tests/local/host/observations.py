"""Reading what the functions of a sample app have written down."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

type Entry = dict[str, Any]


class Observations:
    """The lines of one log file, which may not exist yet."""

    def __init__(self, log: Path) -> None:
        self._log = log

    def of(self, function: str, **values: object) -> list[Entry]:
        """The entries of `function` that have these values, oldest first."""
        entries = [json.loads(line) for line in self._lines() if line]
        return [each for each in entries if each["function"] == function and values.items() <= each.items()]

    def _lines(self) -> list[bytes]:
        return self._log.read_bytes().split(b"\n") if self._log.exists() else []

    async def after(
        self, count: int, function: str, *, seconds: float = 60.0, **values: object
    ) -> list[Entry]:
        """The same, once there are `count` of them; fails the test when they do not come."""
        found: list[Entry] = []

        def enough() -> bool:
            found[:] = self.of(function, **values)
            return len(found) >= count

        await until(enough, f"{count} entries of {function} with {values}", seconds=seconds)
        return found


async def until(condition: Callable[[], bool], what: str, *, seconds: float = 60.0) -> None:
    """Wait for something that another process does."""
    try:
        async with asyncio.timeout(seconds):
            while not condition():  # noqa: ASYNC110 - another process has no event to wait for
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(f"did not happen within {seconds:.0f} s: {what}") from None
