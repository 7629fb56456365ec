"""What we need from a batch provider. One implementation a dialect, in `shared.adapters.providers`.

Every verb may raise, of `shared.domain.errors`:
`RateLimited`, `NoCapacity` (enqueued-token quota), `NotAdmitted` (401, 403, billing), `TryAgainLater`
(5xx, connection), `Unknowable` (no answer to a call that has an effect), `Rejected` (refused for good,
with the provider's code), `NotFound`. Never anything of an SDK, never a text that holds content or a key.
No verb retries a call that has an effect.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from shared.domain.catalog import Deployment, Endpoint
from shared.domain.chunks import BatchEnd
from shared.domain.ids import BatchId, ChunkKey, FileId, RequestKey
from shared.domain.objections import Objection
from shared.domain.planning import Limits
from shared.domain.rows import Row
from shared.domain.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What is particular about a provider: data with its source in the adapter, never a flag in our code.

    `listing_lag`: how long a created batch may be missing from `find`.
    `find_is_exact`: a batch carries our key, so that `find` can prove absence.
    `needs_output_limit`: a request without a limit of output tokens is refused.
    """

    limits: Limits
    endpoints: frozenset[Endpoint]
    listing_lag: timedelta
    find_is_exact: bool
    window: timedelta
    needs_output_limit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedFile:
    """An input file at the provider. `expires_at` None: it stays until it is deleted.

    `is_ours`: it lies in our own storage and goes with its batch; no provider's quota counts it.
    """

    id: FileId
    ready: bool
    expires_at: datetime | None
    is_ours: bool = False


class RemoteState(StrEnum):
    RUNNING = "running"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteBatch:
    """A provider's batch, in our words.

    `end` is set when, and only when, `state` is ended. `key` is the chunk key found in it; None: not ours.
    `raw_state` is the provider's own word, `recognised` whether the adapter knows it. `out_of_capacity`: it
    failed because the enqueued-token quota was full; nothing ran. Counters are None while the provider does
    not tell; `requests` is how many it holds. `again_in`: worth looking at sooner than the app would, because
    looking moves it or its results are there; None: at any time.
    """

    id: BatchId
    key: ChunkKey | None
    state: RemoteState
    raw_state: str
    created_at: datetime | None
    recognised: bool = True
    end: BatchEnd | None = None
    out_of_capacity: bool = False
    code: str | None = None
    message: str | None = None
    input_file: FileId | None = None
    output_file: FileId | None = None
    error_file: FileId | None = None
    requests: int | None = None
    completed: int | None = None
    failed: int | None = None
    expires_at: datetime | None = None
    usage: Usage | None = None
    again_in: timedelta | None = None


OpenLines = Callable[[], AsyncIterator[bytes]]
# Whether a batch is known to be another chunk's.
IsTaken = Callable[[BatchId], Awaitable[bool]]


async def nobody_has_taken(batch: BatchId) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkInput:
    """What a chunk sends: lines as `write_line` made them, all with the same endpoint and model.

    `open_lines` gives the `size` bytes from their start, in pieces, as often as it is called. `path` is where
    they lie in our own storage. `is_taken` is asked where batches carry no key: what another chunk has on
    record cannot be this one's.
    """

    key: ChunkKey
    endpoint: Endpoint
    requests: int
    size: int
    path: str
    open_lines: OpenLines
    is_taken: IsTaken = nobody_has_taken


class BatchProvider(Protocol):
    """One deployment, reached with its credentials."""

    @property
    def traits(self) -> Traits: ...

    def objection(self, endpoint: Endpoint, body: Mapping[str, object]) -> Objection | None:
        """Why the provider would refuse this request, as far as that is known beforehand. Pure."""
        ...

    def write_line(self, key: RequestKey, endpoint: Endpoint, body: Mapping[str, object]) -> bytes:
        """One request as a line of the provider's input, newline included. Pure."""
        ...

    def read_row(self, endpoint: Endpoint, line: bytes) -> Row:
        """One line of an output or error file. Pure; never raises, whatever the bytes."""
        ...

    async def stage(self, chunk: ChunkInput) -> StagedFile:
        """Hand the input over. Free, and may be repeated; a file that is left over expires by itself.

        Where a provider takes the input with the create, nothing is sent yet and the id is the chunk's key.
        """
        ...

    async def staged(self, file: FileId) -> StagedFile:
        """How it is. `NotFound` when it is gone."""
        ...

    async def find(self, chunk: ChunkInput, *, since: datetime) -> RemoteBatch | None:
        """The batch that carries the chunk's key, or holds its requests where batches carry no key.

        It was created at `since` or later; clocks may differ by minutes.
        None is proof of absence for batches created `traits.listing_lag` ago or earlier. Raise `Ambiguous`
        when several could be it.
        """
        ...

    async def create(self, chunk: ChunkInput, file: FileId) -> RemoteBatch:
        """Start the batch of the input staged as `file`.

        Not idempotent: look with `find` first, and hold the lease.
        """
        ...

    async def retrieve(self, batch: BatchId) -> RemoteBatch: ...

    async def cancel(self, batch: BatchId) -> None:
        """Ask for it; the batch ends later. One that has ended already is no error."""
        ...

    def download(self, file: FileId) -> AsyncIterator[bytes]:
        """The file's bytes, in pieces. `NotFound` when it is gone."""
        ...

    async def expiry(self, file: FileId) -> datetime | None:
        """When the provider will drop it. None: never, or not told. `NotFound` when it is gone."""
        ...

    async def delete_file(self, file: FileId) -> None:
        """Absent is fine."""
        ...

    def batches(self, *, since: datetime) -> AsyncIterator[RemoteBatch]:
        """Every batch of the account created at `since` or later, newest first."""
        ...


class Providers(Protocol):
    def batch(self, deployment: Deployment) -> BatchProvider:
        """The provider of this deployment; the same object for the same deployment while it is unchanged."""
        ...

    async def prepare(self, deployment: Deployment) -> None:
        """Load what the first `batch` would stop the whole process for. Never needed, and harmless to repeat."""
        ...
