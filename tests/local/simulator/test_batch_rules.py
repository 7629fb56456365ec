"""Rules for batches: how they end, when, and what holds them up; and quotas."""

import asyncio

import pytest
from openai import AsyncAzureOpenAI, AsyncOpenAI, BadRequestError, NotFoundError

from tests.local.simulator import batching
from tests.local.simulator.batching import a_line, counts, some_lines
from tests.local.simulator.process import Simulator

pytestmark = pytest.mark.stack


async def test_a_batch_fails_with_the_code_it_is_given(simulator: Simulator, azure: AsyncAzureOpenAI) -> None:
    simulator.rule(match={}, then={"batch": "failed", "error_code": "token_limit_exceeded"}, times=1)

    first = await batching.run(azure, some_lines(2))
    second = await batching.run(azure, some_lines(2))

    assert first.errors is not None
    assert (first.status, [fault.code for fault in first.errors.data or []]) == (
        "failed",
        ["token_limit_exceeded"],
    )
    assert second.status == "completed"


@pytest.mark.parametrize(("completed", "answered"), [(3, 3), (0.7, 7), (None, 5), (99, 10)])
async def test_a_batch_expires_after_some_answers(
    simulator: Simulator, azure: AsyncAzureOpenAI, completed: float | None, answered: int
) -> None:
    simulator.rule(match={}, then={"batch": "expired", "completed": completed})

    batch = await batching.run(azure, some_lines(10))

    found = await batching.output(azure, batch)
    lost = await batching.errors(azure, batch)
    assert (batch.status, counts(batch)) == ("expired", (10, answered, 0))
    assert (len(found), len(lost)) == (answered, 10 - answered)
    assert {row["error"]["code"] for row in lost} <= {"batch_expired"}
    assert len({row["custom_id"] for row in found + lost}) == 10


async def test_a_batch_takes_the_time_it_is_given_and_shows_its_progress(
    simulator: Simulator, azure: AsyncAzureOpenAI
) -> None:
    simulator.rule(match={}, then={"batch": "completed", "after_seconds": 1000})
    batch = await batching.create(azure, some_lines(10))
    await batching.until(azure, batch.id, lambda seen: seen.status == "in_progress")

    simulator.advance(seconds=520)
    half = await batching.until(azure, batch.id, lambda seen: counts(seen)[1] > 0)
    simulator.advance(seconds=480)
    done = await batching.ended(azure, batch.id)

    assert counts(half) == (10, 5, 0)
    assert (done.status, counts(done)) == ("completed", (10, 10, 0))


async def test_a_batch_fails_only_when_its_time_has_come(
    simulator: Simulator, azure: AsyncAzureOpenAI
) -> None:
    simulator.rule(match={}, then={"batch": "failed", "after_seconds": 600})
    batch = await batching.create(azure, some_lines(1))

    assert (await azure.batches.retrieve(batch.id)).status == "validating"
    simulator.advance(seconds=600)

    assert (await batching.ended(azure, batch.id)).status == "failed"


@pytest.mark.parametrize("state", ["validating", "in_progress", "finalizing"])
async def test_a_batch_is_stuck_until_it_is_cancelled(
    simulator: Simulator, azure: AsyncAzureOpenAI, state: str
) -> None:
    simulator.rule(match={}, then={"batch": "stuck", "state": state})
    batch = await batching.create(azure, some_lines(2))
    await batching.until(azure, batch.id, lambda seen: seen.status == state)

    simulator.advance(days=3)
    await asyncio.sleep(0.1)
    still = await azure.batches.retrieve(batch.id)
    await azure.batches.cancel(batch.id)

    assert still.status == state
    assert (await batching.ended(azure, batch.id)).status in {"cancelled", "completed"}


async def test_a_rule_picks_the_batch_by_what_it_holds(simulator: Simulator, azure: AsyncAzureOpenAI) -> None:
    simulator.rule(match={"contains": "poison"}, then={"batch": "failed"})
    simulator.rule(match={"custom_id": "r-1"}, then={"batch": "expired"})
    simulator.rule(match={"key": "job-1.2"}, then={"batch": "cancelled"})

    poisoned = await batching.run(azure, [a_line("a"), a_line("b", "poison")])
    named = await batching.run(azure, some_lines(2))
    keyed = await batching.create(azure, [a_line("a")], chunk_key="job-1.2")
    other = await batching.run(azure, [a_line("a")])

    assert (poisoned.status, named.status, other.status) == ("failed", "expired", "completed")
    assert (await batching.ended(azure, keyed.id)).status == "cancelled"


