"""The batch provider of Vertex AI: jobs through `google-genai`, their inputs and outputs in Cloud Storage."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from google.genai import types

from shared.adapters.providers.common.faults import Call
from shared.adapters.providers.common.paging import Progress
from shared.adapters.providers.common.spool import spooled
from shared.adapters.providers.google.cloud_storage import CloudBucket
from shared.adapters.providers.google.gemini_client import GeminiClient
from shared.adapters.providers.google.gemini_errors import translated
from shared.adapters.providers.google.vertex_lines import objection, read_row, write_line
from shared.adapters.providers.google.vertex_objects import CANCELLING, read_job
from shared.domain.catalog import Endpoint
from shared.domain.errors import Ambiguous, NotAdmitted, NotFound, PosternError, TryAgainLater
from shared.domain.ids import BatchId, FileId, RequestKey
from shared.domain.objections import Objection
from shared.domain.rows import Row
from shared.ports.clock import Clock
from shared.ports.providers import ChunkInput, RemoteBatch, RemoteState, StagedFile, Traits

# The provider's clock and ours may differ by this much.
_SKEW: Final = timedelta(minutes=10)
_PAGE_SIZE: Final = 100
# Everything of ours in the bucket lies below it.
FOLDER: Final = "postern"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """`create_timeout` bounds a create as a whole: whoever holds the chunk's lease relies on it."""

    traits: Traits
    model: str
    create_timeout: timedelta


