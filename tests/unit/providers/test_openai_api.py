"""OpenAI's own platform on the wire, where it differs from Azure."""

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta

import pytest

from shared.adapters.providers.connection import Connection
from shared.adapters.providers.openai.batches import OpenAIBatches
from shared.adapters.providers.openai.platform import connect
from shared.domain.catalog import Deployment, DeploymentLimits, Endpoint
from shared.domain.chunks import BatchEnd
from shared.domain.errors import NoCapacity, NotAdmitted
from shared.domain.ids import BatchId, ChunkKey, DeploymentName, FileId
from tests.support.chunks import chunk_input
from tests.unit.providers.azure_stub import START, AzureStub, azure_stub, error

KEY = ChunkKey("job_1-0-1-1")
MONTH = 2_592_000


class StoppedClock:
    def now(self) -> datetime:
        return datetime.fromtimestamp(START, UTC)


@pytest.fixture
async def stub() -> AsyncIterator[AzureStub]:
    async with azure_stub() as running:
        yield running


Connect = Callable[..., OpenAIBatches]


@pytest.fixture
async def connected(stub: AzureStub) -> AsyncIterator[Connect]:
    made: list[OpenAIBatches] = []

    def make(*, key_setting: str | None = "KEY", limits: DeploymentLimits | None = None) -> OpenAIBatches:
        deployment = Deployment(
            name=DeploymentName("mini"),
            provider="openai",
            model="gpt-5-mini",
            deployment="gpt-5-mini",
            endpoint=f"{stub.url}/openai/v1",
            key_setting=key_setting,
            limits=limits or DeploymentLimits(),
        )
        made.append(connect(deployment, Connection(clock=StoppedClock(), key={"KEY": "sk-1"}.__getitem__)))
        return made[-1]

    yield make
    for provider in made:
        await provider.close()


async def test_files_are_asked_to_expire_within_what_is_allowed(stub: AzureStub, connected: Connect) -> None:
    provider = connected()
    chunk = chunk_input(KEY)

    batch = await provider.create(chunk, (await provider.stage(chunk)).id)

    [upload], [create] = stub.calls("upload"), stub.calls("create")
    assert upload.headers["Authorization"] == "Bearer sk-1"
    assert 3600 <= int(upload.fields["expires_after[seconds]"]) <= MONTH
    assert 3600 <= create.fields["output_expires_after"]["seconds"] <= MONTH
    assert create.fields["metadata"] == {"postern_key": KEY}
    assert create.fields["completion_window"] == "24h"
    assert batch.key == KEY


@pytest.mark.parametrize("key_setting", [None, "OTHER"])
def test_without_a_key_nobody_is_let_in(connected: Connect, key_setting: str | None) -> None:
    with pytest.raises(NotAdmitted, match="setting"):
        connected(key_setting=key_setting)


@pytest.mark.parametrize(
    "code",
    [
        "invalid_json_line",
        "duplicate_custom_id",
        "missing_required_parameter",
        "mismatched_model",
        "invalid_url",
        "model_not_found",
        "invalid_request",
        "streaming_unsupported",
    ],
)
async def test_a_file_that_is_refused_is_told_by_its_code(
    stub: AzureStub, connected: Connect, code: str
) -> None:
    complaint = {"object": "list", "data": [{"code": code, "message": "m", "param": None, "line": 2}]}
    batch = stub.add_batch(status="failed", errors=complaint)

    seen = await connected().retrieve(BatchId(batch["id"]))

    assert (seen.end, seen.code, seen.out_of_capacity) == (BatchEnd.FAILED, code, False)


async def test_a_full_queue_is_told_after_validation(stub: AzureStub, connected: Connect) -> None:
    complaint = {"object": "list", "data": [{"code": "token_limit_exceeded", "message": "m"}]}
    batch = stub.add_batch(status="failed", errors=complaint)

    assert (await connected().retrieve(BatchId(batch["id"]))).out_of_capacity


@pytest.mark.parametrize("status", [400, 429])
async def test_a_full_queue_is_told_at_the_create(stub: AzureStub, connected: Connect, status: int) -> None:
    stub.script("create", error(status, "token_limit_exceeded"))

    with pytest.raises(NoCapacity):
        await connected().create(chunk_input(KEY), FileId(stub.add_file(b"{}\n")))


@pytest.mark.parametrize("code", ["insufficient_quota", "billing_hard_limit_reached"])
async def test_an_unpaid_bill_is_nobodys_fault_but_ours(
    stub: AzureStub, connected: Connect, code: str
) -> None:
    stub.script("upload", error(429, code))

    with pytest.raises(NotAdmitted):
        await connected().stage(chunk_input(KEY))


async def test_counters_of_a_cancelled_batch_hide_no_answer(stub: AzureStub, connected: Connect) -> None:
    """They go back to zero; the rows are there all the same."""
    file = stub.add_file(b'{"custom_id":"a"}\n')
    counts = {"total": 3, "completed": 0, "failed": 0}
    batch = stub.add_batch(status="cancelled", output_file_id=file, request_counts=counts)

    seen = await connected().retrieve(BatchId(batch["id"]))

    assert (seen.end, seen.output_file) == (BatchEnd.CANCELLED, file)


def test_the_limits_are_openais_and_what_the_catalogue_sets_below(connected: Connect) -> None:
    own = connected().traits
    lowered = connected(limits=DeploymentLimits(requests=100, enqueued_tokens=1000)).traits

    assert (own.limits.requests, own.limits.vectors, own.limits.tokens) == (50_000, 50_000, None)
    assert own.endpoints == frozenset(Endpoint)
    assert own.window == timedelta(hours=24)
    assert (lowered.limits.requests, lowered.limits.vectors, lowered.limits.tokens) == (100, 50_000, 950)


def test_a_reasoning_model_is_known_by_the_catalogues_name(connected: Connect) -> None:
    found = connected().objection(Endpoint.CHAT, {"messages": [], "temperature": 0})

    assert found is not None
    assert found.field == "temperature"
