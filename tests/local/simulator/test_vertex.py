"""Vertex AI and Cloud Storage on the wire, through their own unmodified SDKs."""

import asyncio
import io
import json
import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import aiohttp
import httpx2
import pytest
from gcloud.aio.storage import Storage
from google import genai
from google.genai import errors, types
from google.oauth2.credentials import Credentials

from tests.local.simulator.batching import WAIT_SECONDS
from tests.local.simulator.process import Simulator

pytestmark = pytest.mark.stack

MODEL = "gemini-3.8-flash"
BUCKET = "batches"
ENDED = {"SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED", "PARTIALLY_SUCCEEDED"}

type Row = dict[str, Any]


class FixedToken:
    """As much of gcloud-aio's token as the storage client asks for."""

    async def get(self) -> str:
        return "token"


@dataclass(frozen=True, kw_only=True)
class Google:
    """Both clients against one simulator, and a folder of our own in the bucket."""

    vertex: genai.Client
    storage: Storage
    folder: str

    async def put(self, lines: list[Row] | bytes) -> str:
        content = (
            lines
            if isinstance(lines, bytes)
            else b"".join(json.dumps(each).encode() + b"\n" for each in lines)
        )
        name = f"{self.folder}/in.jsonl"
        await self.storage.upload(BUCKET, name, io.BytesIO(content), force_resumable_upload=True)
        return f"gs://{BUCKET}/{name}"

    async def create(self, lines: list[Row] | bytes, *, name: str = "mine") -> types.BatchJob:
        config = types.CreateBatchJobConfig(display_name=name, dest=f"gs://{BUCKET}/{self.folder}/out")
        return await self.vertex.aio.batches.create(model=MODEL, src=await self.put(lines), config=config)

    async def until(self, name: str, holds: Callable[[str], bool]) -> types.BatchJob:
        async with asyncio.timeout(WAIT_SECONDS):
            while True:
                job = await self.vertex.aio.batches.get(name=name)
                if holds(state_of(job)):
                    return job
                await asyncio.sleep(0.01)

    async def run(self, lines: list[Row] | bytes) -> types.BatchJob:
        job = await self.create(lines)
        return await self.until(str(job.name), ENDED.__contains__)

    async def shards(self, job: types.BatchJob) -> dict[str, bytes]:
        assert job.output_info is not None
        prefix = str(job.output_info.gcs_output_directory).removeprefix(f"gs://{BUCKET}/") + "/"
        listed = await self.storage.list_objects(BUCKET, params={"prefix": prefix})
        names = [str(item["name"]) for item in listed.get("items", [])]
        return {name.removeprefix(prefix): await self.storage.download(BUCKET, name) for name in names}

    async def rows(self, job: types.BatchJob) -> list[Row]:
        shards = await self.shards(job)
        return [json.loads(line) for shard in shards.values() for line in shard.split(b"\n") if line]


def state_of(job: types.BatchJob) -> str:
    assert job.state is not None
    return str(job.state.value).removeprefix("JOB_STATE_")


@pytest.fixture
async def google(simulator: Simulator) -> AsyncIterator[Google]:
    http = httpx2.AsyncClient()
    client = genai.Client(
        enterprise=True,
        project="p",
        location="us-central1",
        credentials=Credentials(token="token"),  # type: ignore[no-untyped-call]
        http_options=types.HttpOptions(
            base_url=f"{simulator.url}/vertex", api_version="v1", httpx_async_client=http
        ),
    )
    storage = Storage(api_root=f"{simulator.url}/gcs", api_is_dev=False, token=FixedToken())  # type: ignore[arg-type]
    yield Google(vertex=client, storage=storage, folder=secrets.token_hex(8))
    await storage.close()
    await http.aclose()
    client.close()


def a_line(name: str, text: str = "The heater is broken. It is cold. Please come.", **config: object) -> Row:
    request: Row = {"contents": [{"role": "user", "parts": [{"text": text}]}]}
    if config:
        request["generationConfig"] = config
    return {"custom_id": name, "request": request}


