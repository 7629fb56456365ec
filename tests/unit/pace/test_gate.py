"""The way to one deployment, in virtual time."""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain.catalog import Tenant
from shared.domain.errors import Deferred, NotAdmitted, RateLimited, TryAgainLater
from shared.domain.ids import TenantId
from shared.domain.pace import Pacing
from shared.domain.rows import Row, RowKind
from shared.domain.usage import Usage
from shared.domain.waits import Backoff
from shared.services.pace.allowance import MINUTE
from shared.services.pace.gate import Gate, Shut
from tests.support.virtual import VirtualClock, in_virtual_time, run

SECOND = timedelta(seconds=1)
PATIENT = timedelta(hours=10)
SUPPORT = Tenant(id=TenantId("support"))
RETAIL = Tenant(id=TenantId("retail"))
PACING = Pacing(faults=3, shut=Backoff(first=10 * SECOND, longest=40 * SECOND))


def an_answer(tokens: int) -> Row:
    return Row(key=None, kind=RowKind.ANSWER, status=200, usage=Usage(output=tokens))


@dataclass
class Service:
    """What lies behind the gate: takes its time, and notes who came when."""

    gate: Gate
    takes: timedelta = SECOND
    calls: list[tuple[datetime, str, int]] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0

    async def ask(
        self,
        tenant: Tenant = SUPPORT,
        tokens: int = 100,
        *,
        used: int | None = None,
        fault: Exception | None = None,
        patience: timedelta = PATIENT,
    ) -> Row:
        async def call() -> Row:
            self.calls.append((VirtualClock().now(), tenant.id, tokens))
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            await asyncio.sleep(self.takes.total_seconds())
            self.in_flight -= 1
            if fault is not None:
                raise fault
            return an_answer(tokens if used is None else used)

        return await self.gate.ask(tenant, tokens, call, patience=patience)


def a_service(per_minute: int | None = None, takes: timedelta = SECOND) -> Service:
    gate = Gate(name="mini", per_minute=per_minute, clock=VirtualClock(), sleep=asyncio.sleep, pacing=PACING)
    return Service(gate, takes=takes)


def later(start: datetime) -> timedelta:
    return VirtualClock().now() - start


@in_virtual_time
async def test_a_call_goes_at_once_when_nobody_is_there() -> None:
    service = a_service()

    row = await service.ask()

    assert row == an_answer(100)
    assert service.gate.in_flight == 0


@in_virtual_time
async def test_never_more_calls_than_the_limit_which_grows_while_it_is_used() -> None:
    service = a_service()
    assert service.gate.allowed == 4

    await asyncio.gather(*(service.ask() for _ in range(100)))

    assert service.most_in_flight == 8
    assert len(service.calls) == 100


@in_virtual_time
async def test_a_refusal_makes_everybody_wait_as_long_as_was_asked() -> None:
    service = a_service()
    start = VirtualClock().now()

    with pytest.raises(RateLimited):
        await service.ask(fault=RateLimited("429", retry_after=7 * SECOND))
    assert service.gate.allowed == 2
    await asyncio.gather(*(service.ask() for _ in range(2)))

    assert [at - start for at, _, _ in service.calls] == [timedelta(0), 8 * SECOND, 8 * SECOND]


@in_virtual_time
async def test_whoever_cannot_wait_that_long_is_put_off_until_then() -> None:
    service = a_service()
    with pytest.raises(RateLimited):
        await service.ask(fault=RateLimited("429", retry_after=60 * SECOND))

    with pytest.raises(Deferred) as deferred:
        await service.ask(patience=5 * SECOND)

    assert 55 * SECOND <= deferred.value.retry_after <= 85 * SECOND
    assert deferred.value.fault is None
    assert len(service.calls) == 1


@in_virtual_time
async def test_faults_in_a_row_shut_the_gate_and_those_who_wait_are_told() -> None:
    service = a_service(per_minute=20_000)
    results = await asyncio.gather(
        *(service.ask(fault=TryAgainLater("503")) for _ in range(6)), return_exceptions=True
    )

    assert [type(result) for result in results] == [TryAgainLater] * 3 + [Shut] * 3
    assert service.gate.is_shut
    with pytest.raises(Shut) as shut:
        await service.ask()
    assert 10 * SECOND <= shut.value.retry_after <= 15 * SECOND


@in_virtual_time
async def test_after_its_time_one_call_tries_and_its_answer_opens_the_gate_for_all() -> None:
    service = a_service()
    with pytest.raises(NotAdmitted):
        await service.ask(fault=NotAdmitted("401"))
    await asyncio.sleep(10)
    start = VirtualClock().now()

    await asyncio.gather(*(service.ask() for _ in range(4)))

    assert [at - start for at, _, _ in service.calls[1:]] == [timedelta(0), SECOND, SECOND, SECOND]


@in_virtual_time
async def test_a_try_that_fails_shuts_it_again_for_longer() -> None:
    service = a_service()
    with pytest.raises(NotAdmitted):
        await service.ask(fault=NotAdmitted("401"))
    await asyncio.sleep(10)

    first, second = await asyncio.gather(
        service.ask(fault=TryAgainLater("503")), service.ask(), return_exceptions=True
    )

    assert isinstance(first, TryAgainLater)
    assert isinstance(second, Shut)
    assert second.retry_after >= 20 * SECOND