async def test_create_is_refused_while_the_tokens_are_taken(
    simulator: Simulator, azure: AsyncAzureOpenAI
) -> None:
    simulator.send("POST", "quota", {"model": "gpt-5-mini", "enqueued_tokens": 300})
    simulator.rule(match={}, then={"batch": "stuck"}, times=1)
    first = await batching.create(azure, [a_line("a", "word " * 200)])

    with pytest.raises(BadRequestError) as refused:
        await batching.create(azure, [a_line("b", "word " * 200)])
    other = await batching.run(azure, [a_line("c", "word " * 200, model="other")])
    await azure.batches.cancel(first.id)
    await batching.ended(azure, first.id)
    again = await batching.run(azure, [a_line("b", "word " * 200)])

    assert refused.value.code == "token_limit_exceeded"
    assert (other.status, again.status) == ("completed", "completed")


async def test_a_batch_fails_after_validating_while_the_tokens_are_taken(
    simulator: Simulator, azure: AsyncAzureOpenAI
) -> None:
    simulator.send("POST", "quota", {"enqueued_tokens": 300, "refusal": "failed"})
    simulator.rule(match={}, then={"batch": "stuck"}, times=1)
    first = await batching.create(azure, [a_line("a", "word " * 200)])

    refused = await batching.run(azure, [a_line("b", "word " * 200)])
    await azure.batches.cancel(first.id)
    await batching.ended(azure, first.id)
    again = await batching.run(azure, [a_line("b", "word " * 200)])

    assert refused.errors is not None
    [fault] = refused.errors.data or []
    assert (refused.status, fault.code, fault.line) == ("failed", "token_limit_exceeded", None)
    assert "gpt-5-mini" in (fault.message or "")
    assert again.status == "completed"


async def test_a_new_batch_may_be_hidden_for_a_while(simulator: Simulator, openai: AsyncOpenAI) -> None:
    simulator.rule(
        match={"operation": "create"}, then={"list_lag_seconds": 60, "retrieve_lag_seconds": 30}, times=1
    )
    batch = await batching.create(openai, some_lines(1))

    async def seen() -> tuple[bool, bool]:
        listed = [each.id async for each in openai.batches.list(limit=100)]
        try:
            found = bool(await openai.batches.retrieve(batch.id))
        except NotFoundError:
            found = False
        return batch.id in listed, found

    assert await seen() == (False, False)
    simulator.advance(seconds=30)
    assert await seen() == (False, True)
    simulator.advance(seconds=30)
    assert await seen() == (True, True)


async def test_cancelling_may_take_its_time(simulator: Simulator, azure: AsyncAzureOpenAI) -> None:
    simulator.rule(match={}, then={"batch": "stuck", "completed": 1, "cancel_seconds": 600})
    batch = await batching.create(azure, some_lines(2))
    await batching.until(azure, batch.id, lambda seen: counts(seen)[1] == 1)

    await azure.batches.cancel(batch.id)
    simulator.advance(seconds=500)
    still = await azure.batches.retrieve(batch.id)
    simulator.advance(seconds=100)

    assert still.status == "cancelling"
    assert (await batching.ended(azure, batch.id)).status == "cancelled"


async def test_a_cancelled_batch_may_forget_what_it_did(simulator: Simulator, openai: AsyncOpenAI) -> None:
    simulator.rule(match={}, then={"batch": "cancelled", "completed": 1, "lost_output": True})

    batch = await batching.run(openai, some_lines(3))

    assert (batch.status, counts(batch), batch.output_file_id) == ("cancelled", (3, 0, 0), None)
    assert len(await batching.errors(openai, batch)) == 2


async def test_a_rule_may_pick_the_model(simulator: Simulator, azure: AsyncAzureOpenAI) -> None:
    simulator.rule(match={"model": "other"}, then={"batch": "failed"})

    here = await batching.run(azure, [a_line("a", model="other")])
    there = await batching.run(azure, [a_line("a")])

    assert (here.status, there.status) == ("failed", "completed")
