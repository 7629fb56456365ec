"""Further rounds: what is left over, alone, under new chunk keys, as often as the policy allows."""

from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType

import pytest

from shared.adapters.memory.provider import Course
from shared.adapters.memory.provider_rows import Fate
from shared.domain.chunks import BatchEnd
from shared.domain.findings import FindingKind
from shared.domain.ids import JobId
from shared.domain.jobs import Job
from shared.domain.planning import Limits
from shared.services.policy import Policy
from shared.wire.members import Member, line, read_member
from shared.wire.paths import JobPaths
from tests.support.streams import whole
from tests.support.world import World, a_body

PAIRS = Limits(requests=2, bytes=10**6, line_bytes=10**6)


async def ended(world: World, texts: list[str]) -> Job:
    job = await world.submit(a_body(texts))
    await world.run()
    return (await world.see(job)).job


async def test_each_round_has_chunks_and_keys_of_its_own() -> None:
    world = World(limits=PAIRS)
    world.provider.habits.fates["[missing]"] = Fate.MISSING

    job = await ended(world, ["a", "b [missing]", "c", "d [missing]", "e"])

    chunks = (await world.see(job)).chunks
    assert [(c.n, c.attempt, c.requests, c.first) for c in chunks] == [
        (0, 1, 2, 0),
        (1, 1, 2, 2),
        (2, 1, 1, 4),
        (3, 2, 2, 1),
        (4, 3, 2, 1),
    ]
    assert sorted(world.provider.created) == sorted(f"{job.id}-{c.n}-{c.attempt}-1" for c in chunks)
    assert job.plan is not None
    assert (job.plan.chunks, job.plan.rounds) == (5, (1, 1, 1))


async def test_a_left_over_request_is_sent_again_byte_for_byte() -> None:
    world = World()
    world.provider.habits.fates["[missing]"] = Fate.MISSING

    job = await ended(world, ["a", "ü [missing]", "c"])

    paths = JobPaths(job.tenant, job.id)
    first = (await whole(world.blobs.read(paths.chunk(0, 1)))).splitlines()
    again = (await whole(world.blobs.read(paths.chunk(1, 1)))).splitlines()
    assert again == [first[1]]


@pytest.mark.parametrize("attempts", [1, 2, 5])
async def test_a_request_is_sent_no_more_often_than_the_policy_allows(attempts: int) -> None:
    world = World(policy=Policy(poll=timedelta(seconds=60), max_attempts=attempts))
    world.provider.habits.fates["[missing]"] = Fate.MISSING

    job = await ended(world, ["a", "b [missing]"])

    assert len(world.provider.created) == attempts
    assert await world.outcomes(job) == {"succeeded": 1, "failed/missing": 1}


async def test_what_earlier_rounds_cost_is_on_the_result_and_booked_once() -> None:
    world = World()
    world.provider.habits.answer = lambda prompt: "no object"
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    job = await world.submit(a_body(["a"], output_schema=schema))
    await world.run()

    (result,) = await world.results(job)
    rows = await world.ledger()
    assert [row.attempt for row in rows] == [1, 2]
    assert result["usage"]["output_tokens"] == sum(row.usage.output for row in rows)
    assert len({(row.source, row.attempt) for row in rows}) == 2


async def test_left_over_requests_are_packed_by_their_own_tokens() -> None:
    """Two large ones, each beside many small ones: their mean is small, and together they exceed the quota."""
    quota = 260
    world = World(limits=Limits(requests=3, bytes=10**6, line_bytes=10**6, tokens=quota))
    world.provider.habits.runs_for = timedelta(minutes=1)
    world.provider.habits.fates["[missing]"] = Fate.MISSING
    large = "word " * 150 + "[missing]"

    job = await ended(world, [f"one {large}", "s", "t", f"two {large}", "u", "v"])

    for chunk in (await world.see(job)).chunks:
        tokens = [read_member(m).t or 0 for m in await members(world, job.id, chunk.n)]
        assert chunk.tokens == sum(tokens) <= quota
    assert len((await world.see(job)).chunks) == 2 + 2 * 2


async def members(world: World, job_id: JobId, n: int) -> list[bytes]:
    chunk = (await world.chunks.load(job_id, n)).value
    jobs = [info.path async for info in world.blobs.list("jobs/support/") if str(job_id) in info.path]
    (path,) = [p for p in jobs if p.endswith(f"chunks/{n}.{chunk.planned_by}.members.jsonl")]
    return (await whole(world.blobs.read(path))).splitlines()


def test_members_of_an_earlier_version_have_no_tokens() -> None:
    assert read_member(b'{"k":"run-1","p":3}') == Member(k="run-1", p=3)
    assert line(Member(k="run-1", p=3)) == b'{"k":"run-1","p":3}\n'


async def test_chunk_records_that_a_crash_left_out_are_made_good_from_the_plan() -> None:
    world = World(limits=PAIRS)
    job = await world.planned(a_body(["a", "b", "c", "d", "e"]))
    await world.tables.delete("chunks", job.id, "000001")

    assert await world.plan(job) == [0, 1, 2]

    await world.engine.start(job.id, 1, tenant=job.tenant)
    await world.run()
    assert await world.outcomes(job) == {"succeeded": 5}


async def test_planning_again_changes_nothing() -> None:
    world = World(limits=PAIRS)
    job = await world.planned(a_body(["a", "b", "c"]))
    before = await world.see(job)

    assert await world.plan(job) == [0, 1]

    assert await world.see(job) == before


async def test_a_further_round_of_several_chunks_after_several() -> None:
    world = World(limits=PAIRS)
    world.provider.courses.extend([Course(end=BatchEnd.EXPIRED, done=0)] * 3)

    job = await ended(world, ["a", "b", "c", "d", "e"])

    assert [c.requests for c in (await world.see(job)).chunks] == [2, 2, 1, 2, 2, 1]
    assert await world.outcomes(job) == {"succeeded": 5}
    assert sorted(f.kind for f in await world.findings()) == [FindingKind.EXPIRED_BATCH] * 3


async def test_a_job_whose_alias_was_taken_from_the_catalogue_says_so_and_goes_on_when_it_is_back() -> None:
    world = World()
    whole_catalog = world.catalog.catalog
    job = await world.submit(a_body(["a"]))
    world.catalog.catalog = replace(whole_catalog, aliases=MappingProxyType({}))

    await world.pass_time(minutes=10)

    assert [f.kind for f in await world.findings()] == [FindingKind.STEP_FAILING]
    world.catalog.catalog = whole_catalog
    await world.run()
    assert await world.outcomes(job) == {"succeeded": 1}


async def test_a_job_whose_deployment_was_taken_away_while_it_ran_goes_on_when_it_is_back() -> None:
    world = World()
    world.provider.habits.runs_for = timedelta(hours=1)
    whole_catalog = world.catalog.catalog
    job = await world.submit(a_body(["a"]))
    await world.pass_time(minutes=5)
    world.catalog.catalog = replace(whole_catalog, deployments=MappingProxyType({}))

    await world.pass_time(hours=3)

    assert [f.kind for f in await world.findings()] == [FindingKind.STEP_FAILING]
    world.catalog.catalog = whole_catalog
    await world.run()
    assert await world.outcomes(job) == {"succeeded": 1}
    assert len(world.provider.created) == 1
