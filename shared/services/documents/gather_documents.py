"""When a pipeline's cron has fired: one job of the documents that have gathered, for each tenant.

The job's id follows from what it gathers and when it was due, so that a repeat after a crash is the same job.
"""

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import batched
from types import MappingProxyType
from typing import Final

from shared.domain.catalog import Catalog, Lane, Pipeline
from shared.domain.documents import Document, DocumentStatus
from shared.domain.errors import Conflict, PosternError
from shared.domain.ids import DocumentId, TenantId
from shared.domain.jobs import Job
from shared.ports.blobs import Blobs
from shared.ports.catalog import CatalogSource
from shared.ports.clock import Clock
from shared.ports.orchestrations import Orchestrations
from shared.services.documents.start_document_job import DocumentJob, StartDocumentJob
from shared.services.streams import own_lines
from shared.stores.cursors import Cursors, Round
from shared.stores.documents import Documents, Gathering
from shared.stores.jobs import Jobs, job_id
from shared.wire.catalog_cron import last_due
from shared.wire.dropped import DroppedLine, line, read_dropped

log = logging.getLogger(__name__)

# Of a pipeline in the hours lane that does not say when: on the hour.
DEFAULT_GATHER: Final = "0 0 * * * *"
# What one job takes; what is left goes into another at once.
MAX_DOCUMENTS: Final = 20_000
SIDE_BY_SIDE: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class GatherDocuments:
    documents: Documents
    gathering: Gathering
    cursors: Cursors
    jobs: Jobs
    blobs: Blobs
    catalog: CatalogSource
    start: StartDocumentJob
    clock: Clock

    async def __call__(self, orchestrations: Orchestrations) -> None:
        catalog = await self.catalog.current()
        for pipeline in catalog.pipelines.values():
            if pipeline.lane is Lane.HOURS:
                try:
                    await self._pipeline(pipeline, catalog, orchestrations)
                except PosternError as error:
                    # The next tick tries again; the other pipelines have their turn.
                    log.warning("gather.failed", extra={"pipeline": pipeline.name, "why": str(error)})

    async def _pipeline(self, pipeline: Pipeline, catalog: Catalog, orchestrations: Orchestrations) -> None:
        due = last_due(pipeline.gather or DEFAULT_GATHER, self.clock.now())
        name = f"gather-{pipeline.name}"
        before = await self.cursors.find(name)
        if before is None:
            # Never looked at before: it gathers from now on.
            await self.cursors.put(name, Round(cursor=None, began_at=due))
            return
        if due <= before.began_at:
            return
        for tenant in catalog.tenants:
            await self._gather(tenant, pipeline, due, catalog, orchestrations)
        await self.cursors.put(name, Round(cursor=None, began_at=due))

    async def _gather(
        self,
        tenant: TenantId,
        pipeline: Pipeline,
        due: datetime,
        catalog: Catalog,
        orchestrations: Orchestrations,
    ) -> None:
        part = 0
        while True:
            gathered = await self._gathered(tenant, pipeline)
            for group in _groups(gathered):
                asked = self._job(tenant, pipeline, due, part, group, catalog)
                existing = await self.jobs.find(tenant, asked.id)
                job = existing.value if existing else await self.start(asked, catalog, orchestrations)
                await self._assign(job)
            if len(gathered) < MAX_DOCUMENTS:
                return
            part += 1

    async def _gathered(self, tenant: TenantId, pipeline: Pipeline) -> list[Document]:
        """The oldest documents that wait. Whatever does not wait any more is struck off."""
        found: list[Document] = []
        async for some in self._waiting(tenant, pipeline.name):
            stored = await asyncio.gather(*(self.documents.find(tenant, name) for name in some))
            for name, each in zip(some, stored, strict=True):
                if each is not None and _waits(each.value):
                    found.append(each.value)
                elif each is not None:
                    await self.gathering.remove(tenant, pipeline.name, name)
            if len(found) >= MAX_DOCUMENTS:
                return found[:MAX_DOCUMENTS]
        return found

    async def _waiting(self, tenant: TenantId, pipeline: str) -> AsyncIterator[list[DocumentId]]:
        some: list[DocumentId] = []
        async for name in self.gathering.of(tenant, pipeline):
            some.append(name)
            if len(some) == SIDE_BY_SIDE:
                yield some
                some = []
        yield some

    def _job(
        self,
        tenant: TenantId,
        pipeline: Pipeline,
        due: datetime,
        part: int,
        group: Sequence[Document],
        catalog: Catalog,
    ) -> DocumentJob:
        first = group[0]
        named = "\0".join([tenant, pipeline.name, due.isoformat(), str(part), *map(str, _group_of(first))])
        entropy = hashlib.sha256(named.encode()).hexdigest()[:16]
        run_ids = {document.run_id for document in group}
        shared = {name: value for name, value in first.tags.items() if name != "run_id"}
        if len(run_ids) == 1 and first.run_id is not None:
            shared["run_id"] = first.run_id
        return DocumentJob(
            id=job_id(int(due.timestamp() * 1000), entropy),
            tenant=tenant,
            pipeline=pipeline,
            alias=catalog.alias(first.alias or pipeline.alias),
            lines=_lines(group),
            deliver=True,
            tags=MappingProxyType(shared),
        )

    async def _assign(self, job: Job) -> None:
        """Note in every document which job has it. The job's own input says which those are."""
        async for handful in own_lines(self.blobs, job.source.path):
            for some in batched(handful, SIDE_BY_SIDE, strict=False):
                await asyncio.gather(*(self._note(job, read_dropped(each)) for each in some))

    async def _note(self, job: Job, dropped: DroppedLine) -> None:
        stored = await self.documents.find(job.tenant, dropped.custom_id)
        if stored is None:
            return
        document = stored.value
        if _waits(document):
            try:
                await self.documents.replace(stored, replace(document, job_id=job.id))
            except Conflict:
                log.info("document.moved_on", extra={"document": document.id})
                return
        await self.gathering.remove(document.tenant, document.pipeline, document.id)


def _waits(document: Document) -> bool:
    return document.status is DocumentStatus.GATHERED and document.job_id is None


def _group_of(document: Document) -> tuple[object, ...]:
    """Documents of one job have one alias, and the same tags but for the run."""
    tags = sorted((name, value) for name, value in document.tags.items() if name != "run_id")
    return (document.alias, *tags)


def _groups(documents: Sequence[Document]) -> list[list[Document]]:
    groups: dict[tuple[object, ...], list[Document]] = {}
    for document in documents:
        groups.setdefault(_group_of(document), []).append(document)
    return list(groups.values())


async def _lines(documents: Sequence[Document]) -> AsyncIterator[bytes]:
    for some in batched(documents, 1000, strict=False):
        yield b"".join(line(DroppedLine(custom_id=d.id, path=d.path, etag=d.etag)) for d in some)
