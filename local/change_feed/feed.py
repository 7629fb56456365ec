"""From lines of the log to delivered events."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import msgspec
from azure.core.exceptions import AzureError

from local.change_feed.access_log import Change, read_change
from local.change_feed.events import EventMaker, subject_of
from local.change_feed.follower import Line, LogFollower
from local.change_feed.mishaps import Knobs, Mishaps
from local.change_feed.progress import Progress, Step

log = logging.getLogger(__name__)

_IN_FLIGHT = 256
_SAVE_SECONDS = 0.5
_OUTAGE_SECONDS = 0.5


class Counts(msgspec.Struct, kw_only=True):
    """Since the start. `seen`, `lost` (by mishap) and `in_flight` count changes, the others copies."""

    seen: int = 0
    lost: int = 0
    in_flight: int = 0
    delivered: int = 0
    refused: int = 0


class Destination(Protocol):
    async def deliver(self, event: dict[str, Any]) -> bool:
        """Whether it was taken; False when it was refused for good."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """Events whose subject begins and ends so, and where they go."""

    prefix: str
    ending: str = ""
    destination: Destination

    def wants(self, subject: str) -> bool:
        return subject.startswith(self.prefix) and subject.endswith(self.ending)


class Feed:
    """Sends what happens to blobs to the first subscription that wants it."""

    def __init__(
        self,
        *,
        follower: LogFollower,
        progress: Progress,
        maker: EventMaker,
        subscriptions: Sequence[Subscription],
    ) -> None:
        self._follower = follower
        self._progress = progress
        self._maker = maker
        self._subscriptions = subscriptions
        self._mishaps = Mishaps(Knobs())
        self._slots = asyncio.Semaphore(_IN_FLIGHT)
        self._running: set[asyncio.Task[None]] = set()
        self.counts = Counts()

    @property
    def knobs(self) -> Knobs:
        return self._mishaps.knobs

    def turn(self, knobs: Knobs) -> None:
        """From the next event on, beginning its random numbers anew."""
        self._mishaps = Mishaps(knobs)

    async def run(self) -> None:
        """Until cancelled; what is not delivered by then is read again at the next start."""
        saving = asyncio.create_task(self._save())
        try:
            async for line in self._follower.lines():
                await self._accept(line)
        finally:
            for task in (saving, *self._running):
                task.cancel()
            await asyncio.gather(saving, *self._running, return_exceptions=True)
            self._progress.save()

    async def _save(self) -> None:
        while True:
            await asyncio.sleep(_SAVE_SECONDS)
            self._progress.save()

    async def _accept(self, line: Line) -> None:
        step = self._progress.begin(line)
        change = read_change(line.text)
        subscription = None if change is None else self._wanted(subject_of(change))
        if change is None or subscription is None:
            self._progress.finish(step)
            return
        self.counts.seen += 1
        delays = self._mishaps.delays()
        if not delays:
            log.warning("event.lost %s", subject_of(change))
            self.counts.lost += 1
            self._progress.finish(step)
            return
        await self._slots.acquire()
        self.counts.in_flight += 1
        task = asyncio.create_task(self._send(change, line, delays, subscription.destination))
        self._running.add(task)
        task.add_done_callback(partial(self._ended, step))

    def _wanted(self, subject: str) -> Subscription | None:
        return next((each for each in self._subscriptions if each.wants(subject)), None)

    def _ended(self, step: Step, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._slots.release()
        self.counts.in_flight -= 1
        if task.cancelled():
            return
        if (exc := task.exception()) is not None:
            # Missed, as Event Grid may miss one; everything behind it must not wait for it.
            log.error("event.failed", exc_info=exc)
        self._progress.finish(step)

    async def _send(self, change: Change, line: Line, delays: list[float], destination: Destination) -> None:
        event = await self._make(change, line)
        await asyncio.gather(*(self._send_copy(event, delay, destination) for delay in delays))

    async def _make(self, change: Change, line: Line) -> dict[str, Any]:
        while True:
            with contextlib.suppress(AzureError):
                return await self._maker.make(change, line.begins)
            await asyncio.sleep(_OUTAGE_SECONDS)

    async def _send_copy(self, event: dict[str, Any], delay: float, destination: Destination) -> None:
        await asyncio.sleep(delay)
        if await destination.deliver(event):
            self.counts.delivered += 1
        else:
            self.counts.refused += 1
