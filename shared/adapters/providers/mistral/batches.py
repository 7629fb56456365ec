"""Mistral's batch jobs, through the `mistralai` SDK.

Facts from Mistral's "Batch inference", FAQ and "Known limitations" pages and its API reference, read
2026-11-30. Where the pages disagree the stricter one holds.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import IO, Final, cast

import httpx2
from mistralai.client import Mistral
from mistralai.client.models import APIEndpoint
from mistralai.client.utils.logger import NoOpLogger

from shared.adapters.providers.common.deployments import key_of, traits_of
from shared.adapters.providers.common.faults import Call
from shared.adapters.providers.common.paging import Progress
from shared.adapters.providers.common.spool import Spooled, spooled
from shared.adapters.providers.connection import Connection
from shared.adapters.providers.mistral import bodies, rows
from shared.adapters.providers.mistral.errors import translated
from shared.adapters.providers.mistral.objects import CANCELLING, METADATA_HOURS, read_file, read_job
from shared.adapters.providers.openai.objects import METADATA_KEY
from shared.domain.catalog import Deployment, Endpoint
from shared.domain.errors import Ambiguous, NotAdmitted, NotFound, PosternError, Rejected, TryAgainLater
from shared.domain.ids import BatchId, ChunkKey, FileId, RequestKey
from shared.domain.objections import Objection
from shared.domain.planning import Limits
from shared.domain.rows import Row
from shared.ports.clock import Clock
from shared.ports.providers import ChunkInput, RemoteBatch, RemoteState, StagedFile, Traits

# "512 MB": read as decimal, with room for whoever counts in another way.
MAX_BYTES: Final = 511_000_000

TRAITS: Final = Traits(
    # 100,000 a batch says "Known limitations"; the batch page has a million pending ones a workspace.
    limits=Limits(requests=100_000, bytes=MAX_BYTES, line_bytes=MAX_BYTES),
    endpoints=frozenset(Endpoint),
    listing_lag=timedelta(seconds=10),
    find_is_exact=True,
    # `timeout_hours` is 24 unless it is given; 1 to 168 are taken.
    window=timedelta(hours=24),
)

# Files stay for 30 days unless they are given less.
INPUT_KEPT: Final = timedelta(days=14)
PAGE_SIZE: Final = 100

# The provider's clock and ours may differ by this much.
_SKEW: Final = timedelta(minutes=10)
_TIMEOUT: Final = timedelta(minutes=10)
_HOUR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """`create_timeout` bounds a create as a whole: whoever holds the chunk's lease relies on it."""

    traits: Traits
    model: str
    create_timeout: timedelta

    @property
    def hours(self) -> int:
        return self.traits.window // _HOUR


