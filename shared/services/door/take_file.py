"""Make a file the input of a batch: copied as it is, so that nothing that happens to it later matters."""

from dataclasses import dataclass

from shared.domain.errors import Conflict, NotFound
from shared.domain.files import File, Purpose
from shared.domain.ids import AliasName, FileId, TenantId
from shared.domain.jobs import Job
from shared.ports.blobs import Blobs
from shared.ports.catalog import CatalogSource
from shared.ports.clock import Clock
from shared.services.door.file_alias import alias_of_file
from shared.stores.files import Files
from shared.wire import paths
from shared.wire.openai_problems import Invalid
from shared.wire.problems import InputErrors, printable


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeFile:
    files: Files
    blobs: Blobs
    catalog: CatalogSource
    clock: Clock

    async def alias(self, tenant: TenantId, file_id: str) -> AliasName | None:
        """The alias that the file is for; None: no batch can be made of it, and planning will say why.

        Raise `Invalid` when there is no such file.
        """
        file = await self._find(tenant, file_id)
        try:
            path = paths.file(tenant, file.id)
            return await alias_of_file(self.blobs, path, file.etag, await self.catalog.current())
        except InputErrors:
            return None
        except (Conflict, NotFound) as gone:
            raise _no_such(file_id) from gone

    async def __call__(self, job: Job, file_id: FileId) -> None:
        """Copy the file to where the job reads its input. Safe to repeat. Raise `Invalid` likewise."""
        file = await self._find(job.tenant, file_id)
        try:
            await self.blobs.copy(paths.file(job.tenant, file.id), job.source.path, etag=file.etag)
        except (Conflict, NotFound) as gone:
            raise _no_such(file_id) from gone

    async def _find(self, tenant: TenantId, file_id: str) -> File:
        file = await self.files.find(tenant, file_id)
        if file is None or file.has_lapsed(self.clock.now()):
            raise _no_such(file_id)
        if file.purpose is not Purpose.BATCH:
            raise Invalid(f"The purpose of {file.id} is not 'batch'.", param="input_file_id")
        return file


def _no_such(file_id: str) -> Invalid:
    return Invalid(f"No such File object: {printable(file_id)}", param="input_file_id")
