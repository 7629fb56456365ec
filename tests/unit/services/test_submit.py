"""Bringing a chunk to the provider: once, whatever happens on the way."""

from datetime import timedelta

import pytest

from shared.adapters.memory.provider import REFUSED_AT_THE_DOOR, Course
from shared.domain.chunks import BatchEnd, Chunk, ChunkState
from shared.domain.errors import (
    Ambiguous,
    NoCapacity,
    NotAdmitted,
    NotFound,
    PosternError,
    RateLimited,
    Rejected,
    TryAgainLater,
    Unknowable,
)
from shared.domain.findings import FindingKind
from shared.domain.jobs import Job
from shared.domain.planning import Limits
from tests.support.world import World, a_body

LEASE = 60  # seconds: twice the create's timeout of 30, and no listing lag
HICCUP = 30


async def a_planned_job(world: World, texts: int = 1) -> Job:
    world.provider.habits.runs_for = timedelta(hours=1)
    return await world.planned(a_body([f"text {i}" for i in range(texts)]))


def faults(world: World, verb: str, *errors: PosternError) -> None:
    world.provider.fail(verb, *errors)


async def test_a_chunk_is_staged_looked_up_created_and_put_on_record() -> None:
    world = World()
    job = await a_planned_job(world)

    wait = await world.advance(job)

    chunk = await world.chunk(job)
    assert wait == 60
    assert world.provider.calls == ["stage", "staged", "find", "create", "retrieve"]
    assert world.provider.created == [chunk.key]
    assert (chunk.state, chunk.remote.batch) == (ChunkState.SUBMITTED, "batch_2")
    assert chunk.lease is None


async def test_the_intent_is_on_record_with_a_lease_before_anything_is_created() -> None:
    world = World()
    job = await a_planned_job(world)
    faults(world, "create", Unknowable("no answer"))

    wait = await world.advance(job)

    chunk = await world.chunk(job)
    assert wait == HICCUP
    assert chunk.state is ChunkState.INTENDED
    assert chunk.lease is not None
    assert chunk.lease.until == world.clock.now() + timedelta(seconds=LEASE)
    assert chunk.intended_at == world.clock.now()


async def test_a_create_whose_answer_was_lost_is_adopted() -> None:
    world = World()
    job = await a_planned_job(world)
    world.provider.lost_create_answers = 1

    assert await world.advance(job) == HICCUP
    await world.advance(job)

    assert len(world.provider.created) == 1
    assert (await world.chunk(job)).state is ChunkState.SUBMITTED


async def test_five_lost_answers_in_a_row_leave_one_batch_for_each_chunk() -> None:
    world = World(limits=Limits(requests=1, bytes=10**6, line_bytes=10**6))
    world.provider.lost_create_answers = 5
    job = await world.submit(a_body([f"text {i}" for i in range(5)]))

    await world.run()

    assert len(world.provider.created) == len(set(world.provider.created)) == 5
    assert await world.outcomes(job) == {"succeeded": 5}


async def test_a_lost_answer_and_five_failed_look_ups_leave_one_batch() -> None:
    world = World()
    job = await a_planned_job(world)
    world.provider.lost_create_answers = 1
    await world.advance(job)
    faults(world, "find", *[TryAgainLater("503")] * 5)

    for _ in range(6):
        await world.advance(job)
        world.clock.advance(timedelta(seconds=HICCUP))

    assert len(world.provider.created) == 1
    assert (await world.chunk(job)).state is ChunkState.SUBMITTED


async def test_a_create_that_never_arrived_is_repeated_only_when_its_lease_is_over() -> None:
    world = World()
    job = await a_planned_job(world)
    faults(world, "create", *[Unknowable("no answer")] * 5)
    tried: list[object] = []

    for second in range(0, 1000, 10):
        await world.advance(job)
        if world.provider.calls.count("create") > len(tried):
            tried.append(second)
        world.clock.advance(timedelta(seconds=10))

    assert tried == [0, LEASE, 2 * LEASE, 3 * LEASE, 4 * LEASE, 5 * LEASE]
    assert len(world.provider.created) == 1


