"""A stream of any length becomes one blob, seen whole or not at all.

More than one block is staged piece by piece and committed at the end. What is never committed is never
seen, and the service drops it after a week.
"""

import asyncio
import hashlib
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from uuid import uuid4

from azure.core import MatchConditions
from azure.storage.blob import BlobBlock, ContentSettings
from azure.storage.blob.aio import BlobClient, ContainerClient

from shared.adapters.azure.containers import with_container

BLOCK_BYTES = 4 * 1024 * 1024  # times 50,000 blocks, the service's maximum, is 195 GiB
BLOCKS_IN_FLIGHT = 3
PUT_BYTES = 1024 * 1024  # a body of more raw bytes would hold up the event loop; blocks go as streams


async def in_blocks(content: AsyncIterable[bytes], size: int = BLOCK_BYTES) -> AsyncGenerator[BytesIO]:
    """`content` cut anew: every block but the last has exactly `size` bytes, none is empty.

    Streams rather than bytes: they are sent as they are, where bytes would be copied first.
    """
    block = BytesIO()
    async for piece in content:
        rest = memoryview(piece)
        while rest:
            room = size - block.tell()
            block.write(rest[:room])
            rest = rest[room:]
            if block.tell() == size:
                yield block
                block = BytesIO()
    if block.tell():
        yield block


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """One write of one blob. It holds `BLOCKS_IN_FLIGHT` blocks in memory, and the one that is filled.

    `condition` is what the SDK takes to say which version may be replaced; empty: any.
    """

    blob: BlobClient
    container: ContainerClient
    content_type: str
    metadata: Mapping[str, str]
    condition: Mapping[str, Any]

    async def send(self, content: AsyncIterable[bytes]) -> tuple[int, Mapping[str, Any]]:
        """The bytes stored, and the service's answer to the request that made them visible."""
        async with aclosing(in_blocks(content)) as blocks:
            first = await anext(blocks, BytesIO())
            if first.tell() <= PUT_BYTES:
                return first.tell(), await self._put(first.getvalue())
            staging = Staging(self.blob, self.container)
            try:
                await staging.stage(first)
                del first
                async for block in blocks:
                    await staging.stage(block)
                await staging.settle()
            finally:
                await staging.abandon()
        return staging.size, await self._commit(staging.blocks)

    async def _put(self, content: bytes) -> Mapping[str, Any]:
        overwrite = self.condition.get("match_condition") is not MatchConditions.IfMissing
        condition = self.condition if overwrite else {}
        return await with_container(
            self.container,
            lambda: self.blob.upload_blob(
                content,
                overwrite=overwrite,
                content_settings=self._content_settings(),
                metadata=dict(self.metadata),
                **condition,
            ),
        )

    async def _commit(self, blocks: list[BlobBlock]) -> Mapping[str, Any]:
        return await self.blob.commit_block_list(
            blocks,
            content_settings=self._content_settings(),
            metadata=dict(self.metadata),
            **self.condition,
        )

    def _content_settings(self) -> ContentSettings:
        return ContentSettings(content_type=self.content_type)


class Staging:
    """Blocks on their way. Their ids are new in every write, so that two writers never mix their blocks."""

    def __init__(self, blob: BlobClient, container: ContainerClient) -> None:
        self.blocks: list[BlobBlock] = []
        self.size = 0
        self._blob = blob
        self._container = container
        self._writer = uuid4().hex
        self._in_flight: deque[asyncio.Task[object]] = deque()

    async def stage(self, block: BytesIO) -> None:
        """Send `block` on its way as soon as there is room for it."""
        if len(self._in_flight) == BLOCKS_IN_FLIGHT:
            await self._in_flight.popleft()
        # The service wants ids of one length in all blocks of a blob.
        block_id = f"{self._writer}-{len(self.blocks):06}"
        size = block.tell()
        self.blocks.append(BlobBlock(block_id))
        self.size += size
        self._in_flight.append(asyncio.create_task(self._send(block_id, block, size)))

    async def settle(self) -> None:
        """Wait until every block has arrived; raise what stopped one."""
        while self._in_flight:
            await self._in_flight.popleft()

    async def abandon(self) -> None:
        """Stop what is still on its way."""
        for task in self._in_flight:
            task.cancel()
        await asyncio.gather(*self._in_flight, return_exceptions=True)

    async def _send(self, block_id: str, block: BytesIO, size: int) -> object:
        # The service checks it. The SDK would reckon it on the event loop, in slices of 4 kB.
        md5 = await asyncio.to_thread(_md5, block)

        def attempt() -> Awaitable[object]:
            block.seek(0)
            return self._blob.stage_block(block_id, block, length=size, transactional_content_md5=md5)

        return await with_container(self._container, attempt)


def _md5(block: BytesIO) -> bytes:
    with block.getbuffer() as content:
        return hashlib.md5(content, usedforsecurity=False).digest()
