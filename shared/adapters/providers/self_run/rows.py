"""The rows of a batch that we run ourselves: a blob each, written as soon as the answer is there.

A blob's name tells the request's place and whether it was answered, so that a listing is the whole truth
about what is left to ask, and the only place where anything is counted.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Final

from shared.domain.ids import ChunkKey
from shared.ports.blobs import Blobs
from shared.wire.paths import own_batch

# Rows that are read at once when they are put together.
_AHEAD: Final = 16


class Rows:
    """`done` is what is known to be written: by place, whether it was answered."""

    def __init__(self, blobs: Blobs, key: ChunkKey) -> None:
        self.key = key
        self._blobs = blobs
        self._folder = f"{own_batch(key)}rows/"
        self.done: dict[int, bool] = {}

    async def look(self) -> None:
        """Find what others have written."""
        async for info in self._blobs.list(self._folder):
            place, kind = info.path.removeprefix(self._folder).split(".")[:2]
            self.done.setdefault(int(place), kind == "answer")

    async def add(self, place: int, line: bytes, *, answered: bool) -> None:
        """`line` without its end. A place that has a row keeps it."""
        if place not in self.done:
            await self._blobs.write(self._path(place, answered=answered), _line(line))
            self.done[place] = answered

    async def read(self) -> AsyncIterator[bytes]:
        """Every row once, in the order of the requests, with line ends."""
        await self.look()
        coming: deque[asyncio.Task[bytes]] = deque()
        try:
            for place, answered in sorted(self.done.items()):
                coming.append(asyncio.create_task(self._whole(self._path(place, answered=answered))))
                if len(coming) >= _AHEAD:
                    yield await coming.popleft()
            while coming:
                yield await coming.popleft()
        finally:
            for task in coming:
                task.cancel()
            await asyncio.gather(*coming, return_exceptions=True)

    async def delete(self) -> None:
        async for info in self._blobs.list(self._folder):
            await self._blobs.delete(info.path)

    async def _whole(self, path: str) -> bytes:
        return b"".join([piece async for piece in self._blobs.read(path)])

    def _path(self, place: int, *, answered: bool) -> str:
        return f"{self._folder}{place:08d}.{'answer' if answered else 'error'}.json"


async def _line(content: bytes) -> AsyncIterator[bytes]:
    yield content + b"\n"
