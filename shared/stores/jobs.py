"""Job and chunk records."""

import logging
from collections.abc import AsyncIterator, Sequence
from typing import Final

from shared.domain.chunks import Chunk
from shared.domain.errors import GiveUp, NotFound
from shared.domain.ids import JobId, TenantId
from shared.domain.jobs import Job
from shared.ports.tables import Tables
from shared.stores.stored import Stored
from shared.stores.timed_ids import merged_by_row, newest_first_row, timed_id
from shared.wire.records import chunk as chunk_record
from shared.wire.records import job as job_record

log = logging.getLogger(__name__)

JOBS: Final = "jobs"
CHUNKS: Final = "chunks"
ID_PREFIX: Final = "job_"
BATCH_PREFIX: Final = "batch_"


def job_id(millis: int, entropy: str) -> JobId:
    """An id that starts with its time, so that a listing needs no index. `entropy`: 16 hex digits."""
    return JobId(timed_id(ID_PREFIX, millis, entropy))


def batch_id(millis: int, entropy: str) -> JobId:
    """The same for a job that is made as a batch of the OpenAI-compatible API."""
    return JobId(timed_id(BATCH_PREFIX, millis, entropy))


def is_job_id(job: str) -> bool:
    """Whether a job could have this id."""
    return _row(job) is not None


def _row(job: str) -> str | None:
    return newest_first_row(job, (ID_PREFIX, BATCH_PREFIX))


class Jobs:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def add(self, job: Job) -> Stored[Job]:
        """Raise `Conflict` if it exists."""
        row = _row(job.id)
        if row is None:
            raise ValueError(f"{job.id!r} was not made by `job_id`")
        entity = await self._tables.insert(JOBS, job.tenant, row, job_record.to_fields(job))
        return Stored(job, entity)

    async def find(self, tenant: TenantId, job: str) -> Stored[Job] | None:
        """Any text may be asked for: what cannot be an id is simply not there."""
        row = _row(job)
        entity = await self._tables.get(JOBS, tenant, row) if row else None
        return Stored(job_record.from_fields(entity.fields), entity) if entity else None

    async def load(self, tenant: TenantId, job: str) -> Stored[Job]:
        found = await self.find(tenant, job)
        if found is None:
            raise NotFound(f"no job {job[:80]!r}")
        return found

    async def replace(self, old: Stored[Job], new: Job) -> Stored[Job]:
        """Raise `Conflict` if the record has changed since `old` was read."""
        entity = await self._tables.replace(JOBS, old.entity, job_record.to_fields(new))
        return Stored(new, entity)

    async def newest_first(
        self, tenants: Sequence[TenantId], *, after: str | None = None
    ) -> AsyncIterator[Job]:
        """All jobs of these tenants; `after` is the id of the last one seen.

        A record that this version of the app cannot read hides no other: it is logged and left out.
        """
        row = _row(after) if after else None
        # The smallest row key that is greater than `row`.
        start = f"{row}!" if row else ""
        scans = [self._tables.scan(JOBS, tenant, start=start) for tenant in tenants]
        async for entity in merged_by_row(scans):
            try:
                job = job_record.from_fields(entity.fields)
            except GiveUp as unknown:
                log.warning("job.unreadable", extra={"row": entity.row, "why": str(unknown)})
                continue
            yield job


class Chunks:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def add(self, chunk: Chunk) -> Stored[Chunk]:
        entity = await self._tables.insert(
            CHUNKS, chunk.job_id, f"{chunk.n:06d}", chunk_record.to_fields(chunk)
        )
        return Stored(chunk, entity)

    async def load(self, job: JobId, n: int) -> Stored[Chunk]:
        entity = await self._tables.get(CHUNKS, job, f"{n:06d}")
        if entity is None:
            raise NotFound(f"no chunk {n} of job {job}")
        return Stored(chunk_record.from_fields(entity.fields), entity)

    async def replace(self, old: Stored[Chunk], new: Chunk) -> Stored[Chunk]:
        """Raise `Conflict` if the record has changed since `old` was read."""
        entity = await self._tables.replace(CHUNKS, old.entity, chunk_record.to_fields(new))
        return Stored(new, entity)

    async def of(self, job: JobId) -> list[Chunk]:
        """All chunks of a job, by number. A few hundred at most."""
        rows = self._tables.scan(CHUNKS, job)
        return [chunk_record.from_fields(entity.fields) async for entity in rows]
