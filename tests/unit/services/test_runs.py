"""Several jobs with one run_id: what succeeded is never bought again, and who comes second waits."""

from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType
from typing import Any

import pytest

from shared.adapters.memory.provider import Course
from shared.adapters.memory.provider_rows import Fate
from shared.domain.chunks import BatchEnd
from shared.domain.jobs import Job
from shared.stores import runs
from tests.support.world import RETAIL, World, a_body

NIGHT = {"tags": {"run_id": "night-1"}}


async def run(world: World, texts: list[str], **more: Any) -> Job:
    job = await world.submit(a_body(texts, **{**NIGHT, **more}))
    await world.run()
    return (await world.see(job)).job


async def requests_sent(world: World) -> list[int]:
    return [row.requests for row in await world.ledger()]


async def test_a_re_run_sends_only_what_has_no_final_answer() -> None:
    world = World()
    world.provider.habits.fates = {"[missing]": Fate.MISSING, "[filtered]": Fate.CONTENT_FILTER}
    texts = ["a", "b [missing]", "c [filtered]"]
    first = await run(world, texts)
    world.provider.habits.fates.clear()

    second = await run(world, [*texts, "d"])

    assert first.status == second.status == "partial"
    assert [(r["outcome"], r["reused"]) for r in await world.results(second)] == [
        ("succeeded", True),
        ("succeeded", False),
        ("refused", True),
        ("succeeded", False),
    ]
    assert (await world.see(second)).chunks[0].requests == 2
    assert second.plan is not None
    assert (second.plan.submitted, second.plan.unique, second.plan.reused) == (4, 4, 2)


async def test_a_reused_answer_is_the_same_and_costs_nothing() -> None:
    world = World()
    first = await run(world, ["a"])
    booked = await world.ledger()

    second = await run(world, ["a", "a"])

    (one,), others = await world.results(first), await world.results(second)
    for other in others:
        assert {**other, "custom_id": "r-0"} == {
            **one,
            "reused": True,
            "usage": dict.fromkeys(one["usage"], 0),
            "cost": {"amount": "0", "currency": "USD"},
        }
    assert [r["custom_id"] for r in others] == ["r-0", "r-1"]
    assert second.status == "completed"
    assert await world.ledger() == booked
    assert len(world.provider.created) == 1


async def test_an_expired_answer_is_no_answer() -> None:
    world = World()
    world.provider.courses.extend([Course(end=BatchEnd.EXPIRED, done=1)] * 3)
    first = await run(world, ["a", "b", "c", "d"])
    assert await world.outcomes(first) == {"succeeded": 3, "expired": 1}

    second = await run(world, ["a", "b", "c", "d"])

    assert await world.outcomes(second) == {"succeeded": 4}
    assert [r["reused"] for r in await world.results(second)] == [True, True, True, False]


@pytest.mark.parametrize(
    "other",
    [
        {"tags": {"run_id": "night-2"}},
        {"tags": {}},
        {"params": {"temperature": 0.5}},
        {"output_schema": {"type": "object", "properties": {}}},
        {"dedupe": False},
    ],
    ids=["another run", "no run", "other parameters", "a schema", "no dedupe"],
)
async def test_whatever_would_be_answered_otherwise_is_bought(other: dict[str, Any]) -> None:
    world = World()
    await run(world, ["a"])

    await run(world, ["a"], **other)

    assert (await requests_sent(world))[:2] == [1, 1]


async def test_another_tenants_answer_is_never_reused() -> None:
    world = World()
    await run(world, ["a"])

    job = await world.submit(a_body(["a"], **NIGHT), tenant=RETAIL)
    await world.run()

    assert [r["reused"] for r in await world.results(job)] == [False]
    assert len(await world.ledger(RETAIL)) == 1


async def test_another_models_answer_is_never_reused() -> None:
    world = World()
    await run(world, ["a"])
    catalog = world.catalog.catalog
    (deployment,) = catalog.deployments.values()
    newer = replace(deployment, model="gpt-6")
    world.catalog.catalog = replace(catalog, deployments=MappingProxyType({newer.name: newer}))

    second = await run(world, ["a"])

    assert [r["reused"] for r in await world.results(second)] == [False]


async def test_without_a_run_id_nothing_is_reused() -> None:
    world = World()
    await run(world, ["a"], tags={})

    await run(world, ["a"], tags={})

    assert await requests_sent(world) == [1, 1]


