"""Message Batches through the `anthropic` SDK. Requests go with the create; results come as one stream.

A batch carries nothing of ours. It is recognised by its id, and before that by its age and its size.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import anthropic
import httpx2
import msgspec

from shared.adapters.providers.anthropic.answers import read_row
from shared.adapters.providers.anthropic.asked import Translator
from shared.adapters.providers.anthropic.errors import translated
from shared.adapters.providers.anthropic.objects import PAGE_SIZE, Found, Page, read_batch, read_page
from shared.adapters.providers.common.faults import Call
from shared.adapters.providers.common.paging import Progress
from shared.adapters.providers.translation.asked_parts import Unaskable
from shared.domain.catalog import Endpoint
from shared.domain.chunks import read_chunk_key
from shared.domain.errors import Ambiguous, NotAdmitted, NotFound, PosternError, Rejected, TryAgainLater
from shared.domain.ids import BatchId, FileId, RequestKey
from shared.domain.objections import Objection
from shared.domain.rows import Row
from shared.ports.clock import Clock
from shared.ports.providers import ChunkInput, RemoteBatch, RemoteState, StagedFile, Traits

# The provider's clock and ours may differ by this much.
_SKEW: Final = timedelta(minutes=10)
# Results can be downloaded for 29 days from the creation on ("Batch processing" page, read 2026-11-30).
_RESULTS_KEPT: Final = timedelta(days=29)

_BATCHES: Final = "/v1/messages/batches"
_HEAD: Final = b'{"requests":['
_TAIL: Final = b"]}"
_encode: Final = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """`create_timeout` bounds a create as a whole: whoever holds the chunk's lease relies on it."""

    traits: Traits
    create_timeout: timedelta


