"""The life of a batch without any rule."""

import json

import pytest
from openai import AsyncAzureOpenAI, AsyncOpenAI, BadRequestError, NotFoundError

from tests.local.simulator import batching
from tests.local.simulator.batching import a_line, counts, some_lines
from tests.local.simulator.process import Simulator

pytestmark = pytest.mark.stack


async def test_every_request_is_answered_once_and_not_in_order(azure: AsyncAzureOpenAI) -> None:
    lines = some_lines(200)

    batch = await batching.run(azure, lines)

    found = [row["custom_id"] for row in await batching.output(azure, batch)]
    sent = [line["custom_id"] for line in lines]
    assert (batch.status, counts(batch)) == ("completed", (200, 200, 0))
    assert sorted(found) == sorted(sent)
    assert found != sent


async def test_an_answer_is_taken_from_the_text(azure: AsyncAzureOpenAI) -> None:
    batch = await batching.run(azure, [a_line("r", "The printer is on fire. It cost 100 EUR.")])

    [row] = await batching.output(azure, batch)

    assert batching.message(row) == "The printer is on fire. It cost 100 EUR."


async def test_azure_shows_a_batch_in_its_own_way(azure: AsyncAzureOpenAI) -> None:
    batch = await batching.run(azure, some_lines(1))

    [row] = await batching.output(azure, batch)
    choice = row["response"]["body"]["choices"][0]
    assert batch.endpoint is None
    assert batch.expires_at == batch.created_at + 86_400
    assert batch.usage is None
    assert batch.error_file_id
    assert await batching.content(azure, batch.error_file_id) == b""
    assert choice["content_filter_results"]["hate"] == {"filtered": False, "severity": "safe"}


async def test_openai_fills_every_field_and_makes_no_empty_file(openai: AsyncOpenAI) -> None:
    batch = await batching.run(openai, some_lines(3))

    found = await batching.output(openai, batch)
    assert batch.error_file_id is None
    assert batch.model == "gpt-5-mini"
    assert batch.usage is not None
    assert batch.usage.input_tokens == sum(row["response"]["body"]["usage"]["prompt_tokens"] for row in found)
    assert "content_filter_results" not in found[0]["response"]["body"]["choices"][0]


async def test_both_families_of_azure_paths_lead_to_the_same_batches(
    simulator: Simulator, azure: AsyncAzureOpenAI
) -> None:
    batch = await batching.run(azure, some_lines(1))

    async with AsyncOpenAI(base_url=f"{simulator.url}/azure/openai/v1", api_key="k") as client:
        assert (await client.batches.retrieve(batch.id)).id == batch.id


async def test_batches_are_listed_newest_first_page_by_page(openai: AsyncOpenAI) -> None:
    made = [(await batching.create(openai, some_lines(1), key=f"chunk-{n}")).id for n in range(5)]

    listed = [batch async for batch in openai.batches.list(limit=2)][:5]

    assert [batch.id for batch in listed] == made[::-1]
    assert listed[0].metadata == {"key": "chunk-4"}


async def test_a_batch_that_is_cancelled_keeps_what_was_done(
    simulator: Simulator, azure: AsyncAzureOpenAI, openai: AsyncOpenAI
) -> None:
    simulator.rule(match={}, then={"batch": "stuck", "completed": 4})

    for client, unrun in ((azure, 0), (openai, 6)):
        batch = await batching.create(client, some_lines(10))
        await batching.until(client, batch.id, lambda seen: counts(seen)[1] == 4)
        assert (await client.batches.cancel(batch.id)).status == "cancelling"
        batch = await batching.ended(client, batch.id)

        assert (batch.status, counts(batch)) == ("cancelled", (10, 4, 0))
        assert len(await batching.output(client, batch)) == 4
        codes = [row["error"]["code"] for row in await batching.errors(client, batch)]
        assert codes == ["batch_cancelled"] * unrun


async def test_a_batch_that_has_ended_cannot_be_cancelled(openai: AsyncOpenAI) -> None:
    batch = await batching.run(openai, some_lines(1))

    with pytest.raises(BadRequestError):
        await openai.batches.cancel(batch.id)


async def test_openai_expires_what_is_not_done_in_a_day(simulator: Simulator, openai: AsyncOpenAI) -> None:
    simulator.rule(match={}, then={"batch": "stuck", "completed": 3})
    batch = await batching.create(openai, some_lines(10))
    await batching.until(openai, batch.id, lambda seen: counts(seen)[1] == 3)

    simulator.advance(hours=24)
    batch = await batching.ended(openai, batch.id)

    assert (batch.status, counts(batch)) == ("expired", (10, 3, 0))
    assert len(await batching.output(openai, batch)) == 3
    assert {row["error"]["code"] for row in await batching.errors(openai, batch)} == {"batch_expired"}


async def test_azure_runs_on_after_a_day(simulator: Simulator, azure: AsyncAzureOpenAI) -> None:
    simulator.rule(match={}, then={"batch": "stuck", "completed": 3, "after_seconds": 40 * 3600})
    batch = await batching.create(azure, some_lines(10))
    await batching.until(azure, batch.id, lambda seen: counts(seen)[1] == 3)

    simulator.advance(hours=30)
    still = await azure.batches.retrieve(batch.id)
    simulator.advance(hours=10)

    assert still.status == "in_progress"
    assert (await batching.ended(azure, batch.id)).status == "completed"


