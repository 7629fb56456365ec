"""A server that has no batches: the adapter asks the simulator's lines itself, and keeps them in our storage."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Final

from shared.adapters.memory.blobs import MemoryBlobs
from shared.adapters.memory.provider import Course
from shared.adapters.memory.provider_rows import Fate
from shared.adapters.providers.connection import Connection
from shared.adapters.providers.openai.compatible import connect
from shared.adapters.providers.self_run.pace import Turnstile
from shared.domain.catalog import Deployment
from shared.domain.ids import BatchId, DeploymentName
from shared.domain.waits import Backoff
from shared.ports.providers import ChunkInput, RemoteState
from tests.contract.batching.memory import StoppedClock
from tests.contract.batching.service import Service, Ways
from tests.contract.batching.simulated import TROUBLES, Rules, begin, until_ended
from tests.local.simulator.process import Simulator

# A connection that breaks is a call to repeat, not a row that is missing, and a 429 only a wait.
WAYS: Final = Ways(
    keeps_input=False,
    can_fail=False,
    has_side_door=False,
    repeats_creates=False,
    is_elsewhere=False,
    never=frozenset({Fate.MISSING, Fate.DUPLICATE, Fate.RATE_LIMITED}),
)
SHORT: Final = Backoff(first=timedelta(milliseconds=10), longest=timedelta(milliseconds=10))
_BUSY: Final = {"status": 429, "headers": {"retry-after": "3600"}, "body": {"error": {"message": "busy"}}}


@asynccontextmanager
async def compatible(simulator: Simulator) -> AsyncIterator[Service]:
    clock = StoppedClock(begin(simulator))
    blobs = MemoryBlobs(clock)
    rules = Rules(simulator, [])
    rules.begin()
    deployment = Deployment(
        name=DeploymentName("llama"),
        provider="openai_compatible",
        model="llama-3.3",
        deployment="llama-3.3",
        endpoint=f"{simulator.url}/compatible/v1",
    )
    provider = connect(deployment, Connection(clock=clock, key=lambda name: "secret", blobs=blobs))
    own = provider.own
    # Looking at a batch is what moves it: until the test lets it, nobody has the time.
    working, own.terms = own.terms, replace(own.terms, slice=timedelta(0))
    own.turnstile = Turnstile(clock, faults=SHORT)

    async def store(chunk: ChunkInput) -> None:
        await blobs.write(chunk.path, chunk.open_lines())

    async def finish(batch: BatchId) -> None:
        own.terms = working
        if (await provider.retrieve(batch)).state is RemoteState.RUNNING:
            pass_time(provider.traits.window)
        await until_ended(provider, batch)

    def pass_time(time: timedelta) -> None:
        clock.time += time

    def course(course: Course) -> None:
        """After so many answers the server is busy until the window ends, or somebody cancels."""
        rules.add({"operation": "chat"}, {"delay_ms": 0}, times=course.done)
        rules.add({"operation": "chat"}, _BUSY)

    async def under_way(batch: BatchId, answered: int) -> None:
        own.terms = working
        assert (await provider.retrieve(batch)).completed == answered

    def lock_out() -> None:
        own.terms = working
        body = {"error": {"code": "invalid_api_key"}}
        rules.add({"operation": "chat"}, {"status": 401, "body": body}, times=1)

    try:
        yield Service(
            provider=provider,
            start=clock.time,
            ways=WAYS,
            store=store,
            finish=finish,
            under_way=under_way,
            pass_time=pass_time,
            spoil=lambda contained, fate: rules.add({"contains": contained}, TROUBLES[fate]),
            answer=lambda contained, text: rules.add(
                {"contains": contained}, {"outcome": "success", "text": text}
            ),
            course=course,
            side_door=_impossible,
            strange=_impossible,
            lose_create=lambda: None,
            hide=lambda lag: None,
            absent=lambda lag: None,
            lock_out=lock_out,
        )
    finally:
        await provider.close()


async def _impossible(*_: object) -> BatchId:
    raise AssertionError("the batch is our own record; nobody else can touch it")
