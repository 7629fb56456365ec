"""Retry: a new job of what is not final, and of what is asked for by name."""

from typing import Any

import pytest

from shared.adapters.memory.provider import Course
from shared.adapters.memory.provider_rows import Fate
from shared.domain.chunks import BatchEnd
from shared.domain.errors import NotFound
from shared.domain.jobs import Job
from shared.ports.providers import ChunkInput, StagedFile
from shared.wire.bodies import read_retry
from shared.wire.problems import Clash, Unusable
from tests.support.world import World, a_body

TEXTS = ["a", "b [filtered]", "c [missing]", "d [rejected]", "e [truncated]"]


async def a_troubled_job(world: World, **more: Any) -> Job:
    world.provider.habits.fates = {
        "[filtered]": Fate.CONTENT_FILTER,
        "[missing]": Fate.MISSING,
        "[rejected]": Fate.REJECTED,
        "[truncated]": Fate.TRUNCATED,
    }
    job = await world.submit(a_body(TEXTS, **more))
    await world.run()
    world.provider.habits.fates.clear()
    return job


async def retried(world: World, job: Job, **body: Any) -> Job:
    new = await world.retry(job, **body)
    await world.run()
    return (await world.see(new)).job


async def ids(world: World, job: Job) -> list[str]:
    return [r["custom_id"] for r in await world.results(job)]


async def test_a_retry_takes_what_is_not_final_under_its_own_ids() -> None:
    world = World()
    job = await a_troubled_job(world)

    new = await retried(world, job)

    assert await ids(world, new) == ["r-2"]
    assert new.status == "completed"
    assert new.retry_of == job.id
    assert new.id != job.id


async def test_only_the_two_that_expired_are_sent_again() -> None:
    world = World()
    world.provider.courses.extend([Course(end=BatchEnd.EXPIRED, done=1)] * 3)
    job = await world.submit(a_body(["a", "b", "c", "d", "e"]))
    await world.run()
    assert await world.outcomes(job) == {"succeeded": 3, "expired": 2}

    new = await retried(world, job)

    assert await ids(world, new) == ["r-3", "r-4"]
    assert [row.requests for row in await world.ledger()] == [5, 4, 3, 2]
    assert sum(row.outcomes.get("succeeded", 0) for row in await world.ledger()) == 5


@pytest.mark.parametrize(
    ("include", "expected"),
    [
        (["refused"], ["r-1", "r-2"]),
        (["truncated", "failed"], ["r-2", "r-3", "r-4"]),
        (["refused", "truncated", "invalid", "failed"], ["r-1", "r-2", "r-3", "r-4"]),
    ],
)
async def test_what_is_final_is_taken_when_it_is_asked_for_by_name(
    include: list[str], expected: list[str]
) -> None:
    world = World()
    job = await a_troubled_job(world)

    new = await retried(world, job, include=include)

    assert await ids(world, new) == expected
    assert await world.outcomes(new) == {"succeeded": len(expected)}


async def test_a_final_answer_of_the_same_run_is_bought_again_when_it_is_asked_for() -> None:
    world = World()
    job = await a_troubled_job(world, tags={"run_id": "night"})

    new = await retried(world, job, include=["refused"])

    assert await world.outcomes(new) == {"succeeded": 2}
    assert [r["reused"] for r in await world.results(new)] == [False, False]


async def test_a_later_job_of_the_run_finds_what_the_retry_got() -> None:
    world = World()
    job = await a_troubled_job(world, tags={"run_id": "night"})
    await retried(world, job)
    sent = len(world.provider.created)

    again = await world.submit(a_body(TEXTS, tags={"run_id": "night"}))
    await world.run()

    assert [r["reused"] for r in await world.results(again)] == [True] * 5
    assert len(world.provider.created) == sent


async def test_new_parameters_win_over_the_jobs_and_the_lines_own() -> None:
    world = World()
    body = a_body(["a [truncated]"], params={"temperature": 0.1, "max_output_tokens": 10})
    body["requests"][0]["body"] |= {"max_tokens": 10, "top_p": 0.5}
    world.provider.habits.fates["[truncated]"] = Fate.TRUNCATED
    job = await world.submit(body)
    await world.run()

    new = await world.retry(job, include=["truncated"], params={"max_output_tokens": 400, "top_p": 0.9})
    staged = []
    stage = world.provider.stage

    async def watched(chunk: ChunkInput) -> StagedFile:
        staged.append(b"".join([piece async for piece in chunk.open_lines()]))
        return await stage(chunk)

    world.provider.stage = watched  # type: ignore[method-assign]
    await world.run()

    assert await ids(world, new) == ["r-0"]
    assert b'"max_completion_tokens": 400' in staged[0]
    assert b'"max_tokens"' not in staged[0]
    assert b'"temperature": 0.1' in staged[0]
    assert b'"top_p": 0.9' in staged[0]


async def test_lines_without_an_id_keep_the_one_they_were_given() -> None:
    world = World()
    body = a_body(["a", "b [missing]"])
    for request in body["requests"]:
        del request["custom_id"]
    world.provider.habits.fates["[missing]"] = Fate.MISSING
    job = await world.submit(body)
    await world.run()
    world.provider.habits.fates.clear()

    new = await retried(world, job)

    assert await ids(world, job) == ["1", "2"]
    assert await ids(world, new) == ["2"]


async def test_inputs_are_retried_with_their_template() -> None:
    world = World()
    world.provider.habits.fates["[missing]"] = Fate.MISSING
    body = {
        "alias": "summarize",
        "template": {"user": "Say: {text}"},
        "inputs": [
            {"custom_id": "x", "vars": {"text": "a"}},
            {"custom_id": "y", "vars": {"text": "[missing]"}},
        ],
    }
    job = await world.submit(body)
    await world.run()
    world.provider.habits.fates.clear()

    new = await retried(world, job)

    assert await ids(world, new) == ["y"]
    assert await world.outcomes(new) == {"succeeded": 1}


async def test_a_retry_may_be_retried() -> None:
    world = World()
    job = await a_troubled_job(world)
    first = await retried(world, job, include=["failed"])
    assert await ids(world, first) == ["r-2", "r-3"]
    world.provider.habits.fates["[rejected]"] = Fate.MISSING
    second = await retried(world, job, include=["failed"])
    world.provider.habits.fates.clear()

    third = await retried(world, second)

    assert await ids(world, third) == ["r-3"]


async def test_with_nothing_left_to_retry_the_answer_says_so() -> None:
    world = World()
    job = await world.submit(a_body(["a"]))
    await world.run()

    with pytest.raises(Unusable, match="final outcome"):
        await world.retry(job)


async def test_a_running_job_cannot_be_retried() -> None:
    world = World()
    job = await world.submit(a_body(["a"]))

    with pytest.raises(Clash, match="retry it when it is finished"):
        await world.retry(job)


async def test_an_erased_job_cannot_be_retried() -> None:
    world = World()
    job = await a_troubled_job(world)
    await world.app.erase_job(job.tenant, job.id)

    with pytest.raises(NotFound, match="erased"):
        await world.retry(job)


async def test_the_same_retry_under_the_same_id_is_made_once() -> None:
    world = World()
    job = await a_troubled_job(world)
    new_id = world.new_id()

    jobs = [
        await world.app.retry_job(job.tenant, job.id, read_retry(b""), new_id, world.engine) for _ in range(2)
    ]

    assert jobs[0] == jobs[1]
    assert list(world.engine.instances).count((new_id, 1)) == 1
