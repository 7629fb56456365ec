"""The promises of `shared.ports.providers.BatchProvider`, asked of every provider."""

import asyncio
import inspect
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from shared.adapters.memory.provider import MemoryProvider
from shared.adapters.providers._openai_lines import read_row
from shared.adapters.providers.connection import Connection
from shared.adapters.providers.registry import ProviderRegistry
from shared.domain.catalog import Deployment, Endpoint
from shared.domain.chunks import BatchEnd
from shared.domain.errors import NotFound
from shared.domain.ids import BatchId, ChunkKey, DeploymentName, FileId, RequestKey
from shared.domain.rows import Finish, RowKind
from shared.ports.providers import BatchProvider, ChunkInput, RemoteBatch, RemoteState
from tests.local.simulator.process import Simulator
from tests.support.chunks import chunk_input
from tests.unit.providers.azure_stub import START, azure_stub


class StoppedClock:
    def __init__(self) -> None:
        self.time = datetime.fromtimestamp(START, UTC)

    def now(self) -> datetime:
        return self.time


@dataclass(frozen=True, kw_only=True)
class Service:
    """A provider, and a hand on the service behind it.

    No batch ends by itself: `finish` lets one run to its end and waits for that. `side_door` creates one that
    carries no key of ours. `start` is the service's time before the first call.
    """

    provider: BatchProvider
    finish: Callable[[BatchId], Awaitable[None]]
    side_door: Callable[[FileId], Awaitable[BatchId]]
    start: datetime


@asynccontextmanager
async def memory_service() -> AsyncIterator[Service]:
    clock = StoppedClock()
    provider = MemoryProvider(clock=clock, read_row=read_row)
    provider.habits.stuck = True

    async def finish(batch: BatchId) -> None:
        provider.habits.stuck = False

    async def side_door(file: FileId) -> BatchId:
        return provider.open_side_door(file)

    yield Service(provider=provider, finish=finish, side_door=side_door, start=clock.time)


@asynccontextmanager
async def azure_service() -> AsyncIterator[Service]:
    clock = StoppedClock()
    async with azure_stub() as stub:
        deployment = Deployment(
            name=DeploymentName("mini-batch"),
            provider="azure_openai",
            model="gpt-5-mini",
            deployment="gpt-5-mini-batch",
            endpoint=stub.url,
            key_setting="KEY",
        )
        registry = ProviderRegistry(Connection(clock=clock, key=lambda name: "secret"))

        async def finish(batch: BatchId) -> None:
            stub.finish(batch)

        async def side_door(file: FileId) -> BatchId:
            return BatchId(stub.add_batch(input_file_id=file)["id"])

        try:
            provider = registry.batch(deployment)
            yield Service(provider=provider, finish=finish, side_door=side_door, start=clock.time)
        finally:
            await registry.close()


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    """The provider simulator in a process of its own, for all tests of this module."""
    with tempfile.TemporaryDirectory() as folder:
        started = Simulator(data=Path(folder) / "simulator")
        try:
            started.start()
            yield started
        finally:
            started.stop()


@asynccontextmanager
async def simulated_service(
    simulator: Simulator, *, api_version: str | None = None
) -> AsyncIterator[Service]:
    """A new time in the simulator's life: what earlier tests left behind is two days old."""
    clock = StoppedClock()
    simulator.send("DELETE", "rules")
    simulator.rule(match={}, then={"batch": "completed", "after_seconds": 3600})
    simulator.advance(days=2)
    clock.time = datetime.fromtimestamp(int(simulator.get("clock")["now"]), UTC)
    deployment = Deployment(
        name=DeploymentName("mini-batch"),
        provider="azure_openai",
        model="gpt-5-mini",
        deployment="gpt-5-mini-batch",
        endpoint=f"{simulator.url}/azure",
        api_version=api_version,
        key_setting="KEY",
    )
    registry = ProviderRegistry(Connection(clock=clock, key=lambda name: "secret"))
    provider = registry.batch(deployment)

    async def finish(batch: BatchId) -> None:
        simulator.advance(hours=2)
        async with asyncio.timeout(20):
            while (await provider.retrieve(batch)).state is RemoteState.RUNNING:  # noqa: ASYNC110
                await asyncio.sleep(0.02)

    async def side_door(file: FileId) -> BatchId:
        wanted = {"input_file_id": file, "endpoint": "/v1/chat/completions", "completion_window": "24h"}
        async with httpx2.AsyncClient(headers={"api-key": "somebody else"}) as client:
            made = await client.post(f"{simulator.url}/azure/openai/v1/batches", json=wanted)
        return BatchId(made.json()["id"])

    try:
        yield Service(provider=provider, finish=finish, side_door=side_door, start=clock.time)
    finally:
        await registry.close()


