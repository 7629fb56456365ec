"""Azure OpenAI batches whose input and output are blobs of ours ("own storage").

There are no files with quotas and expiries: the input is a blob, results are written into our folder while they
come, and nothing can lapse. Such a batch takes no metadata; it is known by the address of its input, which is a
copy that no other submission uses, in a folder that is named after the chunk's key. From Microsoft's "Configure
Azure Blob Storage for Azure OpenAI batch" and "Quotas and limits" pages, read 2026-11-30.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, cast
from urllib.parse import unquote

import openai

from shared.adapters.providers.openai.batches import BatchEndpoint, OpenAIBatches, Terms
from shared.adapters.providers.openai.errors import Call, translated
from shared.adapters.providers.openai.objects import read_batch
from shared.domain.catalog import Endpoint
from shared.domain.errors import NotFound, TryAgainLater
from shared.domain.ids import BatchId, ChunkKey, FileId
from shared.ports.blobs import Blobs
from shared.ports.clock import Clock
from shared.ports.providers import ChunkInput, RemoteBatch, RemoteState, StagedFile
from shared.wire.paths import key_of_own_batch, own_batch

# "1 GB": read as decimal, with room for whoever counts in another way.
MAX_BYTES: Final = 995_000_000
# "Poll no more often than every 60 seconds" (the batch page).
SHORTEST_POLL: Final = timedelta(seconds=60)


class AzureBlobBatches(OpenAIBatches):
    """Files are called by their paths in our storage."""

    def __init__(self, *, client: openai.AsyncOpenAI, terms: Terms, clock: Clock, blobs: Blobs) -> None:
        super().__init__(client=client, terms=terms, clock=clock)
        self._blobs = blobs

    async def stage(self, chunk: ChunkInput) -> StagedFile:
        source = await self._blobs.head(chunk.path)
        if source is None or source.size != chunk.size:
            raise TryAgainLater(f"the input of batch {chunk.key!r} is not the one that was planned")
        path = f"{own_batch(chunk.key)}{uuid.uuid4().hex}.jsonl"
        await self._blobs.copy(chunk.path, path, etag=source.etag)
        return _staged(path)

    async def staged(self, file: FileId) -> StagedFile:
        await self._check(file)
        return _staged(file)

    async def retrieve(self, batch: BatchId) -> RemoteBatch:
        """Of an ended one both addresses are told, also of a blob that was never written."""
        found = await super().retrieve(batch)
        if found.state is RemoteState.RUNNING:
            return replace(found, again_in=await self._sooner(found.key))
        return replace(
            found,
            output_file=await self._if_there(found.output_file),
            error_file=await self._if_there(found.error_file),
        )

    async def download(self, file: FileId) -> AsyncIterator[bytes]:
        async for piece in self._blobs.read(file):
            yield piece

    async def expiry(self, file: FileId) -> datetime | None:
        await self._check(file)
        return None

    async def delete_file(self, file: FileId) -> None:
        """Results take their batch's whole folder with them."""
        key = key_of_own_batch(file)
        if key is None or _is_input(file):
            await self._blobs.delete(file)
            return
        async for info in self._blobs.list(own_batch(key)):
            await self._blobs.delete(info.path)

    async def _create(self, key: ChunkKey, file: FileId, endpoint: Endpoint) -> RemoteBatch:
        blobs = {
            "input_blob": self._blobs.url(file),
            "output_folder": {"url": self._blobs.url(own_batch(key)).rstrip("/")},
        }
        with translated(Call(name=f"create of batch {key!r}", has_effect=True), self._clock):
            # The SDK's timeout starts anew with every byte; the lease does not.
            async with asyncio.timeout(self._terms.create_timeout.total_seconds()):
                answer = await self._client.batches.with_raw_response.create(
                    input_file_id=cast("str", None),
                    endpoint=cast("BatchEndpoint", endpoint.url),
                    completion_window="24h",
                    extra_body=blobs,
                )
            return self._seen(read_batch(answer.content))

    def _seen(self, batch: RemoteBatch) -> RemoteBatch:
        """Addresses become paths."""
        return replace(
            batch,
            input_file=self._path(batch.input_file),
            output_file=self._path(batch.output_file),
            error_file=self._path(batch.error_file),
        )

    def _path(self, url: FileId | None) -> FileId | None:
        """None for what is not in our storage: it is not ours to read."""
        base = self._blobs.url("jobs/x").removesuffix("jobs/x")
        return FileId(unquote(url.removeprefix(base))) if url and url.startswith(base) else None

    async def _check(self, file: FileId) -> None:
        if key_of_own_batch(file) is None or await self._blobs.head(file) is None:
            raise NotFound(f"there is no blob {file!r}")

    async def _sooner(self, key: ChunkKey | None) -> timedelta | None:
        """The event of a result may come before the service says that the batch has ended."""
        if key is not None:
            async for info in self._blobs.list(own_batch(key)):
                if not _is_input(FileId(info.path)):
                    return SHORTEST_POLL
        return None

    async def _if_there(self, file: FileId | None) -> FileId | None:
        return file if file and await self._blobs.head(file) else None


def _staged(path: str) -> StagedFile:
    """It goes with its batch's folder when the chunk is cleared."""
    return StagedFile(id=FileId(path), ready=True, expires_at=None, is_ours=True)


def _is_input(file: FileId) -> bool:
    """Inputs lie in the folder of their batch, results one below."""
    key = key_of_own_batch(file)
    return key is not None and "/" not in file.removeprefix(own_batch(key))
