"""Cancelling: what was finished before is delivered and billed, the rest is cancelled, at every state."""

from datetime import timedelta

import pytest

from shared.adapters.memory.provider import REFUSED_AT_THE_DOOR, Course
from shared.adapters.memory.provider_rows import Fate
from shared.domain.errors import NotFound, TryAgainLater
from shared.domain.jobs import Job
from shared.domain.planning import Limits
from tests.support.world import RETAIL, World, a_body

SINGLE = Limits(requests=1, bytes=10**6, line_bytes=10**6)


async def a_running_job(world: World, count: int = 10, done: int = 0) -> Job:
    world.provider.habits.runs_for = timedelta(hours=10)
    world.provider.courses.append(Course(done=done))
    job = await world.submit(a_body([f"text {i}" for i in range(count)]))
    await world.pass_time(minutes=5)
    return job


async def test_what_was_done_before_is_delivered_and_billed_and_the_rest_is_cancelled() -> None:
    world = World()
    job = await a_running_job(world, done=4)

    await world.cancel(job)
    await world.run()

    assert await world.status(job) == "cancelled"
    assert await world.outcomes(job) == {"succeeded": 4, "cancelled": 6}
    (row,) = await world.ledger()
    assert row.outcomes == {"succeeded": 4, "cancelled": 6}
    assert row.usage == await world.bill()
    assert row.spend.amount > 0
    assert [e.type for e in world.events.published] == ["postern.job.cancelled"]


async def test_cancelling_ends_a_job_whose_batch_the_provider_has_lost() -> None:
    world = World()
    job = await a_running_job(world)
    for verb in ("retrieve", "cancel"):
        world.provider.fail(verb, *[NotFound("404")] * 1000)
    await world.pass_time(hours=1)
    assert await world.status(job) == "running"

    await world.cancel(job)
    await world.run()

    assert await world.status(job) == "cancelled"
    assert await world.outcomes(job) == {"cancelled": 10}
    assert len(world.provider.created) == 1


async def test_a_batch_that_takes_the_cancel_is_there_although_it_is_not_found() -> None:
    world = World()
    job = await a_running_job(world, done=4)
    world.provider.fail("retrieve", *[NotFound("404")] * 20)
    await world.pass_time(minutes=15)

    await world.cancel(job)
    await world.run()

    assert await world.outcomes(job) == {"succeeded": 4, "cancelled": 6}


async def test_a_job_cancelled_before_it_was_planned_sends_nothing() -> None:
    world = World()
    job = await world.submit(a_body(["a", "b"]))

    await world.cancel(job)
    await world.run()

    assert await world.status(job) == "cancelled"
    assert await world.outcomes(job) == {"cancelled": 2}
    assert world.provider.created == []
    assert await world.ledger() == []


async def test_a_job_that_waits_for_room_is_cancelled_at_once() -> None:
    world = World()
    world.provider.courses.extend([REFUSED_AT_THE_DOOR] * 20)
    job = await world.submit(a_body(["a"]))
    await world.pass_time(minutes=30)
    assert await world.status(job) == "waiting"

    await world.cancel(job)
    await world.engine.settle(world.app)

    assert await world.status(job) == "cancelled"
    assert world.provider.file_ids == []


async def test_a_job_whose_file_is_still_pending_is_cancelled_at_once() -> None:
    world = World()
    world.provider.habits.pending_reads = 1000
    job = await world.submit(a_body(["a"]))
    await world.pass_time(seconds=20)

    await world.cancel(job)
    await world.engine.settle(world.app)

    assert await world.status(job) == "cancelled"
    assert world.provider.created == []


async def test_chunks_are_cancelled_each_in_its_own_state() -> None:
    world = World(limits=SINGLE)
    world.provider.habits.runs_for = timedelta(hours=10)
    world.provider.courses.extend([Course(done=0), REFUSED_AT_THE_DOOR, Course(done=1)])
    job = await world.submit(a_body(["out", "waiting", "answered"]))
    await world.pass_time(seconds=30)

    await world.cancel(job)
    await world.run()

    assert await world.outcomes(job) == {"cancelled": 2, "succeeded": 1}
    assert world.provider.calls.count("cancel") == 2


async def test_a_cancel_that_comes_when_everything_has_succeeded_is_no_cancel() -> None:
    world = World()
    world.provider.fail("download", TryAgainLater("503"))
    job = await world.submit(a_body(["a"]))
    await world.engine.settle(world.app)

    await world.cancel(job)
    await world.run()

    assert await world.status(job) == "completed"


async def test_a_cancel_between_two_rounds_buys_no_further_one() -> None:
    world = World()
    world.provider.habits.fates["[missing]"] = Fate.MISSING
    world.provider.habits.runs_for = timedelta(minutes=5)
    job = await world.submit(a_body(["a", "b [missing]"]))
    await world.pass_time(minutes=4)
    world.provider.fail("stage", *[TryAgainLater("503")] * 100)
    await world.pass_time(minutes=3)
    assert len((await world.see(job)).chunks) == 2

    await world.cancel(job)
    await world.run()

    assert await world.outcomes(job) == {"succeeded": 1, "cancelled": 1}
    assert len(world.provider.created) == 1


async def test_cancelling_twice_or_after_the_end_changes_nothing() -> None:
    world = World()
    job = await a_running_job(world, done=1)
    first = await world.cancel(job)
    world.clock.advance(timedelta(seconds=1))
    assert (await world.cancel(job)).cancel_requested_at == first.cancel_requested_at
    await world.run()
    ended = (await world.see(job)).job

    await world.cancel(job)

    assert (await world.see(job)).job == ended
    assert len(world.events.published) == 1


async def test_a_cancel_that_the_provider_did_not_hear_is_repeated() -> None:
    world = World()
    job = await a_running_job(world, done=2)
    world.provider.fail("cancel", *[TryAgainLater("503")] * 3)

    await world.cancel(job)
    await world.pass_time(minutes=10)

    assert await world.outcomes(job) == {"succeeded": 2, "cancelled": 8}


async def test_a_cancel_is_kept_when_the_orchestration_is_lost() -> None:
    world = World()
    job = await a_running_job(world, done=2)
    await world.cancel(job)
    await world.crash()

    world.clock.advance(timedelta(minutes=30))
    await world.sweep()
    await world.run()

    assert await world.outcomes(job) == {"succeeded": 2, "cancelled": 8}


async def test_a_wake_up_during_a_step_is_not_lost() -> None:
    world = World()
    job = await a_running_job(world, done=2)
    retrieve = world.provider.retrieve
    asked: list[object] = []

    async def retrieve_and_cancel(batch: object) -> object:
        seen = await retrieve(batch)  # type: ignore[arg-type]
        if not asked:
            asked.append(batch)
            await world.cancel(job)
        return seen

    world.provider.retrieve = retrieve_and_cancel  # type: ignore[assignment]
    await world.pass_time(seconds=60)

    assert (await world.chunk(job)).cancel_sent_at == world.clock.now()


async def test_another_tenants_job_cannot_be_cancelled() -> None:
    world = World()
    job = await world.submit(a_body(["a"]))

    with pytest.raises(NotFound):
        await world.app.cancel_job(RETAIL.id, job.id, world.engine)
