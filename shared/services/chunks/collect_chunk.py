"""Copy everything the provider wrote for a chunk into our storage, as it is."""

from dataclasses import dataclass, replace

from shared.domain.chunks import Chunk, ChunkEvent
from shared.domain.errors import NotFound, TryAgainLater
from shared.domain.findings import Finding, FindingKind
from shared.domain.ids import FileId
from shared.domain.jobs import Job
from shared.ports.blobs import Blobs
from shared.ports.clock import Clock
from shared.ports.providers import BatchProvider
from shared.services.announce import Notice
from shared.stores.jobs import Chunks
from shared.stores.stored import Stored
from shared.wire.paths import JobPaths


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectChunk:
    """Safe to repeat: the same bytes go to the same place.

    A file that cannot be found may be too new: until the chunk is due, it is asked for again.

    Fixes what settling may not decide twice: the moment of booking, and whether anything is sent again.
    """

    chunks: Chunks
    blobs: Blobs
    clock: Clock
    notice: Notice

    async def __call__(self, job: Job, stored: Stored[Chunk], provider: BatchProvider) -> Stored[Chunk]:
        chunk, paths = stored.value, JobPaths(job.tenant, job.id)
        for file, path in (
            (chunk.remote.output_file, paths.raw_output(chunk.n)),
            (chunk.remote.error_file, paths.raw_errors(chunk.n)),
        ):
            if file is not None:
                await self._copy(job, chunk, file, path, provider)
        collected = replace(
            chunk.after(ChunkEvent.COLLECT),
            booked_at=self.clock.now(),
            last_try=job.is_cancelling,
            due_at=None,
        )
        return await self.chunks.replace(stored, collected)

    async def _copy(self, job: Job, chunk: Chunk, file: FileId, path: str, provider: BatchProvider) -> None:
        try:
            await self.blobs.write(path, provider.download(file), content_type="application/jsonl")
        except NotFound:
            if await self.blobs.head(path):
                return  # an earlier try has it, and the provider's copy is gone since
            if chunk.due_at is not None and self.clock.now() < chunk.due_at:
                raise TryAgainLater(f"file {file} of job {job.id} cannot be found yet") from None
            await self._lost(job, file)

    async def _lost(self, job: Job, file: FileId) -> None:
        await self.notice(
            Finding(
                kind=FindingKind.LOST_OUTPUT,
                subject=file,
                tenant=job.tenant,
                message=f"file {file} of job {job.id} lapsed at the provider before it was copied; its requests"
                " count as missing",
                found_at=self.clock.now(),
                detail={"job_id": job.id},
            )
        )
