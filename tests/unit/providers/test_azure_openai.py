"""What goes over the wire to Azure OpenAI, and what is made of everything that may come back."""

import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aiohttp import web

from shared.adapters.providers.common.spool import spooled
from shared.adapters.providers.connection import Connection
from shared.adapters.providers.openai.azure import connect
from shared.adapters.providers.openai.batches import OpenAIBatches
from shared.domain.catalog import Deployment, DeploymentLimits
from shared.domain.errors import (
    Ambiguous,
    GiveUp,
    NoCapacity,
    NotAdmitted,
    NotFound,
    PosternError,
    RateLimited,
    Rejected,
    TryAgainLater,
    Unknowable,
)
from shared.domain.ids import BatchId, ChunkKey, DeploymentName, FileId
from shared.ports.providers import RemoteBatch
from tests.support.chunks import chunk_input
from tests.unit.providers.azure_stub import (
    START,
    Answer,
    AzureStub,
    azure_stub,
    dropped,
    error,
    failing,
    never,
    then,
)

KEY = ChunkKey("job_1-0-1-1")
SECRET = "sk-very-secret"
BEGIN = datetime.fromtimestamp(START, UTC)


class StoppedClock:
    def now(self) -> datetime:
        return BEGIN


async def token(scope: str) -> str:
    return f"token-for-{scope}"


Connect = Callable[..., OpenAIBatches]


@pytest.fixture
async def stub() -> AsyncIterator[AzureStub]:
    async with azure_stub() as running:
        yield running


@pytest.fixture
async def connected(stub: AzureStub) -> AsyncIterator[Connect]:
    """Connects to the stub; keywords change the deployment."""
    made: list[OpenAIBatches] = []

    def make(
        *, create_timeout: timedelta = timedelta(seconds=10), scope: str | None = None, **changes: Any
    ) -> OpenAIBatches:
        fields: dict[str, Any] = {"endpoint": stub.url, "key_setting": "AZURE_KEY", **changes}
        deployment = Deployment(
            name=DeploymentName("mini-batch"),
            provider="azure_openai",
            model="gpt-5-mini",
            deployment="gpt-5-mini-batch",
            **fields,
        )
        keys = {"AZURE_KEY": SECRET}
        connection = Connection(
            clock=StoppedClock(), key=keys.__getitem__, token=token, create_timeout=create_timeout
        )
        if scope:
            connection = replace(connection, openai_scope=scope)
        made.append(connect(deployment, connection))
        return made[-1]

    yield make
    for provider in made:
        await provider.close()


@pytest.fixture
def provider(connected: Connect) -> OpenAIBatches:
    return connected()


async def create(provider: OpenAIBatches, stub: AzureStub, **file: object) -> RemoteBatch:
    return await provider.create(chunk_input(KEY), FileId(stub.add_file(b"{}\n", **file)))


@pytest.mark.parametrize(
    ("changes", "path", "query", "header"),
    [
        ({}, "/openai/v1/batches/b", {}, ("Authorization", f"Bearer {SECRET}")),
        (
            {"api_version": "2025-03-01-preview"},
            "/openai/batches/b",
            {"api-version": "2025-03-01-preview"},
            ("api-key", SECRET),
        ),
        (
            {"key_setting": None},
            "/openai/v1/batches/b",
            {},
            ("Authorization", "Bearer token-for-https://cognitiveservices.azure.com/.default"),
        ),
        (
            {"key_setting": None, "scope": "api://x/.default"},
            "/openai/v1/batches/b",
            {},
            ("Authorization", "Bearer token-for-api://x/.default"),
        ),
        (
            {"key_setting": None, "api_version": "2024-10-21"},
            "/openai/batches/b",
            {"api-version": "2024-10-21"},
            ("Authorization", "Bearer token-for-https://cognitiveservices.azure.com/.default"),
        ),
    ],
    ids=["v1 and key", "dated and key", "v1 and identity", "another scope", "dated and identity"],
)
async def test_where_and_with_what_it_knocks(
    connected: Connect,
    stub: AzureStub,
    changes: dict[str, Any],
    path: str,
    query: dict[str, str],
    header: tuple[str, str],
) -> None:
    with pytest.raises(NotFound):
        await connected(**changes).retrieve(BatchId("b"))

    [seen] = stub.seen
    assert (seen.path, seen.query) == (path, query)
    assert {name.lower(): value for name, value in seen.headers.items()}[header[0].lower()] == header[1]


