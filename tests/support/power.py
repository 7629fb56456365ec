"""Power cuts: the ports of an app that stops dead before or after a chosen effect.

Wrap the memory adapters, run the use case until `PowerCut`, then build the app anew over the same memory
adapters and see that nothing is lost. An app that ran without a cut tells how many effects there are.
"""

from collections.abc import AsyncIterable, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from shared.adapters.memory.blobs import MemoryBlobs
from shared.adapters.memory.events import MemoryEvents
from shared.adapters.memory.model import MemoryModels
from shared.adapters.memory.provider import MemoryProvider
from shared.adapters.memory.queue import MemoryQueue
from shared.adapters.memory.tables import MemoryTables
from shared.domain.catalog import Deployment, Endpoint
from shared.domain.ids import BatchId, FileId, JobId, RequestKey, TenantId
from shared.domain.objections import Objection
from shared.domain.rows import Row
from shared.ports.blobs import NO_METADATA, BlobInfo, BlobPage, Blobs, UploadUrl
from shared.ports.events import Event, Events
from shared.ports.models import Model, Models, Question
from shared.ports.orchestrations import Orchestrations
from shared.ports.providers import BatchProvider, ChunkInput, RemoteBatch, StagedFile, Traits
from shared.ports.queue import DeadLetter, Message, Queue
from shared.ports.tables import Entity, Fields, Tables


class PowerCut(BaseException):
    """No handler of errors may survive it, hence no `Exception`."""


class Mains:
    """Counts effects over all that hangs on it, from 1. After the cut nothing works any more."""

    def __init__(self, *, cut_before: int | None = None, cut_after: int | None = None) -> None:
        self.effects = 0
        self._cut_before = cut_before
        self._cut_after = cut_after
        self._dead = False

    def check(self) -> None:
        if self._dead:
            raise PowerCut

    @contextmanager
    def effect(self) -> Iterator[None]:
        self.check()
        self.effects += 1
        number = self.effects
        if number == self._cut_before:
            self._cut()
        try:
            yield
        finally:
            # Also after an effect whose answer was lost.
            if number == self._cut_after:
                self._cut()
        self.check()

    def _cut(self) -> None:
        self._dead = True
        raise PowerCut


class PoweredTables:
    def __init__(self, tables: Tables, mains: Mains) -> None:
        self._tables = tables
        self._mains = mains

    async def get(self, table: str, partition: str, row: str) -> Entity | None:
        self._mains.check()
        return await self._tables.get(table, partition, row)

    async def insert(self, table: str, partition: str, row: str, fields: Fields) -> Entity:
        with self._mains.effect():
            return await self._tables.insert(table, partition, row, fields)

    async def replace(self, table: str, entity: Entity, fields: Fields) -> Entity:
        with self._mains.effect():
            return await self._tables.replace(table, entity, fields)

    async def put(self, table: str, partition: str, row: str, fields: Fields) -> None:
        with self._mains.effect():
            await self._tables.put(table, partition, row, fields)

    async def delete(self, table: str, partition: str, row: str, *, etag: str | None = None) -> None:
        with self._mains.effect():
            await self._tables.delete(table, partition, row, etag=etag)

    async def scan(
        self, table: str, partition: str, *, start: str = "", stop: str | None = None
    ) -> AsyncIterator[Entity]:
        async for entity in self._tables.scan(table, partition, start=start, stop=stop):
            self._mains.check()
            yield entity


class PoweredBlobs:
    def __init__(self, blobs: Blobs, mains: Mains) -> None:
        self._blobs = blobs
        self._mains = mains

    async def head(self, path: str) -> BlobInfo | None:
        self._mains.check()
        return await self._blobs.head(path)

    async def read(
        self, path: str, *, etag: str | None = None, offset: int = 0, length: int | None = None
    ) -> AsyncIterator[bytes]:
        async for piece in self._blobs.read(path, etag=etag, offset=offset, length=length):
            self._mains.check()
            yield piece

    async def write(
        self,
        path: str,
        content: AsyncIterable[bytes],
        *,
        content_type: str | None = None,
        metadata: Mapping[str, str] = NO_METADATA,
        overwrite: bool = True,
        if_etag: str | None = None,
    ) -> BlobInfo:
        with self._mains.effect():
            return await self._blobs.write(
                path,
                content,
                content_type=content_type,
                metadata=metadata,
                overwrite=overwrite,
                if_etag=if_etag,
            )

    async def copy(self, source: str, target: str, *, etag: str) -> BlobInfo:
        with self._mains.effect():
            return await self._blobs.copy(source, target, etag=etag)

    async def delete(self, path: str, *, etag: str | None = None) -> None:
        with self._mains.effect():
            await self._blobs.delete(path, etag=etag)

    async def list(self, prefix: str) -> AsyncIterator[BlobInfo]:
        async for info in self._blobs.list(prefix):
            self._mains.check()
            yield info

    async def page(self, prefix: str, *, cursor: str | None = None, limit: int = 5000) -> BlobPage:
        self._mains.check()
        return await self._blobs.page(prefix, cursor=cursor, limit=limit)

    def url(self, path: str) -> str:
        return self._blobs.url(path)

    async def upload_url(self, path: str, *, valid_for: timedelta) -> UploadUrl:
        self._mains.check()
        return await self._blobs.upload_url(path, valid_for=valid_for)


