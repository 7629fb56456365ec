"""Asking the provider how a batch is doing."""

from dataclasses import replace
from datetime import timedelta

import pytest

from shared.adapters.memory.provider import Course
from shared.domain.chunks import BatchEnd, ChunkState
from shared.domain.errors import NotFound, RateLimited, TryAgainLater
from shared.domain.findings import FindingKind
from shared.domain.ids import BatchId
from shared.domain.jobs import Job
from shared.ports.providers import RemoteBatch
from tests.support.world import World, a_body

POLL = 60


async def a_running_job(world: World) -> Job:
    world.provider.habits.runs_for = timedelta(days=10)
    job = await world.planned(a_body(["one", "two"]))
    await world.advance(job)
    return job


async def kinds(world: World) -> list[str]:
    return [finding.kind.value for finding in await world.findings()]


async def test_a_running_batch_is_asked_about_every_poll_and_its_figures_are_shown() -> None:
    world = World()
    job = await a_running_job(world)
    world.provider.habits.completed = 1

    assert await world.advance(job) == POLL

    seen = await world.chunk(job)
    assert (seen.state, seen.remote.completed) == (ChunkState.SUBMITTED, 1)
    assert seen.remote.expires_at == world.clock.now() + timedelta(hours=24)
    assert await world.status(job) == "running"


async def test_an_unchanged_batch_changes_no_record() -> None:
    world = World()
    job = await a_running_job(world)
    before = await world.chunks.load(job.id, 0)

    await world.advance(job)
    await world.advance(job)

    assert (await world.chunks.load(job.id, 0)).entity.etag == before.entity.etag


async def test_a_batch_that_cannot_be_found_for_a_moment_is_asked_about_again() -> None:
    world = World()
    job = await a_running_job(world)
    world.provider.fail("retrieve", *[NotFound("404")] * 3)

    waits = [await world.advance(job) for _ in range(3)]

    assert waits == [POLL] * 3
    assert (await world.chunk(job)).state is ChunkState.SUBMITTED
    assert await kinds(world) == []


async def test_a_batch_that_stays_unknown_is_a_finding_and_never_bought_again() -> None:
    world = World()
    job = await a_running_job(world)
    world.provider.fail("retrieve", *[NotFound("404")] * 30)

    for _ in range(30):
        await world.advance(job)
        world.clock.advance(timedelta(minutes=1))

    assert await kinds(world) == ["unknown_state"]
    assert len(world.provider.created) == 1
    assert (await world.chunk(job)).state is ChunkState.SUBMITTED


async def test_an_unknown_state_is_polled_on_and_found_once() -> None:
    world = World()
    job = await a_running_job(world)
    world.provider.habits.raw_state, world.provider.habits.recognised = "meditating", False

    for _ in range(5):
        assert await world.advance(job) == POLL

    found = await world.findings()
    assert [f.kind for f in found] == [FindingKind.UNKNOWN_STATE]
    assert "meditating" in found[0].message


@pytest.mark.parametrize(
    ("fault", "wait"),
    [(TryAgainLater("503"), 30), (RateLimited("429", retry_after=timedelta(seconds=7)), 7)],
    ids=["outage", "slow down"],
)
async def test_a_fault_while_polling_is_waited_out(fault: TryAgainLater, wait: int) -> None:
    world = World()
    job = await a_running_job(world)
    world.provider.fail("retrieve", fault)

    assert await world.advance(job) == wait
    assert await world.advance(job) == POLL


async def test_a_late_job_is_polled_more_slowly_until_somebody_cancels_it() -> None:
    world = World()
    job = await a_running_job(world)
    world.clock.advance(timedelta(hours=31))
    await world.sweep()

    assert await world.advance(job, run=2) == 4 * POLL

    await world.cancel(job)
    world.provider.fail("cancel", TryAgainLater("503"))
    assert await world.advance(job, run=2) == 30
    assert await world.advance(job, run=2) == POLL


async def test_a_batch_ends_with_what_the_provider_says_of_it() -> None:
    world = World()
    world.provider.courses.append(Course(end=BatchEnd.EXPIRED, done=1))
    job = await a_running_job(world)
    world.clock.advance(timedelta(days=10))
    world.provider.fail("download", TryAgainLater("503"))

    await world.advance(job)

    chunk = await world.chunk(job)
    assert (chunk.state, chunk.end) == (ChunkState.ENDED, BatchEnd.EXPIRED)
    assert (chunk.remote.completed, chunk.remote.failed) == (1, 0)
    assert chunk.remote.output_expires_at == world.clock.now() + timedelta(days=30)
    assert chunk.remote.usage == await world.bill()
    assert await kinds(world) == ["expired_batch"]


async def test_answers_that_nobody_says_where_they_are_are_waited_for_and_not_bought_again() -> None:
    world = World()
    job = await world.planned(a_body(["one", "two"]))
    retrieve, hidden = world.provider.retrieve, True

    async def without_output(batch: BatchId) -> RemoteBatch:
        seen = await retrieve(batch)
        return replace(seen, output_file=None) if hidden else seen

    world.provider.retrieve = without_output  # type: ignore[method-assign]
    await world.engine.start(job.id, 1, tenant=job.tenant)
    await world.advance(job)
    assert (await world.chunk(job)).state is ChunkState.SUBMITTED

    hidden = False
    world.clock.advance(timedelta(minutes=4))
    await world.run()

    assert await world.outcomes(job) == {"succeeded": 2}
    assert len(world.provider.created) == 1


async def test_answers_that_never_come_are_given_up_after_a_while() -> None:
    world = World()
    job = await world.planned(a_body(["one", "two"]))
    retrieve = world.provider.retrieve

    async def without_output(batch: BatchId) -> RemoteBatch:
        return replace(await retrieve(batch), output_file=None)

    world.provider.retrieve = without_output  # type: ignore[method-assign]
    await world.advance(job)
    world.clock.advance(timedelta(minutes=5))
    await world.advance(job)

    assert (await world.chunk(job)).is_done


async def test_reading_the_job_any_number_of_times_asks_the_provider_nothing_and_books_nothing() -> None:
    world = World()
    job = await world.submit(a_body(["one", "two"]))
    await world.run()
    asked, booked = len(world.provider.calls), await world.ledger()

    for _ in range(50):
        await world.see(job)
        await world.results(job)

    assert len(world.provider.calls) == asked
    assert await world.ledger() == booked


async def test_nothing_is_booked_while_a_batch_runs() -> None:
    world = World()
    job = await a_running_job(world)
    world.provider.habits.completed = 2

    for _ in range(5):
        await world.advance(job)

    assert await world.ledger() == []
