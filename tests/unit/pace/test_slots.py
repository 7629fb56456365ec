"""Turns between tenants, in virtual time."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain.catalog import Tenant
from shared.domain.errors import Deferred
from shared.domain.ids import TenantId
from shared.domain.pace import Pacing
from shared.services.pace.slots import Slots
from tests.support.virtual import VirtualClock, run

SECOND = timedelta(seconds=1)
SUPPORT = Tenant(id=TenantId("support"))
RETAIL = Tenant(id=TenantId("retail"))


def some_slots(size: int = 4, pacing: Pacing | None = None) -> Slots:
    return Slots(size=lambda: size, clock=VirtualClock(), sleep=asyncio.sleep, pacing=pacing or Pacing())


async def hold(slots: Slots, tenant: Tenant, seconds: float) -> None:
    async with slots.slot(tenant):
        await asyncio.sleep(seconds)


async def started(*works: asyncio.Task[None]) -> None:
    await asyncio.sleep(0.01)
    for work in works:
        if work.done():
            work.result()


def holding(slots: Slots, tenant: Tenant, number: int, seconds: float = 100) -> list[asyncio.Task[None]]:
    return [asyncio.create_task(hold(slots, tenant, seconds)) for _ in range(number)]


def test_beyond_its_share_as_many_may_wait_and_more_is_put_off_at_once() -> None:
    async def play() -> None:
        slots = some_slots(4)
        await started(*holding(slots, SUPPORT, 8))
        before = VirtualClock().now()

        with pytest.raises(Deferred) as deferred:
            await hold(slots, SUPPORT, 1)

        assert VirtualClock().now() == before
        assert deferred.value.fault is None
        assert deferred.value.retry_after >= SECOND

    run(play())


def test_a_newcomer_begins_at_once_although_all_slots_are_held() -> None:
    async def play() -> None:
        slots = some_slots(4)
        await started(*holding(slots, SUPPORT, 4))

        await started(*holding(slots, RETAIL, 1))

        assert slots.held(RETAIL.id) == 1

    run(play())


def test_a_newcomers_next_documents_get_the_slots_that_come_free() -> None:
    async def play() -> None:
        slots = some_slots(4)
        await started(*holding(slots, SUPPORT, 4, seconds=3))

        works = holding(slots, RETAIL, 2, seconds=50)
        await asyncio.sleep(3.1)

        assert slots.held(RETAIL.id) == 2
        await started(*works)
        await started(*holding(slots, SUPPORT, 4))
        assert slots.held(SUPPORT.id) == 2

    run(play())


def test_weights_decide_who_holds_how_many() -> None:
    async def play() -> None:
        slots = some_slots(6)
        heavy = Tenant(id=TenantId("heavy"), weight=2)
        works = [*holding(slots, heavy, 1), *holding(slots, RETAIL, 1)]
        await started(*works)

        assert (slots.share(heavy.id), slots.share(RETAIL.id)) == (4, 2)

    run(play())


def test_a_tenant_that_has_not_been_seen_for_a_while_keeps_no_share() -> None:
    async def play() -> None:
        slots = some_slots(4)
        await hold(slots, RETAIL, 1)
        await started(*holding(slots, SUPPORT, 4))
        assert slots.held(SUPPORT.id) == 2

        await asyncio.sleep(9.95)

        assert slots.held(SUPPORT.id) == 4

    run(play())


def test_what_is_put_off_comes_back_one_after_the_other() -> None:
    async def play() -> None:
        slots = some_slots(4)
        await started(*holding(slots, SUPPORT, 8))
        delays = []
        for _ in range(60):
            with pytest.raises(Deferred) as deferred:
                await hold(slots, SUPPORT, 1)
            delays.append(deferred.value.retry_after)

        assert delays == sorted(delays)
        assert timedelta(seconds=45) < delays[-1] < timedelta(seconds=55)

    run(play())


def test_no_delay_is_longer_than_the_longest_and_those_are_spread() -> None:
    async def play() -> None:
        slots = some_slots(1, Pacing(longest_delay=20 * SECOND))
        await started(*holding(slots, SUPPORT, 2))
        delays = []
        for _ in range(100):
            with pytest.raises(Deferred) as deferred:
                await hold(slots, SUPPORT, 1)
            delays.append(deferred.value.retry_after)

        assert max(delays) <= 20 * SECOND
        assert len(set(delays[10:])) > 80

    run(play())


def test_a_wait_ends_in_time() -> None:
    async def play() -> None:
        slots = some_slots(4)
        await started(*holding(slots, SUPPORT, 4, seconds=100), *holding(slots, RETAIL, 2, seconds=100))
        before = VirtualClock().now()

        with pytest.raises(Deferred):
            await hold(slots, RETAIL, 1)

        assert VirtualClock().now() - before == Pacing().short_wait

    run(play())


def test_a_cancelled_wait_leaves_no_trace() -> None:
    async def play() -> None:
        slots = some_slots(4)
        await started(*holding(slots, SUPPORT, 4, seconds=5), *holding(slots, RETAIL, 2, seconds=5))
        waiting = holding(slots, RETAIL, 1)[0]
        await asyncio.sleep(1)

        waiting.cancel()
        await asyncio.sleep(10)

        assert (slots.held(RETAIL.id), slots.held(SUPPORT.id)) == (0, 0)
        await started(*holding(slots, RETAIL, 4))
        assert slots.held(RETAIL.id) == 4

    run(play())


@dataclass
class Backlog:
    """A queue's messages of several tenants, with a host that works on so many at once, and puts off."""

    slots: Slots
    host: int = 64
    takes: float = 2.0
    queue: list[tuple[float, int, Tenant]] = field(default_factory=list)
    done: list[tuple[float, str]] = field(default_factory=list)
    looks: int = 0
    total: int = 0
    is_done: asyncio.Event = field(default_factory=asyncio.Event)

    async def work(self) -> None:
        workers = [asyncio.create_task(self._worker()) for _ in range(self.host)]
        await self.is_done.wait()
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)

    def drop(self, tenant: Tenant, number: int) -> None:
        now = asyncio.get_running_loop().time()
        self.queue += [(now, self.total + n, tenant) for n in range(number)]
        self.total += number

    async def _worker(self) -> None:
        time = asyncio.get_running_loop().time
        while True:
            due = min(self.queue, default=None)
            if due is None or due[0] > time():
                await asyncio.sleep(0.1)
                continue
            self.queue.remove(due)
            self.looks += 1
            try:
                await hold(self.slots, due[2], self.takes)
            except Deferred as deferred:
                self.queue.append((time() + deferred.retry_after.total_seconds(), due[1], due[2]))
                await asyncio.sleep(0.01)
            else:
                self.done.append((time(), due[2].id))
                if len(self.done) == self.total:
                    self.is_done.set()


