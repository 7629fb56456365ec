"""Delete what the provider still keeps of a settled chunk. Never before everything is in our storage."""

from dataclasses import dataclass

from shared.domain.chunks import Chunk, ChunkEvent
from shared.ports.providers import BatchProvider
from shared.services.steps import Step
from shared.stores.jobs import Chunks
from shared.stores.stored import Stored


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearChunk:
    chunks: Chunks

    async def __call__(self, stored: Stored[Chunk], provider: BatchProvider) -> Step:
        """Refuses, by the state table, to delete anything of a chunk that is not settled."""
        chunk = stored.value
        cleared = chunk.after(ChunkEvent.CLEAR)
        for file in (chunk.remote.input_file, chunk.remote.output_file, chunk.remote.error_file):
            if file is not None:
                await provider.delete_file(file)
        return await self.chunks.replace(stored, cleared)
