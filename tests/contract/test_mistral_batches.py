"""What only Mistral's batches do: one bad line refuses a file, a batch may take a week, nothing is logged."""

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta

import pytest

from shared.adapters.azure.clock import SystemClock
from shared.adapters.providers.connection import Connection
from shared.adapters.providers.registry import ProviderRegistry
from shared.domain.catalog import Deployment, Endpoint
from shared.domain.chunks import BatchEnd
from shared.domain.errors import NotAdmitted, NotFound, Rejected
from shared.domain.ids import ChunkKey, DeploymentName, FileId, RequestKey
from shared.domain.rows import RowKind
from shared.ports.providers import BatchProvider, RemoteBatch, RemoteState
from tests.contract.batching.chunks import input_of
from tests.contract.batching.simulated import until_ended
from tests.local.simulator.process import Simulator
from tests.support.chunks import chunk_input

pytestmark = pytest.mark.stack

KEY = ChunkKey("job_9-0-1-1")


type Connect = Callable[..., BatchProvider]


@pytest.fixture
async def connect(batch_simulator: Simulator) -> AsyncIterator[Connect]:
    batch_simulator.send("DELETE", "rules")
    registry = ProviderRegistry(Connection(clock=SystemClock(), key=lambda name: "secret"))

    def make(path: str = "/mistral", **options: str) -> BatchProvider:
        return registry.batch(
            Deployment(
                name=DeploymentName("small"),
                provider="mistral",
                model="mistral-small-latest",
                deployment="mistral-small-latest",
                endpoint=batch_simulator.url + path,
                key_setting="KEY",
                options=options,
            )
        )

    yield make
    await registry.close()
    batch_simulator.send("DELETE", "rules")


async def created(provider: BatchProvider) -> RemoteBatch:
    chunk = input_of(provider, key=KEY)
    return await provider.create(chunk, (await provider.stage(chunk)).id)


async def refusal[Answer](call: Awaitable[Answer]) -> Rejected:
    with pytest.raises(Rejected) as refused:
        await call
    return refused.value


async def test_one_bad_line_refuses_the_whole_file_without_a_word_of_it(connect: Connect) -> None:
    body = {"messages": [{"role": "user", "content": "heater"}], "temperature": 2}
    content = json.dumps({"custom_id": "k", "body": body}).encode() + b"\n"

    refused = await refusal(connect().stage(chunk_input(KEY, content)))

    assert refused.code == "invalid_request"
    assert "heater" not in str(refused)


async def test_a_file_that_is_gone_is_staged_anew_and_not_refused(connect: Connect) -> None:
    provider = connect()

    with pytest.raises(NotFound):
        await provider.create(input_of(provider, key=KEY), FileId("00000000-0000-4000-8000-000000000000"))


async def test_an_address_without_files_is_the_operators_to_mend(connect: Connect) -> None:
    provider = connect("/nowhere")

    with pytest.raises(NotAdmitted, match="base_url"):
        await provider.stage(input_of(provider, key=KEY))


async def test_a_batch_may_take_as_long_as_the_catalogue_says(
    connect: Connect, batch_simulator: Simulator
) -> None:
    batch_simulator.rule(match={}, then={"batch": "stuck"})
    provider = connect(timeout_hours="100")

    batch = await created(provider)

    assert provider.traits.window == timedelta(hours=100)
    assert batch.created_at is not None
    assert batch.expires_at == batch.created_at + timedelta(hours=100)
    await provider.cancel(batch.id)


async def test_a_batch_being_cancelled_is_still_running(connect: Connect, batch_simulator: Simulator) -> None:
    batch_simulator.rule(match={}, then={"batch": "stuck", "cancel_seconds": 3600})
    provider = connect()
    batch = await created(provider)

    await provider.cancel(batch.id)

    seen = await provider.retrieve(batch.id)
    assert (seen.state, seen.raw_state, seen.recognised) == (
        RemoteState.RUNNING,
        "CANCELLATION_REQUESTED",
        True,
    )
    batch_simulator.advance(hours=2)


async def test_embeddings_go_in_batches_too(connect: Connect) -> None:
    provider = connect()
    line = provider.write_line(RequestKey("k"), Endpoint.EMBEDDINGS, {"input": "a heater", "dimensions": 8})
    chunk = chunk_input(KEY, line, endpoint=Endpoint.EMBEDDINGS)

    batch = await provider.create(chunk, (await provider.stage(chunk)).id)
    await until_ended(provider, batch.id)
    batch = await provider.retrieve(batch.id)

    assert batch.end is BatchEnd.COMPLETED
    assert batch.output_file is not None
    content = b"".join([piece async for piece in provider.download(batch.output_file)])
    row = provider.read_row(Endpoint.EMBEDDINGS, content.strip())
    assert row.kind is RowKind.ANSWER
    assert len(json.loads(row.output or b"")) == 8


async def test_the_sdks_debugging_is_off_whatever_the_environment_says(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MISTRAL_DEBUG", "1")
    caplog.set_level(logging.DEBUG, logger="mistralai")
    provider = connect()

    await provider.stage(input_of(provider, "a heater", key=KEY))

    assert [record for record in caplog.records if record.name.startswith("mistralai")] == []
