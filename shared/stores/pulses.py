"""The heartbeats of unfinished jobs, spread over shards so that no partition is everybody's."""

import logging
import zlib
from collections.abc import AsyncIterator
from typing import Final

from shared.domain.errors import GiveUp
from shared.domain.ids import JobId
from shared.domain.pulses import Pulse
from shared.ports.tables import Tables
from shared.stores.stored import Stored
from shared.wire.records import small

log = logging.getLogger(__name__)

PULSES: Final = "pulses"
SHARDS: Final = 8


def _shard(job: JobId) -> str:
    return f"open-{zlib.crc32(job.encode()) % SHARDS}"


class Pulses:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def add(self, pulse: Pulse) -> None:
        """Raise `Conflict` if the job has one."""
        await self._tables.insert(PULSES, _shard(pulse.job_id), pulse.job_id, small.pulse_to_fields(pulse))

    async def find(self, job: JobId) -> Stored[Pulse] | None:
        entity = await self._tables.get(PULSES, _shard(job), job)
        return Stored(small.pulse_from_fields(entity.fields), entity) if entity else None

    async def replace(self, old: Stored[Pulse], new: Pulse) -> Stored[Pulse]:
        entity = await self._tables.replace(PULSES, old.entity, small.pulse_to_fields(new))
        return Stored(new, entity)

    async def remove(self, job: JobId) -> None:
        await self._tables.delete(PULSES, _shard(job), job)

    async def all(self) -> AsyncIterator[Stored[Pulse]]:
        """Every one that this version of the app can read: another's hides no other."""
        for shard in range(SHARDS):
            async for entity in self._tables.scan(PULSES, f"open-{shard}"):
                try:
                    pulse = small.pulse_from_fields(entity.fields)
                except GiveUp as unknown:
                    log.warning("pulse.unreadable", extra={"job_id": entity.row, "why": str(unknown)})
                    continue
                yield Stored(pulse, entity)
