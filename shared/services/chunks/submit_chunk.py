"""Bring a chunk to the provider, once, surviving a crash at any line.

stage the input (free, repeatable) -> take the lease -> look for an earlier success -> create -> receipt.

Where batches carry no key, one is only taken for this chunk's if it can be no other's: `own_batches`.
"""

import logging
import uuid
from dataclasses import dataclass, replace
from datetime import timedelta

from shared.domain.chunks import BatchEnd, Chunk, ChunkEvent, ChunkState, Lease
from shared.domain.errors import (
    Ambiguous,
    Conflict,
    NoCapacity,
    NotAdmitted,
    NotFound,
    RateLimited,
    Rejected,
    TryAgainLater,
)
from shared.domain.findings import Finding, FindingKind
from shared.domain.jobs import Job
from shared.ports.blobs import Blobs
from shared.ports.clock import Clock
from shared.ports.providers import BatchProvider, ChunkInput, RemoteBatch, StagedFile
from shared.services.announce import Notice
from shared.services.chunks.own_batches import OwnBatches
from shared.services.policy import Policy
from shared.services.steps import Step, Wait
from shared.stores.jobs import Chunks
from shared.stores.stored import Stored
from shared.wire.paths import JobPaths

log = logging.getLogger(__name__)

# How soon a file that the provider is still looking at is asked about again.
FILE_PENDING = timedelta(seconds=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitChunk:
    chunks: Chunks
    blobs: Blobs
    own: OwnBatches
    clock: Clock
    notice: Notice
    policy: Policy

    async def __call__(self, job: Job, stored: Stored[Chunk], provider: BatchProvider) -> Step:
        """One step from planned towards submitted. Raises `Conflict` when somebody else moved the chunk."""
        chunk = stored.value
        if job.is_cancelling and chunk.state is not ChunkState.INTENDED:
            ended = replace(chunk.after(ChunkEvent.END), end=BatchEnd.CANCELLED)
            return await self.chunks.replace(stored, ended)
        if left := self._left_until_due(chunk):
            return Wait(left)
        if chunk.state is ChunkState.INTENDED:
            return await self._take_over(job, stored, provider)
        if not await self._fits(chunk, provider):
            return await self._defer(stored, self.policy.poll, counted=False)
        if chunk.remote.input_file is None:
            return await self._stage(job, stored, provider)
        if (step := await self._until_ready(stored, provider)) is not None:
            return step
        return await self._submit(job, await self._intend(stored, provider), provider)

    def _left_until_due(self, chunk: Chunk) -> timedelta:
        left = chunk.due_at - self.clock.now() if chunk.due_at else timedelta(0)
        return max(left, timedelta(0))

    async def _fits(self, chunk: Chunk, provider: BatchProvider) -> bool:
        """Whether the job's own batches leave room; other jobs' are the provider's to count.

        Chunks are looked at side by side: the room of those before it is left to them.
        """
        quota = provider.traits.limits.tokens
        if quota is None or chunk.tokens is None:
            return True
        others = [c for c in await self.chunks.of(chunk.job_id) if _comes_first(c, chunk)]
        return sum(c.tokens or 0 for c in others) + chunk.tokens <= quota or not others

    # Staging

    async def _stage(self, job: Job, stored: Stored[Chunk], provider: BatchProvider) -> Step:
        chunk = stored.value
        try:
            file = await provider.stage(self._input(job, chunk))
        except TryAgainLater as later:
            return await self._not_now(job, stored, later)
        except Rejected as refusal:
            return await self._refused(stored, refusal)
        await self._note_expiry(job, file)
        try:
            return await self.chunks.replace(
                stored, replace(chunk, remote=replace(chunk.remote, input_file=file.id))
            )
        except Conflict:
            # Somebody else staged it too; theirs is on record, ours would only count against a quota.
            await provider.delete_file(file.id)
            raise

    def _input(self, job: Job, chunk: Chunk) -> ChunkInput:
        path = JobPaths(job.tenant, job.id).chunk(chunk.n, chunk.planned_by)
        return ChunkInput(
            key=chunk.key,
            endpoint=job.endpoint,
            requests=chunk.requests,
            size=chunk.bytes,
            path=path,
            open_lines=lambda: self.blobs.read(path),
            is_taken=lambda batch: self.own.is_anothers(chunk, batch),
        )

    async def _note_expiry(self, job: Job, file: StagedFile) -> None:
        if file.expires_at is not None or file.is_ours:
            return
        await self.notice(
            Finding(
                kind=FindingKind.NO_FILE_EXPIRY,
                subject=job.deployment,
                tenant=None,
                message=f"deployment {job.deployment!r} gives uploaded files no expiry although one was asked"
                " for; files are deleted after harvest, but one orphaned by a crash would stay",
                found_at=self.clock.now(),
            )
        )

    async def _until_ready(self, stored: Stored[Chunk], provider: BatchProvider) -> Step | None:
        chunk = stored.value
        if chunk.remote.input_file is None:
            return None
        try:
            file = await provider.staged(chunk.remote.input_file)
        except NotFound:
            return await self._stage_anew(stored)
        return None if file.ready else Wait(min(FILE_PENDING, self.policy.poll))

    # The one effect that costs money

    def _lease_length(self, provider: BatchProvider) -> timedelta:
        """Longer than a look-up, a create that hangs until its timeout, and the listing's lag together."""
        return 2 * self.policy.create_timeout + provider.traits.listing_lag

    async def _intend(self, stored: Stored[Chunk], provider: BatchProvider) -> Stored[Chunk]:
        chunk, now = stored.value, self.clock.now()
        lease = Lease(
            holder=uuid.uuid4().hex,
            epoch=chunk.lease.epoch + 1 if chunk.lease else 1,
            until=now + self._lease_length(provider),
        )
        intended = replace(
            chunk.after(ChunkEvent.INTEND), lease=lease, intended_at=chunk.intended_at or now, due_at=None
        )
        return await self.chunks.replace(stored, intended)

    async def _take_over(self, job: Job, stored: Stored[Chunk], provider: BatchProvider) -> Step:
        """An intent without a receipt: look first, and create only once its lease has run out."""
        chunk = stored.value
        found = await self._find(job, chunk, provider)
        if isinstance(found, Wait):
            return found
        if found:
            return await self._receipt(stored, found, provider)
        left = chunk.lease.until - self.clock.now() if chunk.lease else timedelta(0)
        if left > timedelta(0):
            return Wait(min(left, self.policy.hiccup))
        if job.is_cancelling:
            ended = replace(chunk.after(ChunkEvent.END), end=BatchEnd.CANCELLED, lease=None)
            return await self.chunks.replace(stored, ended)
        return await self._submit(job, await self._intend(stored, provider), provider)

    async def _submit(self, job: Job, stored: Stored[Chunk], provider: BatchProvider) -> Step:
        chunk = stored.value
        found = await self._find(job, chunk, provider) if _may_exist(chunk, provider) else None
        if isinstance(found, Wait):
            return found
        if found:
            return await self._receipt(stored, found, provider)
        if chunk.remote.input_file is None or not self._may_still_create(chunk, provider):
            return Wait(self.policy.hiccup)
        if not provider.traits.find_is_exact:
            await self.own.announce(chunk)
        try:
            batch = await provider.create(self._input(job, chunk), chunk.remote.input_file)
        except TryAgainLater as later:
            return await self._not_now(job, stored, later)
        except NotFound:
            return await self._stage_anew(stored)
        except Rejected as refusal:
            return await self._refused(stored, refusal)
        log.info("chunk.submitted", extra={"job_id": job.id, "chunk": chunk.n, "batch_id": batch.id})
        return await self._receipt(stored, batch, provider)

    async def _find(self, job: Job, chunk: Chunk, provider: BatchProvider) -> RemoteBatch | Wait | None:
        try:
            found = await provider.find(self._input(job, chunk), since=chunk.intended_at or self.clock.now())
        except Ambiguous as ambiguous:
            return await self._in_doubt(job, chunk, provider, str(ambiguous))
        if provider.traits.find_is_exact or found is None:
            return found
        if await self.own.may_be_anothers(chunk, found):
            why = f"batch {found.id} may be this chunk's or another's of {chunk.requests} requests"
            return await self._in_doubt(job, chunk, provider, f"{why}; its results will tell")
        return found

    async def _in_doubt(self, job: Job, chunk: Chunk, provider: BatchProvider, why: str) -> Wait:
        """Never create on a guess. Without keys it may be for a moment only, while another chunk creates."""
        is_fresh = chunk.lease is not None and self.clock.now() < chunk.lease.until
        if is_fresh and not provider.traits.find_is_exact:
            return Wait(self.policy.hiccup)
        await self.notice(
            Finding(
                kind=FindingKind.AMBIGUOUS_BATCH,
                subject=chunk.key,
                tenant=job.tenant,
                message=why,
                found_at=self.clock.now(),
                detail={"job_id": job.id, "chunk": str(chunk.n)},
            )
        )
        return Wait(self.policy.poll)

    def _may_still_create(self, chunk: Chunk, provider: BatchProvider) -> bool:
        """Whether a create begun now is over, and listed, before somebody else may try."""
        needed = self.policy.create_timeout + provider.traits.listing_lag
        return chunk.lease is not None and self.clock.now() + needed < chunk.lease.until

    async def _receipt(self, stored: Stored[Chunk], batch: RemoteBatch, provider: BatchProvider) -> Step:
        chunk, has_key = stored.value, provider.traits.find_is_exact
        if not has_key and not await self.own.claim(chunk, batch.id):
            return Wait(self.policy.hiccup)  # look again: that one is another chunk's
        remote = replace(
            chunk.remote,
            batch=batch.id,
            input_file=batch.input_file or chunk.remote.input_file,
            expires_at=batch.expires_at,
        )
        submitted = replace(chunk.after(ChunkEvent.RECEIPT), remote=remote, lease=None, due_at=None)
        moved = await self.chunks.replace(stored, submitted)
        if not has_key:
            await self.own.settle(chunk)
        return moved

    # When it was not to be

    async def _not_now(self, job: Job, stored: Stored[Chunk], why: TryAgainLater) -> Step:
        """Only a clear refusal gives the intent back; after anything else the provider is asked again."""
        if isinstance(why, RateLimited):
            return await self._defer(stored, why.retry_after, counted=False)
        if isinstance(why, NoCapacity):
            return await self._defer(stored, self._capacity_wait(stored.value), counted=True)
        if isinstance(why, NotAdmitted):
            await self.notice.not_admitted(job.deployment, why, self.clock.now())
            return await self._defer(stored, self._capacity_wait(stored.value), counted=True)
        return Wait(self.policy.hiccup)

    def _capacity_wait(self, chunk: Chunk) -> timedelta:
        return self.policy.capacity.after(chunk.deferrals + 1)

    async def _defer(self, stored: Stored[Chunk], wait: timedelta, *, counted: bool) -> Stored[Chunk]:
        chunk = stored.value
        return await self.chunks.replace(
            stored,
            replace(
                chunk.after(ChunkEvent.DEFER),
                due_at=self.clock.now() + wait,
                deferrals=chunk.deferrals + counted,
                lease=None,
                intended_at=None,
            ),
        )

    async def _stage_anew(self, stored: Stored[Chunk]) -> Stored[Chunk]:
        """The staged file is gone, so no create that named it can have been taken.

        A new one is staged after a pause: whoever answers 404 to everything gets no flood of uploads.
        """
        chunk = stored.value
        waiting = replace(
            chunk.after(ChunkEvent.DEFER),
            due_at=self.clock.now() + self.policy.hiccup,
            remote=replace(chunk.remote, input_file=None),
            lease=None,
            intended_at=None,
        )
        return await self.chunks.replace(stored, waiting)

    async def _refused(self, stored: Stored[Chunk], refusal: Rejected) -> Stored[Chunk]:
        ended = replace(
            stored.value.after(ChunkEvent.END),
            end=BatchEnd.FAILED,
            end_code=refusal.code,
            end_message=str(refusal)[:500],
            lease=None,
        )
        return await self.chunks.replace(stored, ended)


def _may_exist(chunk: Chunk, provider: BatchProvider) -> bool:
    """Whether an earlier holder of the lease may have created the batch.

    A key proves whose a batch is, so looking never hurts; a likeness proves nothing about a chunk that has
    not been sent yet.
    """
    return provider.traits.find_is_exact or chunk.lease is None or chunk.lease.epoch > 1


def _comes_first(other: Chunk, chunk: Chunk) -> bool:
    """Whether it is at the provider already, or is to go there before this one."""
    unsent = other.state in {ChunkState.PLANNED, ChunkState.WAITING}
    return other.n != chunk.n and (other.holds_capacity or (unsent and other.n < chunk.n))
