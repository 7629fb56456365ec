"""The batch provider of every service that speaks OpenAI's files and batches, through the `openai` SDK.

What differs between services is handed in: the client, and the terms.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import IO, Final, Literal, cast

import openai

from shared.adapters.providers.common.paging import Progress
from shared.adapters.providers.common.spool import Spooled, spooled
from shared.adapters.providers.openai.errors import Call, translated
from shared.adapters.providers.openai.lines import read_row, write_line
from shared.adapters.providers.openai.objects import (
    METADATA_KEY,
    PAGE_SIZE,
    Page,
    read_batch,
    read_file,
    read_page,
)
from shared.domain.catalog import Endpoint
from shared.domain.errors import Ambiguous, NotFound, PosternError, Rejected, TryAgainLater
from shared.domain.ids import BatchId, ChunkKey, FileId, RequestKey
from shared.domain.objections import FindObjection, Objection
from shared.domain.rows import Row
from shared.ports.clock import Clock
from shared.ports.providers import ChunkInput, RemoteBatch, RemoteState, StagedFile, Traits

# The provider's clock and ours may differ by this much.
_SKEW: Final = timedelta(minutes=10)

Fit = Callable[[Endpoint, Mapping[str, object]], Mapping[str, object]]
BatchEndpoint = Literal["/v1/responses", "/v1/chat/completions", "/v1/embeddings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What differs from service to service.

    `model` is what lines ask for: a model, or the name of a deployment. `objection` knows what that takes,
    and `fit` puts a body into the words that it takes.
    Files are asked to expire `input_kept` after upload and `output_kept` after they are written.
    `create_timeout` bounds a create as a whole: whoever holds the chunk's lease relies on it.
    """

    traits: Traits
    model: str
    objection: FindObjection
    fit: Fit
    input_kept: timedelta
    output_kept: timedelta
    create_timeout: timedelta


