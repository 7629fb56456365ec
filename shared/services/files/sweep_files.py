"""The sweep's look at files: what has lapsed goes, and what an upload that died has left."""

import logging
from dataclasses import dataclass

from shared.ports.blobs import Blobs
from shared.ports.clock import Clock
from shared.stores.files import Files, Lapse, Lapses
from shared.wire import paths

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepFiles:
    files: Files
    lapses: Lapses
    blobs: Blobs
    clock: Clock

    async def __call__(self) -> None:
        async for lapse in self.lapses.due(self.clock.now()):
            await self._look_at(lapse)

    async def _look_at(self, lapse: Lapse) -> None:
        """A file has a lapse for the time it was uploaded in; by then it has a record, or never will."""
        file = await self.files.find(lapse.tenant, lapse.file)
        if file is None or file.has_lapsed(self.clock.now()):
            await self.files.remove(lapse.tenant, lapse.file)
            await self.blobs.delete(paths.file(lapse.tenant, lapse.file))
            log.info("file.lapsed", extra={"file_id": lapse.file, "tenant": lapse.tenant})
        await self.lapses.remove(lapse)
