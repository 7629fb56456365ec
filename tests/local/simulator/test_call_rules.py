"""Rules for operations: statuses, delays, cut connections; and the synchronous calls."""

import time

import pytest
from httpx2 import TransportError
from openai import (
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    AsyncAzureOpenAI,
    AsyncOpenAI,
    AuthenticationError,
    BadRequestError,
    InternalServerError,
    NotFoundError,
    Omit,
    RateLimitError,
)

from tests.local.simulator import batching
from tests.local.simulator.batching import some_lines
from tests.local.simulator.process import Simulator

pytestmark = pytest.mark.stack


async def ask(client: AsyncOpenAI, text: str = "One. Two. Three.") -> str | None:
    answer = await client.chat.completions.create(
        model="gpt-5-mini", messages=[{"role": "user", "content": text}]
    )
    return answer.choices[0].message.content


async def test_a_status_prevents_the_effect(simulator: Simulator, azure: AsyncAzureOpenAI) -> None:
    simulator.rule(
        match={"operation": "create"},
        then={"status": 429, "headers": {"retry-after-ms": "7"}, "body": {"error": {"code": "slow"}}},
        times=1,
    )

    with pytest.raises(RateLimitError) as refused:
        await batching.create(azure, some_lines(1))

    assert refused.value.code == "slow"
    assert refused.value.response.headers["retry-after-ms"] == "7"
    assert [each["batch_id"] for each in simulator.journal("create")] == [None]


async def test_a_status_may_come_after_the_effect(simulator: Simulator, azure: AsyncAzureOpenAI) -> None:
    simulator.rule(match={"operation": "create"}, then={"status": 500, "applied": True}, times=1)

    with pytest.raises(InternalServerError):
        await batching.create(azure, some_lines(1), key="chunk-1")

    [made] = simulator.journal("create")
    assert made["key"] == "chunk-1"
    assert (await batching.ended(azure, made["batch_id"])).status == "completed"


@pytest.mark.parametrize(("drop", "made"), [("before", 0), ("after", 1)])
async def test_a_connection_is_cut_before_or_after_the_effect(
    simulator: Simulator, openai: AsyncOpenAI, drop: str, made: int
) -> None:
    simulator.rule(match={"operation": "create"}, then={"drop": drop}, times=1)

    with pytest.raises(APIConnectionError):
        await batching.create(openai, some_lines(1), key=f"dropped-{drop}")

    listed = [batch async for batch in openai.batches.list(limit=100)]
    assert sum(batch.metadata == {"key": f"dropped-{drop}"} for batch in listed) == made


async def test_the_sdk_buys_twice_when_it_may_retry(simulator: Simulator, openai: AsyncOpenAI) -> None:
    simulator.rule(match={"operation": "create"}, then={"drop": "after"}, times=1)

    await batching.create(openai.with_options(max_retries=1), some_lines(1))

    made = [each["batch_id"] for each in simulator.journal("create")]
    assert len(set(made)) == 2


async def test_an_upload_that_is_cut_leaves_a_file_only_after_the_effect(
    simulator: Simulator, openai: AsyncOpenAI
) -> None:
    for drop in ("before", "after"):
        simulator.rule(match={"operation": "upload"}, then={"drop": drop}, times=1)
        with pytest.raises(APIConnectionError):
            await batching.upload(openai, b"{}\n")

    before, after = simulator.journal("upload")
    assert before["file_id"] is None
    assert (await openai.files.retrieve(after["file_id"])).bytes == 3
    assert not list((simulator.data / "files").glob("*.part"))


async def test_a_download_may_break_off_half_way(simulator: Simulator, openai: AsyncOpenAI) -> None:
    file_id = await batching.upload(openai, b"x" * 100_000)
    simulator.rule(match={"operation": "download"}, then={"drop": "after"}, times=1)
    received = []

    async def download() -> None:
        async with openai.files.with_streaming_response.content(file_id) as answer:
            async for piece in answer.iter_bytes():
                received.append(len(piece))  # noqa: PERF401  what came before the cut counts

    with pytest.raises(TransportError):
        await download()

    assert sum(received) < 100_000
    assert len(await batching.content(openai, file_id)) == 100_000


async def test_a_create_that_hangs_is_accepted_all_the_same(
    simulator: Simulator, openai: AsyncOpenAI
) -> None:
    simulator.rule(match={"operation": "create"}, then={"delay_ms": 5000}, times=1)

    with pytest.raises(APITimeoutError):
        await batching.create(openai.with_options(timeout=0.3), some_lines(1), key="hung")

    [made] = [each for each in (await openai.batches.list()).data if each.metadata == {"key": "hung"}]
    assert (await batching.ended(openai, made.id)).status == "completed"


async def test_a_rule_for_polls_leaves_other_calls_alone(
    simulator: Simulator, azure: AsyncAzureOpenAI
) -> None:
    simulator.rule(match={"operation": "retrieve"}, then={"status": 503}, times=2)
    batch = await batching.create(azure, some_lines(1))

    for _ in range(2):
        with pytest.raises(InternalServerError):
            await azure.batches.retrieve(batch.id)

    assert (await batching.ended(azure, batch.id)).status == "completed"


