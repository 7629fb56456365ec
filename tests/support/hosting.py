"""A host in virtual time: events and messages are served in the order they came, every call to a service takes time.

Whole app processes run side by side over the same stores, as instances of the deployed app do.
"""

import asyncio
import inspect
from collections import deque
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from shared.adapters.memory.blobs import MemoryBlobs
from shared.adapters.memory.events import MemoryEvents
from shared.adapters.memory.extractor import MemoryExtractor
from shared.adapters.memory.model import MemoryModels
from shared.adapters.memory.provider import MemoryProvider
from shared.adapters.memory.queue import MemoryQueue
from shared.adapters.memory.splitter import MemorySplitter, MemoryTokens
from shared.adapters.memory.tables import MemoryTables
from shared.adapters.pricing.windows import GenaiWindows
from shared.adapters.providers.openai.lines import read_row
from shared.adapters.schemas.checker import JsonschemaRsSchemas
from shared.bootstrap import App, Parts, build
from shared.domain.catalog import Catalog
from shared.domain.documents import Document
from shared.domain.ids import TenantId
from shared.services.policy import Policy
from shared.stores.documents import Documents
from tests.support.streams import stream
from tests.support.virtual import VirtualClock
from tests.support.world import PRICES, ROOMY, FixedCatalog, OneProvider

# What a call takes in a region: a table or a blob, a message sent, one received or settled.
STORAGE_SECONDS = 0.012
SEND_SECONDS = 0.02
LINK_SECONDS = 0.01
_IDLE_SECONDS = 0.05


class Distant:
    """A port each of whose verbs takes a while."""

    def __init__(self, port: Any, seconds: float) -> None:
        self._port = port
        self._seconds = seconds

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self._port, name)
        if not inspect.iscoroutinefunction(verb):
            return verb

        async def call(*args: Any, **more: Any) -> Any:
            await asyncio.sleep(self._seconds)
            return await verb(*args, **more)

        return call


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLimits:
    """Of one instance."""

    claims: int
    calls: int


@dataclass
class Region:
    """What outlives the processes, and the queue of storage events with all its instances."""

    catalog: Catalog
    answer_seconds: float
    clock: VirtualClock = field(default_factory=VirtualClock)
    deliveries: int = 0
    most_deliveries_of_one: int = 0

    def __post_init__(self) -> None:
        self.tables = MemoryTables()
        self.blobs = MemoryBlobs(self.clock)
        self.queue = MemoryQueue(self.clock)
        self.models = MemoryModels()
        self.events: deque[str] = deque()
        self.documents = Documents(self.tables)
        for name in self.catalog.deployments:
            manners = self.models.of(name).manners
            manners.sleep, manners.latency = asyncio.sleep, timedelta(seconds=self.answer_seconds)

    async def serve(self, limits: HostLimits, policy: Policy) -> None:
        """One instance, until it is cancelled."""
        app = self.an_instance(policy)
        async with asyncio.TaskGroup() as group:
            for _ in range(limits.claims):
                group.create_task(self._take_events(app))
            for _ in range(limits.calls):
                group.create_task(self._take_messages(app))

    async def _take_events(self, app: App) -> None:
        while True:
            if not self.events:
                await asyncio.sleep(_IDLE_SECONDS)
                continue
            place = self.events.popleft()
            await asyncio.sleep(LINK_SECONDS)
            await app.claim_document(place)

    async def _take_messages(self, app: App) -> None:
        while True:
            delivery = self.queue.receive()
            if delivery is None:
                await asyncio.sleep(_IDLE_SECONDS)
                continue
            self.deliveries += 1
            self.most_deliveries_of_one = max(self.most_deliveries_of_one, delivery.number)
            await asyncio.sleep(LINK_SECONDS)
            await app.process_document(delivery.message.body)
            await asyncio.sleep(LINK_SECONDS)
            self.queue.complete(delivery)

    def an_instance(self, policy: Policy) -> App:
        provider = MemoryProvider(clock=self.clock, read_row=read_row, limits=ROOMY)
        return build(
            Parts(
                tables=Distant(self.tables, STORAGE_SECONDS),
                blobs=Distant(self.blobs, STORAGE_SECONDS),
                events=Distant(MemoryEvents(), STORAGE_SECONDS),
                clock=self.clock,
                sleep=asyncio.sleep,
                catalog=FixedCatalog(self.catalog),
                providers=OneProvider(provider),
                models=self.models,
                queue=Distant(self.queue, SEND_SECONDS),
                prices=PRICES,
                tokens=MemoryTokens(),
                splitter=MemorySplitter(),
                windows=GenaiWindows(),
                schemas=JsonschemaRsSchemas(),
                extractor=MemoryExtractor(),
                verifier=None,
                policy=policy,
            )
        )

    async def drop(self, tenant: str, number: int) -> None:
        """All at this moment, their events in order behind what is there."""
        for n in range(number):
            place = f"documents/{tenant}/notes/{n}.txt"
            await self.blobs.write(place, stream(b"Some text."), content_type="text/plain")
            self.events.append(place)

    async def finished(self, tenant: str, count: int) -> list[Document]:
        """Its documents, once so many have their end."""
        while True:
            found = await self.all(tenant)
            if sum(document.is_finished for document in found) >= count:
                return found
            await asyncio.sleep(_IDLE_SECONDS)

    async def all(self, tenant: str) -> list[Document]:
        return [document async for document in self.documents.newest_first(TenantId(tenant))]