BAD_INPUTS = {
    "not JSON": (b"{oops\n", "invalid_json_line", "invalid_json_line", 1),
    "not an object": (b"[1]\n", "invalid_json_line", "invalid_json_line", 1),
    "another URL": (
        batching.jsonl([a_line("a"), {**a_line("b"), "url": "/v1/responses"}]),
        "url_mismatch",
        "invalid_url",
        2,
    ),
    "another model": (
        batching.jsonl([a_line("a"), a_line("b", model="other")]),
        "model_mismatch",
        "mismatched_model",
        2,
    ),
    "an id used twice": (
        batching.jsonl([a_line("a"), a_line("b"), a_line("a")]),
        "duplicate_custom_id",
        "duplicate_custom_id",
        3,
    ),
    "a byte order mark": (
        b"\xef\xbb\xbf" + batching.jsonl([a_line("a")]),
        "invalid_json_line",
        "invalid_json_line",
        1,
    ),
    "nothing": (b"\n", "empty_file", "invalid_request", None),
}


@pytest.mark.parametrize(
    ("content", "azure_code", "openai_code", "line"), BAD_INPUTS.values(), ids=BAD_INPUTS
)
async def test_a_bad_line_fails_the_batch(
    azure: AsyncAzureOpenAI,
    openai: AsyncOpenAI,
    content: bytes,
    azure_code: str,
    openai_code: str,
    line: int | None,
) -> None:
    for client, code in ((azure, azure_code), (openai, openai_code)):
        batch = await batching.run(client, content)

        assert batch.status == "failed"
        assert batch.errors is not None
        assert [(fault.code, fault.line) for fault in batch.errors.data or []] == [(code, line)]
        assert not batch.output_file_id


async def test_a_line_that_the_model_refuses_is_a_row_in_the_error_file(openai: AsyncOpenAI) -> None:
    batch = await batching.run(openai, [a_line("good"), a_line("bad", messages=[])])

    [row] = await batching.errors(openai, batch)
    assert counts(batch) == (2, 1, 1)
    assert (row["custom_id"], row["response"]["status_code"], row["error"]) == ("bad", 400, None)
    assert row["response"]["body"]["error"]["param"] is None


@pytest.mark.parametrize(
    "wish",
    [
        {"input_file_id": "file-unknown"},
        {"endpoint": "/v1/nonsense"},
        {"completion_window": "1h"},
        {"metadata": {f"n{n}": "v" for n in range(17)}},
        {"metadata": {"name": "v" * 513}},
    ],
    ids=lambda wish: next(iter(wish)),
)
async def test_a_wish_that_cannot_be_granted_is_refused_at_once(
    azure: AsyncAzureOpenAI, wish: dict[str, object]
) -> None:
    good = {
        "input_file_id": await batching.upload(azure, some_lines(1)),
        "endpoint": "/v1/chat/completions",
        "completion_window": "24h",
    }

    with pytest.raises(BadRequestError):
        await azure.batches.create(**{**good, **wish})  # type: ignore[arg-type]  # wrong on purpose


async def test_an_unknown_batch_is_not_found(azure: AsyncAzureOpenAI) -> None:
    with pytest.raises(NotFoundError):
        await azure.batches.retrieve("batch_unknown")


async def test_embeddings_run_at_openai_and_not_at_azure(
    azure: AsyncAzureOpenAI, openai: AsyncOpenAI
) -> None:
    line = {"custom_id": "e", "method": "POST", "url": "/v1/embeddings"}
    lines = batching.jsonl(
        [{**line, "body": {"model": "text-embedding-3-small", "input": ["a word", "two"]}}]
    )
    batch = await openai.batches.create(
        input_file_id=await batching.upload(openai, lines), endpoint="/v1/embeddings", completion_window="24h"
    )

    [row] = await batching.output(openai, await batching.ended(openai, batch.id))
    assert [len(each["embedding"]) for each in row["response"]["body"]["data"]] == [1536, 1536]
    with pytest.raises(BadRequestError):
        await azure.batches.create(
            input_file_id=await batching.upload(azure, lines),
            endpoint="/v1/embeddings",
            completion_window="24h",
        )


async def test_result_files_lapse_when_their_time_is_over(
    simulator: Simulator, azure: AsyncAzureOpenAI
) -> None:
    batch = await azure.batches.create(
        input_file_id=await batching.upload(azure, some_lines(1)),
        endpoint="/v1/chat/completions",
        completion_window="24h",
        output_expires_after={"anchor": "created_at", "seconds": 1_209_600},
    )
    batch = await batching.ended(azure, batch.id)
    assert await batching.content(azure, batch.output_file_id)

    simulator.advance(days=15)

    with pytest.raises(NotFoundError):
        await batching.content(azure, batch.output_file_id)


async def test_structured_answers_are_valid_json(openai: AsyncOpenAI) -> None:
    schema = {
        "type": "object",
        "properties": {"team": {"enum": ["billing", "printer"]}, "amount": {"type": "integer"}},
        "required": ["team", "amount"],
    }
    form = {"type": "json_schema", "json_schema": {"name": "ticket", "strict": True, "schema": schema}}
    batch = await batching.run(
        openai, [a_line("r", "The printer is on fire. It cost 100 EUR.", response_format=form)]
    )

    [row] = await batching.output(openai, batch)

    assert json.loads(batching.message(row)) == {"team": "printer", "amount": 100}


async def test_a_batch_keeps_its_input_when_the_file_is_deleted(
    simulator: Simulator, azure: AsyncAzureOpenAI
) -> None:
    simulator.rule(match={}, then={"batch": "completed", "after_seconds": 100})
    batch = await batching.create(azure, some_lines(5))

    await azure.files.delete(batch.input_file_id)
    simulator.advance(seconds=100)
    batch = await batching.ended(azure, batch.id)

    assert len(await batching.output(azure, batch)) == 5
    assert not list((simulator.data / "files").glob(f"{batch.id}*"))