async def test_an_operation_is_matched_by_what_its_input_holds(
    simulator: Simulator, azure: AsyncAzureOpenAI
) -> None:
    simulator.rule(match={"operation": "upload", "contains": "Ticket 1."}, then={"status": 500})
    simulator.rule(match={"operation": "create", "contains": "Ticket 0."}, then={"status": 503})

    with pytest.raises(InternalServerError) as of_upload:
        await batching.create(azure, some_lines(2))
    with pytest.raises(InternalServerError) as of_create:
        await batching.create(azure, some_lines(1))

    assert (of_upload.value.status_code, of_create.value.status_code) == (500, 503)


async def test_what_a_batch_has_written_is_matched_by_its_requests(
    simulator: Simulator, azure: AsyncAzureOpenAI
) -> None:
    simulator.rule(match={"operation": "download", "contains": "Ticket 1."}, then={"status": 503})
    one = await batching.ended(azure, (await batching.create(azure, some_lines(1))).id)
    two = await batching.ended(azure, (await batching.create(azure, some_lines(2))).id)

    assert await batching.content(azure, one.output_file_id or "")
    with pytest.raises(InternalServerError):
        await batching.content(azure, two.output_file_id or "")


async def test_calls_without_a_key_are_refused(openai: AsyncOpenAI) -> None:
    with pytest.raises(AuthenticationError) as refused:
        await openai.batches.list(extra_headers={"Authorization": Omit()})

    assert refused.value.code == "invalid_api_key"


async def test_azure_answers_on_dated_and_v1_paths(simulator: Simulator, azure: AsyncAzureOpenAI) -> None:
    async with AsyncOpenAI(base_url=f"{simulator.url}/azure/openai/v1", api_key="k") as v1:
        assert await ask(v1) == await ask(azure) == "One. Two."

    dated, plain = simulator.journal("chat")[::-1]
    assert dated["path"] == "/azure/openai/deployments/gpt-5-mini/chat/completions"
    assert plain["path"] == "/azure/openai/v1/chat/completions"
    assert dated["model"] == plain["model"] == "gpt-5-mini"


async def test_the_gateway_headers_are_in_the_journal(simulator: Simulator, azure: AsyncAzureOpenAI) -> None:
    headers = {"x-tenant-id": "support", "x-correlation-id": "c-1"}
    await ask(azure.with_options(default_headers=headers))

    [call] = simulator.journal("chat")
    assert (call["tenant"], call["correlation_id"], call["requests"]) == ("support", "c-1", 1)


async def test_responses_and_embeddings_answer_too(azure: AsyncAzureOpenAI, openai: AsyncOpenAI) -> None:
    for client in (azure, openai):
        spoken = await client.responses.create(model="gpt-5-mini", input="One. Two. Three.")
        vectors = await client.embeddings.create(
            model="embed", input=["printer fire", "fire printer", "tax return"], dimensions=64
        )

        same, again, other = (each.embedding for each in vectors.data)
        assert spoken.output_text == "One. Two."
        assert spoken.usage is not None
        assert spoken.usage.total_tokens == spoken.usage.input_tokens + spoken.usage.output_tokens
        assert len(same) == 64
        assert same == again != other


async def test_a_call_can_be_filtered_refused_or_failed(
    simulator: Simulator, azure: AsyncAzureOpenAI, openai: AsyncOpenAI
) -> None:
    simulator.rule(match={"contains": "filter me"}, then={"outcome": "content_filter"})
    simulator.rule(
        match={"contains": "slow"},
        then={"outcome": "error", "status": 429, "headers": {"retry-after": "2"}},
    )
    simulator.rule(match={"contains": "lose me"}, then={"outcome": "missing"})
    simulator.rule(match={"contains": "expire me"}, then={"outcome": "expired"})

    with pytest.raises(BadRequestError) as filtered:
        await ask(azure, "filter me")
    with pytest.raises(RateLimitError) as limited:
        await ask(azure, "slow")
    with pytest.raises(APIConnectionError):
        await ask(azure, "lose me")
    with pytest.raises(APIStatusError) as expired:
        await ask(azure, "expire me")
    broken_off = await openai.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "filter me"}]
    )

    assert filtered.value.code == "content_filter"
    assert limited.value.response.headers["retry-after"] == "2"
    assert expired.value.status_code == 408
    assert broken_off.choices[0].finish_reason == "content_filter"


async def test_a_call_can_be_delayed(simulator: Simulator, azure: AsyncAzureOpenAI) -> None:
    simulator.rule(match={"contains": "Two"}, then={"outcome": "success", "delay_ms": 200})

    begun = time.monotonic()
    assert await ask(azure) == "One. Two."

    assert time.monotonic() - begun >= 0.2


async def test_a_compatible_server_answers_calls_and_has_no_batches(simulator: Simulator) -> None:
    simulator.rule(match={"provider": "compatible"}, then={"text": "told"})
    async with AsyncOpenAI(base_url=f"{simulator.url}/compatible/v1", api_key="k", max_retries=0) as client:
        assert await ask(client) == "told"
        with pytest.raises(NotFoundError):
            await client.files.list()

    assert [call["provider"] for call in simulator.journal("chat")] == ["openai_compatible"]
