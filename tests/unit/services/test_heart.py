"""The heartbeat: proof of life, and the fence against an older orchestration."""

import asyncio
from datetime import timedelta

import pytest

from shared.domain.errors import Superseded, TryAgainLater
from shared.domain.ids import JobId
from shared.domain.pulses import Pulse
from shared.services.jobs.heart import Heart
from shared.services.policy import Policy
from shared.stores.pulses import Pulses
from tests.support.world import START, SUPPORT, World

JOB = JobId("job_1")


async def a_heart(world: World, policy: Policy | None = None) -> Heart:
    pulses = Pulses(world.tables)
    await pulses.add(
        Pulse(tenant=SUPPORT.id, job_id=JOB, run=2, due_at=START, deadline_at=START + timedelta(hours=30))
    )
    return Heart(pulses=pulses, clock=world.clock, policy=policy or world.policy)


async def due(heart: Heart) -> float:
    stored = await heart.pulses.find(JOB)
    assert stored is not None
    return (stored.value.due_at - START).total_seconds()


async def test_of_several_steps_to_come_the_earliest_counts() -> None:
    world = World()
    heart = await a_heart(world)

    await heart.beat(JOB, 2, next_in=timedelta(seconds=300))
    await heart.beat(JOB, 2, next_in=timedelta(seconds=400))
    assert await due(heart) == 300
    await heart.beat(JOB, 2, next_in=timedelta(seconds=20))
    assert await due(heart) == 20
    world.clock.advance(timedelta(seconds=30))
    await heart.beat(JOB, 2, next_in=timedelta(seconds=300))
    assert await due(heart) == 330


@pytest.mark.parametrize("run", [1, 3])
async def test_only_the_present_run_may_act(run: int) -> None:
    heart = await a_heart(World())

    with pytest.raises(Superseded):
        await heart.check(JOB, run)
    with pytest.raises(Superseded):
        async with heart.beating(JOB, run):
            raise AssertionError("nothing may be done")


async def test_nobody_acts_for_a_job_that_is_over() -> None:
    heart = await a_heart(World())
    await heart.pulses.remove(JOB)

    with pytest.raises(Superseded):
        await heart.check(JOB, 2)


async def test_a_long_step_beats_while_it_works_and_stops_with_it() -> None:
    world = World()
    heart = await a_heart(world, Policy(stuck_after=timedelta(milliseconds=4)))
    beats = 0

    async with heart.beating(JOB, 2):
        for _ in range(1000):
            world.clock.advance(timedelta(seconds=60))
            await asyncio.sleep(0.001)
            beats += await due(heart) >= (world.clock.now() - START).total_seconds() - 60
            if beats > 3:
                break

    assert beats > 3
    last = await due(heart)
    world.clock.advance(timedelta(seconds=60))
    await asyncio.sleep(0.01)
    assert await due(heart) == last


async def test_a_step_whose_work_failed_stops_beating_and_fails() -> None:
    heart = await a_heart(World())

    with pytest.raises(TryAgainLater):
        async with heart.beating(JOB, 2):
            raise TryAgainLater("later")

    assert not [task for task in asyncio.all_tasks() if "_keep_beating" in repr(task)]
