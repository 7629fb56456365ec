"""An async stream as the file handle that SDKs ask for, off the event loop and in flat memory."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import IO, Final

from shared.domain.errors import TryAgainLater

# A hop to a thread costs more than writing a line; pieces may be single lines.
_BLOCK: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Spooled:
    """`handle` stands at the start. It is valid inside the `async with` only."""

    handle: IO[bytes]
    size: int


@asynccontextmanager
async def spooled(pieces: AsyncIterator[bytes]) -> AsyncIterator[Spooled]:
    """The whole stream on disk, under no name; gone at the end, whatever happens."""
    handle = await asyncio.to_thread(tempfile.TemporaryFile)
    try:
        yield Spooled(handle=handle, size=await _fill(handle, pieces))
    finally:
        await asyncio.to_thread(handle.close)


async def _fill(handle: IO[bytes], pieces: AsyncIterator[bytes]) -> int:
    """Returns the number of bytes. Raises `TryAgainLater` when the disk does not take them."""
    block, size = bytearray(), 0
    async for piece in pieces:
        block += piece
        size += len(piece)
        if len(block) >= _BLOCK:
            await _write(handle, block)
            block = bytearray()
    await _write(handle, block)
    await asyncio.to_thread(handle.seek, 0)
    return size


async def _write(handle: IO[bytes], block: bytearray) -> None:
    try:
        await asyncio.to_thread(handle.write, block)
    except OSError as fault:
        raise TryAgainLater(f"the temporary disk did not take an upload: {fault.strerror}") from fault
