"""Whose a batch is, where batches carry nothing that says so: on record here, by the batch's id.

And which chunks are about to create one: until they have its id on record, a batch may be theirs.
"""

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

from shared.domain.errors import Conflict
from shared.domain.ids import BatchId, ChunkKey
from shared.ports.tables import Tables

BATCHES: Final = "batches"
SCHEMA: Final = "batch/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """Somebody may be creating, or may have created, a batch of so many requests."""

    key: ChunkKey
    requests: int


def _intents(provider: str) -> str:
    # A provider's name has no bar in it.
    return f"{provider}|intents"


def _row(batch: BatchId) -> str:
    return hashlib.sha256(batch.encode()).hexdigest()


class Batches:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def intend(self, provider: str, intent: Intent) -> None:
        await self._tables.put(
            BATCHES, _intents(provider), intent.key, {"schema": SCHEMA, "requests": intent.requests}
        )

    async def withdraw(self, provider: str, key: ChunkKey) -> None:
        """Absent is fine."""
        await self._tables.delete(BATCHES, _intents(provider), key)

    async def intents(self, provider: str) -> AsyncIterator[Intent]:
        async for entity in self._tables.scan(BATCHES, _intents(provider)):
            yield Intent(key=ChunkKey(entity.row), requests=int(str(entity.fields["requests"])))

    async def claim(self, provider: str, batch: BatchId, key: ChunkKey) -> bool:
        """Put the batch on record as this chunk's, once and for all; False: it is another one's."""
        try:
            await self._tables.insert(BATCHES, provider, _row(batch), {"schema": SCHEMA, "key": key})
        except Conflict:
            return await self.holder(provider, batch) == key
        return True

    async def holder(self, provider: str, batch: BatchId) -> ChunkKey | None:
        entity = await self._tables.get(BATCHES, provider, _row(batch))
        return ChunkKey(str(entity.fields["key"])) if entity else None
