"""Ask the provider how a submitted chunk is doing, and record what changed."""

import logging
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from shared.domain.chunks import BatchEnd, Chunk, ChunkEvent
from shared.domain.errors import NotFound
from shared.domain.findings import Finding, FindingKind
from shared.domain.ids import BatchId, FileId
from shared.domain.jobs import Job
from shared.ports.clock import Clock
from shared.ports.providers import BatchProvider, RemoteBatch, RemoteState
from shared.services.announce import Notice
from shared.services.policy import Policy
from shared.services.steps import Step, Wait
from shared.stores.jobs import Chunks
from shared.stores.stored import Stored

log = logging.getLogger(__name__)

# Listings and look-ups of a new batch may lag; none of the providers' has been seen to for so long.
UNFINDABLE_AT_FIRST = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class PollChunk:
    chunks: Chunks
    clock: Clock
    notice: Notice
    policy: Policy

    async def __call__(self, job: Job, stored: Stored[Chunk], provider: BatchProvider) -> Step:
        chunk = stored.value
        if chunk.remote.batch is None:
            raise NotFound(f"chunk {chunk.job_id}/{chunk.n} was submitted without a batch id")
        try:
            batch = await provider.retrieve(chunk.remote.batch)
        except NotFound:
            return await self._unfindable(job, stored, chunk.remote.batch, provider)
        if batch.state is RemoteState.RUNNING:
            return await self._running(job, stored, batch, provider)
        if batch.out_of_capacity:
            return await self._back_to_waiting(stored)
        if (wait := await self._until_named(stored, batch)) is not None:
            return wait
        return await self._ended(job, stored, batch, provider)

    async def _running(
        self, job: Job, stored: Stored[Chunk], batch: RemoteBatch, provider: BatchProvider
    ) -> Step:
        chunk = stored.value
        if not batch.recognised:
            await self._unknown_state(job, chunk, batch)
        remote = replace(
            chunk.remote,
            completed=batch.completed,
            failed=batch.failed,
            expires_at=batch.expires_at or chunk.remote.expires_at,
        )
        cancel_sent_at = chunk.cancel_sent_at
        if job.is_cancelling and cancel_sent_at is None:
            await provider.cancel(batch.id)
            cancel_sent_at = self.clock.now()
        now = replace(chunk, remote=remote, cancel_sent_at=cancel_sent_at)
        if now != chunk:
            await self.chunks.replace(stored, now)
        if batch.again_in is not None:
            return Wait(min(batch.again_in, self.policy.poll))
        slowly = job.late and not job.is_cancelling
        return Wait(self.policy.late_poll if slowly else self.policy.poll)

    async def _back_to_waiting(self, stored: Stored[Chunk]) -> Stored[Chunk]:
        """Accepted, then refused for want of room: nothing ran, so a new batch may be asked for."""
        chunk = stored.value
        wait = self.policy.capacity.after(chunk.deferrals + 1)
        return await self.chunks.replace(
            stored,
            replace(
                chunk.after(ChunkEvent.DEFER),
                submission=chunk.submission + 1,
                deferrals=chunk.deferrals + 1,
                due_at=self.clock.now() + wait,
                intended_at=None,
                remote=replace(chunk.remote, batch=None, completed=None, failed=None, expires_at=None),
            ),
        )

    async def _until_named(self, stored: Stored[Chunk], batch: RemoteBatch) -> Wait | None:
        """A batch may be told to have ended, with answers, before it is told where they are."""
        chunk, now = stored.value, self.clock.now()
        if batch.output_file is not None or not batch.completed:
            return None
        if chunk.due_at is None:
            await self.chunks.replace(stored, replace(chunk, due_at=now + self.policy.output_lag))
        elif now >= chunk.due_at:
            return None
        return Wait(self.policy.hiccup)

    async def _ended(
        self, job: Job, stored: Stored[Chunk], batch: RemoteBatch, provider: BatchProvider
    ) -> Stored[Chunk]:
        chunk = stored.value
        remote = replace(
            chunk.remote,
            completed=batch.completed,
            failed=batch.failed,
            output_file=batch.output_file,
            error_file=batch.error_file,
            output_expires_at=await self._lapse(batch.output_file, provider),
            usage=batch.usage,
        )
        ended = replace(
            chunk.after(ChunkEvent.END),
            end=batch.end or BatchEnd.FAILED,
            end_code=batch.code,
            end_message=(batch.message or "")[:500] or None,
            remote=remote,
            due_at=self.clock.now() + self.policy.output_lag,
        )
        if ended.end is BatchEnd.EXPIRED:
            await self._expired(job, chunk, batch)
        log.info("batch.ended", extra={"job_id": job.id, "chunk": chunk.n, "batch_id": batch.id})
        return await self.chunks.replace(stored, ended)

    async def _lapse(self, file: FileId | None, provider: BatchProvider) -> datetime | None:
        if file is None:
            return None
        try:
            return await provider.expiry(file)
        except NotFound:
            return None

    async def _unfindable(
        self, job: Job, stored: Stored[Chunk], batch: BatchId, provider: BatchProvider
    ) -> Step:
        """A 404 alone proves nothing, and a second batch would be paid for: keep asking.

        Only somebody who cancels the job decides that the batch is gone.
        """
        chunk = stored.value
        if chunk.intended_at is None or self.clock.now() - chunk.intended_at < UNFINDABLE_AT_FIRST:
            return Wait(self.policy.poll)
        await self._find(
            FindingKind.UNKNOWN_STATE,
            f"{batch}:missing",
            job,
            f"the provider no longer knows batch {batch} of job {job.id}; it is asked about again and never"
            " bought a second time on that alone. If it is gone for good, cancel the job and retry it",
        )
        if not job.is_cancelling or await _takes_the_cancel(provider, batch):
            return Wait(self.policy.poll)
        return await self.chunks.replace(stored, replace(chunk.after(ChunkEvent.END), end=BatchEnd.CANCELLED))

    async def _unknown_state(self, job: Job, chunk: Chunk, batch: RemoteBatch) -> None:
        await self._find(
            FindingKind.UNKNOWN_STATE,
            f"{batch.id}:{batch.raw_state}",
            job,
            f"batch {batch.id} of chunk {chunk.n} is in the unknown state {batch.raw_state[:40]!r}; polling"
            " goes on",
        )

    async def _expired(self, job: Job, chunk: Chunk, batch: RemoteBatch) -> None:
        await self._find(
            FindingKind.EXPIRED_BATCH,
            batch.id,
            job,
            f"batch {batch.id} expired with {batch.completed if batch.completed is not None else 'an unknown'}"
            f" of {chunk.requests} requests answered; what is there is kept, the rest is sent again while"
            " attempts are left",
        )

    async def _find(self, kind: FindingKind, subject: str, job: Job, message: str) -> None:
        await self.notice(
            Finding(
                kind=kind,
                subject=subject,
                tenant=job.tenant,
                message=message,
                found_at=self.clock.now(),
                detail={"job_id": job.id},
            )
        )


async def _takes_the_cancel(provider: BatchProvider, batch: BatchId) -> bool:
    """Whether a batch that look-ups do not find is there after all."""
    try:
        await provider.cancel(batch)
    except NotFound:
        return False
    return True
