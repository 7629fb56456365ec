"""Erase a finished job's content: ours and what providers keep. Record, report figures and ledger stay."""

from dataclasses import dataclass, replace

from shared.domain.chunks import Chunk, ChunkState
from shared.domain.ids import TenantId
from shared.domain.jobs import Job
from shared.ports.blobs import Blobs
from shared.ports.catalog import CatalogSource
from shared.ports.clock import Clock
from shared.ports.providers import Providers
from shared.services.chunks.clear_chunk import ClearChunk
from shared.services.files.delete_file import DeleteFile
from shared.services.jobs.amend_job import amend_job
from shared.stores.jobs import Chunks, Jobs
from shared.wire.paths import job_folder
from shared.wire.problems import Clash


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseJob:
    jobs: Jobs
    chunks: Chunks
    blobs: Blobs
    catalog: CatalogSource
    providers: Providers
    clear: ClearChunk
    delete_file: DeleteFile
    clock: Clock

    async def __call__(self, tenant: TenantId, job_id: str) -> None:
        """Safe to repeat. Raise `NotFound`, and `Clash` while the job runs."""
        job = (await self.jobs.load(tenant, job_id)).value
        if not job.is_finished:
            raise Clash(f"job {job.id} is {job.status.value}; cancel it first", code="not_finished")
        for chunk in await self.chunks.of(job.id):
            await self._clear(chunk)
        now = self.clock.now()

        def erased(current: Job) -> Job:
            return current if current.erased_at else replace(current, erased_at=now)

        # The mark comes first: from then on nobody reuses or reads what is about to go.
        job = await amend_job(self.jobs, tenant, job.id, erased)
        async for info in self.blobs.list(job_folder(tenant, job.id)):
            await self.blobs.delete(info.path)
        for file in (job.batch.output, job.batch.errors) if job.batch is not None else ():
            if file is not None:
                await self.delete_file(tenant, file)
        if job.source.upload is not None:
            # The client may have written it again.
            await self.blobs.delete(job.source.upload)

    async def _clear(self, chunk: Chunk) -> None:
        if chunk.state is not ChunkState.SETTLED:
            return
        provider = self.providers.batch((await self.catalog.current()).deployment(chunk.deployment))
        await self.clear(await self.chunks.load(chunk.job_id, chunk.n), provider)