@pytest.mark.parametrize(
    "tail", ["/gateway/llm", "/gateway/llm/", "/gateway/llm/openai/v1", "/gateway/llm/openai/v1/"]
)
async def test_an_endpoint_may_be_a_gateways_base(connected: Connect, stub: AzureStub, tail: str) -> None:
    with pytest.raises(NotFound):
        await connected(endpoint=stub.url + tail).retrieve(BatchId("b"))

    assert stub.seen[0].path == "/gateway/llm/openai/v1/batches/b"


def test_a_key_setting_without_a_value_is_the_operators_matter(connected: Connect) -> None:
    with pytest.raises(NotAdmitted, match="ABSENT"):
        connected(key_setting="ABSENT")


def test_a_deployment_without_an_endpoint_cannot_be_called(connected: Connect) -> None:
    with pytest.raises(GiveUp, match="endpoint"):
        connected(endpoint=None)


async def test_an_input_file_is_asked_to_expire_after_a_fortnight(
    provider: OpenAIBatches, stub: AzureStub
) -> None:
    staged = await provider.stage(chunk_input(KEY, b'{"a":1}\n{"b":2}\n'))

    [upload] = stub.calls("upload")
    assert upload.fields == {
        "operation": "upload",
        "purpose": "batch",
        "expires_after[anchor]": "created_at",
        "expires_after[seconds]": "1209600",
        "file": ("job_1-0-1-1.jsonl", b'{"a":1}\n{"b":2}\n'),
    }
    assert staged.expires_at == BEGIN + timedelta(days=14)


async def test_a_file_whose_expiry_was_ignored_says_so(provider: OpenAIBatches, stub: AzureStub) -> None:
    stub.script("upload", failing(200, {"id": "file-1", "status": "pending", "expires_at": None}))

    staged = await provider.stage(chunk_input(KEY))

    assert (staged.ready, staged.expires_at) == (False, None)


async def test_an_input_of_another_size_than_announced_is_not_uploaded(
    provider: OpenAIBatches, stub: AzureStub
) -> None:
    with pytest.raises(TryAgainLater, match="3 bytes"):
        await provider.stage(chunk_input(KEY, size=4))

    assert stub.seen == []


async def test_an_upload_that_fails_may_be_repeated(provider: OpenAIBatches, stub: AzureStub) -> None:
    stub.script("upload", dropped, error(503, None))

    for _ in range(2):
        with pytest.raises(TryAgainLater) as failed:
            await provider.stage(chunk_input(KEY))
        assert type(failed.value) is TryAgainLater
    assert len(stub.calls("upload")) == 2


async def test_a_create_carries_the_key_and_asks_for_thirty_days_of_output(
    provider: OpenAIBatches, stub: AzureStub
) -> None:
    batch = await create(provider, stub)

    [call] = stub.calls("create")
    assert call.fields == {
        "operation": "create",
        "input_file_id": "file-0",
        "endpoint": "/v1/chat/completions",
        "completion_window": "24h",
        "metadata": {"postern_key": KEY},
        "output_expires_after": {"anchor": "created_at", "seconds": 2592000},
    }
    assert (batch.id, batch.key) == ("batch_0", KEY)


@pytest.mark.parametrize(
    "answer",
    [
        dropped,
        never,
        error(500, "server_error"),
        error(503, None),
        error(408, None),
        failing(200, "<html>Please wait</html>", {"content-type": "text/html"}),
        failing(200, '{"id": "batch_', {"content-type": "application/json"}),
        failing(502, "<html>Bad gateway</html>"),
    ],
    ids=["dropped", "timeout", "500", "503", "408", "html", "truncated", "502"],
)
async def test_a_create_without_an_answer_is_unknowable_and_never_repeated(
    connected: Connect, stub: AzureStub, answer: Answer
) -> None:
    provider = connected(create_timeout=timedelta(seconds=0.5))
    stub.script("create", then(lambda: stub.add_batch(metadata={"postern_key": KEY}), answer))

    with pytest.raises(Unknowable):
        await create(provider, stub)

    assert len(stub.calls("create")) == 1
    found = await provider.find(chunk_input(KEY), since=BEGIN)
    assert found is not None
    assert found.id == "batch_0"