class AnthropicBatches:
    """One deployment. The client must not retry: a repeated create is a second bill."""

    def __init__(
        self, *, client: anthropic.AsyncAnthropic, translator: Translator, terms: Terms, clock: Clock
    ) -> None:
        self._client = client
        self._translator = translator
        self._terms = terms
        self._clock = clock

    @property
    def traits(self) -> Traits:
        return self._terms.traits

    async def close(self) -> None:
        await self._client.close()

    def objection(self, endpoint: Endpoint, body: Mapping[str, object]) -> Objection | None:
        return self._translator.objection(endpoint, body)

    def write_line(self, key: RequestKey, endpoint: Endpoint, body: Mapping[str, object]) -> bytes:
        try:
            params = self._translator.params(endpoint, body)
        except Unaskable as unaskable:
            # The door has asked for objections; this is for what came past it.
            raise Rejected(str(unaskable), code="invalid_request") from None
        return _encode({"custom_id": key, "params": params}) + b"\n"

    def read_row(self, endpoint: Endpoint, line: bytes) -> Row:
        return read_row(endpoint, line)

    async def stage(self, chunk: ChunkInput) -> StagedFile:
        return self._inline(FileId(chunk.key))

    async def staged(self, file: FileId) -> StagedFile:
        return self._inline(file)

    def _inline(self, file: FileId) -> StagedFile:
        """Nothing lies at the provider, so nothing can be left over there."""
        return StagedFile(id=file, ready=True, expires_at=self._clock.now())

    async def find(self, chunk: ChunkInput, *, since: datetime) -> RemoteBatch | None:
        likely: list[RemoteBatch] = []
        async for batch in self._newer(since - _SKEW):
            if batch.requests not in (None, chunk.requests) or await chunk.is_taken(batch.id):
                continue
            has_ours = await self._holds(batch, chunk)
            if has_ours:
                return batch
            if has_ours is None:
                likely.append(batch)
        # One that does not tell its size yet may be anybody's.
        if len(likely) > 1 or any(batch.requests is None for batch in likely):
            names = ", ".join(sorted(batch.id for batch in likely))
            raise Ambiguous(
                f"{len(likely)} batches may have these {chunk.requests} requests and nobody's name: {names}"
            )
        return likely[0] if likely else None

    async def _holds(self, batch: RemoteBatch, chunk: ChunkInput) -> bool | None:
        """Whether the batch's results are of the chunk's requests. None: there are none to look at."""
        if batch.output_file is None:
            return None
        named = await self._first_id(batch.output_file)
        if named is None:
            return None
        wanted, rest = b'"custom_id":%b,' % _encode(named), b""
        async for piece in chunk.open_lines():
            seen = rest + piece
            if wanted in seen:
                return True
            rest = seen[-len(wanted) :]
        return False

    async def _first_id(self, file: FileId) -> str | None:
        start = b""
        try:
            # Left in the middle: the connection must not wait for the garbage collector.
            async with aclosing(self.download(file)) as results:
                async for piece in results:
                    start += piece
                    if b"\n" in start:
                        break
        except NotFound:
            return None
        return read_row(Endpoint.CHAT, start.partition(b"\n")[0]).key

    async def create(self, chunk: ChunkInput, file: FileId) -> RemoteBatch:
        try:
            with translated(Call(name=f"create of batch {chunk.key!r}", has_effect=True), self._clock):
                # The SDK's timeout starts anew with every byte; the lease does not.
                async with asyncio.timeout(self._terms.create_timeout.total_seconds()):
                    answer = await self._client.post(
                        _BATCHES,
                        cast_to=httpx2.Response,
                        content=_body(chunk),
                        options={"headers": _headers(chunk)},
                    )
                return read_batch(answer.content).batch
        except NotFound:
            # There is nothing that a create could name and miss.
            raise NotAdmitted(
                "creating a batch was answered with 404: check the deployment's base_url"
            ) from None

    async def retrieve(self, batch: BatchId) -> RemoteBatch:
        return (await self._look(batch)).batch

    async def _look(self, batch: str) -> Found:
        with translated(Call(name=f"look at batch {batch!r}"), self._clock):
            answer = await self._client.get(f"{_BATCHES}/{batch}", cast_to=httpx2.Response)
            return read_batch(answer.content)

    async def cancel(self, batch: BatchId) -> None:
        try:
            with translated(Call(name=f"cancel of batch {batch!r}", has_effect=True), self._clock):
                await self._client.post(f"{_BATCHES}/{batch}/cancel", cast_to=httpx2.Response)
        except PosternError:
            found = await self.retrieve(batch)
            if found.state is RemoteState.RUNNING and not found.raw_state.startswith("cancel"):
                raise

    async def download(self, file: FileId) -> AsyncGenerator[bytes]:
        await self._check_results(file)
        try:
            with translated(Call(name=f"download of the results of {file!r}"), self._clock):
                async with self._client.messages.batches.with_streaming_response.results(file) as answer:
                    async for piece in answer.iter_bytes():
                        yield piece
        except NotFound:
            # The batch says that they are there.
            raise TryAgainLater(f"the results of batch {file!r} cannot be fetched yet") from None

    async def _check_results(self, batch: str) -> None:
        """A batch tells that its results are gone; one that has only no address for them yet will have one."""
        found = await self._look(batch)
        if found.has_results:
            return
        created_at = found.batch.created_at
        if found.is_archived or created_at is None or self._clock.now() > created_at + _RESULTS_KEPT:
            raise NotFound(f"batch {batch!r} has no results any more")
        raise TryAgainLater(f"the results of batch {batch!r} cannot be fetched yet")

    async def expiry(self, file: FileId) -> datetime | None:
        if read_chunk_key(file):
            return self._inline(file).expires_at
        created_at = (await self.retrieve(BatchId(file))).created_at
        return created_at and created_at + _RESULTS_KEPT

    async def delete_file(self, file: FileId) -> None:
        """Results go with their batch."""
        if read_chunk_key(file):
            return
        with suppress(NotFound), translated(Call(name=f"delete of batch {file!r}"), self._clock):
            await self._client.delete(f"{_BATCHES}/{file}", cast_to=httpx2.Response)

    async def batches(self, *, since: datetime) -> AsyncIterator[RemoteBatch]:
        async for batch in self._newer(since):
            yield batch

    async def _newer(self, horizon: datetime) -> AsyncIterator[RemoteBatch]:
        """All batches from `horizon` on, newest first. One that does not tell its age may be new."""
        after: str | None = None
        progress = Progress("list of batches")
        while True:
            page = await self._page(after)
            for batch in page.batches:
                if not _is_older(batch, horizon):
                    yield batch
            if page.after is None or _is_older(page.batches[-1], horizon):
                return
            if page.after == after and len(page.batches) < PAGE_SIZE:
                return  # a service without pages: this is all there is
            after = progress.follow(page.after)

    async def _page(self, after: str | None) -> Page:
        query = {"limit": PAGE_SIZE} | ({"after_id": after} if after else {})
        with translated(Call(name="list of batches"), self._clock):
            answer = await self._client.get(_BATCHES, cast_to=httpx2.Response, options={"params": query})
            return read_page(answer.content)


def _is_older(batch: RemoteBatch, horizon: datetime) -> bool:
    return batch.created_at is not None and batch.created_at < horizon


def _headers(chunk: ChunkInput) -> Mapping[str, str]:
    # The last line's end is left out.
    length = len(_HEAD) + chunk.size - 1 + len(_TAIL)
    return {"content-type": "application/json", "content-length": str(length)}


async def _body(chunk: ChunkInput) -> AsyncIterator[bytes]:
    """The lines as one JSON body, piece by piece: no line's JSON has a newline in it."""
    yield _HEAD
    held = b""
    async for piece in chunk.open_lines():
        if held:
            yield held
        held = piece.replace(b"\n", b",")
    yield held.removesuffix(b",") + _TAIL
