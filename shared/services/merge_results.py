"""The result lines of a job in input order, merged from the files its chunks settled into."""

import heapq
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from shared.domain.chunks import Chunk
from shared.domain.errors import GiveUp, NotFound
from shared.domain.jobs import Job
from shared.ports.blobs import Blobs
from shared.services.streams import own_lines
from shared.wire.members import read_index_line
from shared.wire.paths import JobPaths
from shared.wire.results import head as head_of
from shared.wire.results import with_custom_id


class Unbalanced(GiveUp):
    """An input has no outcome, or more than one. The job may not be called done."""


@dataclass(order=True, slots=True)
class _Head:
    """The next line of one settled file. Opened when its first position comes up, not before."""

    position: int
    path: str
    line: bytes = field(default=b"", compare=False)
    rest: AsyncIterator[bytes] | None = field(default=None, compare=False)


async def merge_results(
    blobs: Blobs, job: Job, chunks: list[Chunk], *, partial: bool = False
) -> AsyncIterator[bytes]:
    """One line an input, newline included. Every file is ascending, and no two share a position.

    `partial`: inputs without an outcome yet are left out. Otherwise they raise `Unbalanced`.
    """
    if job.plan is None or not job.plan.rounds:
        return
    paths = JobPaths(job.tenant, job.id)
    heads = [_Head(0, paths.decided(job.plan.rounds[0]))]
    heads += [_Head(c.first, paths.settled(c.n)) for c in chunks if c.settlement is not None]
    heapq.heapify(heads)
    position = 0
    async for handful in own_lines(blobs, paths.index(job.plan.rounds[0])):
        for content in handful:
            settled = await _at(blobs, heads, position)
            if settled is not None:
                yield with_custom_id(settled, read_index_line(content).id) + b"\n"
            elif not partial:
                raise Unbalanced(f"job {job.id}: input {position + 1} has no outcome")
            position += 1
    if not partial:
        _check_nothing_is_left(job, heads, position)


def _check_nothing_is_left(job: Job, heads: list[_Head], inputs: int) -> None:
    opened = [head for head in heads if head.rest is not None]
    if opened:
        raise Unbalanced(f"job {job.id}: {opened[0].path} answers input {opened[0].position + 1} once more")
    if job.plan is not None and inputs != job.plan.submitted:
        raise Unbalanced(f"job {job.id}: {inputs} inputs are listed, {job.plan.submitted} were submitted")


async def _at(blobs: Blobs, heads: list[_Head], position: int) -> bytes | None:
    """The settled line of this position, if there is one. Moves the heads on."""
    while heads and heads[0].position <= position:
        head = heads[0]
        if head.rest is None:
            head.rest = _lines(blobs, head.path)
            await _next(heads, head)
            continue
        if head.position < position:
            raise Unbalanced(f"{head.path} answers input {head.position + 1} once more")
        line = head.line
        await _next(heads, head)
        return line
    return None


async def _next(heads: list[_Head], head: _Head) -> None:
    """Move the foremost head to its next line, or take it away at the end of its file."""
    line = await anext(head.rest, None) if head.rest is not None else None
    if line is None:
        heapq.heappop(heads)
        return
    head.line, head.position = line, head_of(line)[0]
    heapq.heapreplace(heads, head)


async def _lines(blobs: Blobs, path: str) -> AsyncIterator[bytes]:
    try:
        async for handful in own_lines(blobs, path):
            for content in handful:
                yield content
    except NotFound:
        return
