"""Servers that speak as OpenAI does: vLLM, Ollama, a gateway of one's own.

Most have no batches; then we ask their lines ourselves. One that has files and batches is used as OpenAI is.
vLLM and Ollama have none as of November 2026 (Ollama's compatibility page, vLLM's server documentation).
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import datetime, timedelta
from typing import Final

import httpx2
import openai

from shared.adapters.providers.common.deployments import key_of, traits_of
from shared.adapters.providers.connection import Connection
from shared.adapters.providers.openai.batches import OpenAIBatches
from shared.adapters.providers.openai.batches import Terms as TheirTerms
from shared.adapters.providers.openai.errors import Call, translated
from shared.adapters.providers.openai.lines import read_row
from shared.adapters.providers.openai.model import OpenAIModel
from shared.adapters.providers.self_run.batches import SelfRunBatches, is_own
from shared.adapters.providers.self_run.pace import Turnstile
from shared.adapters.providers.self_run.slice import Terms as OwnTerms
from shared.domain.catalog import Deployment, Endpoint
from shared.domain.errors import GiveUp
from shared.domain.ids import BatchId, ChunkKey, FileId, RequestKey
from shared.domain.objections import Objection
from shared.domain.planning import Limits
from shared.domain.rows import Row
from shared.ports.clock import Clock
from shared.ports.providers import ChunkInput, RemoteBatch, StagedFile, Traits

# Ours, not a provider's: what a handful of workers gets through in the window, each line held in memory once.
TRAITS: Final = Traits(
    limits=Limits(requests=10_000, bytes=199_000_000, line_bytes=8_000_000),
    endpoints=frozenset(Endpoint),
    listing_lag=timedelta(seconds=10),
    find_is_exact=True,
    window=timedelta(hours=24),
)
# For servers with files: what OpenAI allows.
INPUT_KEPT: Final = timedelta(days=14)
OUTPUT_KEPT: Final = timedelta(days=30)

# Servers of one's own often want no key; the SDK wants one.
_NO_KEY: Final = "none"
_TIMEOUT: Final = httpx2.Timeout(600, connect=10, write=60, pool=60)
# What is answered where there are none: not found, not allowed, not implemented.
_NOT_SERVED: Final = frozenset({404, 405, 501})


def connect(deployment: Deployment, connection: Connection) -> "CompatibleBatches":
    """Nothing is sent before the first verb is called."""
    client = client_of(deployment, connection)
    traits = traits_of(TRAITS, deployment)
    if connection.blobs is None:
        raise GiveUp(f"deployment {deployment.name!r} needs the app's own storage for its batches")
    model = OpenAIModel(client=client, model=deployment.deployment, clock=connection.clock)
    own = SelfRunBatches(
        blobs=connection.blobs,
        ask=model.answer,
        clock=connection.clock,
        turnstile=Turnstile(connection.clock),
        terms=OwnTerms(max_line_bytes=traits.limits.line_bytes),
        window=traits.window,
    )
    theirs = OpenAIBatches(
        client=client,
        terms=TheirTerms(
            traits=traits,
            model=deployment.deployment,
            objection=lambda endpoint, body: None,
            fit=lambda endpoint, body: body,
            input_kept=INPUT_KEPT,
            output_kept=OUTPUT_KEPT,
            create_timeout=connection.create_timeout,
        ),
        clock=connection.clock,
    )
    return CompatibleBatches(client=client, own=own, theirs=theirs, clock=connection.clock)


def client_of(deployment: Deployment, connection: Connection) -> openai.AsyncOpenAI:
    """A client that never retries."""
    if not deployment.endpoint:
        raise GiveUp(f"deployment {deployment.name!r} has no base_url; add one to the catalogue")
    return openai.AsyncOpenAI(
        base_url=deployment.endpoint,
        api_key=key_of(deployment, connection) or _NO_KEY,
        max_retries=0,
        timeout=_TIMEOUT,
    )


class CompatibleBatches:
    """A batch stays with whom it began: its id tells whether it is ours or the server's."""

    def __init__(
        self, *, client: openai.AsyncOpenAI, own: SelfRunBatches, theirs: OpenAIBatches, clock: Clock
    ) -> None:
        self.own = own
        self._client = client
        self._theirs = theirs
        self._clock = clock
        self._has_batches: bool | None = None
        self._probing = asyncio.Lock()

    @property
    def traits(self) -> Traits:
        return self._theirs.traits

    async def close(self) -> None:
        await self._theirs.close()

    def objection(self, endpoint: Endpoint, body: Mapping[str, object]) -> Objection | None:
        """Every server has its own mind, and none of them is known."""
        return None

    def write_line(self, key: RequestKey, endpoint: Endpoint, body: Mapping[str, object]) -> bytes:
        return self._theirs.write_line(key, endpoint, body)

    def read_row(self, endpoint: Endpoint, line: bytes) -> Row:
        return read_row(endpoint, line)

    async def stage(self, chunk: ChunkInput) -> StagedFile:
        if await self._serves_batches():
            return await self._theirs.stage(chunk)
        return self.own.staged(chunk.key)

    async def staged(self, file: FileId) -> StagedFile:
        return self.own.staged(ChunkKey(file)) if is_own(file) else await self._theirs.staged(file)

    async def find(self, chunk: ChunkInput, *, since: datetime) -> RemoteBatch | None:
        found = await self.own.find(chunk.key)
        if found is None and await self._serves_batches(again=True):
            return await self._theirs.find(chunk, since=since)
        return found

    async def create(self, chunk: ChunkInput, file: FileId) -> RemoteBatch:
        return await (self.own.create(chunk) if is_own(file) else self._theirs.create(chunk, file))

    async def retrieve(self, batch: BatchId) -> RemoteBatch:
        return await (self.own.retrieve(batch) if is_own(batch) else self._theirs.retrieve(batch))

    async def cancel(self, batch: BatchId) -> None:
        await (self.own.cancel(batch) if is_own(batch) else self._theirs.cancel(batch))

    async def download(self, file: FileId) -> AsyncIterator[bytes]:
        pieces = self.own.download(file) if is_own(file) else self._theirs.download(file)
        async for piece in pieces:
            yield piece

    async def expiry(self, file: FileId) -> datetime | None:
        if not is_own(file):
            return await self._theirs.expiry(file)
        await self.own.check(file)
        return None

    async def delete_file(self, file: FileId) -> None:
        await (self.own.delete(file) if is_own(file) else self._theirs.delete_file(file))

    async def batches(self, *, since: datetime) -> AsyncIterator[RemoteBatch]:
        """The server's. Of those that we run nobody else can make one."""
        if await self._serves_batches():
            async for batch in self._theirs.batches(since=since):
                yield batch

    async def _serves_batches(self, *, again: bool = False) -> bool:
        """Asked once in a process.

        `again`: a no is not taken for granted. A server that starts, or the gateway before it, answers 404 for
        a while, and a batch that it has would be made a second time.
        """
        async with self._probing:
            if self._has_batches is None or (again and not self._has_batches):
                self._has_batches = await self._probe()
            return self._has_batches

    async def _probe(self) -> bool:
        with translated(Call(name="look whether the server has batches"), self._clock):
            try:
                await self._client.files.with_raw_response.list(limit=1)
                await self._client.batches.with_raw_response.list(limit=1)
            except openai.APIStatusError as fault:
                if fault.status_code in _NOT_SERVED:
                    return False
                raise
        return True