class OpenAIBatches:
    """One deployment. The client must not retry: a repeated create is a second bill."""

    def __init__(self, *, client: openai.AsyncOpenAI, terms: Terms, clock: Clock) -> None:
        self._client = client
        self._terms = terms
        self._clock = clock

    @property
    def traits(self) -> Traits:
        return self._terms.traits

    async def close(self) -> None:
        await self._client.close()

    def objection(self, endpoint: Endpoint, body: Mapping[str, object]) -> Objection | None:
        return self._terms.objection(endpoint, body)

    def write_line(self, key: RequestKey, endpoint: Endpoint, body: Mapping[str, object]) -> bytes:
        return write_line(
            key, url=endpoint.url, model=self._terms.model, body=self._terms.fit(endpoint, body)
        )

    def read_row(self, endpoint: Endpoint, line: bytes) -> Row:
        return read_row(endpoint, line)

    async def stage(self, chunk: ChunkInput) -> StagedFile:
        async with spooled(chunk.open_lines()) as input_:
            _check_size(chunk, input_)
            return await self._upload(chunk.key, input_.handle)

    async def staged(self, file: FileId) -> StagedFile:
        with translated(Call(name=f"look at file {file!r}"), self._clock):
            answer = await self._client.files.with_raw_response.retrieve(file)
            return read_file(answer.content)

    async def find(self, chunk: ChunkInput, *, since: datetime) -> RemoteBatch | None:
        key = chunk.key
        found = {batch.id: batch async for batch in self._newer(since - _SKEW) if batch.key == key}
        if len(found) > 1:
            raise Ambiguous(f"{len(found)} batches carry the key {key!r}: {', '.join(sorted(found))}")
        return next(iter(found.values()), None)

    async def create(self, chunk: ChunkInput, file: FileId) -> RemoteBatch:
        try:
            return await self._create(chunk.key, file, chunk.endpoint)
        except Rejected:
            if (await self.staged(file)).ready:
                raise
        raise TryAgainLater(f"file {file!r} of batch {chunk.key!r} is not ready at the provider yet")

    async def retrieve(self, batch: BatchId) -> RemoteBatch:
        with translated(Call(name=f"look at batch {batch!r}"), self._clock):
            answer = await self._client.batches.with_raw_response.retrieve(batch)
            return self._seen(read_batch(answer.content))

    async def cancel(self, batch: BatchId) -> None:
        try:
            with translated(Call(name=f"cancel of batch {batch!r}", has_effect=True), self._clock):
                await self._client.batches.with_raw_response.cancel(batch)
        except PosternError:
            # Services complain about one that is cancelled or has ended already, each in its own way.
            if not _is_ending(await self.retrieve(batch)):
                raise

    async def download(self, file: FileId) -> AsyncIterator[bytes]:
        with translated(Call(name=f"download of file {file!r}"), self._clock):
            async with self._client.files.with_streaming_response.content(file) as answer:
                async for piece in answer.iter_bytes():
                    yield piece

    async def expiry(self, file: FileId) -> datetime | None:
        return (await self.staged(file)).expires_at

    async def delete_file(self, file: FileId) -> None:
        with suppress(NotFound), translated(Call(name=f"delete of file {file!r}"), self._clock):
            await self._client.files.with_raw_response.delete(file)

    async def batches(self, *, since: datetime) -> AsyncIterator[RemoteBatch]:
        async for batch in self._newer(since):
            yield batch

    async def _upload(self, key: ChunkKey, input_: IO[bytes]) -> StagedFile:
        with translated(Call(name=f"upload of the input of batch {key!r}"), self._clock):
            answer = await self._client.files.with_raw_response.create(
                file=(f"{key}.jsonl", input_, "application/jsonl"),
                purpose="batch",
                expires_after={"anchor": "created_at", "seconds": _seconds(self._terms.input_kept)},
            )
            return read_file(answer.content)

    async def _create(self, key: ChunkKey, file: FileId, endpoint: Endpoint) -> RemoteBatch:
        with translated(Call(name=f"create of batch {key!r}", has_effect=True), self._clock):
            # The SDK's timeout starts anew with every byte; the lease does not.
            async with asyncio.timeout(self._terms.create_timeout.total_seconds()):
                answer = await self._client.batches.with_raw_response.create(
                    input_file_id=file,
                    endpoint=cast("BatchEndpoint", endpoint.url),
                    completion_window="24h",
                    metadata={METADATA_KEY: key},
                    output_expires_after={
                        "anchor": "created_at",
                        "seconds": _seconds(self._terms.output_kept),
                    },
                )
            return self._seen(read_batch(answer.content))

    def _seen(self, batch: RemoteBatch) -> RemoteBatch:
        """A batch as the service tells of it, made one that the rest of the app knows."""
        return batch

    async def _newer(self, horizon: datetime) -> AsyncIterator[RemoteBatch]:
        """All batches from `horizon` on, newest first. One that does not tell its age may be new."""
        after: str | None = None
        progress = Progress("list of batches")
        while True:
            page = await self._page(after)
            for batch in map(self._seen, page.batches):
                if not _is_older(batch, horizon):
                    yield batch
            if page.after is None or _is_older(page.batches[-1], horizon):
                return
            if page.after == after and len(page.batches) < PAGE_SIZE:
                return  # a service without pages: this is all there is
            after = progress.follow(page.after)

    async def _page(self, after: str | None) -> Page:
        with translated(Call(name="list of batches"), self._clock):
            answer = await self._client.batches.with_raw_response.list(
                limit=PAGE_SIZE, after=after or openai.omit
            )
            return read_page(answer.content)


def _is_older(batch: RemoteBatch, horizon: datetime) -> bool:
    return batch.created_at is not None and batch.created_at < horizon


def _is_ending(batch: RemoteBatch) -> bool:
    return batch.state is RemoteState.ENDED or batch.raw_state.lower() in ("cancelling", "canceling")


def _check_size(chunk: ChunkInput, input_: Spooled) -> None:
    if input_.size != chunk.size:
        raise TryAgainLater(
            f"the input of batch {chunk.key!r} has {input_.size} bytes and should have {chunk.size}"
        )


def _seconds(time: timedelta) -> int:
    return int(time.total_seconds())
