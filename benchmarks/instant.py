"""A batch provider that answers at once, on local disk: what is left of the time is ours."""

import asyncio
import random
import re
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from benchmarks import samples
from shared.adapters.providers.openai.lines import read_row, write_line
from shared.domain.catalog import Deployment, Endpoint
from shared.domain.chunks import BatchEnd
from shared.domain.errors import NotFound
from shared.domain.ids import BatchId, FileId, RequestKey
from shared.domain.objections import Objection
from shared.domain.planning import Limits
from shared.domain.rows import Row
from shared.ports.providers import BatchProvider, ChunkInput, RemoteBatch, RemoteState, StagedFile, Traits

PIECE: Final = 64 * 1024
_KEY: Final = re.compile(rb'"custom_id":"([^"]+)"')


@dataclass(slots=True)
class InstantProvider:
    """`seconds` and `cpu` are what answering took: not ours, and taken off. Answers come in no order."""

    folder: Path
    tokens: int | None = None
    seconds: float = 0.0
    cpu: float = 0.0
    traits: Traits = field(init=False)
    _batches: dict[BatchId, RemoteBatch] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.traits = Traits(
            limits=Limits(requests=100_000, bytes=199_000_000, line_bytes=199_000_000, tokens=self.tokens),
            endpoints=frozenset(Endpoint),
            listing_lag=timedelta(0),
            find_is_exact=True,
            window=timedelta(hours=24),
        )

    def objection(self, endpoint: Endpoint, body: Mapping[str, object]) -> Objection | None:
        return None

    def write_line(self, key: RequestKey, endpoint: Endpoint, body: Mapping[str, object]) -> bytes:
        return write_line(key, url=endpoint.url, model="gpt-5-mini-batch", body=body)

    def read_row(self, endpoint: Endpoint, line: bytes) -> Row:
        return read_row(endpoint, line)

    async def stage(self, chunk: ChunkInput) -> StagedFile:
        name = FileId(f"{chunk.key}-input")
        with self._path(name).open("wb") as file:
            async for piece in chunk.open_lines():
                await asyncio.to_thread(file.write, piece)
        if (staged := self._path(name).stat().st_size) != chunk.size:
            raise AssertionError(f"{chunk.key}: {staged} bytes were staged, {chunk.size} announced")
        return await self.staged(name)

    async def staged(self, file: FileId) -> StagedFile:
        return StagedFile(id=file, ready=True, expires_at=datetime.now(UTC) + timedelta(days=14))

    async def find(self, chunk: ChunkInput, *, since: datetime) -> RemoteBatch | None:
        return self._batches.get(BatchId(f"batch-{chunk.key}"))

    async def create(self, chunk: ChunkInput, file: FileId) -> RemoteBatch:
        key = chunk.key
        begun, computed = time.perf_counter(), time.process_time()
        output = FileId(f"{key}-output")
        count = await asyncio.to_thread(_answer_all, self._path(file), self._path(output))
        batch = RemoteBatch(
            id=BatchId(f"batch-{key}"),
            key=key,
            state=RemoteState.ENDED,
            raw_state="completed",
            created_at=datetime.now(UTC),
            end=BatchEnd.COMPLETED,
            input_file=file,
            output_file=output,
            completed=count,
            failed=0,
        )
        self._batches[batch.id] = batch
        self.seconds += time.perf_counter() - begun
        self.cpu += time.process_time() - computed
        return batch

    async def retrieve(self, batch: BatchId) -> RemoteBatch:
        return self._batches[batch]

    async def cancel(self, batch: BatchId) -> None:
        return

    async def download(self, file: FileId) -> AsyncIterator[bytes]:
        with self._path(file).open("rb") as content:
            while piece := content.read(PIECE):
                yield piece

    async def expiry(self, file: FileId) -> datetime | None:
        if not self._path(file).exists():
            raise NotFound(f"no file {file}")
        return datetime.now(UTC) + timedelta(days=30)

    async def delete_file(self, file: FileId) -> None:
        self._path(file).unlink(missing_ok=True)

    async def batches(self, *, since: datetime) -> AsyncIterator[RemoteBatch]:
        for batch in reversed(self._batches.values()):
            yield batch

    def _path(self, file: FileId) -> Path:
        return self.folder / file.replace("/", "_")


@dataclass(slots=True)
class OneProvider:
    provider: BatchProvider

    def batch(self, deployment: Deployment) -> BatchProvider:
        return self.provider

    async def prepare(self, deployment: Deployment) -> None:
        return


def _answer_all(source: Path, target: Path) -> int:
    with source.open("rb") as lines:
        keys = [found[1].decode() for line in lines if (found := _KEY.search(line))]
    random.Random(len(keys)).shuffle(keys)
    with target.open("wb") as output:
        output.writelines(samples.answer(key, n) for n, key in enumerate(keys))
    return len(keys)