async def test_a_create_that_trickles_in_is_bounded_as_a_whole(connected: Connect, stub: AzureStub) -> None:
    async def trickle(request: web.Request) -> web.StreamResponse:
        import asyncio

        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(100):
            await response.write(b" ")
            await asyncio.sleep(0.05)
        return response

    stub.script("create", trickle)

    with pytest.raises(Unknowable):
        await create(connected(create_timeout=timedelta(seconds=0.3)), stub)


async def test_a_create_that_was_never_sent_has_surely_not_happened(connected: Connect) -> None:
    provider = connected(endpoint="http://127.0.0.1:1")

    with pytest.raises(TryAgainLater) as failed:
        await provider.create(chunk_input(KEY), FileId("file-0"))

    assert type(failed.value) is TryAgainLater


async def test_a_create_before_the_file_is_ready_waits(provider: OpenAIBatches, stub: AzureStub) -> None:
    stub.script("create", error(400, "invalid_request", "the file is not ready"))

    with pytest.raises(TryAgainLater) as failed:
        await create(provider, stub, status="pending")

    assert type(failed.value) is TryAgainLater
    assert len(stub.calls("create")) == 1
    assert stub.calls("upload") == []


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (error(400, "invalid_endpoint"), "invalid_endpoint"),
        (error(400, None), "invalid_request"),
        (error(400, "400"), "invalid_request"),
        (error(404, "DeploymentNotFound"), "DeploymentNotFound"),
        (error(404, "model_not_found"), "model_not_found"),
        (error(413, None), "invalid_request"),
        (error(422, "unprocessable"), "unprocessable"),
        (failing(400, {"error": {"code": None, "type": "invalid_request_error"}}), "invalid_request_error"),
        (failing(400, "not json"), "invalid_request"),
    ],
)
async def test_a_create_that_is_refused_keeps_the_code(
    provider: OpenAIBatches, stub: AzureStub, answer: Answer, code: str
) -> None:
    stub.script("create", answer)

    with pytest.raises(Rejected) as rejected:
        await create(provider, stub)

    assert rejected.value.code == code


@pytest.mark.parametrize("status", [400, 429])
async def test_a_full_queue_is_no_refusal(provider: OpenAIBatches, stub: AzureStub, status: int) -> None:
    stub.script("create", error(status, "token_limit_exceeded", "limit of 30K"))

    with pytest.raises(NoCapacity):
        await create(provider, stub)


async def test_no_room_for_another_file_passes(provider: OpenAIBatches, stub: AzureStub) -> None:
    stub.script("upload", error(400, "quotaExceeded"))

    with pytest.raises(NoCapacity):
        await provider.stage(chunk_input(KEY))


@pytest.mark.parametrize(
    "answer",
    [
        error(401, "invalid_api_key", f"Incorrect API key: {SECRET}"),
        error(403, "Forbidden", f"key {SECRET}"),
        error(402, None, SECRET),
        error(429, "insufficient_quota", SECRET),
    ],
)
async def test_a_refusal_of_the_app_itself_is_nobodys_fault_and_quotes_nothing(
    provider: OpenAIBatches, stub: AzureStub, answer: Answer
) -> None:
    stub.script("create", answer)

    with pytest.raises(NotAdmitted) as refused:
        await create(provider, stub)

    assert SECRET not in str(refused.value)
    assert refused.value.__suppress_context__


async def test_a_call_to_slow_down_says_for_how_long(provider: OpenAIBatches, stub: AzureStub) -> None:
    stub.script("list", error(429, "429", retry_after="7"))

    with pytest.raises(RateLimited) as limited:
        await provider.find(chunk_input(KEY), since=BEGIN)

    assert limited.value.retry_after == timedelta(seconds=7)
    assert len(stub.seen) == 1


