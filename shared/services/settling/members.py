"""The members of one chunk, in memory: some hundred bytes a request, never a body."""

import heapq
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

from shared.domain.chunks import Chunk
from shared.domain.errors import NotFound
from shared.domain.jobs import Job
from shared.domain.usage import Spend, Usage
from shared.ports.blobs import Blobs
from shared.services.streams import own_lines
from shared.wire.members import Spent, read_member, read_repeat
from shared.wire.paths import JobPaths


@dataclass(slots=True)
class Members:
    """`number` maps a key to the member's place; the other columns are by place."""

    number: dict[str, int] = field(default_factory=dict)
    positions: array[int] = field(default_factory=lambda: array("L"))
    spent: dict[int, Spent] = field(default_factory=dict)
    repeats: dict[int, array[int]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.positions)

    def inputs(self, place: int) -> int:
        """How many inputs this member answers."""
        return 1 + len(self.repeats.get(place, ()))

    def spent_before(self, place: int) -> tuple[Usage, Spend] | None:
        spent = self.spent.get(place)
        return spent.figures() if spent else None

    def by_position(self) -> Iterator[tuple[int, int, bool]]:
        """Every input answered, ascending: its position, the member's place, and whether it is a repeat."""
        places = sorted(range(len(self)), key=self.positions.__getitem__)
        own = ((self.positions[place], place, False) for place in places)
        repeated = heapq.merge(*(_repeats(place, others) for place, others in self.repeats.items()))
        return heapq.merge(own, repeated) if self.repeats else own


def _repeats(place: int, positions: array[int]) -> Iterator[tuple[int, int, bool]]:
    return ((position, place, True) for position in positions)


async def load_members(blobs: Blobs, job: Job, chunk: Chunk) -> Members:
    paths, members = JobPaths(job.tenant, job.id), Members()
    async for handful in own_lines(blobs, paths.members(chunk.n, chunk.planned_by)):
        for content in handful:
            member = read_member(content)
            members.number[member.k] = len(members.positions)
            if member.spent:
                members.spent[len(members.positions)] = member.spent
            members.positions.append(member.p)
    await _load_repeats(blobs, job, paths, members)
    return members


async def _load_repeats(blobs: Blobs, job: Job, paths: JobPaths, members: Members) -> None:
    if job.plan is None or job.plan.unique == job.plan.submitted:
        return
    places = {position: place for place, position in enumerate(members.positions)}
    try:
        async for handful in own_lines(blobs, paths.repeats(job.plan.rounds[0])):
            for repeat in map(read_repeat, handful):
                if (place := places.get(repeat.first)) is not None:
                    members.repeats[place] = array("L", repeat.others)
    except NotFound:
        return
