"""Delete a file: from the record on it is gone for everybody; the content follows."""

from dataclasses import dataclass

from shared.domain.ids import FileId, TenantId
from shared.ports.blobs import Blobs
from shared.ports.clock import Clock
from shared.stores.files import Files, Lapse, Lapses
from shared.wire import paths


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteFile:
    files: Files
    lapses: Lapses
    blobs: Blobs
    clock: Clock

    async def __call__(self, tenant: TenantId, file_id: FileId) -> None:
        """Absent is fine. Jobs that were made of it have a copy of their own."""
        # If we die half way, the sweep finds the content by this.
        lapse = Lapse(tenant=tenant, file=file_id, at=self.clock.now())
        await self.lapses.put(lapse)
        await self.files.remove(tenant, file_id)
        await self.blobs.delete(paths.file(tenant, file_id))
        await self.lapses.remove(lapse)
