"""Show jobs: the record, and what its chunks add up to at this moment."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from itertools import batched

import msgspec

from shared.domain.chunks import Chunk
from shared.domain.errors import NotFound
from shared.domain.ids import TenantId
from shared.domain.jobs import INVALID_INPUT, Job
from shared.ports.blobs import Blobs
from shared.services.jobs.merge_results import merge_results
from shared.services.streams import whole
from shared.stores.jobs import Chunks, Jobs
from shared.wire.paths import JobPaths
from shared.wire.problems import Clash, LineError

# Look-ups of one page that are under way at once.
SIDE_BY_SIDE = 16
# A hundred errors of some hundred characters.
MAX_ERRORS_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenJob:
    """A job with its chunks and, if its input was refused, why."""

    job: Job
    chunks: list[Chunk]
    errors: list[LineError]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """None: any."""

    status: str | None = None
    alias: str | None = None
    project: str | None = None

    def matches(self, job: Job) -> bool:
        return (
            (self.status is None or job.status.value == self.status)
            and (self.alias is None or job.alias == self.alias)
            and (self.project is None or job.tags.get("project") == self.project)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadJob:
    """Reading changes nothing and books nothing, however often it is done."""

    jobs: Jobs
    chunks: Chunks
    blobs: Blobs

    async def one(self, tenant: TenantId, job_id: str) -> SeenJob:
        """Raise `NotFound`."""
        return await self._seen((await self.jobs.load(tenant, job_id)).value)

    async def one_of(self, tenants: Sequence[TenantId], job_id: str) -> SeenJob:
        """The job, whichever of these tenants it belongs to. Raise `NotFound`."""
        return await self._seen(await self._find(tenants, job_id))

    async def tenant_of(self, tenants: Sequence[TenantId], job_id: str) -> TenantId:
        """Which of these tenants the job belongs to. Raise `NotFound`."""
        return (await self._find(tenants, job_id)).tenant

    async def _find(self, tenants: Sequence[TenantId], job_id: str) -> Job:
        for tenant in tenants:
            if (found := await self.jobs.find(tenant, job_id)) is not None:
                return found.value
        raise NotFound(f"no job {job_id[:80]!r}")

    async def page(
        self, tenants: Sequence[TenantId], wanted: JobFilter, *, limit: int, after: str | None
    ) -> tuple[list[SeenJob], bool]:
        """The newest `limit` jobs that match, after the one with the id `after`; whether there are more."""
        found: list[Job] = []
        async for job in self.jobs.newest_first(tenants, after=after):
            if wanted.matches(job):
                found.append(job)
            if len(found) > limit:
                break
        seen: list[SeenJob] = []
        for some in batched(found[:limit], SIDE_BY_SIDE, strict=False):
            seen += await asyncio.gather(*(self._seen(job) for job in some))
        return seen, len(found) > limit

    async def _seen(self, job: Job) -> SeenJob:
        return SeenJob(job=job, chunks=await self.chunks.of(job.id), errors=await self._errors(job))

    async def results(self, seen: SeenJob, *, partial: bool) -> AsyncIterator[bytes]:
        """NDJSON in input order. Raise `Clash` while the job is not finished, unless `partial`.

        Whatever is wrong is raised here, before the first byte has gone out.
        """
        job = seen.job
        if job.erased_at:
            raise NotFound(f"the content of job {job.id} was erased")
        if job.is_finished:
            return await self._stored(JobPaths(job.tenant, job.id).results)
        if not partial:
            raise Clash(
                f"job {job.id} is {job.status.value}; ask again when it is finished, or with ?partial=true"
                " for what there is",
                code="not_finished",
            )
        return merge_results(self.blobs, job, seen.chunks, partial=True)

    async def _stored(self, path: str) -> AsyncIterator[bytes]:
        info = await self.blobs.head(path)
        if info is None:
            raise NotFound("the results were kept for their time and are gone")
        return self.blobs.read(path, etag=info.etag)

    async def _errors(self, job: Job) -> list[LineError]:
        if job.reason != INVALID_INPUT or job.erased_at:
            return []
        try:
            content = await whole(self.blobs, JobPaths(job.tenant, job.id).errors, limit=MAX_ERRORS_BYTES)
        except NotFound:
            return []  # kept for their time, like results
        return [LineError(**error) for error in msgspec.json.decode(content)]
