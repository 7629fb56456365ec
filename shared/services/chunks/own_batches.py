"""Tell our batches from others, and one chunk's from another's, at providers whose batches carry no key.

The order makes it certain: the chunk's record says that it intends, then it is listed here as one that may
create, then it creates, then the batch is claimed, then the record names it. So a batch that nobody has
claimed is of a chunk that is listed, or it is none of ours.
"""

from dataclasses import dataclass

from shared.domain.chunks import Chunk, ChunkState, read_chunk_key
from shared.domain.errors import NotFound
from shared.domain.ids import BatchId, ChunkKey
from shared.ports.providers import RemoteBatch, RemoteState
from shared.stores.batches import Batches, Intent
from shared.stores.jobs import Chunks


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnBatches:
    batches: Batches
    chunks: Chunks

    async def announce(self, chunk: Chunk) -> None:
        """Before the create: the chunk may have a batch from now on."""
        await self.batches.intend(chunk.provider, Intent(key=chunk.key, requests=chunk.requests))

    async def claim(self, chunk: Chunk, batch: BatchId) -> bool:
        """False: another chunk was first, so it cannot be this one's."""
        return await self.batches.claim(chunk.provider, batch, chunk.key)

    async def settle(self, chunk: Chunk) -> None:
        """The record names its batch. Whoever dies before this is found out by `is_open`."""
        await self.batches.withdraw(chunk.provider, chunk.key)

    async def is_anothers(self, chunk: Chunk, batch: BatchId) -> bool:
        return await self.holder(chunk.provider, batch) not in (None, chunk.key)

    async def holder(self, provider: str, batch: BatchId) -> ChunkKey | None:
        return await self.batches.holder(provider, batch)

    async def may_be_anothers(self, chunk: Chunk, batch: RemoteBatch) -> bool:
        """Whether a likely batch may as well be of another chunk that has none on record yet.

        One that has ended was recognised by its results.
        """
        if batch.state is RemoteState.ENDED:
            return False
        return await self.awaited(chunk.provider, chunk.requests, besides=chunk.key)

    async def awaited(self, provider: str, requests: int | None, *, besides: ChunkKey | None = None) -> bool:
        """Whether a chunk of so many requests may have a batch that it has not on record."""
        async for intent in self.batches.intents(provider):
            if intent.key == besides or requests not in (None, intent.requests):
                continue
            if await self._is_open(intent.key):
                return True
            await self.batches.withdraw(provider, intent.key)
        return False

    async def _is_open(self, key: ChunkKey) -> bool:
        named = read_chunk_key(key)
        if named is None:
            return False
        try:
            chunk = (await self.chunks.load(named.job_id, named.n)).value
        except NotFound:
            return False
        return chunk.key == key and chunk.state is ChunkState.INTENDED
