"""Copying what the provider wrote, and deleting it there only afterwards."""

from datetime import timedelta

import pytest

from shared.adapters.memory.provider_rows import Fate
from shared.domain.chunks import ChunkState
from shared.domain.errors import NotAdmitted, NotFound, Rejected, TryAgainLater
from shared.domain.findings import FindingKind
from shared.domain.jobs import Job
from shared.wire.paths import JobPaths
from tests.support.streams import whole
from tests.support.world import World, a_body


async def an_ended_chunk(world: World, *, downloads_fail: int = 1) -> Job:
    world.provider.fail("download", *[TryAgainLater("503")] * downloads_fail)
    job = await world.planned(a_body(["one", "two [filtered]"]))
    await world.advance(job)
    assert (await world.chunk(job)).state is ChunkState.ENDED
    return job


async def test_both_files_are_copied_as_they_are() -> None:
    world = World()
    world.provider.habits.fates["[filtered]"] = Fate.CONTENT_FILTER
    job = await an_ended_chunk(world)
    remote = (await world.chunk(job)).remote
    assert remote.output_file
    assert remote.error_file
    expected = [
        await whole(world.provider.download(file)) for file in (remote.output_file, remote.error_file)
    ]

    await world.advance(job)

    paths = JobPaths(job.tenant, job.id)
    copied = [await whole(world.blobs.read(path)) for path in (paths.raw_output(0), paths.raw_errors(0))]
    assert copied == expected
    assert world.provider.file_ids == []


async def test_a_download_that_broke_off_is_repeated_from_the_start() -> None:
    world = World()
    job = await an_ended_chunk(world)
    download = world.provider.download

    async def breaks(file: object) -> object:
        async for piece in download(file):  # type: ignore[arg-type]
            yield piece[:10]
            raise TryAgainLater("the connection was lost")

    world.provider.download = breaks  # type: ignore[method-assign, assignment]
    await world.advance(job)
    assert await world.blobs.head(JobPaths(job.tenant, job.id).raw_output(0)) is None
    world.provider.download = download  # type: ignore[method-assign]

    assert await world.advance(job) is None
    assert (await world.chunk(job)).is_done


async def test_an_output_that_lapsed_before_it_was_copied_is_found_and_bought_again() -> None:
    world = World()
    job = await an_ended_chunk(world)
    world.provider._files.clear()

    await world.engine.start(job.id, 1, tenant=job.tenant)
    await world.run()

    assert FindingKind.LOST_OUTPUT in {f.kind for f in await world.findings()}
    assert await world.outcomes(job) == {"succeeded": 2}
    assert len(world.provider.created) == 2
    first, second = await world.ledger()
    assert first.unattributed == second.usage


async def test_an_output_that_cannot_be_found_for_a_moment_is_asked_for_again() -> None:
    world = World()
    job = await an_ended_chunk(world)
    world.provider.fail("download", *[NotFound("404")] * 3)

    await world.engine.start(job.id, 1, tenant=job.tenant)
    await world.run()

    assert await world.findings() == []
    assert await world.outcomes(job) == {"succeeded": 2}
    assert len(world.provider.created) == 1


async def test_an_output_that_an_earlier_try_has_copied_is_not_lost_when_it_lapses() -> None:
    world = World()
    job = await an_ended_chunk(world)
    before = await world.chunks.load(job.id, 0)
    await world.advance(job)
    cleared = await world.chunks.load(job.id, 0)
    world.tables._partitions["chunks", job.id].store(before.entity)
    assert (await world.chunks.load(job.id, 0)).value.state is ChunkState.ENDED

    await world.advance(job)

    assert (await world.chunk(job)).settlement == cleared.value.settlement
    assert await world.findings() == []


async def test_the_moment_of_booking_is_fixed_at_collection_midnight_or_not() -> None:
    world = World()
    job = await an_ended_chunk(world)
    world.clock.advance(timedelta(hours=15, minutes=59, seconds=59))
    collected = await world.app.sweep.collect(job, await world.chunks.load(job.id, 0), world.provider)
    booked_at = collected.value.booked_at
    world.clock.advance(timedelta(hours=1))

    await world.advance(job)

    assert [row.booked_at for row in await world.ledger()] == [booked_at]
    assert f"{booked_at:%H:%M:%S}" == "23:59:59"


@pytest.mark.parametrize("fault", [TryAgainLater("503"), NotAdmitted("403")], ids=["outage", "no right"])
async def test_files_that_cannot_be_deleted_now_hold_nothing_up_and_go_later(fault: TryAgainLater) -> None:
    world = World()
    job = await an_ended_chunk(world)
    world.provider.fail("delete_file", fault)

    assert await world.advance(job) is None
    assert (await world.chunk(job)).state is ChunkState.SETTLED

    await world.engine.start(job.id, 1, tenant=job.tenant)
    await world.run()
    assert (await world.chunk(job)).state is ChunkState.CLEARED
    assert world.provider.file_ids == []


async def test_files_are_deleted_before_a_finished_job_is_left_alone() -> None:
    world = World()
    world.provider.fail("delete_file", *[TryAgainLater("503")] * 4)
    job = await world.submit(a_body(["one"]))

    await world.run()

    assert await world.status(job) == "completed"
    assert world.provider.file_ids == []
    assert len(world.announced("postern.job.completed")) >= 1


async def test_a_provider_that_refuses_to_delete_does_not_keep_the_job_busy_for_ever() -> None:
    world = World()
    world.provider.fail("delete_file", *[Rejected("400", code="no")] * 1000)
    job = await world.submit(a_body(["one"]))

    await world.pass_time(hours=2)

    assert await world.status(job) == "completed"
    assert await world.outcomes(job) == {"succeeded": 1}
    found = await world.findings()
    assert [f.kind for f in found] == [FindingKind.STEP_FAILING]
