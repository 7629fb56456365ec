"""The same call answers the same and is done once, whoever dies in between."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from shared.adapters.memory.clock import FixedClock
from shared.adapters.memory.tables import MemoryTables
from shared.domain.ids import JobId, TenantId
from shared.services.door import once as module
from shared.services.door.once import HELD, KEPT, Once
from shared.stores.door import Replies
from shared.wire.problems import Clash, Unusable

SUPPORT = TenantId("support")
START = datetime(2026, 11, 30, tzinfo=UTC)


class Door:
    """Counts what is done, and can be made to fail or to take its time."""

    def __init__(self) -> None:
        self.clock = FixedClock(START)
        self.once = Once(replies=Replies(MemoryTables()), clock=self.clock)
        self.done: list[JobId] = []
        self.fault: Exception | None = None
        self.released = asyncio.Event()
        self.released.set()

    async def call(self, job: str, *, key: str = "k", body: bytes = b"{}") -> str:
        return await self.once(SUPPORT, key, body, JobId(job), self._act)

    async def _act(self, job: JobId) -> str:
        self.done.append(job)
        await self.released.wait()
        if self.fault is not None:
            raise self.fault
        return f"made {job}"


@pytest.fixture
def door() -> Door:
    return Door()


async def test_the_first_answer_is_given_again(door: Door) -> None:
    assert [await door.call("job_1"), await door.call("job_2")] == ["made job_1"] * 2
    assert door.done == ["job_1"]


async def test_another_body_is_a_clash(door: Door) -> None:
    await door.call("job_1")

    with pytest.raises(Clash, match="another body"):
        await door.call("job_2", body=b"[]")


async def test_after_seven_days_the_key_is_new(door: Door) -> None:
    await door.call("job_1")
    door.clock.advance(KEPT)

    assert await door.call("job_2", body=b"[]") == "made job_2"


async def test_a_call_that_is_refused_leaves_nothing_behind(door: Door) -> None:
    door.fault = Unusable("no")
    with pytest.raises(Unusable):
        await door.call("job_1")
    door.fault = None

    assert await door.call("job_2", body=b"[]") == "made job_2"


async def test_who_died_half_way_is_succeeded_soon_and_under_the_same_job(door: Door) -> None:
    first = asyncio.create_task(_dies(door))
    await first
    with pytest.raises(Clash) as caught:
        await door.call("job_2")
    door.clock.advance(HELD)

    assert caught.value.code == "in_progress"
    assert await door.call("job_3") == "made job_1"


async def _dies(door: Door) -> None:
    """As a killed process: what it held stays held, and nothing is tidied up."""

    async def act(job: JobId) -> str:
        raise KeyboardInterrupt

    try:
        await door.once(SUPPORT, "k", b"{}", JobId("job_1"), act)
    except KeyboardInterrupt:
        return


async def test_a_call_that_takes_long_keeps_its_hold(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RENEWED_EVERY", timedelta(milliseconds=1))
    door.released.clear()
    slow = asyncio.create_task(door.call("job_1"))
    for _ in range(4):
        await asyncio.sleep(0.02)
        door.clock.advance(HELD / 2)
        await asyncio.sleep(0.02)
        with pytest.raises(Clash) as caught:
            await door.call("job_2")
        assert caught.value.code == "in_progress"

    door.released.set()

    assert await slow == "made job_1"
    assert await door.call("job_2") == "made job_1"
    assert door.done == ["job_1"]
