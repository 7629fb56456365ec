"""Everything large. Streams both ways; nothing is ever held whole.

A path is `container/name`; names are raw (not URL-encoded) UTF-8 and may hold any character.
"""

from collections.abc import AsyncIterable, AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final, Protocol

NO_METADATA: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobInfo:
    """`etag` names this very content; `size` is in bytes. A listing leaves `metadata` empty."""

    path: str
    etag: str
    size: int
    content_type: str | None
    modified_at: datetime
    metadata: Mapping[str, str] = field(default_factory=lambda: NO_METADATA)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobPage:
    """Part of a listing. `cursor` is where the next page begins; None: this was the last."""

    blobs: tuple[BlobInfo, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadUrl:
    """A place where the holder of `url` may write one blob until `expires_at`."""

    url: str
    headers: Mapping[str, str]
    expires_at: datetime


class Blobs(Protocol):
    """Durable before any writing verb returns. Every verb may raise `TryAgainLater`."""

    async def head(self, path: str) -> BlobInfo | None: ...

    def read(
        self, path: str, *, etag: str | None = None, offset: int = 0, length: int | None = None
    ) -> AsyncIterator[bytes]:
        """The content in pieces of at most 4 MiB.

        Raise `NotFound` if there is no such blob, and `Conflict` if `etag` is given and the content is not
        (or no longer) that version; both before the first piece, the latter also between pieces.
        """
        ...

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
        """Store the whole stream under `path`, atomically: readers see all of it or what was there before.

        Raise `Conflict` if `overwrite` is false and the blob exists, and if `if_etag` is given and the blob
        is not that version (or not there). If `content` raises, nothing changes.
        """
        ...

    async def copy(self, source: str, target: str, *, etag: str) -> BlobInfo:
        """Copy inside the account without moving the bytes through us.

        Raise `NotFound` or `Conflict` as `read` does.
        """
        ...

    async def delete(self, path: str, *, etag: str | None = None) -> None:
        """Absent is fine. With `etag`, raise `Conflict` if the blob is another version."""
        ...

    def list(self, prefix: str) -> AsyncIterator[BlobInfo]:
        """The blobs whose path starts with `prefix` (`container/` at least), ascending by name."""
        ...

    async def page(self, prefix: str, *, cursor: str | None = None, limit: int = 5000) -> BlobPage:
        """At most `limit` (up to 5,000) of what `list` gives, from where another page has ended.

        A cursor stays good for days. Raise `NotFound` if it is none, or no longer.
        """
        ...

    def url(self, path: str) -> str:
        """Its address, for services that are let in by themselves. Pure; it gives no leave."""
        ...

    async def upload_url(self, path: str, *, valid_for: timedelta) -> UploadUrl:
        """Leave to create or overwrite this one blob, and nothing else."""
        ...