class PoweredEvents:
    def __init__(self, events: Events, mains: Mains) -> None:
        self._events = events
        self._mains = mains

    async def publish(self, event: Event) -> None:
        with self._mains.effect():
            await self._events.publish(event)


class PoweredQueue:
    def __init__(self, queue: Queue, mains: Mains) -> None:
        self._queue = queue
        self._mains = mains

    async def send(self, message: Message, *, delay: timedelta | None = None) -> None:
        with self._mains.effect():
            await self._queue.send(message, delay=delay)

    async def is_empty(self) -> bool:
        self._mains.check()
        return await self._queue.is_empty()

    async def dead_letters(self, *, start: int = 0, limit: int = 100) -> Sequence[DeadLetter]:
        self._mains.check()
        return await self._queue.dead_letters(start=start, limit=limit)


class PoweredModels:
    """A question is an effect: it costs something."""

    def __init__(self, models: Models, mains: Mains) -> None:
        self._models = models
        self._mains = mains

    def model(self, deployment: Deployment) -> Model:
        return _PoweredModel(self._models.model(deployment), self._mains)


class _PoweredModel:
    def __init__(self, model: Model, mains: Mains) -> None:
        self._model = model
        self._mains = mains

    async def ask(self, question: Question) -> Row:
        with self._mains.effect():
            return await self._model.ask(question)


class PoweredProvider:
    """Whatever changes something at the provider is an effect."""

    def __init__(self, provider: BatchProvider, mains: Mains) -> None:
        self._provider = provider
        self._mains = mains

    @property
    def traits(self) -> Traits:
        return self._provider.traits

    def objection(self, endpoint: Endpoint, body: Mapping[str, object]) -> Objection | None:
        return self._provider.objection(endpoint, body)

    def write_line(self, key: RequestKey, endpoint: Endpoint, body: Mapping[str, object]) -> bytes:
        return self._provider.write_line(key, endpoint, body)

    def read_row(self, endpoint: Endpoint, line: bytes) -> Row:
        return self._provider.read_row(endpoint, line)

    async def stage(self, chunk: ChunkInput) -> StagedFile:
        with self._mains.effect():
            return await self._provider.stage(chunk)

    async def staged(self, file: FileId) -> StagedFile:
        self._mains.check()
        return await self._provider.staged(file)

    async def find(self, chunk: ChunkInput, *, since: datetime) -> RemoteBatch | None:
        self._mains.check()
        return await self._provider.find(chunk, since=since)

    async def create(self, chunk: ChunkInput, file: FileId) -> RemoteBatch:
        with self._mains.effect():
            return await self._provider.create(chunk, file)

    async def retrieve(self, batch: BatchId) -> RemoteBatch:
        self._mains.check()
        return await self._provider.retrieve(batch)

    async def cancel(self, batch: BatchId) -> None:
        with self._mains.effect():
            await self._provider.cancel(batch)

    async def download(self, file: FileId) -> AsyncIterator[bytes]:
        async for piece in self._provider.download(file):
            self._mains.check()
            yield piece

    async def expiry(self, file: FileId) -> datetime | None:
        self._mains.check()
        return await self._provider.expiry(file)

    async def delete_file(self, file: FileId) -> None:
        with self._mains.effect():
            await self._provider.delete_file(file)

    async def batches(self, *, since: datetime) -> AsyncIterator[RemoteBatch]:
        async for batch in self._provider.batches(since=since):
            self._mains.check()
            yield batch


class PoweredOrchestrations:
    def __init__(self, orchestrations: Orchestrations, mains: Mains) -> None:
        self._orchestrations = orchestrations
        self._mains = mains

    async def start(self, job_id: JobId, run: int, *, tenant: TenantId) -> None:
        with self._mains.effect():
            await self._orchestrations.start(job_id, run, tenant=tenant)

    async def forget_finished(self) -> None:
        with self._mains.effect():
            await self._orchestrations.forget_finished()

    async def wake(self, job_id: JobId, run: int) -> None:
        with self._mains.effect():
            await self._orchestrations.wake(job_id, run)


def powered(port: Any, mains: Mains) -> Any:
    """The port on these mains, whichever it is."""
    match port:
        case MemoryTables():
            return PoweredTables(port, mains)
        case MemoryBlobs():
            return PoweredBlobs(port, mains)
        case MemoryEvents():
            return PoweredEvents(port, mains)
        case MemoryProvider():
            return PoweredProvider(port, mains)
        case MemoryQueue():
            return PoweredQueue(port, mains)
        case MemoryModels():
            return PoweredModels(port, mains)
        case _:
            raise AssertionError(f"{type(port).__name__} has no plug")
