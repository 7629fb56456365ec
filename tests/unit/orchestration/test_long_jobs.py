"""Orchestrations over the real activities, for as long as providers may take."""

from datetime import timedelta

from shared.domain.planning import Limits
from shared.orchestration.job import EVENTS_PER_HISTORY
from shared.services.policy import Policy
from tests.support.world import World, a_body

SINGLE = Limits(requests=1, bytes=10**6, line_bytes=10**6)


async def test_a_batch_of_two_days_is_polled_in_many_short_histories() -> None:
    world = World(policy=Policy(poll=timedelta(minutes=5)))
    world.provider.habits.runs_for = timedelta(hours=48)
    job = await world.submit(a_body(["text"]))

    await world.run()

    (instance,) = world.engine.instances.values()
    assert len(instance.histories) > 10
    assert max(instance.histories) <= EVENTS_PER_HISTORY
    assert 570 < world.provider.calls.count("retrieve") < 610
    assert await world.outcomes(job) == {"succeeded": 1}


async def test_a_job_of_sixty_chunks_polls_each_once_a_poll() -> None:
    world = World(limits=SINGLE)
    world.provider.habits.runs_for = timedelta(minutes=10)
    await world.submit(a_body([f"text {i}" for i in range(60)]))

    await world.run()

    assert world.provider.calls.count("retrieve") <= 60 * 12
    assert len(set(world.provider.created)) == len(world.provider.created) == 60


async def test_chunks_of_one_job_are_out_side_by_side() -> None:
    world = World(limits=SINGLE)
    world.provider.habits.runs_for = timedelta(hours=1)
    job = await world.submit(a_body(["a", "b", "c"]))

    await world.engine.settle(world.app)

    assert len(world.provider.created) == 3
    assert await world.status(job) == "running"


async def test_a_cancel_is_seen_at_once_and_not_at_the_next_poll() -> None:
    world = World()
    world.provider.habits.runs_for = timedelta(hours=10)
    job = await world.submit(a_body(["text"]))
    await world.pass_time(seconds=61)

    await world.cancel(job)
    await world.engine.settle(world.app)

    assert (await world.chunk(job)).cancel_sent_at == world.clock.now()