@in_virtual_time
async def test_a_try_that_is_cancelled_lets_the_next_one_try() -> None:
    service = a_service()
    with pytest.raises(NotAdmitted):
        await service.ask(fault=NotAdmitted("401"))
    await asyncio.sleep(10)

    probe = asyncio.create_task(service.ask())
    await asyncio.sleep(0.1)
    probe.cancel()

    assert await service.ask() == an_answer(100)


@in_virtual_time
async def test_an_answer_that_cannot_be_read_is_a_fault_too() -> None:
    service = a_service()

    async def page() -> Row:
        return Row(key=None, kind=RowKind.UNREADABLE)

    for _ in range(3):
        await service.gate.ask(SUPPORT, 1, page, patience=SECOND)

    assert service.gate.is_shut


@in_virtual_time
async def test_a_complaint_about_a_question_is_no_fault() -> None:
    service = a_service()

    async def complaint() -> Row:
        return Row(key=None, kind=RowKind.ERROR, status=400)

    for _ in range(9):
        await service.gate.ask(SUPPORT, 1, complaint, patience=SECOND)

    assert not service.gate.is_shut


@in_virtual_time
async def test_tokens_that_were_not_used_serve_the_next_call() -> None:
    service = a_service(per_minute=60_000)
    start = VirtualClock().now()

    for _ in range(5):
        await service.ask(tokens=9_000, used=100)

    assert later(start) == 5 * SECOND


@in_virtual_time
async def test_a_newcomer_goes_before_who_has_used_much() -> None:
    service = a_service(per_minute=60_000, takes=timedelta(0))
    greedy = [asyncio.create_task(service.ask(tokens=2_000)) for _ in range(20)]
    await asyncio.sleep(3)
    start = VirtualClock().now()

    await asyncio.gather(*(service.ask(RETAIL, tokens=500) for _ in range(5)))

    assert later(start) < 6 * SECOND
    assert sum(task.done() for task in greedy) < 10
    await asyncio.gather(*greedy)


@in_virtual_time
async def test_a_cancelled_wait_leaves_no_trace() -> None:
    service = a_service(per_minute=20_000)
    first = asyncio.create_task(service.ask())
    second = asyncio.create_task(service.ask())
    await asyncio.sleep(0.5)

    second.cancel()
    await asyncio.gather(first, second, return_exceptions=True)

    assert await service.ask() == an_answer(100)
    assert service.gate.in_flight == 0


_STEPS = st.lists(
    st.tuples(
        st.integers(1, 9_000),
        st.floats(0, 20),
        st.sampled_from([None, None, None, "limited", "fault"]),
        st.sampled_from([SUPPORT, RETAIL]),
    ),
    min_size=1,
    max_size=40,
)


@settings(deadline=None, max_examples=60)
@given(per_minute=st.integers(1_000, 200_000), steps=_STEPS)
def test_whatever_happens_the_bounds_hold_and_nothing_is_left_behind(
    per_minute: int, steps: list[tuple[int, float, str | None, Tenant]]
) -> None:
    async def play() -> None:
        service = a_service(per_minute=per_minute)
        ceiling = max(-(-per_minute // 20_000), 1)
        calls = []
        for tokens, pause, trouble, tenant in steps:
            fault = {"limited": RateLimited("429", retry_after=2 * SECOND), "fault": TryAgainLater("503")}
            calls.append(
                asyncio.create_task(
                    service.ask(tenant, tokens, fault=fault.get(trouble or ""), patience=60 * SECOND)
                )
            )
            await asyncio.sleep(pause)
        results = await asyncio.gather(*calls, return_exceptions=True)

        assert all(isinstance(result, Row | TryAgainLater) for result in results)
        assert service.most_in_flight <= ceiling
        assert service.gate.in_flight == 0
        answered = [result for result in results if isinstance(result, Row)]
        assert len(answered) <= len(service.calls)
        for start, _, tokens in service.calls:
            minute = [size for at, _, size in service.calls if start <= at < start + MINUTE]
            if not any(isinstance(result, RateLimited) for result in results):
                assert sum(minute) <= max(per_minute, tokens if len(minute) == 1 else 0)

    run(play())


def test_the_limit_settles_near_what_the_provider_bears() -> None:
    """A provider that bears five at once: few calls are wasted, and the five are used."""

    async def play() -> tuple[int, int, timedelta]:
        service = a_service(per_minute=10**9)
        start, busy, refused = VirtualClock().now(), 0, 0

        async def call() -> Row:
            nonlocal busy, refused
            if busy >= 5:
                refused += 1
                raise RateLimited("429", retry_after=SECOND)
            busy += 1
            await asyncio.sleep(1)
            busy -= 1
            return an_answer(10)

        async def until_answered() -> None:
            while True:
                try:
                    await service.gate.ask(SUPPORT, 10, call, patience=PATIENT)
                except RateLimited:
                    continue
                return

        await asyncio.gather(*(until_answered() for _ in range(500)))
        return 500, refused, later(start)

    answered, refused, took = run(play())

    assert refused < answered * 0.2
    assert took < timedelta(seconds=answered / 5 * 2)


def test_rising_waits_are_spread() -> None:
    async def play() -> list[timedelta]:
        service = a_service()
        with pytest.raises(NotAdmitted):
            await service.ask(fault=NotAdmitted("401"))
        waits = []
        for _ in range(8):
            with pytest.raises(Shut) as shut:
                await service.ask()
            waits.append(shut.value.retry_after)
        return sorted(waits)

    waits = run(play())

    assert all(later > earlier for earlier, later in pairwise(waits))
