"""The Anthropic dialect, driven by the unmodified SDK."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import anthropic
import pytest
from anthropic import AsyncAnthropic
from anthropic.types.messages import MessageBatch

from tests.local.simulator.batching import WAIT_SECONDS
from tests.local.simulator.process import Simulator

TICKET = "The printer is on fire. It cost 100 EUR. Nobody answers."
TOO_OLD = "2023-06-01"


@pytest.fixture
async def client(simulator: Simulator) -> AsyncIterator[AsyncAnthropic]:
    async with AsyncAnthropic(base_url=f"{simulator.url}/anthropic", api_key="key", max_retries=0) as made:
        yield made


def a_request(custom_id: str, text: str = TICKET, **params: object) -> Any:
    asked = {
        "model": "claude-x",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": text}],
        **params,
    }
    return {"custom_id": custom_id, "params": asked}


def some_requests(number: int) -> list[Any]:
    return [a_request(f"r-{n}", f"Ticket {n}. {TICKET}") for n in range(number)]


async def until(client: AsyncAnthropic, batch_id: str, holds: Callable[[MessageBatch], bool]) -> MessageBatch:
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            batch = await client.messages.batches.retrieve(batch_id)
            if holds(batch):
                return batch
            await asyncio.sleep(0.01)


async def ended(client: AsyncAnthropic, batch_id: str) -> MessageBatch:
    return await until(client, batch_id, lambda batch: batch.processing_status == "ended")


async def results(client: AsyncAnthropic, batch_id: str) -> dict[str, Any]:
    return {row.custom_id: row.result async for row in await client.messages.batches.results(batch_id)}


async def test_a_batch_answers_every_request_in_one_stream(client: AsyncAnthropic) -> None:
    requests = some_requests(20)

    created = await client.messages.batches.create(requests=requests)
    batch = await ended(client, created.id)
    found = await results(client, batch.id)

    assert created.processing_status == "in_progress"
    assert created.request_counts.processing == 20
    assert (created.expires_at - created.created_at).total_seconds() == pytest.approx(86_400, abs=1)
    assert batch.request_counts.succeeded == 20
    assert batch.results_url is not None
    assert found.keys() == {request["custom_id"] for request in requests}
    assert all(result.message.content[0].text for result in found.values())
    assert all(result.message.usage.output_tokens > 0 for result in found.values())


@pytest.mark.parametrize(
    ("requests", "told"),
    [
        ([], "requests"),
        ([a_request("a"), a_request("a")], "unique"),
        ([a_request("no spaces")], "pattern"),
        ([a_request("a" * 65)], "pattern"),
        ([{"custom_id": "a"}], "params"),
    ],
)
async def test_what_is_wrong_with_the_envelope_is_refused_at_once(
    client: AsyncAnthropic, requests: list[Any], told: str
) -> None:
    with pytest.raises(anthropic.BadRequestError, match=told):
        await client.messages.batches.create(requests=requests)


async def test_what_is_wrong_inside_becomes_a_row(client: AsyncAnthropic) -> None:
    requests = [a_request("warm", temperature=0), a_request("dumb", messages=[]), a_request("good")]

    batch = await ended(client, (await client.messages.batches.create(requests=requests)).id)
    found = await results(client, batch.id)

    assert (batch.request_counts.errored, batch.request_counts.succeeded) == (2, 1)
    assert found["warm"].error.error.type == "invalid_request_error"
    assert found["good"].type == "succeeded"


async def test_an_older_version_takes_sampling_parameters(client: AsyncAnthropic) -> None:
    older = client.with_options(default_headers={"anthropic-version": TOO_OLD})

    created = await older.messages.batches.create(requests=[a_request("warm", temperature=0)])
    batch = await ended(client, created.id)

    assert batch.request_counts.succeeded == 1


async def test_each_outcome_has_a_type_of_its_own(client: AsyncAnthropic, simulator: Simulator) -> None:
    troubles: dict[str, dict[str, object]] = {
        "Ticket 0": {"outcome": "error", "status": 529, "message": "Overloaded"},
        "Ticket 1": {"outcome": "refusal", "text": "No."},
        "Ticket 2": {"outcome": "truncated"},
        "Ticket 3": {"outcome": "expired"},
        "Ticket 4": {"outcome": "malformed", "shape": "status_0"},
    }
    for text, then in troubles.items():
        simulator.rule(match={"contains": text}, then=then)

    batch = await ended(client, (await client.messages.batches.create(requests=some_requests(6))).id)
    found = await results(client, batch.id)

    assert found["r-0"].error.error.type == "overloaded_error"
    assert found["r-1"].message.stop_reason == "refusal"
    assert found["r-2"].message.stop_reason == "max_tokens"
    assert found["r-3"].type == "expired"
    assert found["r-4"].type == "unheard_of"
    assert found["r-5"].message.stop_reason == "end_turn"
    assert batch.request_counts.expired == 1


async def test_a_cancelled_batch_says_which_requests_were_not_run(
    client: AsyncAnthropic, simulator: Simulator
) -> None:
    simulator.rule(match={"provider": "anthropic"}, then={"batch": "stuck", "completed": 2})
    batch_id = (await client.messages.batches.create(requests=some_requests(5))).id
    await until(client, batch_id, lambda batch: batch.request_counts.succeeded == 2)

    await client.messages.batches.cancel(batch_id)
    await client.messages.batches.cancel(batch_id)
    batch = await ended(client, batch_id)

    assert (batch.request_counts.succeeded, batch.request_counts.canceled) == (2, 3)
    types = sorted(result.type for result in (await results(client, batch_id)).values())
    assert types == ["canceled"] * 3 + ["succeeded"] * 2


async def test_a_failed_batch_is_one_whose_requests_have_all_erred(
    client: AsyncAnthropic, simulator: Simulator
) -> None:
    simulator.rule(match={}, then={"batch": "failed", "message": "Your credit balance is too low."})

    batch = await ended(client, (await client.messages.batches.create(requests=some_requests(3))).id)

    assert batch.request_counts.errored == 3
    assert {result.type for result in (await results(client, batch.id)).values()} == {"errored"}


async def test_results_are_archived_and_batches_deleted(client: AsyncAnthropic, simulator: Simulator) -> None:
    first = (await client.messages.batches.create(requests=some_requests(1))).id
    second = (await client.messages.batches.create(requests=some_requests(1))).id
    await ended(client, first)
    await ended(client, second)

    await client.messages.batches.delete(second)
    simulator.advance(days=29)
    archived = await client.messages.batches.retrieve(first)

    with pytest.raises(anthropic.NotFoundError):
        await client.messages.batches.retrieve(second)
    assert archived.archived_at is not None
    assert archived.results_url is None


async def test_lists_go_back_page_by_page(client: AsyncAnthropic) -> None:
    made = [(await client.messages.batches.create(requests=some_requests(1))).id for _ in range(3)]

    listed = []
    async for batch in client.messages.batches.list(limit=2):
        listed.append(batch.id)
        if batch.id == made[0]:
            break

    assert listed == made[::-1]


async def test_messages_are_answered_at_once(client: AsyncAnthropic) -> None:
    schema: dict[str, object] = {
        "type": "object",
        "properties": {"summary": {"type": "string"}},
        "required": ["summary"],
    }

    message = await client.messages.create(
        model="claude-x",
        max_tokens=100,
        system="Be brief.",
        messages=[{"role": "user", "content": TICKET}],
        output_config={"format": {"type": "json_schema", "schema": schema}},
    )

    assert message.stop_reason == "end_turn"
    assert message.content[0].type == "text"
    assert '"summary"' in message.content[0].text


async def test_errors_have_anthropics_shape(client: AsyncAnthropic, simulator: Simulator) -> None:
    with pytest.raises(anthropic.BadRequestError) as refused:
        await client.messages.create(
            model="claude-x",
            max_tokens=9,
            messages=[{"role": "user", "content": "x"}],
            extra_body={"top_k": 1},
        )

    assert refused.value.type == "invalid_request_error"
    assert refused.value.body["error"]["message"] == "top_k: Extra inputs are not permitted"  # type: ignore[index]
