"""Runs one task for each unfinished batch, and one thread that works for all of them in turn."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from local.simulator.batches import Batches
from local.simulator.course import Course
from local.simulator.work import Desk

log = logging.getLogger("simulator.engine")


@dataclass(slots=True, kw_only=True)
class Run:
    """A batch under way in this process. The truth about it is in the database; `desk` can be made again."""

    turn: asyncio.Lock
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    task: "asyncio.Task[None] | None" = None
    desk: Desk | None = None

    async def in_turn[T](self, work: Callable[[], T]) -> T:
        """Do heavy work in a thread, one piece at a time over all batches, first come first served."""
        async with self.turn:
            return await asyncio.to_thread(work)

    async def pause(self, seconds: float) -> None:
        """Wait until the time is over or something about the batch has changed."""
        try:
            await asyncio.wait_for(self.wake.wait(), seconds)
        except TimeoutError:
            return
        self.wake.clear()


class Engine:
    """The event loop always has room to answer: nothing here takes longer than a commit."""

    def __init__(self, batches: Batches, course: Course) -> None:
        self._batches = batches
        self._course = course
        self._runs: dict[str, Run] = {}
        self._turn = asyncio.Lock()

    def resume(self) -> None:
        """Take up every batch that an earlier process left unfinished."""
        for batch in self._batches.unfinished():
            self.begin(batch.id)

    def begin(self, batch_id: str) -> None:
        run = self._runs[batch_id] = Run(turn=self._turn)
        run.task = asyncio.create_task(self._carry(batch_id, run), name=batch_id)

    def wake(self, batch_id: str) -> None:
        """Something about the batch has changed: look again."""
        if run := self._runs.get(batch_id):
            run.wake.set()

    def wake_all(self) -> None:
        for run in self._runs.values():
            run.wake.set()

    async def stop(self) -> None:
        tasks = [run.task for run in self._runs.values() if run.task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _carry(self, batch_id: str, run: Run) -> None:
        try:
            while not (batch := self._batches.load(batch_id)).status.is_terminal:
                await self._course.step(batch, run)
        except Exception:
            # One broken batch must not take the others down; its state stays where it was.
            log.exception("batch.broken", extra={"batch_id": batch_id})
        finally:
            self._runs.pop(batch_id, None)