def dated_simulated_service(simulator: Simulator) -> AbstractAsyncContextManager[Service]:
    return simulated_service(simulator, api_version="2024-10-21")


PROVIDERS = [
    pytest.param(memory_service, id="memory"),
    pytest.param(azure_service, id="azure_openai"),
    pytest.param(simulated_service, id="azure_openai, simulated", marks=pytest.mark.stack),
    pytest.param(dated_simulated_service, id="azure_openai, dated paths, simulated", marks=pytest.mark.stack),
]

KEY = ChunkKey("job_1-0-1-1")


@pytest.fixture(params=PROVIDERS)
async def service(request: pytest.FixtureRequest) -> AsyncIterator[Service]:
    make: Callable[..., AbstractAsyncContextManager[Service]] = request.param
    needed = [
        request.getfixturevalue(name) for name in inspect.signature(make).parameters if name == "simulator"
    ]
    async with make(*needed) as made:
        yield made


def lines_of(provider: BatchProvider, *prompts: str) -> bytes:
    return b"".join(
        provider.write_line(
            RequestKey(f"run-{n}"), Endpoint.CHAT, {"messages": [{"role": "user", "content": prompt}]}
        )
        for n, prompt in enumerate(prompts)
    )


def input_of(provider: BatchProvider, *prompts: str, key: ChunkKey = KEY) -> ChunkInput:
    return chunk_input(key, lines_of(provider, *(prompts or ("hello",))))


async def stage(provider: BatchProvider, *prompts: str) -> FileId:
    return (await provider.stage(input_of(provider, *prompts))).id


async def create(provider: BatchProvider, *prompts: str) -> RemoteBatch:
    chunk = input_of(provider, *prompts)
    return await provider.create(chunk, (await provider.stage(chunk)).id)


async def download(provider: BatchProvider, file: FileId) -> bytes:
    return b"".join([piece async for piece in provider.download(file)])


def test_a_request_is_one_line(service: Service) -> None:
    line = lines_of(service.provider, "a\nb\u2028c")

    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line)["body"]["messages"][0]["content"] == "a\nb\u2028c"


def test_no_line_makes_the_reader_raise(service: Service) -> None:
    for line in (b"", b"null", b"[1,2,3]", b"\xff", b'{"custom_id": "k"'):
        assert service.provider.read_row(Endpoint.CHAT, line).kind is RowKind.UNREADABLE


async def test_what_was_staged_is_there_unchanged(service: Service) -> None:
    content = lines_of(service.provider, "Grüße", "a\nb")

    file = await service.provider.stage(chunk_input(KEY, content))

    assert (await service.provider.staged(file.id)).ready
    assert await download(service.provider, file.id) == content


async def test_an_input_file_that_is_left_over_expires_by_itself(service: Service) -> None:
    file = await stage(service.provider)

    expires_at = (await service.provider.staged(file)).expires_at
    assert expires_at is not None
    assert expires_at >= service.start + timedelta(days=2)
    assert await service.provider.expiry(file) == expires_at


async def test_a_batch_that_was_never_created_is_not_found(service: Service) -> None:
    await create(service.provider)

    other = input_of(service.provider, key=ChunkKey("job_1-0-1-2"))
    assert await service.provider.find(other, since=service.start) is None


async def test_a_created_batch_is_found_by_its_key(service: Service) -> None:
    chunk = input_of(service.provider)
    file = (await service.provider.stage(chunk)).id

    created = await service.provider.create(chunk, file)
    found = await service.provider.find(chunk, since=service.start)

    assert found is not None
    assert (found.id, found.key, found.input_file) == (created.id, KEY, file)
    assert (await service.provider.retrieve(created.id)).id == created.id