def some_lines(number: int) -> list[Row]:
    return [a_line(f"k-{n}", f"Ticket {n}. The printer is on fire. It cost 100 EUR.") for n in range(number)]


async def test_a_job_answers_every_line_in_shards_of_a_directory_of_its_own(google: Google) -> None:
    job = await google.run(some_lines(40))

    shards = await google.shards(job)
    assert state_of(job) == "SUCCEEDED"
    assert job.completion_stats is not None
    assert job.completion_stats.successful_count == 40
    names = list(shards)
    assert names.index("predictions_10.jsonl") < names.index("predictions_2.jsonl")
    assert shards["predictions_0.jsonl"] == b""
    rows = await google.rows(job)
    assert {row["custom_id"] for row in rows} == {f"k-{n}" for n in range(40)}
    assert all(row["response"]["candidates"][0]["finishReason"] == "STOP" for row in rows)


async def test_a_job_is_shown_as_the_service_shows_it(google: Google) -> None:
    created = await google.create(some_lines(1))
    job = await google.until(str(created.name), ENDED.__contains__)

    assert str(job.name).startswith("projects/p/locations/us-central1/batchPredictionJobs/")
    assert str(job.name).rpartition("/")[2].isdigit()
    assert (job.display_name, job.model) == ("mine", f"publishers/google/models/{MODEL}")
    assert job.create_time is not None
    assert job.end_time is not None
    assert job.create_time <= job.end_time


async def test_rows_repeat_the_request_and_names_that_look_like_numbers_become_some(google: Google) -> None:
    job = await google.run([a_line("000000"), a_line("k-1")])

    rows = {row["custom_id"]: row for row in await google.rows(job)}
    assert set(rows) == {0, "k-1"}
    assert rows["k-1"]["request"] == a_line("k-1")["request"]
    assert rows["k-1"]["status"] == ""


async def test_thoughts_are_counted_beside_what_is_seen(google: Google) -> None:
    job = await google.run([a_line("k-1")])

    [row] = await google.rows(job)
    usage = row["response"]["usageMetadata"]
    assert usage["thoughtsTokenCount"] > 0
    assert usage["totalTokenCount"] == sum(
        usage[part] for part in ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
    )


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"a": {"type": "string"}}, "type": "object"},
        {"type": "object", "properties": {}},
        {"type": "object", "properties": {"straße.nr": {"type": "string"}}},
    ],
)
async def test_a_schema_that_is_no_table_fails_the_whole_job(google: Google, schema: Row) -> None:
    line = a_line("k-1", responseMimeType="application/json", responseJsonSchema=schema)

    job = await google.run([a_line("k-0"), line])

    assert (state_of(job), job.done) == ("FAILED", True)
    assert job.error is not None
    assert job.error.code == 3
    assert job.output_info is None


async def test_an_input_that_is_not_there_is_found_out_later(google: Google) -> None:
    config = types.CreateBatchJobConfig(display_name="d", dest=f"gs://{BUCKET}/{google.folder}/out")
    created = await google.vertex.aio.batches.create(model=MODEL, src="gs://nowhere/x.jsonl", config=config)

    job = await google.until(str(created.name), ENDED.__contains__)

    assert state_of(job) == "FAILED"


async def test_failed_rows_lie_in_a_shard_of_their_own(simulator: Simulator, google: Google) -> None:
    simulator.rule(match={"custom_id": "k-3"}, then={"outcome": "error", "status": 400, "message": "no"})

    job = await google.run(some_lines(9))

    shards = await google.shards(job)
    failed = json.loads(shards["prediction.errors"])
    assert state_of(job) == "SUCCEEDED"
    assert (failed["custom_id"], failed["response"]) == ("k-3", {})
    phrase, _, told = failed["status"].partition(": ")
    assert (phrase, json.loads(told)["error"]["status"]) == ("Bad Request", "INVALID_ARGUMENT")


async def test_a_job_that_runs_out_of_time_keeps_what_it_has(simulator: Simulator, google: Google) -> None:
    simulator.rule(match={}, then={"batch": "expired", "completed": 7})

    job = await google.run(some_lines(10))

    assert (state_of(job), job.done) == ("EXPIRED", True)
    assert len(await google.rows(job)) == 7


