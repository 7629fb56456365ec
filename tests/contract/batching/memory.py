"""The provider in memory, for the suite."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from shared.adapters.memory.provider import MemoryProvider
from shared.adapters.providers.openai.lines import read_row
from shared.domain.errors import NotAdmitted, NotFound
from shared.domain.ids import BatchId, FileId
from shared.ports.providers import ChunkInput
from tests.contract.batching.service import Service, Ways
from tests.local.simulator.process import Simulator


@dataclass
class StoppedClock:
    time: datetime = field(default_factory=lambda: datetime(2026, 11, 30, 12, tzinfo=UTC))

    def now(self) -> datetime:
        return self.time


@asynccontextmanager
async def memory(_: Simulator) -> AsyncIterator[Service]:
    clock = StoppedClock()
    provider = MemoryProvider(clock=clock, read_row=read_row)
    habits = provider.habits
    habits.stuck, habits.shuffle = True, True

    async def finish(batch: BatchId) -> None:
        habits.stuck = False

    async def under_way(batch: BatchId, answered: int) -> None:
        """What its course says is so from the start."""

    def pass_time(time: timedelta) -> None:
        clock.time += time

    texts: dict[str, str] = {}
    habits.answer = lambda prompt: next((texts[held] for held in texts if held in prompt), prompt)

    async def side_door(chunk: ChunkInput, file: FileId) -> BatchId:
        return provider.open_side_door(file)

    async def strange(batch: BatchId) -> None:
        habits.raw_state, habits.recognised = "hibernating", False

    yield Service(
        provider=provider,
        start=clock.time,
        finish=finish,
        under_way=under_way,
        ways=Ways(repeats_creates=False),
        pass_time=pass_time,
        spoil=habits.fates.__setitem__,
        answer=texts.__setitem__,
        course=provider.courses.append,
        side_door=side_door,
        strange=strange,
        lose_create=lambda: setattr(provider, "lost_create_answers", 1),
        hide=lambda lag: setattr(habits, "listing_lag", lag),
        absent=lambda lag: provider.fail("retrieve", NotFound("not there yet")),
        lock_out=lambda: provider.fail("retrieve", NotAdmitted("the key is not taken any more")),
    )