async def test_a_success_is_preferred_to_any_later_answer() -> None:
    world = World()
    await run(world, ["a"])
    world.provider.habits.fates["a"] = Fate.CONTENT_FILTER
    refused = await world.submit(a_body(["a"], dedupe=False, **NIGHT))
    await world.run()
    assert await world.outcomes(refused) == {"refused/content_filter": 1}

    third = await run(world, ["a"])

    assert await world.outcomes(third) == {"succeeded": 1}


async def test_an_erased_jobs_answers_are_gone() -> None:
    world = World()
    first = await run(world, ["a"])
    await world.app.erase_job(first.tenant, first.id)

    await run(world, ["a"])

    assert await requests_sent(world) == [1, 1]


# At the same time


async def test_the_second_of_two_jobs_waits_for_the_answers_of_the_first() -> None:
    world = World()
    world.provider.habits.runs_for = timedelta(minutes=30)
    first = await world.submit(a_body(["a", "b"], **NIGHT))
    await world.pass_time(minutes=1)
    second = await world.submit(a_body(["b", "c"], **NIGHT))
    await world.pass_time(minutes=5)

    seen = (await world.see(second)).job
    assert (seen.status, seen.reason) == ("waiting", "same_run")
    await world.run()

    assert await world.outcomes(first) == {"succeeded": 2}
    assert [r["reused"] for r in await world.results(second)] == [True, False]
    assert await requests_sent(world) == [2, 1]
    assert (await world.see(second)).job.reason is None


async def test_two_jobs_that_begin_at_the_same_moment_buy_each_request_once() -> None:
    world = World()
    jobs = [await world.submit(a_body(["a", "b", "c"], **NIGHT)) for _ in range(3)]

    await world.run()

    assert await requests_sent(world) == [3]
    assert [await world.outcomes(job) for job in jobs] == [{"succeeded": 3}] * 3


async def test_jobs_of_one_run_without_a_request_in_common_run_side_by_side() -> None:
    world = World()
    world.provider.habits.runs_for = timedelta(hours=1)
    await world.submit(a_body(["a"], **NIGHT))
    await world.pass_time(minutes=1)
    second = await world.submit(a_body(["b"], **NIGHT))
    await world.pass_time(minutes=2)

    assert await world.status(second) == "running"
    assert len(world.provider.created) == 2


async def test_a_waiting_job_buys_for_itself_what_the_first_one_could_not_get() -> None:
    world = World()
    world.provider.habits.runs_for = timedelta(minutes=30)
    first = await world.submit(a_body(["a", "b"], **NIGHT))
    await world.pass_time(minutes=1)
    second = await world.submit(a_body(["a", "b"], **NIGHT))
    await world.pass_time(minutes=1)
    await world.cancel(first)
    await world.run()

    assert await world.outcomes(first) == {"cancelled": 2}
    assert await world.outcomes(second) == {"succeeded": 2}


async def test_a_job_that_waits_for_another_is_cancelled_at_once() -> None:
    world = World()
    world.provider.habits.runs_for = timedelta(hours=20)
    await world.submit(a_body(["a"], **NIGHT))
    await world.pass_time(minutes=1)
    second = await world.submit(a_body(["a"], **NIGHT))
    await world.pass_time(minutes=1)

    await world.cancel(second)
    await world.engine.settle(world.app)

    assert await world.status(second) == "cancelled"
    assert await world.outcomes(second) == {"cancelled": 1}
    assert len(world.provider.created) == 1


async def test_a_job_whose_input_was_refused_holds_nobody_up() -> None:
    world = World()
    first = await world.submit(a_body(["a"], **NIGHT))
    await world.engine.lose_everything()
    path = first.source.path
    world.blobs._store(path, b"not json\n", None)
    await world.plan(first)
    assert (await world.see(first)).job.plan is not None
    assert not (await world.see(first)).job.is_finished

    second = await run(world, ["a"])

    assert await world.outcomes(second) == {"succeeded": 1}


async def test_a_run_that_is_full_refuses_the_next_job_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MAX_JOBS", 2)
    world = World()
    await run(world, ["a"])
    await run(world, ["a"])

    third = await run(world, ["a"])

    seen = await world.see(third)
    assert (seen.job.status, seen.job.reason) == ("failed", "invalid_input")
    assert "use a new run_id" in seen.errors[0].message