async def test_a_job_with_lines_that_never_ran_is_not_done_for_the_sdk(
    simulator: Simulator, google: Google
) -> None:
    simulator.rule(match={"custom_id": "k-3"}, then={"outcome": "expired"})

    job = await google.run(some_lines(10))

    assert (state_of(job), job.done) == ("PARTIALLY_SUCCEEDED", False)
    assert len(await google.rows(job)) == 9


async def test_a_cancelled_job_keeps_what_it_has(simulator: Simulator, google: Google) -> None:
    simulator.rule(match={}, then={"batch": "stuck", "completed": 4})
    job = await google.create(some_lines(10))
    name = str(job.name)
    async with asyncio.timeout(WAIT_SECONDS):
        while (stats := job.completion_stats) is None or stats.successful_count != 4:
            job = await google.vertex.aio.batches.get(name=name)

    await google.vertex.aio.batches.cancel(name=name)
    job = await google.until(name, ENDED.__contains__)

    assert state_of(job) == "CANCELLED"
    assert len(await google.rows(job)) == 4
    with pytest.raises(errors.ClientError) as refused:
        await google.vertex.aio.batches.cancel(name=name)
    assert (refused.value.code, refused.value.status) == (400, "FAILED_PRECONDITION")


async def test_jobs_are_listed_by_name_and_time(google: Google) -> None:
    mine = await google.create(some_lines(1), name=google.folder)
    await google.create(some_lines(1), name="another")

    async def listed(wanted: str) -> list[str | None]:
        config = types.ListBatchJobsConfig(page_size=1, filter=wanted)
        return [job.name async for job in await google.vertex.aio.batches.list(config=config)]

    assert await listed(f'display_name="{google.folder}"') == [mine.name]
    assert await listed(f'display_name="{google.folder}" AND create_time>="2999-01-01T00:00:00Z"') == []
    assert mine.name in await listed('create_time>="2000-01-01T00:00:00Z"')


async def test_a_question_is_answered_at_once(google: Google) -> None:
    answer = await google.vertex.aio.models.generate_content(
        model=MODEL,
        contents="The heater is broken.",
        config=types.GenerateContentConfig(
            response_mime_type="application/json",
            response_schema={"type": "OBJECT", "properties": {"title": {"type": "STRING"}}},
        ),
    )

    assert json.loads(answer.text or "") == {"title": "The heater is broken."}
    assert answer.model_version == MODEL


async def test_a_blocked_prompt_is_an_answer_without_candidates(simulator: Simulator, google: Google) -> None:
    simulator.rule(match={"contains": "heater"}, then={"outcome": "content_filter", "filtered": "prompt"})

    answer = await google.vertex.aio.models.generate_content(model=MODEL, contents="The heater.")
    [row] = await google.rows(await google.run([a_line("k-1")]))

    assert not answer.candidates
    assert answer.prompt_feedback is not None
    assert answer.prompt_feedback.block_reason is types.BlockedReason.PROHIBITED_CONTENT
    assert row["status"] == ""
    assert "candidates" not in row["response"]


async def test_an_object_is_there_until_it_is_deleted(google: Google) -> None:
    name = f"{google.folder}/a b/ü.txt"
    await google.storage.upload(BUCKET, name, b"bytes", force_resumable_upload=False)

    assert await google.storage.download(BUCKET, name) == b"bytes"
    assert (await google.storage.download_metadata(BUCKET, name))["size"] == "5"
    await google.storage.delete(BUCKET, name)
    for call in (google.storage.download(BUCKET, name), google.storage.delete(BUCKET, name)):
        with pytest.raises(aiohttp.ClientResponseError) as gone:
            await call
        assert gone.value.status == 404


async def test_whoever_shows_no_token_is_turned_away(simulator: Simulator) -> None:
    async with httpx2.AsyncClient(base_url=simulator.url) as client:
        answer = await client.get("/vertex/v1/projects/p/locations/l/batchPredictionJobs")

    assert (answer.status_code, answer.json()["error"]["status"]) == (401, "UNAUTHENTICATED")
