"""Waiting for whatever comes first."""

import asyncio
from datetime import timedelta

from shared.ports.clock import Sleep


async def stirred(event: asyncio.Event, sleep: Sleep, at_most: timedelta) -> None:
    """Return when `event` is set or the time is over."""
    waits = [asyncio.ensure_future(event.wait()), asyncio.ensure_future(_slept(sleep, at_most))]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


async def _slept(sleep: Sleep, at_most: timedelta) -> None:
    await sleep(at_most.total_seconds())
