"""When a task waits, when it goes elsewhere, and when it is put off."""

import asyncio
from datetime import timedelta

import pytest

from shared.adapters.memory.model import MemoryModels
from shared.adapters.memory.provider_rows import Fate
from shared.domain.errors import Deferred, NotAdmitted, PosternError, RateLimited, TryAgainLater
from shared.domain.outcomes import Outcome
from tests.support.virtual import VirtualClock, in_virtual_time
from tests.unit.tasks.orders import a_run, an_order

SECOND = timedelta(seconds=1)


@in_virtual_time
async def test_a_short_wait_is_waited() -> None:
    models = MemoryModels()
    models.of("mini").manners.faults.append(RateLimited("429", retry_after=4 * SECOND))
    start = VirtualClock().now()

    result = await a_run(models)(an_order())

    assert (result.outcome, result.attempts, result.calls) == (Outcome.SUCCEEDED, 1, 2)
    assert VirtualClock().now() - start == 4 * SECOND


@in_virtual_time
async def test_a_fault_is_tried_once_more() -> None:
    models = MemoryModels()
    models.of("mini").manners.faults.append(TryAgainLater("503"))

    result = await a_run(models)(an_order())

    assert (result.outcome, result.calls) == (Outcome.SUCCEEDED, 2)


@pytest.mark.parametrize(
    ("fault", "times", "reason", "wait", "calls"),
    [
        (RateLimited("429", retry_after=180 * SECOND), 9, "rate_limited", 180 * SECOND, 1),
        (RateLimited("429", retry_after=2 * SECOND), 9, "rate_limited", 2 * SECOND, 3),
        (TryAgainLater("503"), 9, "infrastructure", 5 * SECOND, 2),
    ],
)
@in_virtual_time
async def test_what_cannot_be_done_now_is_deferred(
    fault: PosternError, times: int, reason: str, wait: timedelta, calls: int
) -> None:
    models = MemoryModels()
    models.of("mini").manners.faults.extend([fault] * times)

    with pytest.raises(Deferred) as deferred:
        await a_run(models)(an_order())

    assert (deferred.value.fault, deferred.value.retry_after) == (reason, wait)
    assert deferred.value.spent is None
    assert len(models.of("mini").asked) == calls


@in_virtual_time
async def test_an_answer_that_cannot_be_read_twice_is_deferred() -> None:
    models = MemoryModels()
    models.of("mini").manners.fates["printer"] = Fate.MALFORMED

    with pytest.raises(Deferred) as deferred:
        await a_run(models)(an_order())

    assert deferred.value.fault == "infrastructure"


@in_virtual_time
async def test_a_deployment_that_lets_nobody_in_gives_way_to_the_next() -> None:
    models = MemoryModels()
    models.of("mini").manners.faults.append(NotAdmitted("401"))
    alarms: list[str] = []
    run_task = a_run(models, alarms=alarms)

    first = await run_task(an_order())
    second = await run_task(an_order())

    assert alarms == ["mini"]
    assert (first.deployment, first.calls) == ("spare", 2)
    assert (second.deployment, second.calls) == ("spare", 1)
    assert len(models.of("mini").asked) == 1


@in_virtual_time
async def test_faults_in_a_row_send_the_work_to_the_next_deployment_until_the_first_answers_again() -> None:
    models = MemoryModels()
    models.of("mini").manners.faults.extend([TryAgainLater("503")] * 6)
    run_task = a_run(models)

    for _ in range(2):
        with pytest.raises(Deferred):
            await run_task(an_order())
    assert (await run_task(an_order())).deployment == "spare"
    await asyncio.sleep(20)
    assert (await run_task(an_order())).deployment == "spare"
    await asyncio.sleep(60)

    assert (await run_task(an_order())).deployment == "mini"


@in_virtual_time
async def test_when_no_deployment_can_be_asked_nothing_is_sent() -> None:
    models = MemoryModels()
    for name in ("mini", "spare"):
        models.of(name).manners.faults.append(NotAdmitted("401"))
    run_task = a_run(models)

    with pytest.raises(Deferred) as first:
        await run_task(an_order())
    with pytest.raises(Deferred) as second:
        await run_task(an_order())

    assert (first.value.fault, second.value.fault) == ("infrastructure", "infrastructure")
    assert second.value.retry_after >= 10 * SECOND
    assert str(second.value).count("401") == 2
    assert sum(len(model.asked) for model in models.by_deployment.values()) == 2


@in_virtual_time
async def test_what_was_spent_before_a_fault_is_told() -> None:
    models = MemoryModels()
    models.of("mini").manners.answer = lambda words: "not JSON"
    models.of("mini").manners.latency = SECOND
    models.of("mini").manners.sleep = asyncio.sleep
    task = asyncio.create_task(a_run(models)(an_order("extract", schema={"type": "object"})))
    await asyncio.sleep(1.5)

    models.of("mini").manners.faults.extend([TryAgainLater("503")] * 2)
    with pytest.raises(Deferred) as deferred:
        await task

    assert deferred.value.spent is not None
    usage, spend = deferred.value.spent
    assert usage.output > 0
    assert spend.amount > 0


@in_virtual_time
async def test_a_tenant_beyond_its_turns_is_deferred_before_anything_is_sent() -> None:
    models = MemoryModels()
    models.of("mini").manners.latency = 100 * SECOND
    models.of("mini").manners.sleep = asyncio.sleep
    run_task = a_run(models)
    works = [asyncio.create_task(run_task(an_order())) for _ in range(40)]
    await asyncio.sleep(0.1)

    put_off = [work for work in works if work.done()]

    assert put_off
    assert all(isinstance(work.exception(), Deferred) for work in put_off)
    assert len(models.of("mini").asked) <= 5
    newcomer = asyncio.create_task(run_task(an_order(tenant="retail")))
    await asyncio.sleep(5)
    assert not newcomer.done()
    for work in (*works, newcomer):
        work.cancel()
    await asyncio.gather(*works, newcomer, return_exceptions=True)


@in_virtual_time
async def test_a_turn_can_be_had_before_the_document_is_read() -> None:
    models = MemoryModels()
    run_task = a_run(models)
    order = an_order()

    async with run_task.turn(order.alias, order.tenant):
        result = await run_task.in_turn(order)

    assert result.outcome is Outcome.SUCCEEDED
