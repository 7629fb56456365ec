"""Finishing: the books are balanced first, then the record, then everybody is told."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from shared.adapters.memory.provider_rows import Fate
from shared.domain.findings import FindingKind
from shared.domain.jobs import Job
from shared.domain.planning import Limits
from shared.services.jobs.merge_results import Unbalanced, merge_results
from shared.stores.pulses import Pulses
from shared.wire.paths import JobPaths
from shared.wire.views import job_json
from tests.support.streams import stream, whole
from tests.support.world import World, a_body

SINGLE = Limits(requests=2, bytes=10**6, line_bytes=10**6)


async def report(world: World, job: Job) -> dict[str, Any]:
    document: dict[str, Any] = msgspec.json.decode(
        await whole(world.blobs.read(JobPaths(job.tenant, job.id).report))
    )
    return document


async def test_a_finished_job_has_results_a_report_an_event_and_no_pulse() -> None:
    world = World()
    world.provider.habits.fates["[filtered]"] = Fate.CONTENT_FILTER
    job = await world.submit(a_body(["a", "b [filtered]", "a"]))

    await world.run()

    seen = (await world.see(job)).job
    assert seen.status == "partial"
    assert seen.results_kept_until == world.clock.now() + timedelta(days=90)
    told = await report(world, job)
    assert (told["submitted"], told["unique"], told["balanced"]) == (3, 2, True)
    assert told["outcomes"]["succeeded"] + told["outcomes"]["refused"] == 3
    (event,) = world.events.published
    assert (event.id, event.type) == (f"job:{job.id}:partial", "postern.job.partial")
    assert event.subject == f"tenants/support/jobs/{job.id}"
    assert await Pulses(world.tables).find(job.id) is None


async def test_the_event_of_a_job_holds_figures_and_no_content() -> None:
    world = World()
    world.provider.habits.answer = lambda prompt: "the secret answer"
    await world.submit(a_body(["the secret question"]))

    await world.run()

    data = msgspec.json.encode(dict(world.events.published[0].data))
    assert b"secret" not in data
    assert b'"succeeded":1' in data


@pytest.mark.parametrize("path", ["settled", "index"])
async def test_a_job_whose_books_do_not_balance_raises_the_alarm_and_stays_open(path: str) -> None:
    world = World(limits=SINGLE)
    job = await world.planned(a_body(["a", "b", "c", "d"]))
    for n in (0, 1):
        await world.advance(job, n)
    paths = JobPaths(job.tenant, job.id)
    broken = paths.settled(1) if path == "settled" else paths.index(1)
    lines = (await whole(world.blobs.read(broken))).splitlines(keepends=True)
    await world.blobs.write(broken, stream(*lines[:-1]))

    await world.engine.start(job.id, 1, tenant=job.tenant)
    await world.pass_time(minutes=10)

    assert await world.status(job) == "settling"
    assert [f.kind for f in await world.findings()] == [FindingKind.UNBALANCED]
    assert world.announced("postern.job.completed") == []
    assert await world.blobs.head(paths.results) is None

    await world.blobs.write(broken, stream(*lines))
    await world.run()
    assert await world.outcomes(job) == {"succeeded": 4}


async def test_an_input_with_two_outcomes_is_never_called_done() -> None:
    world = World(limits=SINGLE)
    job = await world.planned(a_body(["a", "b", "c"]))
    for n in (0, 1):
        await world.advance(job, n)
    paths = JobPaths(job.tenant, job.id)
    twice = await whole(world.blobs.read(paths.settled(0)))
    await world.blobs.write(paths.settled(1), stream(twice, await whole(world.blobs.read(paths.settled(1)))))
    seen = await world.see(job)

    with pytest.raises(Unbalanced, match="once more"):
        await whole(merge_results(world.blobs, seen.job, seen.chunks))


async def test_results_so_far_can_be_read_while_the_job_runs() -> None:
    world = World(limits=SINGLE)
    job = await world.planned(a_body(["a", "b", "c", "d", "e"]))
    await world.advance(job, 1)

    results = await world.results(job, partial=True)

    assert [r["custom_id"] for r in results] == ["r-2", "r-3"]
    seen = await world.see(job)
    assert seen.job.totals is None


async def test_counts_add_up_at_every_moment() -> None:
    world = World(limits=SINGLE)
    world.provider.habits.fates["[missing]"] = Fate.MISSING
    world.provider.habits.runs_for = timedelta(minutes=3)
    job = await world.submit(a_body(["a", "b [missing]", "a", "c", "d"]))
    moments = set()

    while not (await world.see(job)).job.is_finished:
        seen = await world.see(job)
        counts = job_json(seen.job, seen.chunks, base_url="")["counts"]
        assert isinstance(counts, dict)
        if counts["submitted"] is not None:
            moments.add(counts["pending"])
            outcomes = sum(counts[o] for o in ("succeeded", "refused", "truncated", "invalid", "failed"))
            assert outcomes + counts["expired"] + counts["cancelled"] + counts["pending"] == 5
        await world.pass_time(seconds=50)

    assert len(moments) > 1


async def test_a_job_whose_input_cannot_be_run_fails_with_its_errors_and_no_results() -> None:
    world = World()
    job = await world.submit(a_body(["a", "b"]))
    world.blobs._store(job.source.path, b'{"custom_id":"x","body":{}}\n[1,2,3]\n', None, {})

    await world.run()

    seen = await world.see(job)
    assert (seen.job.status, seen.job.reason) == ("failed", "invalid_input")
    assert [error.line for error in seen.errors] == [1, 2]
    assert await world.results(job) == []
    assert (await report(world, job))["balanced"] is True
    assert world.provider.calls == []


async def test_a_topic_that_does_not_answer_holds_no_job_up() -> None:
    world = World()
    world.events.refuse(1)
    job = await world.submit(a_body(["a"]))

    await world.run()

    assert await world.status(job) == "completed"
    assert world.events.published == []
    await world.sweep()
    assert [e.id for e in world.events.published] == [f"job:{job.id}:completed"]
