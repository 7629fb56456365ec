"""Writes requests into chunks, cutting where a limit says so."""

from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Self

from shared.domain.planning import Limits, Packer
from shared.ports.blobs import Blobs
from shared.services.streams import Outlet
from shared.wire.members import ChunkSeed, Member, line
from shared.wire.paths import JobPaths


@dataclass(slots=True)
class Cutter:
    """Feed requests in order, then `close` for the seeds. Left without that, it drops the open chunk.

    `next_n` is the number of the first chunk it opens.
    """

    blobs: Blobs
    paths: JobPaths
    run: int
    limits: Limits
    next_n: int
    seeds: list[ChunkSeed] = field(default_factory=list)
    _packer: Packer = field(init=False)
    _first: int = 0
    _open: AsyncExitStack | None = None
    _lines: Outlet | None = None
    _members: Outlet | None = None

    def __post_init__(self) -> None:
        self._packer = Packer(self.limits)

    async def add(self, member: Member, content: bytes) -> None:
        """`content` is the provider's line."""
        before = (self._packer.requests, self._packer.bytes, self._packer.tokens)
        if self._packer.starts_anew(len(content), member.t or 0, 1 + member.v):
            await self._end_chunk(before, counted=member.t is not None)
        if self._lines is None or self._members is None:
            self._lines, self._members = await self._begin_chunk(member.p)
        self._first = min(self._first, member.p)
        await self._lines.write(content)
        await self._members.write(line(member))

    async def close(self, *, counted: bool) -> list[ChunkSeed]:
        packer = self._packer
        if self._open:
            await self._end_chunk((packer.requests, packer.bytes, packer.tokens), counted=counted)
        return self.seeds

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Forget the open chunk: nothing of it is written."""
        if self._open:
            unfinished = RuntimeError("the chunk was not finished")
            await self._open.__aexit__(RuntimeError, unfinished, None)

    async def _begin_chunk(self, first: int) -> tuple[Outlet, Outlet]:
        n = self.next_n + len(self.seeds)
        self._open, self._first = AsyncExitStack(), first
        lines = await self._open.enter_async_context(Outlet(self.blobs, self.paths.chunk(n, self.run)))
        members = await self._open.enter_async_context(Outlet(self.blobs, self.paths.members(n, self.run)))
        return lines, members

    async def _end_chunk(self, sums: tuple[int, int, int], *, counted: bool) -> None:
        if self._open is None:
            return
        stack, self._open, self._lines, self._members = self._open, None, None, None
        await stack.aclose()
        requests, size, tokens = sums
        self.seeds.append(
            ChunkSeed(
                n=self.next_n + len(self.seeds),
                requests=requests,
                bytes=size,
                tokens=tokens if counted else None,
                first=self._first,
            )
        )
