"""The record of a batch that we run ourselves, in our own storage, changed by ETag compare-and-set."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime

import msgspec

from shared.domain.errors import Conflict, NotFound
from shared.domain.ids import ChunkKey
from shared.ports.blobs import BlobInfo, Blobs
from shared.wire.paths import own_batch


class State(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`path` is where the input lies. `holder` alone works on the batch until `held_until`.

    `faults` counts by position how often the server failed at a request; `end` is a `BatchEnd`.
    """

    key: str
    endpoint: str
    requests: int
    path: str
    created_at: datetime
    expires_at: datetime
    holder: str | None = None
    held_until: datetime | None = None
    cancelled: bool = False
    completed: int = 0
    failed: int = 0
    faults: dict[int, int] = {}
    end: str | None = None

    def is_held(self, now: datetime) -> bool:
        return self.holder is not None and self.held_until is not None and now < self.held_until


_decode = msgspec.json.Decoder(State).decode
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class StoredState:
    state: State
    etag: str


class States:
    """One blob a batch. Every verb may raise `TryAgainLater`."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs

    async def find(self, key: ChunkKey) -> StoredState | None:
        path = _path(key)
        while (info := await self._blobs.head(path)) is not None:
            try:
                content = b"".join([piece async for piece in self._blobs.read(path, etag=info.etag)])
            except (Conflict, NotFound):
                continue  # somebody has just written it; look again
            return StoredState(_decode(content), info.etag)
        return None

    async def load(self, key: ChunkKey) -> StoredState:
        """Raise `NotFound` if there is none."""
        found = await self.find(key)
        if found is None:
            raise NotFound(f"there is no batch {key!r}")
        return found

    async def add(self, state: State) -> StoredState:
        """Raise `Conflict` if there is one."""
        return StoredState(state, (await self._write(state, overwrite=False)).etag)

    async def replace(self, stored: StoredState, state: State) -> StoredState:
        """Raise `Conflict` if somebody else has written it since."""
        return StoredState(state, (await self._write(state, if_etag=stored.etag)).etag)

    async def change(self, key: ChunkKey, change: Callable[[State], State]) -> StoredState:
        """Whatever others write meanwhile. Raise `NotFound` if there is none."""
        while True:
            stored = await self.load(key)
            changed = change(stored.state)
            if changed == stored.state:
                return stored
            try:
                return await self.replace(stored, changed)
            except Conflict:
                continue

    async def delete(self, key: ChunkKey) -> None:
        await self._blobs.delete(_path(key))

    async def _write(self, state: State, *, overwrite: bool = True, if_etag: str | None = None) -> BlobInfo:
        return await self._blobs.write(
            _path(ChunkKey(state.key)),
            _pieces(_encode(state)),
            content_type="application/json",
            overwrite=overwrite,
            if_etag=if_etag,
        )


def _path(key: ChunkKey) -> str:
    return f"{own_batch(key)}state.json"


async def _pieces(content: bytes) -> AsyncIterator[bytes]:
    yield content
