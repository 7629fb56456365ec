"""Providers on the wire: the real adapter and its SDK against the simulator, over a socket."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.adapters.memory.provider import Course
from shared.adapters.memory.provider_rows import Fate
from shared.adapters.providers.connection import Connection
from shared.adapters.providers.registry import ProviderRegistry
from shared.domain.catalog import Deployment
from shared.domain.chunks import BatchEnd
from shared.domain.ids import BatchId, DeploymentName, FileId
from shared.ports.blobs import Blobs
from shared.ports.providers import BatchProvider, ChunkInput, RemoteState
from tests.contract.batching.memory import StoppedClock
from tests.contract.batching.service import Make, Service, Ways
from tests.local.simulator.process import Simulator

TROUBLES: Mapping[Fate, Mapping[str, Any]] = {
    Fate.CONTENT_FILTER: {"outcome": "content_filter", "filtered": "prompt"},
    Fate.FILTERED: {"outcome": "content_filter", "filtered": "completion"},
    Fate.REFUSAL: {"outcome": "refusal"},
    Fate.TRUNCATED: {"outcome": "truncated"},
    Fate.REJECTED: {"outcome": "error", "status": 400, "error_code": "invalid_request"},
    Fate.ERROR: {"outcome": "error", "status": 500},
    Fate.RATE_LIMITED: {"outcome": "error", "status": 429},
    Fate.MISSING: {"outcome": "missing"},
    Fate.DUPLICATE: {"outcome": "duplicate"},
    Fate.MALFORMED: {"outcome": "malformed"},
}
# Longer than a test looks, shorter than every provider's window.
RUNS_FOR = 3600

type SideDoor = Callable[[str, ChunkInput, FileId], Awaitable[BatchId]]
type OpenStorage = Callable[[Simulator], AbstractAsyncContextManager[Blobs | None]]
# The batch's address at the simulator, and what to put in place of its object to make its state unknown.
type Estrange = Callable[[str, BatchId], Awaitable[Mapping[str, Any]]]


@dataclass(slots=True)
class Rules:
    """First match wins at the simulator: what a test asks for comes before what holds otherwise."""

    simulator: Simulator
    otherwise: list[dict[str, Any]]
    asked: list[dict[str, Any]] = field(default_factory=list)

    def begin(self) -> None:
        self.simulator.send("DELETE", "rules")
        self.simulator.send("POST", "rules", self.otherwise)

    def add(self, match: Mapping[str, Any], then: Mapping[str, Any], times: int | None = None) -> None:
        self.asked.append({"match": match, "then": then, "times": times})
        self.simulator.send("DELETE", "rules")
        self.simulator.send("POST", "rules", self.asked + self.otherwise)


def simulated(
    provider: str,
    path: str,
    *,
    side_door: SideDoor,
    estrange: Estrange,
    ways: Ways | None = None,
    options: Callable[[str], Mapping[str, str]] = lambda url: {},
    storage: OpenStorage | None = None,
    **fields: Any,
) -> Make:
    """`path` is where the simulator serves the provider; `fields` are further ones of the deployment.

    `options` takes the simulator's address. `storage` is where chunks lie, for providers that look there.
    """

    @asynccontextmanager
    async def make(simulator: Simulator) -> AsyncIterator[Service]:
        url = simulator.url + path
        deployment = Deployment(
            **{
                "name": DeploymentName("mini-batch"),
                "provider": provider,
                "model": "gpt-4.1-mini",
                "deployment": "mini-there",
                "endpoint": url,
                "key_setting": "KEY",
                "options": options(simulator.url),
                **fields,
            }
        )
        clock = StoppedClock(begin(simulator))
        async with (storage or _no_storage)(simulator) as blobs:
            registry = ProviderRegistry(Connection(clock=clock, key=lambda name: "secret", blobs=blobs))
            adapter = registry.batch(deployment)
            made = service_of(adapter, simulator, clock, url, side_door, estrange, ways or Ways())
            try:
                yield made if blobs is None else replace(made, store=_storing(blobs))
            finally:
                await registry.close()

    return make


@asynccontextmanager
async def _no_storage(_: Simulator) -> AsyncIterator[None]:
    yield None


def _storing(blobs: Blobs) -> Callable[[ChunkInput], Awaitable[None]]:
    async def store(chunk: ChunkInput) -> None:
        await blobs.write(chunk.path, chunk.open_lines())

    return store


def begin(simulator: Simulator) -> datetime:
    """A new time in the simulator's life: what earlier tests left behind is two days old."""
    simulator.advance(days=2)
    return datetime.fromtimestamp(int(simulator.get("clock")["now"]), UTC)


def service_of(
    provider: BatchProvider,
    simulator: Simulator,
    clock: StoppedClock,
    url: str,
    side_door: SideDoor,
    estrange: Estrange,
    ways: Ways,
) -> Service:
    rules = Rules(
        simulator, [{"match": {}, "then": {"batch": "completed", "after_seconds": RUNS_FOR}, "times": None}]
    )
    rules.begin()

    def pass_time(time: timedelta) -> None:
        simulator.advance(seconds=time.total_seconds())
        clock.time += time

    async def finish(batch: BatchId) -> None:
        pass_time(timedelta(seconds=2 * RUNS_FOR))
        await until_ended(provider, batch)

    async def under_way(batch: BatchId, answered: int) -> None:
        async with asyncio.timeout(60):
            while (await provider.retrieve(batch)).completed != answered:  # noqa: ASYNC110
                await asyncio.sleep(0.02)

    async def strange(batch: BatchId) -> None:
        rules.add({"operation": "retrieve"}, {"status": 200, "body": await estrange(url, batch)})

    def on_create(then: Mapping[str, Any]) -> None:
        rules.add({"operation": "create"}, then, times=1)

    return Service(
        provider=provider,
        start=clock.time,
        ways=ways,
        finish=finish,
        under_way=under_way,
        pass_time=pass_time,
        spoil=lambda contained, fate: rules.add({"contains": contained}, TROUBLES[fate]),
        answer=lambda contained, text: rules.add(
            {"contains": contained}, {"outcome": "success", "text": text}
        ),
        course=lambda course: rules.add({}, _script(course), times=1),
        side_door=lambda chunk, file: side_door(url, chunk, file),
        strange=strange,
        lose_create=lambda: on_create({"drop": "after"}),
        hide=lambda lag: on_create({"list_lag_seconds": lag.total_seconds()}),
        absent=lambda lag: on_create({"retrieve_lag_seconds": lag.total_seconds()}),
        lock_out=lambda: rules.add(
            {"operation": "retrieve"},
            {"status": 401, "body": {"error": {"code": "invalid_api_key"}}},
            times=1,
        ),
    )


async def until_ended(provider: BatchProvider, batch: BatchId) -> None:
    async with asyncio.timeout(60):
        while (await provider.retrieve(batch)).state is RemoteState.RUNNING:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


def _script(course: Course) -> Mapping[str, Any]:
    match course.end:
        case BatchEnd.FAILED:
            return {"batch": "failed", "error_code": course.code or "invalid_request"}
        case BatchEnd.CANCELLED:
            # It ends when somebody cancels it, after so many requests.
            return {"batch": "stuck", "completed": course.done or 0}
        case BatchEnd.EXPIRED:
            return {"batch": "expired", "completed": course.done or 0, "after_seconds": RUNS_FOR}
        case BatchEnd.COMPLETED:
            return {"batch": "completed", "after_seconds": RUNS_FOR}
