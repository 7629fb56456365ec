"""Two workers on the same step, in every order: activities run at least once, and nobody may pay twice."""

import random
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from shared.adapters.memory.provider_rows import Fate
from shared.bootstrap import App
from shared.domain.chunks import ChunkState
from shared.domain.errors import Conflict, Superseded, TryAgainLater, Unknowable
from shared.domain.jobs import Job
from tests.support.turns import Work, handovers, race
from tests.support.world import World, a_body

# More port calls than one worker makes from a planned chunk to its first poll.
CALLS = 22


def advance(job: Job, run: int = 1) -> Work:
    async def work(app: App) -> object:
        return await app.advance_chunk(job.tenant, job.id, 0, run)

    return work


def at_random(seed: int) -> list[int]:
    return random.Random(seed).choices([0, 1], k=3 * CALLS)


async def a_world(**habits: Any) -> tuple[World, Job]:
    world = World()
    world.provider.habits.runs_for = timedelta(hours=1)
    for name, value in habits.items():
        setattr(world.provider.habits, name, value)
    return world, await world.planned(a_body(["one", "two", "one"]))


async def the_rest(world: World, job: Job) -> None:
    """Whatever the race left behind, the job goes on and ends well."""
    await world.engine.start(job.id, 1, tenant=job.tenant)
    await world.run()
    assert await world.outcomes(job) == {"succeeded": 3}
    assert len(world.provider.created) == 1
    assert len(await world.ledger()) == 1
    assert world.provider.file_ids == []


async def test_whoever_is_stopped_wherever_two_workers_create_one_batch() -> None:
    for script in handovers(CALLS):
        world, job = await a_world()

        await race(world, script, advance(job), advance(job))

        assert len(world.provider.created) == 1, script
        assert (await world.chunk(job)).state in (ChunkState.INTENDED, ChunkState.SUBMITTED)
        assert len(world.provider.file_ids) == 1, script


@pytest.mark.parametrize("seed", range(20))
async def test_two_workers_in_any_order_create_one_batch_and_the_job_ends_well(seed: int) -> None:
    world, job = await a_world()

    await race(world, at_random(seed), advance(job), advance(job))

    await the_rest(world, job)


@pytest.mark.parametrize("seed", range(10))
async def test_a_lost_answer_between_two_workers_leaves_one_batch(seed: int) -> None:
    world, job = await a_world(listing_lag=timedelta(seconds=45))
    world.provider.lost_create_answers = 1

    for again in range(8):
        await race(world, at_random(seed + 100 * again), advance(job), advance(job))
        world.clock.advance(timedelta(seconds=20))

    await the_rest(world, job)


@pytest.mark.parametrize("seed", range(10))
async def test_a_create_that_never_arrived_is_repeated_by_one_of_two_workers(seed: int) -> None:
    world, job = await a_world()
    world.provider.fail("create", *[Unknowable("no answer")] * 2)

    for again in range(12):
        await race(world, at_random(seed + 100 * again), advance(job), advance(job))
        world.clock.advance(timedelta(seconds=20))

    await the_rest(world, job)


@pytest.mark.parametrize("seed", range(20))
async def test_two_workers_collect_and_settle_to_one_ledger_row(seed: int) -> None:
    world, job = await a_world()
    await world.advance(job)
    world.clock.advance(timedelta(hours=2))

    await race(world, at_random(seed), advance(job), advance(job))

    assert (await world.chunk(job)).is_done
    await the_rest(world, job)


async def test_an_orchestration_that_was_replaced_while_it_worked_changes_nothing_any_more() -> None:
    words = Counter[str]()
    for script in handovers(CALLS)[::7]:
        world, job = await a_world()
        world.clock.advance(world.policy.stuck_after + timedelta(seconds=1))
        await world.sweep()

        answers = await race(world, script, advance(job, run=1), advance(job, run=2))

        assert len(world.provider.created) == 1, script
        assert isinstance(answers[0], Superseded)
        words.update(type(answer).__name__ for answer in answers)
    assert words["Superseded"] == len(handovers(CALLS)[::7])


def plan(job: Job, run: int) -> Work:
    async def work(app: App) -> object:
        return await app.plan_round(job.tenant, job.id, run)

    return work


@pytest.mark.parametrize("seed", range(15))
async def test_two_planners_of_one_run_make_one_plan(seed: int) -> None:
    world = World()
    job = await world.submit(a_body(["one", "two", "one"]))
    world.engine.instances.clear()

    await race(world, at_random(seed), plan(job, 1), plan(job, 1))

    chunks = (await world.see(job)).chunks
    assert [(c.n, c.attempt, c.requests) for c in chunks] == [(0, 1, 2)]
    await the_rest(world, job)


def take_over_and_plan(job: Job) -> Work:
    """As the sweep does when it finds nobody at work: the next run's number is taken, then it plans."""

    async def work(app: App) -> object:
        while True:
            stored = await app.sweep.pulses.find(job.id)
            assert stored is not None
            with suppress(Conflict):
                await app.sweep.pulses.replace(stored, replace(stored.value, run=2))
                return await app.plan_round(job.tenant, job.id, 2)

    return work


@pytest.mark.parametrize("script", [[0] * i + [1] * 60 + [0] * 60 for i in range(1, 40)], ids=len)
async def test_a_planner_that_was_replaced_cannot_overwrite_the_plan(script: list[int]) -> None:
    world = World()
    job = await world.submit(a_body(["one", "two", "one"]))
    world.engine.instances.clear()

    await race(world, script, plan(job, 1), take_over_and_plan(job))

    seen = await world.see(job)
    assert seen.job.plan is not None
    assert {c.planned_by for c in seen.chunks} == set(seen.job.plan.rounds)
    await world.engine.start(job.id, 2, tenant=job.tenant)
    await world.run()
    assert await world.outcomes(job) == {"succeeded": 3}
    assert len(world.provider.created) == 1


@pytest.mark.parametrize("script", [[0] * i + [1] * 60 + [0] * 60 for i in range(1, 30)], ids=len)
async def test_a_cancel_between_two_settlers_leaves_every_input_one_outcome(script: list[int]) -> None:
    world = World()
    world.provider.habits.runs_for = timedelta(hours=1)
    world.provider.habits.fates["[missing]"] = Fate.MISSING
    job = await world.planned(a_body(["one", "two [missing]", "three"]))
    await world.advance(job)
    world.clock.advance(timedelta(hours=2))
    world.provider.fail("download", TryAgainLater("503"))
    await world.advance(job)

    async def cancel_and_advance(app: App) -> object:
        await app.cancel_job(job.tenant, job.id, world.engine)
        return await app.advance_chunk(job.tenant, job.id, 0, 1)

    await race(world, script, advance(job), cancel_and_advance)
    await world.engine.start(job.id, 1, tenant=job.tenant)
    await world.run()

    assert (await world.outcomes(job)).total() == 3
    assert await world.findings() == []
