"""Who runs the batches of a server that speaks as OpenAI does: the server if it can, we if it cannot."""

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime

import pytest

from shared.adapters.memory.blobs import MemoryBlobs
from shared.adapters.providers.connection import Connection
from shared.adapters.providers.openai.compatible import CompatibleBatches, connect
from shared.domain.catalog import Deployment
from shared.domain.errors import GiveUp, TryAgainLater
from shared.domain.ids import ChunkKey, DeploymentName
from shared.ports.clock import Clock
from tests.contract.batching.chunks import KEY, input_of
from tests.contract.batching.memory import StoppedClock
from tests.local.simulator.process import Simulator

type Connect = Callable[[str], CompatibleBatches]

pytestmark = pytest.mark.stack


def deployed(url: str) -> Deployment:
    return Deployment(
        name=DeploymentName("llama"),
        provider="openai_compatible",
        model="llama-3.3",
        deployment="llama-3.3",
        endpoint=url,
    )


@pytest.fixture
async def connected(batch_simulator: Simulator) -> AsyncIterator[Connect]:
    batch_simulator.send("DELETE", "rules")
    batch_simulator.send("DELETE", "journal")
    now = datetime.fromtimestamp(int(batch_simulator.get("clock")["now"]), UTC)
    clock: Clock = StoppedClock(now)
    made: list[CompatibleBatches] = []

    def make(path: str) -> CompatibleBatches:
        connection = Connection(clock=clock, key=lambda name: "secret", blobs=MemoryBlobs(clock))
        made.append(connect(deployed(batch_simulator.url + path), connection))
        return made[-1]

    yield make
    for provider in made:
        await provider.close()


async def test_a_server_with_batches_runs_them_itself(connected: Connect, batch_simulator: Simulator) -> None:
    provider = connected("/openai/v1")
    # Others have made batches under the usual key.
    chunk = input_of(provider, "hello", key=ChunkKey("job_1-0-7-1"))

    file = (await provider.stage(chunk)).id
    batch = await provider.create(chunk, file)

    assert batch.id.startswith("batch_")
    assert (await provider.retrieve(batch.id)).id == batch.id
    found = await provider.find(chunk, since=datetime(2026, 1, 1, tzinfo=UTC))
    assert found is not None
    assert found.id == batch.id
    assert await provider.expiry(file) is not None
    assert len(batch_simulator.journal("file_list")) == 1


async def test_a_server_without_is_asked_line_by_line(connected: Connect, batch_simulator: Simulator) -> None:
    provider = connected("/compatible/v1")
    chunk = input_of(provider, "hello")

    batch = await provider.create(chunk, (await provider.stage(chunk)).id)

    assert str(batch.id) == KEY
    assert batch_simulator.journal("chat") == []


async def test_a_server_that_does_not_answer_is_not_taken_for_one_without(
    connected: Connect, batch_simulator: Simulator
) -> None:
    batch_simulator.rule(match={"operation": "file_list"}, then={"status": 503}, times=1)
    provider = connected("/openai/v1")
    chunk = input_of(provider, "hello")

    with pytest.raises(TryAgainLater):
        await provider.stage(chunk)

    assert (await provider.stage(chunk)).id.startswith("file-")


async def test_a_gateway_that_wakes_up_late_hides_no_batch(
    connected: Connect, batch_simulator: Simulator
) -> None:
    provider = connected("/openai/v1")
    chunk = input_of(provider, "hello", key=ChunkKey("job_9-0-1-1"))
    batch = await provider.create(chunk, (await provider.stage(chunk)).id)
    batch_simulator.rule(match={"operation": "file_list"}, then={"status": 404}, times=1)
    another = connected("/openai/v1")
    await another.stage(chunk)

    found = await another.find(chunk, since=datetime(2026, 1, 1, tzinfo=UTC))

    assert found is not None
    assert found.id == batch.id


def test_without_storage_of_ours_nothing_can_be_run() -> None:
    connection = Connection(clock=StoppedClock(), key=lambda name: "secret")

    with pytest.raises(GiveUp, match="storage"):
        connect(deployed("http://127.0.0.1:1"), connection)