async def test_a_batch_is_found_although_the_clocks_differ_by_minutes(service: Service) -> None:
    await create(service.provider)

    later = service.start + timedelta(minutes=5)
    assert await service.provider.find(input_of(service.provider), since=later) is not None


async def test_a_running_batch_has_no_end(service: Service) -> None:
    batch = await create(service.provider)

    running = await service.provider.retrieve(batch.id)

    assert (running.state, running.end) == (RemoteState.RUNNING, None)
    assert running.created_at is not None


async def test_a_completed_batch_answers_every_request_under_its_key(service: Service) -> None:
    batch = await create(service.provider, "one", "two", "three")
    await service.finish(batch.id)

    ended = await service.provider.retrieve(batch.id)

    assert (ended.state, ended.end, ended.completed, ended.failed) == (
        RemoteState.ENDED,
        BatchEnd.COMPLETED,
        3,
        0,
    )
    assert ended.output_file is not None
    lines = (await download(service.provider, ended.output_file)).split(b"\n")
    rows = [service.provider.read_row(Endpoint.CHAT, line) for line in lines if line]
    assert {row.key for row in rows} == {"run-0", "run-1", "run-2"}
    assert all(row.kind is RowKind.ANSWER and row.finish is Finish.STOP and row.text for row in rows)
    assert all(row.usage is not None and row.usage.output > 0 for row in rows)


async def test_results_stay_for_days(service: Service) -> None:
    batch = await create(service.provider)
    await service.finish(batch.id)
    ended = await service.provider.retrieve(batch.id)

    assert ended.output_file is not None
    expires_at = await service.provider.expiry(ended.output_file)
    assert expires_at is None or expires_at >= service.start + timedelta(days=14)


async def test_cancelling_is_asked_for_and_may_be_repeated(service: Service) -> None:
    batch = await create(service.provider)

    await service.provider.cancel(batch.id)
    await service.provider.cancel(batch.id)

    assert (await service.provider.retrieve(batch.id)).end in (None, BatchEnd.CANCELLED)


async def test_cancelling_a_batch_that_has_ended_is_no_error(service: Service) -> None:
    batch = await create(service.provider)
    await service.finish(batch.id)

    await service.provider.cancel(batch.id)

    assert (await service.provider.retrieve(batch.id)).end is BatchEnd.COMPLETED


async def test_a_deleted_file_is_gone_and_may_be_deleted_again(service: Service) -> None:
    file = await stage(service.provider)

    await service.provider.delete_file(file)
    await service.provider.delete_file(file)

    for gone in (
        service.provider.staged(file),
        service.provider.expiry(file),
        download(service.provider, file),
    ):
        with pytest.raises(NotFound):
            await gone


async def test_what_never_existed_is_not_found(service: Service) -> None:
    with pytest.raises(NotFound):
        await service.provider.retrieve(BatchId("batch_none"))
    with pytest.raises(NotFound):
        await service.provider.staged(FileId("file-none"))


async def test_all_batches_of_the_account_are_listed_and_a_side_door_has_no_key(service: Service) -> None:
    chunk = input_of(service.provider)
    file = (await service.provider.stage(chunk)).id
    first = await service.provider.create(chunk, file)
    alien = await service.side_door(file)

    listed = [(batch.id, batch.key) async for batch in service.provider.batches(since=service.start)]

    assert listed == [(alien, None), (first.id, KEY)]


async def test_batches_before_the_given_time_are_not_listed(service: Service) -> None:
    await create(service.provider)

    later = service.start + timedelta(hours=1)
    assert [batch async for batch in service.provider.batches(since=later)] == []


def test_the_traits_are_usable_figures(service: Service) -> None:
    traits = service.provider.traits

    assert 0 < traits.limits.line_bytes <= traits.limits.bytes <= 200_000_000
    assert traits.limits.requests >= 50_000
    assert Endpoint.CHAT in traits.endpoints
    assert timedelta(0) <= traits.listing_lag <= timedelta(minutes=5)