READS: dict[str, tuple[str, Callable[[OpenAIBatches], Awaitable[object]]]] = {
    "retrieve": ("batch", lambda provider: provider.retrieve(BatchId("batch_0"))),
    "staged": ("file", lambda provider: provider.staged(FileId("file-0"))),
    "expiry": ("file", lambda provider: provider.expiry(FileId("file-0"))),
    "find": ("list", lambda provider: provider.find(chunk_input(KEY), since=BEGIN)),
    "delete": ("delete", lambda provider: provider.delete_file(FileId("file-0"))),
    "download": ("content", lambda provider: download(provider, "file-0")),
}


async def download(provider: OpenAIBatches, file: str) -> bytes:
    return b"".join([piece async for piece in provider.download(FileId(file))])


@pytest.mark.parametrize(
    "answer", [dropped, error(500, None), error(503, "busy")], ids=["dropped", "500", "503"]
)
@pytest.mark.parametrize("verb", READS)
async def test_a_read_without_an_answer_may_be_repeated(
    provider: OpenAIBatches, stub: AzureStub, verb: str, answer: Answer
) -> None:
    operation, call = READS[verb]
    stub.script(operation, answer)

    with pytest.raises(TryAgainLater) as failed:
        await call(provider)

    assert type(failed.value) is TryAgainLater


@pytest.mark.parametrize("verb", ["retrieve", "staged", "find"])
async def test_a_page_of_a_proxy_is_no_answer(provider: OpenAIBatches, stub: AzureStub, verb: str) -> None:
    operation, call = READS[verb]
    stub.script(operation, failing(200, "<html>Sign in</html>", {"content-type": "text/html"}))

    with pytest.raises(TryAgainLater):
        await call(provider)


async def test_a_token_that_cannot_be_had_is_told_as_it_is(stub: AzureStub) -> None:
    async def refused(scope: str) -> str:
        raise NotAdmitted("no identity here")

    deployment = Deployment(
        name=DeploymentName("d"), provider="azure_openai", model="m", deployment="m", endpoint=stub.url
    )
    provider = connect(deployment, Connection(clock=StoppedClock(), key=lambda name: "", token=refused))

    with pytest.raises(NotAdmitted, match="no identity here"):
        await provider.retrieve(BatchId("batch_0"))
    await provider.close()


async def test_a_batch_is_found_on_a_later_page(provider: OpenAIBatches, stub: AzureStub) -> None:
    stub.page = 2
    ours = stub.add_batch(metadata={"postern_key": KEY})
    for _ in range(5):
        stub.add_batch(metadata={"postern_key": "another"})

    found = await provider.find(chunk_input(KEY), since=BEGIN)

    assert found is not None
    assert found.id == ours["id"]
    assert [call.query.get("after") for call in stub.calls("list")] == [None, "batch_4", "batch_2"]


async def test_the_search_ends_where_the_batch_cannot_be(provider: OpenAIBatches, stub: AzureStub) -> None:
    stub.page = 2
    for age in (86_400, 7200, 3600, 601, 0):
        stub.add_batch(created_at=START - age, metadata={"postern_key": "another"})

    assert await provider.find(chunk_input(KEY), since=BEGIN) is None
    assert len(stub.calls("list")) == 1


async def test_a_batch_just_before_the_intent_is_found_by_another_clock(
    provider: OpenAIBatches, stub: AzureStub
) -> None:
    stub.add_batch(created_at=START - 599, metadata={"postern_key": KEY})

    assert await provider.find(chunk_input(KEY), since=BEGIN) is not None


async def test_two_candidates_are_never_chosen_from(provider: OpenAIBatches, stub: AzureStub) -> None:
    stub.add_batch(metadata={"postern_key": KEY})
    stub.add_batch(metadata={"postern_key": KEY})

    with pytest.raises(Ambiguous, match="batch_0, batch_1"):
        await provider.find(chunk_input(KEY), since=BEGIN)


