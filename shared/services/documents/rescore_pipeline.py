"""Go over documents that were dropped before once more, as one job: another prompt, or another model.

Its answers are the job's results. The documents' own records and results stay as they are.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from shared.domain.catalog import Tenant
from shared.domain.documents import document_id
from shared.domain.errors import NotFound
from shared.domain.ids import JobId
from shared.domain.jobs import Job
from shared.ports.blobs import BlobInfo, Blobs
from shared.ports.catalog import CatalogSource
from shared.ports.orchestrations import Orchestrations
from shared.services.documents.start_document_job import DocumentJob, StartDocumentJob, with_prompt
from shared.stores.jobs import Jobs
from shared.wire import paths as places
from shared.wire.bodies import RescoreBody
from shared.wire.door import MAX_REQUESTS
from shared.wire.dropped import DroppedLine, line
from shared.wire.problems import Unusable, invalid, short

MAX_CUSTOM_ID = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class RescorePipeline:
    jobs: Jobs
    blobs: Blobs
    catalog: CatalogSource
    start: StartDocumentJob

    async def __call__(
        self, tenant: Tenant, name: str, body: RescoreBody, new_id: JobId, orchestrations: Orchestrations
    ) -> Job:
        """The job. Raise `NotFound` for an unknown pipeline or alias, `Unusable` where there is nothing to do."""
        if (existing := await self.jobs.find(tenant.id, new_id)) is not None:
            return existing.value
        catalog = await self.catalog.current()
        pipeline = catalog.pipelines.get(name)
        if pipeline is None:
            raise NotFound(f"no pipeline {short(name)}")
        folder = places.dropped(f"{tenant.id}/{name}/")
        if not await self._is_any(folder + body.prefix):
            raise Unusable(f"no document was dropped to {tenant.id}/{name}/ below {short(body.prefix)}")
        asked = DocumentJob(
            id=new_id,
            tenant=tenant.id,
            pipeline=with_prompt(pipeline, body.prompt),
            alias=catalog.alias(body.alias or pipeline.alias),
            lines=self._lines(folder, body.prefix),
            deliver=False,
        )
        return await self.start(asked, catalog, orchestrations)

    async def _is_any(self, prefix: str) -> bool:
        async for info in self.blobs.list(prefix):
            if info.size:
                return True
        return False

    async def _lines(self, folder: str, prefix: str) -> AsyncIterator[bytes]:
        """A line for every document there is now; empty ones are markers of folders, or nothing to read."""
        cursor: str | None = None
        count = 0
        while True:
            page = await self.blobs.page(folder + prefix, cursor=cursor)
            found = [info for info in page.blobs if info.size]
            count += len(found)
            if count > MAX_REQUESTS:
                raise invalid("prefix", f"names more than {MAX_REQUESTS:,} documents; name a narrower one")
            yield b"".join(_line(info, folder) for info in found)
            cursor = page.cursor
            if cursor is None:
                return


def _line(info: BlobInfo, folder: str) -> bytes:
    path = info.path.removeprefix(f"{places.DOCUMENTS}/")
    name = info.path.removeprefix(folder)
    custom_id = name if len(name) <= MAX_CUSTOM_ID else document_id(path, info.etag, info.modified_at)
    return line(DroppedLine(custom_id=custom_id, path=path, etag=info.etag))
