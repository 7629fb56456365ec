"""Streams of lines between blobs and us, in flat memory."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from itertools import batched
from time import perf_counter
from typing import Final, Self

from shared.ports.blobs import BlobInfo, Blobs
from shared.wire.jsonl import split

# Longer than any line we write ourselves; a provider's line beyond it is unreadable.
MAX_LINE: Final = 64 * 1024 * 1024
PIECE: Final = 1024 * 1024
# Seconds of work after which others get their turn. A call passes through the loop about ten times, and
# several jobs may be at work.
STRETCH: Final = 0.002
# Lines worked on between two looks at the clock.
HANDFUL: Final = 32


class Pause:
    """Called in every round of a long loop, it lets the rest of the process live: `await pause()`."""

    def __init__(self) -> None:
        self._since = perf_counter()

    async def __call__(self) -> None:
        if perf_counter() - self._since > STRETCH:
            await asyncio.sleep(0)
            self._since = perf_counter()


async def ahead(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    """The same pieces; the next one is on its way while one is worked on."""
    coming = asyncio.ensure_future(anext(pieces, None))
    try:
        while (piece := await coming) is not None:
            coming = asyncio.ensure_future(anext(pieces, None))
            yield piece
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)


async def lines_of(blobs: Blobs, path: str) -> AsyncIterator[list[bytes | None]]:
    """The lines of a blob in handfuls; others get their turn between two of them.

    None stands for a line that is too long to be read.
    """
    pause = Pause()
    async for lines in split(ahead(blobs.read(path)), max_line_bytes=MAX_LINE):
        for handful in batched(lines, HANDFUL, strict=False):
            yield [content for _, content in handful]
            await pause()


async def own_lines(blobs: Blobs, path: str) -> AsyncIterator[list[bytes]]:
    """The lines of a blob that we wrote."""
    async for handful in lines_of(blobs, path):
        yield [content for content in handful if content is not None]


class Outlet:
    """A blob that is written line by line. Nothing is there before `close`; at most a few pieces wait.

    Use as an async context manager: leaving it normally closes, leaving it by an exception drops the blob.
    """

    def __init__(self, blobs: Blobs, path: str) -> None:
        self._blobs = blobs
        self._path = path
        self._pieces: asyncio.Queue[bytes | None] = asyncio.Queue(maxsize=2)
        self._held: list[bytes] = []
        self._held_size = 0
        self._writing: asyncio.Task[BlobInfo] | None = None

    async def __aenter__(self) -> Self:
        self._writing = asyncio.create_task(self._blobs.write(self._path, self._content()))
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._writing is None:
            return
        if kind is not None:
            self._writing.cancel()
            await asyncio.gather(self._writing, return_exceptions=True)
            return
        await self._flush()
        await self._hand_over(None)
        await self._writing

    async def write(self, content: bytes) -> None:
        self._held.append(content)
        self._held_size += len(content)
        if self._held_size >= PIECE:
            await self._flush()

    async def _flush(self) -> None:
        if self._held:
            piece = b"".join(self._held)
            self._held.clear()
            self._held_size = 0
            await self._hand_over(piece)

    async def _hand_over(self, piece: bytes | None) -> None:
        """Give the piece to the writer; if the writer has died, raise what it died of."""
        if self._writing is None:
            raise RuntimeError("an outlet is used as a context manager")
        putting = asyncio.create_task(self._pieces.put(piece))
        await asyncio.wait({putting, self._writing}, return_when=asyncio.FIRST_COMPLETED)
        if not putting.done():
            putting.cancel()
            await self._writing

    async def _content(self) -> AsyncIterator[bytes]:
        while (piece := await self._pieces.get()) is not None:
            yield piece


async def one_piece(content: bytes) -> AsyncIterator[bytes]:
    yield content


async def whole(blobs: Blobs, path: str, *, limit: int) -> bytes:
    """A small blob, whole. Raise `ValueError` above `limit` bytes."""
    content = b"".join([piece async for piece in blobs.read(path)])
    if len(content) > limit:
        raise ValueError(f"{path} is larger than {limit} bytes")
    return content