@pytest.mark.parametrize("lag", [30, 90, 600])
async def test_a_batch_that_the_listing_shows_late_is_never_created_twice(lag: int) -> None:
    world = World()
    job = await a_planned_job(world)
    world.provider.habits.listing_lag = timedelta(seconds=lag)
    world.provider.lost_create_answers = 1

    for _ in range(0, lag + 200, 10):
        await world.advance(job)
        world.clock.advance(timedelta(seconds=10))

    assert len(world.provider.created) == 1
    assert (await world.chunk(job)).state is ChunkState.SUBMITTED


async def test_a_look_up_that_took_longer_than_the_lease_allows_creates_nothing() -> None:
    world = World()
    job = await a_planned_job(world)
    find = world.provider.find

    async def slow_find(*args: object, **more: object) -> object:
        world.clock.advance(timedelta(seconds=LEASE // 2))
        return await find(*args, **more)  # type: ignore[arg-type]

    world.provider.find = slow_find  # type: ignore[assignment]
    assert await world.advance(job) == HICCUP

    assert world.provider.created == []
    world.provider.find = find  # type: ignore[method-assign]
    world.clock.advance(timedelta(seconds=LEASE))
    await world.advance(job)
    assert len(world.provider.created) == 1


async def test_an_ambiguous_look_up_pauses_the_chunk_with_a_finding_and_never_creates() -> None:
    world = World()
    job = await a_planned_job(world)
    faults(world, "find", *[Ambiguous("2 batches carry the key")] * 4)

    waits = []
    for _ in range(4):
        waits.append(await world.advance(job))
        world.clock.advance(timedelta(minutes=5))

    assert waits == [60, 60, 60, 60]
    assert world.provider.created == []
    assert [f.kind for f in await world.findings()] == [FindingKind.AMBIGUOUS_BATCH]
    assert len(world.announced("postern.finding.raised")) == 1


# Without keys


def without_keys(*, requests: int = 1) -> World:
    world = World(limits=Limits(requests=requests, bytes=10**6, line_bytes=10**6))
    world.provider.habits.keyless = True
    world.provider.habits.runs_for = timedelta(hours=1)
    return world


async def batches_of(world: World, job: Job) -> list[str | None]:
    return [chunk.remote.batch for chunk in await world.chunks.of(job.id)]


async def test_without_keys_a_chunk_that_was_never_sent_takes_nobodys_batch() -> None:
    world = without_keys()
    job = await world.submit(a_body(["a", "b", "c"]))

    await world.run()

    assert len(world.provider.created) == len(set(await batches_of(world, job))) == 3
    assert await world.outcomes(job) == {"succeeded": 3}
    assert await world.findings() == []


async def test_without_keys_the_only_likely_batch_is_adopted() -> None:
    world = without_keys()
    job = await world.planned(a_body(["a"]))
    world.provider.lost_create_answers = 1

    assert await world.advance(job) == HICCUP
    await world.advance(job)

    assert len(world.provider.created) == 1
    assert (await world.chunk(job)).state is ChunkState.SUBMITTED


async def test_without_keys_a_batch_of_another_size_is_not_adopted() -> None:
    world = without_keys(requests=2)
    job = await world.planned(a_body(["a"]))
    await world.planned(a_body(["b", "c"]))
    faults(world, "create", Unknowable("no answer"))

    await world.advance(job)
    world.clock.advance(timedelta(seconds=LEASE))
    await world.advance(job)

    assert len(world.provider.created) == 1
    assert (await world.chunk(job)).state is ChunkState.SUBMITTED


async def test_without_keys_several_that_lost_their_answers_wait_until_the_results_tell() -> None:
    world = without_keys()
    world.provider.lost_create_answers = 3
    job = await world.submit(a_body(["a", "b", "c"]))

    await world.pass_time(minutes=30)
    unsure = await batches_of(world, job)
    await world.run()

    assert unsure == [None, None, None]
    assert len(world.provider.created) == 3
    assert await world.outcomes(job) == {"succeeded": 3}
    assert {finding.kind for finding in await world.findings()} == {FindingKind.AMBIGUOUS_BATCH}


async def test_without_keys_the_batch_of_a_chunk_that_is_creating_is_left_to_it() -> None:
    world = without_keys()
    first = await world.planned(a_body(["a"]))
    second = await world.planned(a_body(["b"]))
    faults(world, "create", Unknowable("the first one's create never arrived"))
    await world.advance(first)
    world.provider.lost_create_answers = 1
    await world.advance(second)

    waits = [await world.advance(first) for _ in range(3)]
    held = (await world.chunk(first)).remote.batch
    world.clock.advance(timedelta(hours=2))
    await world.advance(second)
    await world.advance(first)

    assert waits == [HICCUP] * 3
    assert held is None
    assert len(world.provider.created) == 2
    assert (await world.chunk(first)).remote.batch != (await world.chunk(second)).remote.batch


# No room


async def deferred(world: World, job: Job) -> tuple[float | None, Chunk]:
    return await world.advance(job), await world.chunk(job)


@pytest.mark.parametrize("form", ["refused at once", "accepted and then refused"])
async def test_without_room_a_chunk_waits_ever_longer_and_the_job_never_fails(form: str) -> None:
    world = World()
    job = await world.submit(a_body(["text"]))
    failed = Course(end=BatchEnd.FAILED, code="token_limit_exceeded")
    full = REFUSED_AT_THE_DOOR if form == "refused at once" else failed
    world.provider.courses.extend([full] * 8)
    seen = set()
    due = []

    for _ in range(8):
        await world.engine.settle(world.app)
        chunk = await world.chunk(job)
        seen.add(await world.status(job))
        assert chunk.due_at is not None
        due.append((chunk.due_at - world.clock.now()).total_seconds())
        world.clock.advance(chunk.due_at - world.clock.now())
    await world.run()

    assert due == [60, 120, 240, 480, 960, 1920, 3600, 3600]
    assert seen == {"waiting"}
    assert await world.status(job) == "completed"
    assert (await world.bill()).output == (await world.ledger())[0].usage.output


async def test_a_batch_refused_for_want_of_room_is_asked_for_again_under_another_key() -> None:
    world = World()
    world.provider.courses.append(Course(end=BatchEnd.FAILED, code="token_limit_exceeded"))
    job = await world.submit(a_body(["text"]))

    await world.run()

    assert world.provider.created == [f"{job.id}-0-1-1", f"{job.id}-0-1-2"]
    assert (await world.chunk(job)).attempt == 1


async def test_no_room_for_another_file_is_waited_for_too() -> None:
    world = World()
    faults(world, "stage", *[NoCapacity("quotaExceeded")] * 3)
    job = await world.submit(a_body(["text"]))

    await world.run()

    assert await world.outcomes(job) == {"succeeded": 1}
    assert (await world.chunk(job)).deferrals == 3


async def test_a_jobs_own_chunks_never_ask_for_more_than_the_whole_quota() -> None:
    world = World(limits=Limits(requests=1, bytes=10**6, line_bytes=10**6, tokens=70))
    world.provider.habits.runs_for = timedelta(minutes=3)
    job = await world.submit(a_body([f"{name} " * 20 for name in ("one", "two", "three", "four", "five")]))
    held = []

    while await world.status(job) not in ("completed", "failed"):
        await world.pass_time(seconds=30)
        held.append([c.tokens or 0 for c in (await world.see(job)).chunks if c.holds_capacity])

    assert max(map(sum, held)) <= 70
    assert max(map(len, held)) > 1
    assert await world.outcomes(job) == {"succeeded": 5}


async def test_a_provider_that_slows_us_down_is_obeyed_to_the_second() -> None:
    world = World()
    job = await a_planned_job(world)
    faults(world, "create", RateLimited("429", retry_after=timedelta(seconds=17)))

    assert await world.advance(job) == 17
    assert (await world.chunk(job)).deferrals == 0
    world.clock.advance(timedelta(seconds=16))
    assert await world.advance(job) == 1
    world.clock.advance(timedelta(seconds=1))
    await world.advance(job)
    assert (await world.chunk(job)).state is ChunkState.SUBMITTED


# Not let in


async def test_refused_credentials_alarm_once_a_day_and_never_fail_the_job() -> None:
    world = World()
    faults(world, "create", *[NotAdmitted("401")] * 30)
    job = await world.submit(a_body(["text"]))

    await world.pass_time(hours=25)

    found = await world.findings(None)
    assert {f.kind for f in found} == {FindingKind.NOT_ADMITTED}
    assert sorted(f.subject for f in found) == ["mini-batch@2026-11-30", "mini-batch@2026-12-01"]
    assert await world.status(job) == "waiting"
    assert await world.findings() == []
    await world.run()
    assert await world.outcomes(job) == {"succeeded": 1}


async def test_refused_credentials_are_noticed_while_polling_too() -> None:
    world = World()
    job = await a_planned_job(world)
    faults(world, "retrieve", NotAdmitted("403"))

    assert await world.advance(job) == HICCUP

    assert [f.kind for f in await world.findings(None)] == [FindingKind.NOT_ADMITTED]


# The input file


async def test_a_file_that_is_still_pending_is_waited_for_and_never_uploaded_again() -> None:
    world = World()
    world.provider.habits.pending_reads = 3
    job = await a_planned_job(world)

    waits = [await world.advance(job) for _ in range(4)]

    assert waits == [5, 5, 5, 60]
    assert world.provider.calls.count("stage") == 1
    assert len(world.provider.created) == 1


async def test_a_create_that_finds_the_file_not_ready_is_tried_again_with_the_same_file() -> None:
    world = World()
    job = await a_planned_job(world)
    faults(world, "create", TryAgainLater("the file is still pending"))

    for _ in range(10):
        await world.advance(job)
        world.clock.advance(timedelta(seconds=HICCUP))

    assert world.provider.calls.count("stage") == 1
    assert (await world.chunk(job)).state is ChunkState.SUBMITTED


async def test_a_staged_file_that_is_gone_is_staged_again() -> None:
    world = World()
    world.provider.habits.pending_reads = 1
    job = await a_planned_job(world)
    await world.advance(job)
    world.provider._files.clear()

    for _ in range(5):
        await world.advance(job)
        world.clock.advance(timedelta(seconds=HICCUP))

    assert world.provider.calls.count("stage") == 2
    assert (await world.chunk(job)).state is ChunkState.SUBMITTED


@pytest.mark.parametrize("verb", ["staged", "create"])
async def test_a_provider_that_knows_no_file_at_all_is_not_flooded_with_uploads(verb: str) -> None:
    world = World()
    faults(world, verb, *[NotFound("404")] * 100)
    job = await a_planned_job(world)

    await world.advance(job)
    assert world.provider.calls.count("stage") <= 2

    for _ in range(10):
        await world.advance(job)
        world.clock.advance(timedelta(seconds=HICCUP))
    assert world.provider.calls.count("stage") <= 12


async def test_a_file_without_an_expiry_is_one_warning_however_many_chunks_there_are() -> None:
    world = World(limits=Limits(requests=1, bytes=10**6, line_bytes=10**6))
    world.provider.habits.no_file_expiry = True
    job = await world.submit(a_body(["a", "b", "c"]))

    await world.run()

    assert [f.kind for f in await world.findings(None)] == [FindingKind.NO_FILE_EXPIRY]
    assert await world.outcomes(job) == {"succeeded": 3}
    assert world.provider.file_ids == []


# Refused for good


@pytest.mark.parametrize("verb", ["stage", "create"])
async def test_an_input_that_the_provider_refuses_fails_with_its_code(verb: str) -> None:
    world = World()
    faults(world, verb, Rejected("400", code="invalid_file_format"))
    job = await world.submit(a_body(["a", "b"]))

    await world.run()

    assert await world.outcomes(job) == {"failed/invalid_file_format": 2}
    assert await world.status(job) == "failed"
    assert await world.ledger() == []
    assert world.provider.created == []


# Cancelled


async def test_an_intent_that_came_to_nothing_is_cancelled_when_its_lease_is_over() -> None:
    world = World()
    job = await a_planned_job(world)
    faults(world, "create", Unknowable("never arrived"))
    await world.advance(job)
    await world.cancel(job)

    assert await world.advance(job) == HICCUP
    assert (await world.chunk(job)).state is ChunkState.INTENDED
    world.clock.advance(timedelta(seconds=LEASE))
    assert await world.advance(job) is None

    assert world.provider.created == []
    assert (await world.chunk(job)).end is BatchEnd.CANCELLED


async def test_an_intent_that_did_come_through_is_found_and_cancelled_at_the_provider() -> None:
    world = World()
    job = await a_planned_job(world)
    world.provider.lost_create_answers = 1
    await world.advance(job)
    await world.cancel(job)

    await world.advance(job)

    chunk = await world.chunk(job)
    assert chunk.remote.batch == "batch_2"
    assert chunk.cancel_sent_at is not None
    assert len(world.provider.created) == 1