class MistralBatches:
    """One deployment. The client must not retry: a repeated create is a second bill."""

    def __init__(self, *, client: Mistral, terms: Terms, clock: Clock) -> None:
        self._client = client
        self._terms = terms
        self._clock = clock

    @property
    def traits(self) -> Traits:
        return self._terms.traits

    async def close(self) -> None:
        await close(self._client)

    def objection(self, endpoint: Endpoint, body: Mapping[str, object]) -> Objection | None:
        return bodies.objection(endpoint, body)

    def write_line(self, key: RequestKey, endpoint: Endpoint, body: Mapping[str, object]) -> bytes:
        return rows.write_line(key, endpoint, body)

    def read_row(self, endpoint: Endpoint, line: bytes) -> Row:
        return rows.read_row(endpoint, line)

    async def stage(self, chunk: ChunkInput) -> StagedFile:
        async with spooled(chunk.open_lines()) as input_:
            _check_size(chunk, input_)
            return await self._upload(chunk.key, input_.handle)

    async def staged(self, file: FileId) -> StagedFile:
        with translated(Call(name=f"look at file {file!r}"), self._clock):
            told = await self._client.files.retrieve_async(file_id=file)
        return read_file(told)

    async def find(self, chunk: ChunkInput, *, since: datetime) -> RemoteBatch | None:
        key = chunk.key
        newer = self._newer(since - _SKEW, {METADATA_KEY: key})
        # The list is narrowed by the key already; a service that overlooked it must not mislead us.
        found = {batch.id: batch async for batch in newer if batch.key == key}
        if len(found) > 1:
            raise Ambiguous(f"{len(found)} batches carry the key {key!r}: {', '.join(sorted(found))}")
        return next(iter(found.values()), None)

    async def create(self, chunk: ChunkInput, file: FileId) -> RemoteBatch:
        try:
            return await self._create(chunk, file)
        except Rejected:
            # Whether it was the file that was not to its liking: it may be gone.
            await self.staged(file)
            raise
        except NotFound:
            await self.staged(file)
            raise _not_served(f"the create of batch {chunk.key!r}") from None

    async def retrieve(self, batch: BatchId) -> RemoteBatch:
        with translated(Call(name=f"look at batch {batch!r}"), self._clock):
            job = await self._client.batch.jobs.get_async(job_id=batch)
        return read_job(job)

    async def cancel(self, batch: BatchId) -> None:
        try:
            with translated(Call(name=f"cancel of batch {batch!r}", has_effect=True), self._clock):
                await self._client.batch.jobs.cancel_async(job_id=batch)
        except PosternError:
            # One that is cancelled or has ended already may be complained about.
            seen = await self.retrieve(batch)
            if seen.state is not RemoteState.ENDED and seen.raw_state != CANCELLING:
                raise

    async def download(self, file: FileId) -> AsyncIterator[bytes]:
        with translated(Call(name=f"download of file {file!r}"), self._clock):
            answer = await self._client.files.download_async(file_id=file)
            try:
                async for piece in answer.aiter_bytes():
                    yield piece
            finally:
                await answer.aclose()

    async def expiry(self, file: FileId) -> datetime | None:
        return (await self.staged(file)).expires_at

    async def delete_file(self, file: FileId) -> None:
        with suppress(NotFound), translated(Call(name=f"delete of file {file!r}"), self._clock):
            await self._client.files.delete_async(file_id=file)

    async def batches(self, *, since: datetime) -> AsyncIterator[RemoteBatch]:
        async for batch in self._newer(since, {}):
            yield batch

    async def _upload(self, key: ChunkKey, input_: IO[bytes]) -> StagedFile:
        call = Call(name=f"upload of the input of batch {key!r}")
        try:
            with translated(call, self._clock):
                made = await self._client.files.upload_async(
                    file={
                        "file_name": f"{key}.jsonl",
                        "content": input_,
                        "content_type": "application/jsonl",
                    },
                    purpose="batch",
                    expiry=INPUT_KEPT // _HOUR,
                )
        except NotFound:
            raise _not_served(f"the {call.name}") from None
        return read_file(made)

    async def _create(self, chunk: ChunkInput, file: FileId) -> RemoteBatch:
        with translated(Call(name=f"create of batch {chunk.key!r}", has_effect=True), self._clock):
            # The SDK's timeout starts anew with every byte; the lease does not.
            async with asyncio.timeout(self._terms.create_timeout.total_seconds()):
                job = await self._client.batch.jobs.create_async(
                    endpoint=cast("APIEndpoint", rows.url_of(chunk.endpoint)),
                    input_files=[file],
                    model=self._terms.model,
                    metadata={METADATA_KEY: chunk.key, METADATA_HOURS: str(self._terms.hours)},
                    timeout_hours=self._terms.hours,
                )
        return read_job(job)

    async def _newer(self, horizon: datetime, metadata: dict[str, str]) -> AsyncIterator[RemoteBatch]:
        """All batches from `horizon` on, newest first. One that moves to the next page meanwhile comes twice."""
        page, progress = 0, Progress("list of batches")
        while True:
            found = await self._page(page, metadata)
            for batch in found:
                if not _is_older(batch, horizon):
                    yield batch
            if len(found) < PAGE_SIZE or _is_older(found[-1], horizon):
                return
            progress.met(batch.id for batch in found)
            page += 1

    async def _page(self, page: int, metadata: dict[str, str]) -> list[RemoteBatch]:
        with translated(Call(name="list of batches"), self._clock):
            listed = await self._client.batch.jobs.list_async(
                page=page, page_size=PAGE_SIZE, metadata=metadata or None, order_by="-created"
            )
        return [read_job(job) for job in listed.data or ()]


def connect(deployment: Deployment, connection: Connection) -> MistralBatches:
    """Nothing is sent before the first verb is called."""
    return MistralBatches(
        client=client_of(deployment, connection),
        terms=Terms(
            traits=_traits(deployment),
            model=deployment.deployment,
            create_timeout=connection.create_timeout,
        ),
        clock=connection.clock,
    )


def client_of(
    deployment: Deployment,
    connection: Connection,
    *,
    timeout: timedelta = _TIMEOUT,
    http: httpx2.AsyncClient | None = None,
) -> Mistral:
    """A client that never retries, and that no environment variable makes log what it sends.

    `http` is used for its calls, and stays the caller's to close.
    """
    key = key_of(deployment, connection)
    if key is None:
        raise NotAdmitted(f"deployment {deployment.name!r} has no key_setting; mistral needs a key")
    return Mistral(
        api_key=key,
        server_url=deployment.endpoint,
        async_client=http,
        timeout_ms=int(timeout.total_seconds() * 1000),
        debug_logger=NoOpLogger(),
    )


async def close(client: Mistral) -> None:
    """Both of its halves: it opens one for calls that block, too. It closes them where it is left."""
    async with client:
        with client:
            pass


def _traits(deployment: Deployment) -> Traits:
    hours = deployment.options.get("timeout_hours")
    traits = traits_of(TRAITS, deployment)
    return replace(traits, window=timedelta(hours=int(hours))) if hours else traits


def _not_served(what: str) -> NotAdmitted:
    """Not something was missing, but whoever should serve it: regional addresses have no batches."""
    return NotAdmitted(f"{what} was answered with 404: check base_url and model of the deployment")


def _is_older(batch: RemoteBatch, horizon: datetime) -> bool:
    return batch.created_at is not None and batch.created_at < horizon


def _check_size(chunk: ChunkInput, input_: Spooled) -> None:
    if input_.size != chunk.size:
        raise TryAgainLater(
            f"the input of batch {chunk.key!r} has {input_.size} bytes and should have {chunk.size}"
        )