class VertexBatches:
    """One deployment. Ids of files are `gs://` addresses; one that ends in a slash is all that lies below it."""

    def __init__(self, *, client: GeminiClient, bucket: CloudBucket, terms: Terms, clock: Clock) -> None:
        self._client = client
        self._bucket = bucket
        self._terms = terms
        self._clock = clock

    @property
    def traits(self) -> Traits:
        return self._terms.traits

    async def close(self) -> None:
        await self._client.close()
        await self._bucket.close()

    def objection(self, endpoint: Endpoint, body: Mapping[str, Any]) -> Objection | None:
        return objection(self._terms.model, endpoint, body)

    def write_line(self, key: RequestKey, endpoint: Endpoint, body: Mapping[str, Any]) -> bytes:
        return write_line(self._terms.model, key, endpoint, body)

    def read_row(self, endpoint: Endpoint, line: bytes) -> Row:
        return read_row(endpoint, line)

    async def stage(self, chunk: ChunkInput) -> StagedFile:
        # A name of its own for every upload: of two that stage the same chunk, one deletes what it brought.
        name = f"{FOLDER}/{chunk.key}/{secrets.token_hex(8)}.jsonl"
        async with spooled(chunk.open_lines()) as input_:
            if input_.size != chunk.size:
                raise TryAgainLater(
                    f"the input of batch {chunk.key!r} has {input_.size} bytes and should have {chunk.size}"
                )
            await self._bucket.write(name, input_.handle)
        return await self.staged(self._file(name))

    async def staged(self, file: FileId) -> StagedFile:
        found = await self._bucket.look(self._name(file))
        return StagedFile(id=file, ready=True, expires_at=found.expires_at)

    async def find(self, chunk: ChunkInput, *, since: datetime) -> RemoteBatch | None:
        listed = await self._listed(f'display_name="{chunk.key}"')
        found = [job for job in listed if job.key == chunk.key and not _is_older(job, since - _SKEW)]
        if len(found) > 1:
            names = ", ".join(sorted(job.id for job in found))
            raise Ambiguous(f"{len(found)} batches carry the key {chunk.key!r}: {names}")
        return found[0] if found else None

    async def create(self, chunk: ChunkInput, file: FileId) -> RemoteBatch:
        try:
            return await self._create(chunk, file)
        except NotFound:
            # Not the input, which nobody looks at before the job runs.
            raise NotAdmitted(
                f"create of batch {chunk.key!r} was answered with 404: check the deployment's model, project and"
                " location"
            ) from None

    async def retrieve(self, batch: BatchId) -> RemoteBatch:
        if not batch.isdigit():
            raise NotFound(f"{batch!r} is no job of Vertex AI")
        with self._translated(f"look at batch {batch!r}"):
            client = await self._client.ready()
            return read_job(await client.batches.get(name=batch))

    async def cancel(self, batch: BatchId) -> None:
        try:
            with self._translated(f"cancel of batch {batch!r}", has_effect=True):
                client = await self._client.ready()
                await client.batches.cancel(name=batch)
        except PosternError:
            found = await self.retrieve(batch)
            if found.state is not RemoteState.ENDED and found.raw_state != CANCELLING:
                raise

    async def download(self, file: FileId) -> AsyncIterator[bytes]:
        """Of a directory all shards, one after another; each begins a line."""
        for name in await self._names(file):
            last = b"\n"
            async for piece in self._bucket.read(name):
                last = piece[-1:]
                yield piece
            if last != b"\n" and file.endswith("/"):
                yield b"\n"

    async def expiry(self, file: FileId) -> datetime | None:
        if not file.endswith("/"):
            return (await self.staged(file)).expires_at
        found = await self._bucket.below(self._name(file))
        if not found:
            raise NotFound(f"nothing is left of {file!r}")
        return min((shard.expires_at for shard in found if shard.expires_at), default=None)

    async def delete_file(self, file: FileId) -> None:
        if not file.endswith("/"):
            await self._bucket.delete(self._name(file))
            return
        for shard in await self._bucket.below(self._name(file)):
            await self._bucket.delete(shard.name)

    async def batches(self, *, since: datetime) -> AsyncIterator[RemoteBatch]:
        moment = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        listed = await self._listed(f'create_time>="{moment}"')
        oldest = datetime.min.replace(tzinfo=UTC)
        # Nothing is promised about the order of the list.
        for job in sorted(listed, key=lambda job: job.created_at or oldest, reverse=True):
            if not _is_older(job, since):
                yield job

    async def _create(self, chunk: ChunkInput, file: FileId) -> RemoteBatch:
        config = types.CreateBatchJobConfig(
            display_name=chunk.key, dest=f"gs://{self._bucket.name}/{FOLDER}/{chunk.key}/out"
        )
        with self._translated(f"create of batch {chunk.key!r}", has_effect=True):
            client = await self._client.ready()
            # The client's timeout starts anew with every byte; the lease does not.
            async with asyncio.timeout(self._terms.create_timeout.total_seconds()):
                return read_job(
                    await client.batches.create(model=self._terms.model, src=str(file), config=config)
                )

    async def _listed(self, wanted: str) -> list[RemoteBatch]:
        with self._translated("list of batches"):
            client = await self._client.ready()
            config = types.ListBatchJobsConfig(page_size=_PAGE_SIZE, filter=wanted)
            pager, progress = await client.batches.list(config=config), Progress("list of batches")
            # The SDK's own walk stumbles over a page with nothing on it.
            jobs = [read_job(job) for job in pager.page]
            while following := pager.config.get("page_token"):
                progress.follow(following)
                jobs += [read_job(job) for job in await pager.next_page()]
            return jobs

    async def _names(self, file: FileId) -> list[str]:
        if not file.endswith("/"):
            return [self._name(file)]
        found = await self._bucket.below(self._name(file))
        if not found:
            raise NotFound(f"nothing is left of {file!r}")
        return [shard.name for shard in found]

    def _file(self, name: str) -> FileId:
        return FileId(f"gs://{self._bucket.name}/{name}")

    def _name(self, file: FileId) -> str:
        """Never out of our own folder, whatever a job names as its output."""
        start = f"gs://{self._bucket.name}/"
        name = file.removeprefix(start)
        if not file.startswith(start) or not name.startswith(f"{FOLDER}/"):
            raise NotFound(f"{file!r} is no file of ours")
        return name

    def _translated(self, what: str, *, has_effect: bool = False) -> Any:
        return translated(Call(name=what, has_effect=has_effect), self._clock)


def _is_older(job: RemoteBatch, horizon: datetime) -> bool:
    return job.created_at is not None and job.created_at < horizon
