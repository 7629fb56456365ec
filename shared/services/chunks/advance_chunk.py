"""Bring one chunk as far as it goes now, and say when to come back."""

from dataclasses import dataclass
from datetime import timedelta

from shared.domain.chunks import Chunk, ChunkState
from shared.domain.errors import Conflict, NotAdmitted, PosternError, RateLimited, TryAgainLater
from shared.domain.ids import JobId, TenantId
from shared.domain.jobs import Job, event_of_progress, in_step
from shared.ports.catalog import CatalogSource
from shared.ports.clock import Clock
from shared.ports.providers import BatchProvider, Providers
from shared.services.announce import Notice
from shared.services.chunks.clear_chunk import ClearChunk
from shared.services.chunks.collect_chunk import CollectChunk
from shared.services.chunks.poll_chunk import PollChunk
from shared.services.chunks.submit_chunk import SubmitChunk
from shared.services.jobs.amend_job import amend_job
from shared.services.jobs.heart import Heart
from shared.services.policy import Policy
from shared.services.settling.settle_chunk import SettleChunk
from shared.services.steps import Step, Wait
from shared.stores.jobs import Chunks, Jobs
from shared.stores.stored import Stored

DUE = timedelta(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvanceChunk:
    jobs: Jobs
    chunks: Chunks
    catalog: CatalogSource
    providers: Providers
    heart: Heart
    clock: Clock
    notice: Notice
    policy: Policy
    submit: SubmitChunk
    poll: PollChunk
    collect: CollectChunk
    settle: SettleChunk
    clear: ClearChunk

    async def __call__(self, tenant: TenantId, job_id: JobId, n: int, run: int) -> timedelta | None:
        """The time until the next call; None when the chunk is done.

        Raise `Superseded` when another run drives the job.
        """
        async with self.heart.beating(job_id, run):
            wait = await self._advance(tenant, job_id, n)
        await self.heart.beat(job_id, run, next_in=await self._others_wait(job_id) if wait is None else wait)
        return wait

    async def _others_wait(self, job_id: JobId) -> timedelta:
        """How long the job sleeps at most when this chunk is done: until one of the open ones is due."""
        now = self.clock.now()
        waits = [
            max(chunk.due_at - now, DUE) if chunk.due_at else self.policy.late_poll
            for chunk in await self.chunks.of(job_id)
            if not chunk.is_done
        ]
        return min(waits, default=DUE)

    async def _advance(self, tenant: TenantId, job_id: JobId, n: int) -> timedelta | None:
        while True:
            job = (await self.jobs.load(tenant, job_id)).value
            stored = await self.chunks.load(job_id, n)
            if stored.value.state is ChunkState.CLEARED:
                return None
            try:
                moved = await self._step(job, stored)
            except Conflict:
                continue  # somebody else moved it: look again
            except RateLimited as limited:
                return limited.retry_after
            except TryAgainLater as later:
                return await self._hiccup(stored.value, later)
            except PosternError as error:
                if stored.value.is_done:
                    return None  # only its files are left, and finishing the job sees to them
                step = f"chunk {n} ({stored.value.state.value})"
                await self.notice.step_failing(job_id, tenant, step, error, self.clock.now())
                return self.policy.poll
            if isinstance(moved, Wait):
                return None if stored.value.is_done else moved.for_
            await self._show_progress(job, stored.value, moved.value)

    async def _step(self, job: Job, stored: Stored[Chunk]) -> Step:
        chunk = stored.value
        provider = await self._provider(chunk)
        match chunk.state:
            case ChunkState.PLANNED | ChunkState.WAITING | ChunkState.INTENDED:
                return await self.submit(job, stored, provider)
            case ChunkState.SUBMITTED:
                return await self.poll(job, stored, provider)
            case ChunkState.ENDED:
                return await self.collect(job, stored, provider)
            case ChunkState.COLLECTED:
                return await self.settle(job, stored, provider)
            case ChunkState.SETTLED | ChunkState.CLEARED:
                return await self.clear(stored, provider)

    async def _provider(self, chunk: Chunk) -> BatchProvider:
        deployment = (await self.catalog.current()).deployment(chunk.deployment)
        await self.providers.prepare(deployment)
        return self.providers.batch(deployment)

    async def _hiccup(self, chunk: Chunk, why: TryAgainLater) -> timedelta | None:
        if isinstance(why, NotAdmitted):
            await self.notice.not_admitted(chunk.deployment, why, self.clock.now())
        return None if chunk.is_done else self.policy.hiccup

    async def _show_progress(self, job: Job, before: Chunk, after: Chunk) -> None:
        """Keep the job's status in step with its chunks; only where it can have changed."""
        if before.state is after.state:
            return
        event, now = event_of_progress(await self.chunks.of(job.id)), self.clock.now()
        await amend_job(self.jobs, job.tenant, job.id, lambda j: in_step(j, event, now))
