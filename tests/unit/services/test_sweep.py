"""The timer's pass: lost work restarted, late jobs told, outputs saved, events sent; each finding once."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from shared.adapters.memory.provider import REFUSED_AT_THE_DOOR, Course
from shared.domain.chunks import ChunkState
from shared.domain.errors import GiveUp, TryAgainLater
from shared.domain.findings import FindingKind
from shared.domain.planning import Limits
from shared.domain.pulses import FLOW, Pulse
from shared.services.policy import Policy
from shared.services.sweeping.sweep import STILLBORN
from shared.stores.pulses import PULSES, Pulses
from shared.wire.records import small
from tests.support.world import START, SUPPORT, World, a_body

SINGLE = Limits(requests=1, bytes=10**6, line_bytes=10**6)
# Longer than the wait for the next poll and what is taken for stuck together.
STUCK = timedelta(seconds=61 + 901)


async def kinds(world: World) -> list[str]:
    return sorted(f.kind.value for f in await world.findings())


async def run_of(world: World, job_id: object) -> int:
    found = await Pulses(world.tables).find(job_id)  # type: ignore[arg-type]
    assert found is not None
    return found.value.run


# Orchestrations that are gone


async def test_a_lost_orchestration_is_started_again_and_goes_on_with_the_batch_that_exists() -> None:
    world = World()
    world.provider.habits.runs_for = timedelta(hours=1)
    job = await world.submit(a_body(["text"]))
    await world.pass_time(minutes=5)
    await world.crash()

    await world.sweep()
    assert world.engine.instances == {}
    world.clock.advance(STUCK)
    await world.sweep()
    await world.run()

    assert len(world.provider.created) == 1
    assert await world.outcomes(job) == {"succeeded": 1}
    assert await kinds(world) == ["lost_orchestration"]
    assert world.engine.instances.keys() == {(job.id, 2)}


async def test_a_job_that_was_accepted_and_never_started_is_started_without_a_word() -> None:
    world = World()
    world.engine.refusals.append(TryAgainLater("the engine does not answer"))
    job = await world.submit(a_body(["text"]))
    assert world.engine.instances == {}

    world.clock.advance(STUCK)
    await world.sweep()
    await world.run()

    assert await world.outcomes(job) == {"succeeded": 1}
    assert await kinds(world) == []


async def test_an_engine_that_does_not_answer_is_asked_again() -> None:
    world = World()
    job = await world.submit(a_body(["text"]))
    await world.crash()
    world.engine.refusals.extend([TryAgainLater("down")] * 2)

    for _ in range(4):
        world.clock.advance(STUCK)
        await world.sweep()
    await world.run()

    assert await world.outcomes(job) == {"succeeded": 1}


async def test_two_sweeps_at_once_start_one_orchestration() -> None:
    world = World()
    job = await world.submit(a_body(["text"]))
    await world.crash()
    world.clock.advance(STUCK)

    await asyncio.gather(world.sweep(), world.sweep(), world.sweep())

    assert world.engine.instances.keys() == {(job.id, 2)}


async def test_an_orchestration_that_comes_back_after_its_replacement_stops() -> None:
    world = World()
    world.provider.habits.runs_for = timedelta(hours=1)
    job = await world.submit(a_body(["text"]))
    await world.pass_time(minutes=5)
    old = world.engine.instances.pop((job.id, 1))
    world.clock.advance(STUCK)
    await world.sweep()
    world.engine.instances[job.id, 1] = old

    words = await world.engine.run(world.app)

    assert sorted(words) == ["finished", "superseded"]
    assert len(world.provider.created) == 1
    assert len(await world.ledger()) == 1
    assert len(world.announced("postern.job.completed")) == 1


async def swept_until_the_end(world: World, every: timedelta) -> None:
    for _ in range(1000):
        await world.engine.pass_time(world.app, every)
        await world.sweep()
        if not world.engine.live:
            return
    raise AssertionError("the job does not end")


async def test_a_job_that_waits_for_an_hour_is_not_taken_for_lost() -> None:
    world = World()
    world.provider.courses.extend([REFUSED_AT_THE_DOOR] * 9)
    job = await world.submit(a_body(["text"]))

    await swept_until_the_end(world, timedelta(minutes=5))

    assert await world.outcomes(job) == {"succeeded": 1}
    assert await kinds(world) == []


async def test_a_chunk_that_waits_for_an_hour_beside_one_that_is_done_is_not_taken_for_lost() -> None:
    world = World(limits=SINGLE)
    world.provider.courses.extend([Course(), *[REFUSED_AT_THE_DOOR] * 9])
    job = await world.submit(a_body(["one", "two"]))

    await swept_until_the_end(world, timedelta(minutes=5))

    assert await world.outcomes(job) == {"succeeded": 2}
    assert await kinds(world) == []


@pytest.mark.parametrize("minutes", [3, 7, 11])
async def test_a_late_job_that_is_polled_slowly_beside_one_that_is_done_is_not_taken_for_lost(
    minutes: int,
) -> None:
    world = World(limits=SINGLE, policy=Policy(poll=timedelta(minutes=5)))
    world.provider.habits.runs_for = timedelta(hours=40)
    job = await world.submit(a_body(["one", "two"]))
    await world.pass_time(minutes=minutes)
    first = next(iter(world.provider._batches.values()))
    first.created_at -= timedelta(hours=8)

    await swept_until_the_end(world, timedelta(minutes=5))

    assert await world.outcomes(job) == {"succeeded": 2}
    assert await kinds(world) == ["late_job"]


async def test_a_dead_orchestration_is_noticed_although_a_chunk_of_it_was_to_wait_long() -> None:
    world = World(limits=SINGLE)
    world.provider.habits.runs_for = timedelta(hours=10)
    world.provider.courses.extend([Course(), *[REFUSED_AT_THE_DOOR] * 7])
    job = await world.submit(a_body(["one", "two"]))
    await world.pass_time(hours=1, minutes=5)
    await world.crash()

    world.clock.advance(STUCK)
    await world.sweep()

    assert world.engine.instances.keys() == {(job.id, 2)}


async def test_a_finished_job_whose_tidying_up_was_cut_short_is_tidied_up() -> None:
    world = World()
    world.provider.fail("delete_file", *[TryAgainLater("503")] * 2)
    job = await world.submit(a_body(["text"]))
    await world.engine.settle(world.app)
    assert await world.status(job) == "completed"
    await world.crash()

    world.clock.advance(STUCK)
    await world.sweep()
    await world.run()

    assert world.provider.file_ids == []
    assert await Pulses(world.tables).find(job.id) is None


async def test_a_pulse_whose_job_was_never_written_is_removed_in_time() -> None:
    world = World()
    pulses = Pulses(world.tables)
    stillborn = Pulse(
        tenant=SUPPORT.id, job_id=world.new_id(), run=1, due_at=START, deadline_at=START + timedelta(hours=30)
    )
    await pulses.add(stillborn)

    world.clock.advance(STILLBORN)
    await world.sweep()
    assert await pulses.find(stillborn.job_id) is not None
    world.clock.advance(timedelta(seconds=1))
    await world.sweep()

    assert await pulses.find(stillborn.job_id) is None
    assert world.engine.instances == {}


async def test_a_pulse_that_this_version_cannot_read_hides_no_other() -> None:
    world = World()
    job = await world.submit(a_body(["text"]))
    await world.crash()
    for shard in range(8):
        await world.tables.insert(PULSES, f"open-{shard}", "job_00", {"schema": "pulse/99", "doc0": "{}"})
    with pytest.raises(GiveUp):
        small.pulse_from_fields({"schema": "pulse/99", "doc0": "{}"})

    world.clock.advance(STUCK)
    await world.sweep()
    await world.run()

    assert await world.outcomes(job) == {"succeeded": 1}


async def test_a_job_that_cannot_be_looked_at_hides_no_other() -> None:
    world = World()
    broken = await world.submit(a_body(["text"]))
    sound = await world.submit(a_body(["text"]))
    await world.crash()
    (partition,) = [p for (table, _), p in world.tables._partitions.items() if table == "jobs"]
    row = next(name for name in partition.rows if broken.id in name)
    entity = partition.rows[row]
    partition.rows[row] = type(entity)(
        partition=entity.partition, row=row, fields={"schema": "job/1", "doc0": "{}"}, etag=entity.etag
    )

    world.clock.advance(STUCK)
    await world.sweep()
    await world.run()

    assert await world.outcomes(sound) == {"succeeded": 1}


# Late jobs


async def test_a_late_job_is_flagged_and_announced_once_and_still_ends() -> None:
    world = World()
    world.provider.habits.runs_for = timedelta(hours=40)
    job = await world.submit(a_body(["text"]))

    await swept_until_the_end(world, timedelta(minutes=15))

    seen = await world.see(job)
    assert seen.job.late
    assert [e.id for e in world.announced("postern.job.late")] == [f"job:{job.id}:late"]
    assert await kinds(world) == ["late_job"]
    assert await world.outcomes(job) == {"succeeded": 1}
    assert world.announced("postern.job.completed")[0].data["late"] is True


async def test_a_job_becomes_late_at_its_own_deadline() -> None:
    world = World()
    world.provider.habits.runs_for = timedelta(hours=3)
    job = await world.submit(a_body(["text"], deadline_hours=1))

    await world.pass_time(minutes=59)
    await world.sweep()
    assert not (await world.see(job)).job.late
    await world.pass_time(minutes=1)
    await world.sweep()

    assert (await world.see(job)).job.late


async def test_a_topic_that_does_not_answer_delays_the_late_event_and_loses_nothing() -> None:
    world = World()
    world.provider.habits.runs_for = timedelta(hours=40)
    job = await world.submit(a_body(["text"], deadline_hours=1))
    await world.pass_time(hours=2)
    world.events.refuse(1000)
    await world.sweep()
    assert (await world.see(job)).job.late
    world.events.refuse(0)

    await world.sweep()

    assert len(world.announced("postern.job.late")) == 1
    assert len(world.announced("postern.finding.raised")) == 1


# Outputs that are about to lapse


async def test_an_output_about_to_lapse_is_copied_by_the_sweep_once_it_is_near() -> None:
    world = World()
    job = await world.planned(a_body(["text"]))
    world.provider.fail("download", TryAgainLater("503"))
    await world.advance(job)
    assert (await world.chunk(job)).state is ChunkState.ENDED

    world.clock.advance(timedelta(days=26, hours=23))
    await world.sweep()
    assert (await world.chunk(job)).state is ChunkState.ENDED
    world.clock.advance(timedelta(hours=2))
    await world.sweep()

    assert (await world.chunk(job)).state is ChunkState.COLLECTED
    assert FindingKind.OUTPUT_ABOUT_TO_LAPSE.value in await kinds(world)
    world.clock.advance(timedelta(days=10))
    await world.run()
    assert await world.outcomes(job) == {"succeeded": 1}


# Events that are still unsent


async def test_what_could_not_be_published_is_published_by_the_next_sweep_and_then_forgotten() -> None:
    world = World()
    world.events.refuse(1)
    await world.submit(a_body(["text"]))
    await world.run()
    assert world.events.published == []

    await world.sweep()
    await world.sweep()

    assert [e.type for e in world.events.published] == ["postern.job.completed"]


async def test_a_finding_is_recorded_and_announced_once_however_often_it_is_seen() -> None:
    world = World()
    world.provider.habits.runs_for = timedelta(hours=40)
    await world.submit(a_body(["text"], deadline_hours=1))
    await world.pass_time(hours=2)

    for _ in range(5):
        await world.sweep()

    assert await kinds(world) == ["late_job"]
    assert len(world.announced("postern.finding.raised")) == 1


# Another version's orchestrations


async def driven_by(world: World, job_id: object, flow: int) -> None:
    pulses = Pulses(world.tables)
    found = await pulses.find(job_id)  # type: ignore[arg-type]
    assert found is not None
    await pulses.replace(found, replace(found.value, flow=flow))


async def test_what_an_older_version_drives_is_taken_over_at_once_and_nothing_is_bought_twice() -> None:
    world = World()
    world.provider.habits.runs_for = timedelta(hours=1)
    job = await world.submit(a_body(["text"]))
    await world.pass_time(minutes=5)
    old = world.engine.instances.pop((job.id, 1))
    await driven_by(world, job.id, FLOW - 1)

    await world.sweep()
    await world.sweep()
    assert await run_of(world, job.id) == 2
    world.engine.instances[job.id, 1] = old
    words = await world.engine.run(world.app)

    assert sorted(words) == ["finished", "superseded"]
    assert len(world.provider.created) == 1
    assert await world.outcomes(job) == {"succeeded": 1}
    assert await kinds(world) == []


async def test_what_a_newer_version_drives_is_left_alone_until_nobody_does() -> None:
    world = World()
    world.provider.habits.runs_for = timedelta(hours=1)
    job = await world.submit(a_body(["text"]))
    await world.pass_time(minutes=5)
    await world.crash()
    await driven_by(world, job.id, FLOW + 1)

    await world.sweep()
    assert await run_of(world, job.id) == 1
    world.clock.advance(STUCK)
    await world.sweep()
    await world.run()

    found = await world.findings()
    assert [f.kind for f in found] == [FindingKind.LOST_ORCHESTRATION]
    assert len(world.provider.created) == 1
    assert await world.outcomes(job) == {"succeeded": 1}
