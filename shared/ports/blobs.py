"""Everything large. Streams both ways; nothing is ever held whole.

A path is `container/name`; names are raw (not URL-encoded) UTF-8 and may hold any character.
"""

from collections.abc import AsyncIterable, AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobInfo:
    """`etag` names this very content; `size` is in bytes."""

    path: str
    etag: str
    size: int
    content_type: str | None
    modified_at: datetime


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
        overwrite: bool = True,
    ) -> BlobInfo:
        """Store the whole stream under `path`, atomically: readers see all of it or what was there before.

        Raise `Conflict` if `overwrite` is false and the blob exists. If `content` raises, nothing changes.
        """
        ...

    async def copy(self, source: str, target: str, *, etag: str) -> BlobInfo:
        """Copy inside the account without moving the bytes through us.

        Raise `NotFound` or `Conflict` as `read` does.
        """
        ...

    async def delete(self, path: str) -> None:
        """Absent is fine."""
        ...

    def list(self, prefix: str) -> AsyncIterator[BlobInfo]:
        """The blobs whose path starts with `prefix` (`container/` at least), ascending by name."""
        ...

    async def upload_url(self, path: str, *, valid_for: timedelta) -> UploadUrl:
        """Leave to create or overwrite this one blob, and nothing else."""
        ...
