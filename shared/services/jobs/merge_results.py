"""The result lines of a job in input order, merged from the files its chunks settled into."""

import heapq
from collections.abc import AsyncIterator

from shared.domain.chunks import Chunk
from shared.domain.errors import GiveUp, NotFound
from shared.domain.jobs import Job
from shared.ports.blobs import Blobs
from shared.services.streams import own_lines
from shared.wire.members import read_index_line
from shared.wire.paths import JobPaths
from shared.wire.results import head, with_custom_id


class Unbalanced(GiveUp):
    """An input has no outcome, or more than one. The job may not be called done."""


async def merge_results(
    blobs: Blobs, job: Job, chunks: list[Chunk], *, partial: bool = False
) -> AsyncIterator[bytes]:
    """One line an input, newline included, some lines a piece.

    Every file is ascending, and no two share a position. `partial`: inputs without an outcome yet are left
    out. Otherwise they raise `Unbalanced`.
    """
    if job.plan is None or not job.plan.rounds:
        return
    paths = JobPaths(job.tenant, job.id)
    merge = _Merge(job)
    merge.add(0, _Settled(blobs, paths.decided(job.plan.rounds[0])))
    for chunk in chunks:
        if chunk.settlement is not None:
            merge.add(chunk.first, _Settled(blobs, paths.settled(chunk.n)))
    position = 0
    async for handful in own_lines(blobs, paths.index(job.plan.rounds[0])):
        lines: list[bytes] = []
        for content in handful:
            settled = await merge.at(position)
            if settled is not None:
                lines += (with_custom_id(settled, read_index_line(content).id), b"\n")
            elif not partial:
                raise Unbalanced(f"job {job.id}: input {position + 1} has no outcome")
            position += 1
        yield b"".join(lines)
    if not partial:
        merge.check_nothing_is_left(position)


class _Settled:
    """One settled file, read line by line. Opened by the first look, not before."""

    def __init__(self, blobs: Blobs, path: str) -> None:
        self.path = path
        self._handfuls = own_lines(blobs, path)
        self._lines: list[bytes] = []

    async def next(self) -> bytes | None:
        while not self._lines:
            try:
                handful = await anext(self._handfuls, None)
            except NotFound:
                return None
            if handful is None:
                return None
            self._lines = handful[::-1]
        return self._lines.pop()


class _Merge:
    """Settled files by the position they come to next."""

    def __init__(self, job: Job) -> None:
        self._job = job
        # The position, a number that keeps files from being compared, the file, and the line it is at.
        # A file without a line has not been opened.
        self._heap: list[tuple[int, int, _Settled, bytes | None]] = []

    def add(self, first: int, file: _Settled) -> None:
        heapq.heappush(self._heap, (first, len(self._heap), file, None))

    async def at(self, position: int) -> bytes | None:
        """The settled line of this position, if there is one. Positions are asked for in order."""
        while self._heap and self._heap[0][0] <= position:
            found, _, file, line = self._heap[0]
            if line is not None and found < position:
                raise self._once_more(file, found)
            await self._move_on()
            if line is not None:
                return line
        return None

    async def _move_on(self) -> None:
        """The foremost file to its next line; at its end it is taken away."""
        _, n, file, _ = self._heap[0]
        line = await file.next()
        if line is None:
            heapq.heappop(self._heap)
        else:
            heapq.heapreplace(self._heap, (head(line)[0], n, file, line))

    def check_nothing_is_left(self, inputs: int) -> None:
        for position, _, file, line in self._heap:
            if line is not None:
                raise self._once_more(file, position)
        if self._job.plan is not None and inputs != self._job.plan.submitted:
            raise Unbalanced(
                f"job {self._job.id}: {inputs} inputs are listed, {self._job.plan.submitted} were submitted"
            )

    def _once_more(self, file: _Settled, position: int) -> Unbalanced:
        return Unbalanced(f"job {self._job.id}: {file.path} answers input {position + 1} once more")