async def test_half_a_listing_proves_nothing(provider: OpenAIBatches, stub: AzureStub) -> None:
    stub.page = 1
    stub.add_batch()
    stub.add_batch()

    async def first_page(request: web.Request) -> web.StreamResponse:
        return web.json_response({"data": [stub.batches["batch_1"]], "has_more": True})

    stub.script("list", first_page, error(500, None))

    with pytest.raises(TryAgainLater):
        await provider.find(chunk_input(KEY), since=BEGIN)


async def test_a_listing_that_repeats_itself_ends(provider: OpenAIBatches, stub: AzureStub) -> None:
    stub.add_batch()

    async def again(request: web.Request) -> web.StreamResponse:
        return web.json_response({"data": [stub.batches["batch_0"]], "has_more": True})

    stub.script("list", *[again] * 10)

    assert await provider.find(chunk_input(KEY), since=BEGIN) is None
    assert len(stub.calls("list")) == 2


async def test_a_listing_that_goes_round_in_circles_proves_nothing(
    provider: OpenAIBatches, stub: AzureStub
) -> None:
    stub.add_batch()
    stub.add_batch()

    async def one_of_two(request: web.Request) -> web.StreamResponse:
        other = "batch_1" if request.query.get("after") == "batch_0" else "batch_0"
        return web.json_response({"data": [stub.batches[other]], "has_more": True})

    stub.script("list", *[one_of_two] * 10)

    with pytest.raises(TryAgainLater, match="circles"):
        await provider.find(chunk_input(KEY), since=BEGIN)
    assert len(stub.calls("list")) == 3


async def test_a_full_page_that_comes_again_proves_nothing(provider: OpenAIBatches, stub: AzureStub) -> None:
    page = [stub.add_batch() for _ in range(100)]

    async def again(request: web.Request) -> web.StreamResponse:
        return web.json_response({"data": page, "has_more": True})

    stub.script("list", *[again] * 10)

    with pytest.raises(TryAgainLater, match="circles"):
        await provider.find(chunk_input(KEY), since=BEGIN)


async def test_a_refused_cancel_of_a_running_batch_is_an_error(
    provider: OpenAIBatches, stub: AzureStub
) -> None:
    await create(provider, stub)
    stub.script("cancel", error(409, "conflict"))

    with pytest.raises(PosternError):
        await provider.cancel(BatchId("batch_0"))


async def test_a_download_that_breaks_off_is_not_the_file(provider: OpenAIBatches, stub: AzureStub) -> None:
    async def half(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b"x" * 500)
        assert request.transport is not None
        request.transport.abort()
        return response

    stub.script("content", half)

    with pytest.raises(TryAgainLater):
        await download(provider, "file-0")


async def test_an_empty_file_is_an_empty_file(provider: OpenAIBatches, stub: AzureStub) -> None:
    assert await download(provider, stub.add_file(b"")) == b""


async def test_spooling_keeps_the_input_on_disk_and_out_of_memory() -> None:
    megabyte = bytes(1 << 20)

    async def large() -> AsyncIterator[bytes]:
        for _ in range(64):
            yield megabyte

    tracemalloc.start()
    async with spooled(large()) as input_:
        _, peak = tracemalloc.get_traced_memory()
        assert input_.size == 64 << 20
        assert len(input_.handle.read(1 << 21)) == 1 << 21
    tracemalloc.stop()
    assert peak < 8 << 20


async def test_a_source_that_fails_is_told_as_it_is_and_nothing_is_uploaded(
    provider: OpenAIBatches, stub: AzureStub
) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"{}\n"
        raise NotFound("the chunk's blob is gone")

    with pytest.raises(NotFound, match="blob"):
        await provider.stage(replace(chunk_input(KEY), open_lines=broken))
    assert stub.seen == []


def test_the_catalogue_lowers_the_providers_limits(connected: Connect) -> None:
    limits = DeploymentLimits(enqueued_tokens=1_000_000, requests=500, bytes=1_000_000)

    traits = connected(limits=limits).traits

    assert (traits.limits.requests, traits.limits.bytes, traits.limits.line_bytes) == (
        500,
        1_000_000,
        1_000_000,
    )
    # Some of the quota is left over: the service's own count is approximate.
    assert traits.limits.tokens == 950_000
