"""The heartbeat of a job's present orchestration: proof of life, and the fence against an older one."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

from shared.domain.errors import Conflict, Superseded, TryAgainLater
from shared.domain.ids import JobId
from shared.domain.pulses import Pulse
from shared.ports.clock import Clock
from shared.services.policy import Policy
from shared.stores.pulses import Pulses
from shared.stores.stored import Stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Heart:
    pulses: Pulses
    clock: Clock
    policy: Policy

    async def check(self, job: JobId, run: int) -> Stored[Pulse]:
        """The job's pulse. Raise `Superseded` when `run` is not (or no longer) the one to act."""
        stored = await self.pulses.find(job)
        if stored is None or stored.value.run != run:
            raise Superseded(f"run {run} of job {job} is over")
        return stored

    async def beat(self, job: JobId, run: int, *, next_in: timedelta) -> None:
        """Say that the next step will begin within `next_in`. Of several steps to come, the earliest counts."""
        stored = await self.check(job, run)
        now, due = self.clock.now(), self.clock.now() + next_in
        if now < stored.value.due_at <= due:
            return
        # Steps of several chunks run side by side; whoever has just written said the same.
        with contextlib.suppress(Conflict):
            await self.pulses.replace(stored, replace(stored.value, due_at=due))

    @asynccontextmanager
    async def beating(self, job: JobId, run: int) -> AsyncIterator[None]:
        """Beat while a step works, however long it takes. Raise `Superseded` before it begins."""
        await self.beat(job, run, next_in=timedelta(0))
        task = asyncio.create_task(self._keep_beating(job, run))
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Superseded):
                await task

    async def _keep_beating(self, job: JobId, run: int) -> None:
        every = (self.policy.stuck_after / 4).total_seconds()
        while True:
            await asyncio.sleep(every)
            with contextlib.suppress(TryAgainLater):
                await self.beat(job, run, next_in=timedelta(0))