def test_ten_documents_behind_a_thousand_finish_as_if_alone_within_a_factor_of_two() -> None:
    async def alone() -> float:
        backlog = Backlog(some_slots(10))
        backlog.drop(RETAIL, 10)
        await backlog.work()
        return backlog.done[-1][0]

    async def behind() -> tuple[float, float, int]:
        backlog = Backlog(some_slots(10))
        backlog.drop(SUPPORT, 1000)
        work = asyncio.create_task(backlog.work())
        await asyncio.sleep(30)
        backlog.drop(RETAIL, 10)
        await work
        mine = [at for at, tenant in backlog.done if tenant == RETAIL.id]
        return mine[-1] - 30, backlog.done[-1][0], backlog.looks

    by_itself = run(alone())
    among_others, everything, looks = run(behind())

    # A host puts off a thousand messages in a few seconds; what they leave is shared.
    assert among_others <= by_itself * 2 + 0.5
    # Nobody's turn goes unused: a thousand documents, ten at once, two seconds each.
    assert everything < 200 * 1.15
    # And the queue is not stirred for nothing.
    assert looks < 6000


@settings(deadline=None, max_examples=60)
@given(
    size=st.integers(1, 12),
    arrivals=st.lists(
        st.tuples(st.integers(0, 3), st.floats(0, 6), st.floats(0.1, 20)), min_size=1, max_size=60
    ),
)
def test_nobody_is_given_more_than_its_share(size: int, arrivals: list[tuple[int, float, float]]) -> None:
    tenants = [Tenant(id=TenantId(f"t{n}"), weight=n + 1) for n in range(4)]

    async def play() -> None:
        slots = some_slots(size)

        async def work(tenant: Tenant, seconds: float) -> None:
            async with slots.slot(tenant):
                assert sum(slots.held(one.id) for one in tenants) <= size + max(size // 2, 1)
                await asyncio.sleep(seconds)

        works = []
        for which, pause, seconds in arrivals:
            tenant = tenants[which]
            before = slots.held(tenant.id)
            works.append(asyncio.create_task(work(tenant, seconds)))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            if slots.held(tenant.id) > before:
                assert slots.held(tenant.id) <= slots.share(tenant.id)
            await asyncio.sleep(pause)
        results = await asyncio.gather(*works, return_exceptions=True)

        assert all(result is None or isinstance(result, Deferred) for result in results)
        assert not any(slots.held(tenant.id) for tenant in tenants)

    run(play())
