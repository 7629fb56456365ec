"""Streams to feed to what stores them, and the whole of streams that come back."""

from collections.abc import AsyncIterable, AsyncIterator


async def stream(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def repeated(piece: bytes, times: int) -> AsyncIterator[bytes]:
    for _ in range(times):
        yield piece


async def whole(pieces: AsyncIterable[bytes]) -> bytes:
    return b"".join([piece async for piece in pieces])


class SourceBroke(Exception):
    """What `broken` raises."""


async def broken(*pieces: bytes) -> AsyncIterator[bytes]:
    """The pieces, and then a failure in place of the end."""
    for piece in pieces:
        yield piece
    raise SourceBroke
