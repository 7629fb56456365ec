"""What one document costs in calls to storage and queue: the app in this process, on memory, every call counted."""

import asyncio
import inspect
from collections import Counter
from collections.abc import AsyncIterator
from types import MappingProxyType
from typing import Any, Final, cast

from benchmarks.figures import Figures
from benchmarks.instant import OneProvider
from shared.adapters.azure.clock import SystemClock
from shared.adapters.memory.blobs import MemoryBlobs
from shared.adapters.memory.events import MemoryEvents
from shared.adapters.memory.extractor import MemoryExtractor
from shared.adapters.memory.model import MemoryModels
from shared.adapters.memory.queue import MemoryQueue
from shared.adapters.memory.splitter import MemorySplitter, MemoryTokens
from shared.adapters.memory.tables import MemoryTables
from shared.adapters.pricing.genai import GenaiPrices
from shared.adapters.pricing.windows import GenaiWindows
from shared.adapters.schemas.checker import JsonschemaRsSchemas
from shared.bootstrap import App, Parts, build
from shared.domain.catalog import Alias, Catalog, Deployment, Lane, Pipeline, Tenant
from shared.domain.ids import AliasName, DeploymentName, TenantId
from shared.services.policy import Policy

_FIRST: Final = "documents/support/notes/first.txt"
_PLACE: Final = "documents/support/notes/a.txt"
# Aims for one document, the host's own receiving and completing left out.
_MOST_TO_CLAIM: Final = 5
_MOST_TO_PROCESS: Final = 12


class Counted:
    """A port; `calls` counts its verbs under `kind`."""

    def __init__(self, port: Any, kind: str, calls: Counter[str]) -> None:
        self._port = port
        self._kind = kind
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self._port, name)
        if not (inspect.iscoroutinefunction(verb) or inspect.isasyncgenfunction(verb)):
            return verb

        def call(*args: Any, **more: Any) -> Any:
            self._calls[f"{self._kind}: {name}"] += 1
            return verb(*args, **more)

        return call


def measure(figures: Figures) -> None:
    claiming, processing = asyncio.run(count())
    for group, calls, aim in (
        ("claim a document", claiming, _MOST_TO_CLAIM),
        ("process a document", processing, _MOST_TO_PROCESS),
    ):
        for name, number in sorted(calls.items()):
            figures.add(group, name, number, "calls")
        stored = sum(number for name, number in calls.items() if name.startswith(("table", "blob")))
        figures.add(group, "all of storage", stored, "calls", at_most=aim)
    # The host receives the message and completes it.
    figures.add("process a document", "queue: receive, complete", 2, "calls")


async def count() -> tuple[Counter[str], Counter[str]]:
    """What a document of the task `summarize` costs to claim, and then to process."""
    calls: Counter[str] = Counter()
    blobs, queue = MemoryBlobs(SystemClock()), MemoryQueue(SystemClock())
    app = _app(calls, blobs, queue)
    for place in (_FIRST, _PLACE):
        await blobs.write(place, _content(), content_type="text/plain")
    # The first one of a process notes that events are dealt with; others follow within seconds.
    await app.claim_document(_FIRST)
    queue.receive()
    calls.clear()
    await app.claim_document(_PLACE)
    claiming = calls.copy()
    calls.clear()
    delivery = queue.receive()
    if delivery is None:
        raise RuntimeError("the claimed document has no message")
    await app.process_document(delivery.message.body)
    if await blobs.head(f"results/{_PLACE.partition('/')[2]}.json") is None:
        raise RuntimeError("the processed document has no result")
    return claiming, calls


async def _content() -> AsyncIterator[bytes]:
    yield b"A note. It has two sentences."


def _app(calls: Counter[str], blobs: MemoryBlobs, queue: MemoryQueue) -> App:
    return build(
        Parts(
            tables=Counted(MemoryTables(), "table", calls),
            blobs=Counted(blobs, "blob", calls),
            events=Counted(MemoryEvents(), "events", calls),
            clock=SystemClock(),
            sleep=asyncio.sleep,
            catalog=_OneCatalog(),
            providers=OneProvider(cast(Any, None)),
            models=MemoryModels(),
            queue=Counted(queue, "queue", calls),
            prices=GenaiPrices(),
            tokens=MemoryTokens(),
            splitter=MemorySplitter(),
            windows=GenaiWindows(),
            schemas=JsonschemaRsSchemas(),
            extractor=MemoryExtractor(),
            verifier=None,
            policy=Policy(),
        )
    )


class _OneCatalog:
    async def current(self) -> Catalog:
        mini = Deployment(
            name=DeploymentName("mini"), provider="azure_openai", model="gpt-5-mini", deployment="mini"
        )
        alias = Alias(name=AliasName("summarize"), minutes=(mini.name,))
        notes = Pipeline(name="notes", task="summarize", alias=alias.name, lane=Lane.MINUTES)
        tenant = Tenant(id=TenantId("support"))
        return Catalog(
            tenants=MappingProxyType({tenant.id: tenant}),
            deployments=MappingProxyType({mini.name: mini}),
            aliases=MappingProxyType({alias.name: alias}),
            pipelines=MappingProxyType({notes.name: notes}),
        )
