"""The Mistral dialect, driven by its SDK with nothing changed but the address."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest
from mistralai.client import Mistral
from mistralai.client.errors import HTTPValidationError, SDKError
from mistralai.client.models import BatchJob, BatchRequest, UserMessage

from tests.local.simulator.batching import WAIT_SECONDS
from tests.local.simulator.process import Simulator

pytestmark = pytest.mark.stack

MODEL = "mistral-small-latest"
ENDED = {"SUCCESS", "FAILED", "TIMEOUT_EXCEEDED", "CANCELLED"}

type Row = dict[str, Any]


@pytest.fixture
async def client(simulator: Simulator) -> AsyncIterator[Mistral]:
    async with mistral(simulator) as client:
        yield client


def mistral(simulator: Simulator) -> Mistral:
    return Mistral(api_key="key", server_url=f"{simulator.url}/mistral", timeout_ms=20_000)


def a_line(custom_id: str | None, text: str = "One. Two. Three.", **body: object) -> Row:
    return {"custom_id": custom_id, "body": {"messages": [{"role": "user", "content": text}], **body}}


async def upload(client: Mistral, lines: list[Row]) -> str:
    content = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    file = await client.files.upload_async(
        file={"file_name": "in.jsonl", "content": content}, purpose="batch", expiry=336
    )
    return file.id


async def create(client: Mistral, lines: list[Row], **options: Any) -> BatchJob:
    file = await upload(client, lines)
    return await client.batch.jobs.create_async(
        endpoint="/v1/chat/completions", input_files=[file], model=MODEL, **options
    )


async def until(client: Mistral, job: str, holds: Callable[[BatchJob], bool]) -> BatchJob:
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            seen = await client.batch.jobs.get_async(job_id=job)
            if holds(seen):
                return seen
            await asyncio.sleep(0.01)


async def ended(client: Mistral, job: str) -> BatchJob:
    return await until(client, job, lambda seen: seen.status in ENDED)


async def rows(client: Mistral, file: object) -> list[Row]:
    if not isinstance(file, str):
        return []
    answer = await client.files.download_async(file_id=file)
    return [json.loads(line) for line in (await answer.aread()).split(b"\n") if line]


async def test_a_job_runs_and_its_rows_are_downloaded(client: Mistral) -> None:
    job = await create(client, [a_line(f"r-{n}", f"Ticket {n}. It is on fire.") for n in range(20)])
    assert (job.status, job.total_requests, job.model) == ("QUEUED", 0, MODEL)

    job = await ended(client, job.id)

    found = await rows(client, job.output_file)
    counts = (job.total_requests, job.completed_requests, job.succeeded_requests, job.failed_requests)
    assert (job.status, counts, job.error_file, job.errors) == ("SUCCESS", (20, 20, 20, 0), None, [])
    assert {row["custom_id"] for row in found} == {f"r-{n}" for n in range(20)}
    body = found[0]["response"]["body"]
    assert (body["model"], body["choices"][0]["finish_reason"]) == (MODEL, "stop")
    assert body["usage"]["completion_tokens"] > 0


async def test_success_means_processed_and_errors_are_json_in_a_string(
    simulator: Simulator, client: Mistral
) -> None:
    simulator.rule(
        match={"custom_id": "bad"},
        then={"outcome": "error", "status": 400, "error_code": "invalid_request_file"},
    )

    job = await ended(client, (await create(client, [a_line("good"), a_line("bad")])).id)

    [row] = await rows(client, job.error_file)
    assert (job.status, job.completed_requests, job.succeeded_requests) == ("SUCCESS", 2, 1)
    assert [error.count for error in job.errors] == [1]
    assert row["response"]["status_code"] == 400
    assert json.loads(row["response"]["body"])["type"] == "invalid_request_file"


async def test_one_line_that_does_not_fit_refuses_the_whole_file(client: Mistral) -> None:
    with pytest.raises(SDKError) as refused:
        await upload(client, [a_line("good"), a_line("warm", temperature=1.8)])

    [detail] = json.loads(refused.value.body)["detail"]
    assert refused.value.status_code == 422
    assert (detail["type"], detail["loc"]) == (
        "less_than_equal",
        ["body", "file", 1, "body", "temperature"],
    )


async def test_custom_ids_may_repeat_or_be_missing(client: Mistral) -> None:
    job = await ended(client, (await create(client, [a_line("a"), a_line("a"), a_line(None)])).id)

    assert sorted(str(row["custom_id"]) for row in await rows(client, job.output_file)) == ["None", "a", "a"]


async def test_a_job_out_of_time_ends_with_what_was_answered(simulator: Simulator, client: Mistral) -> None:
    simulator.rule(match={}, then={"batch": "stuck", "completed": 2})
    job = await create(client, [a_line(f"r-{n}") for n in range(5)], timeout_hours=2)
    await until(client, job.id, lambda seen: seen.succeeded_requests == 2)

    simulator.advance(hours=2)
    job = await ended(client, job.id)

    assert (job.status, job.error_file) == ("TIMEOUT_EXCEEDED", None)
    assert len(await rows(client, job.output_file)) == 2


async def test_a_cancel_is_asked_for_and_then_done(simulator: Simulator, client: Mistral) -> None:
    simulator.rule(match={}, then={"batch": "stuck", "completed": 2, "cancel_seconds": 60})
    job = await create(client, [a_line(f"r-{n}") for n in range(5)])
    await until(client, job.id, lambda seen: seen.succeeded_requests == 2)

    asked = await client.batch.jobs.cancel_async(job_id=job.id)
    simulator.advance(seconds=61)
    job = await ended(client, job.id)

    assert (asked.status, job.status) == ("CANCELLATION_REQUESTED", "CANCELLED")
    assert (len(await rows(client, job.output_file)), job.error_file) == (2, None)
    with pytest.raises(SDKError):
        await client.batch.jobs.cancel_async(job_id=job.id)


@pytest.mark.parametrize("hours", [0, 169])
async def test_a_timeout_is_between_an_hour_and_a_week(client: Mistral, hours: int) -> None:
    with pytest.raises(SDKError, match="error") as refused:
        await create(client, [a_line("r")], timeout_hours=hours)

    assert refused.value.status_code == 422


async def test_a_list_is_narrowed_by_bare_pairs_of_the_metadata(client: Mistral) -> None:
    made = [await create(client, [a_line("r")], metadata={"place_key": f"p-{n}"}) for n in range(3)]

    newest = await client.batch.jobs.list_async(page=0, page_size=2)
    second = await client.batch.jobs.list_async(page=1, page_size=2)
    one = await client.batch.jobs.list_async(metadata={"place_key": "p-1"})

    assert [job.id for job in newest.data or []] == [made[2].id, made[1].id]
    assert (second.data or [])[0].id == made[0].id
    assert [job.id for job in one.data or []] == [made[1].id]


async def test_requests_may_come_with_the_create_and_answers_with_the_job(client: Mistral) -> None:
    job = await client.batch.jobs.create_async(
        endpoint="/v1/embeddings",
        requests=[BatchRequest(custom_id="r", body={"input": "a heater"})],
        model="mistral-embed",
    )
    await ended(client, job.id)

    seen = await client.batch.jobs.get_async(job_id=job.id, inline=True)

    assert isinstance(seen.outputs, list)
    body = seen.outputs[0]["response"]["body"]
    assert body["data"][0]["embedding"]
    assert body["usage"]["completion_tokens"] == 0


async def test_files_are_told_listed_and_deleted(client: Mistral) -> None:
    file = await upload(client, [a_line("r"), a_line("s")])

    seen = await client.files.retrieve_async(file_id=file)
    listed = await client.files.list_async(purpose="batch", page_size=1)
    assert (seen.num_lines, seen.sample_type, seen.source) == (2, "batch_request", "upload")
    assert seen.expires_at == seen.created_at + 336 * 3600
    assert [one.id for one in listed.data] == [file]
    await client.files.delete_async(file_id=file)
    with pytest.raises(SDKError) as gone:
        await client.files.retrieve_async(file_id=file)
    assert gone.value.status_code == 404


async def test_a_signed_url_leads_to_the_file_without_a_key(client: Mistral) -> None:
    signed = await client.files.get_signed_url_async(file_id=await upload(client, [a_line("r")]))

    async with httpx2.AsyncClient() as plain:
        answer = await plain.get(signed.url)

    assert json.loads(answer.content) == a_line("r")


async def test_a_job_that_has_ended_can_be_deleted(simulator: Simulator, client: Mistral) -> None:
    simulator.rule(match={}, then={"batch": "stuck"}, times=1)
    running = await create(client, [a_line("r")])
    done = await ended(client, (await create(client, [a_line("r")])).id)

    with pytest.raises(SDKError):
        await client.batch.jobs.delete_async(job_id=running.id)
    assert (await client.batch.jobs.delete_async(job_id=done.id)).deleted
    with pytest.raises(SDKError):
        await client.batch.jobs.get_async(job_id=done.id)


async def test_chat_answers_at_once(client: Mistral) -> None:
    answer = await client.chat.complete_async(
        model=MODEL, messages=[UserMessage(content="The heater is broken. It is cold.")]
    )

    message = answer.choices[0].message
    assert message is not None
    assert message.content == "The heater is broken. It is cold."


async def test_vectors_come_at_once(client: Mistral) -> None:
    answer = await client.embeddings.create_async(model="mistral-embed", inputs=["a", "b"])

    assert len(answer.data) == 2


async def test_what_is_not_known_is_refused(client: Mistral, simulator: Simulator) -> None:
    with pytest.raises(HTTPValidationError):
        await client.chat.complete_async(model=MODEL, messages=[UserMessage(content="hi")], temperature=1.6)
    async with httpx2.AsyncClient(headers={"authorization": "Bearer key"}) as plain:
        body = {"model": MODEL, "messages": [{"role": "user", "content": "hi"}], "max_completion_tokens": 5}
        answer = await plain.post(f"{simulator.url}/mistral/v1/chat/completions", json=body)

    assert answer.status_code == 422
    assert answer.json()["message"]["detail"][0]["type"] == "extra_forbidden"


async def test_without_a_key_nobody_is_let_in(simulator: Simulator) -> None:
    async with httpx2.AsyncClient() as plain:
        answer = await plain.get(f"{simulator.url}/mistral/v1/files")

    assert (answer.status_code, answer.json()) == (401, {"detail": "Invalid API Key"})
