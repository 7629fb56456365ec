"""Blobs in a dictionary, under the same promises as the real ones."""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from dataclasses import replace
from datetime import timedelta
from itertools import count
from urllib.parse import quote

from shared.adapters.limits import bare_etag, check_new_path, split_path, split_prefix
from shared.domain.errors import Conflict, NotFound
from shared.ports.blobs import NO_METADATA, BlobInfo, BlobPage, UploadUrl
from shared.ports.clock import Clock

PIECE_BYTES = 4 * 1024 * 1024
DEFAULT_CONTENT_TYPE = "application/octet-stream"


class MemoryBlobs:
    """Lives as long as the object: hand the same one to the next app to survive a restart.

    `piece_bytes` may be set small, to cut what is read in awkward places. Every verb lets other tasks run
    before it acts.
    """

    def __init__(self, clock: Clock, *, piece_bytes: int = PIECE_BYTES) -> None:
        assert 0 < piece_bytes <= PIECE_BYTES, "pieces are at most 4 MiB"
        self._clock = clock
        self._piece_bytes = piece_bytes
        self._blobs: dict[str, tuple[BlobInfo, bytes]] = {}
        self._versions = count(1)

    async def head(self, path: str) -> BlobInfo | None:
        split_path(path)
        await asyncio.sleep(0)
        info, _ = self._blobs.get(path, (None, b""))
        return info

    async def read(
        self, path: str, *, etag: str | None = None, offset: int = 0, length: int | None = None
    ) -> AsyncIterator[bytes]:
        assert offset >= 0, "offset counts from the start"
        assert length is None or length >= 0, "length counts bytes"
        info, content = await self._version(path, etag)
        end = len(content) if length is None else min(len(content), offset + length)
        for start in range(offset, end, self._piece_bytes):
            if start > offset:
                await self._version(path, info.etag)
            yield content[start : min(end, start + self._piece_bytes)]

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
        check_new_path(path)
        whole = bytearray()
        async for piece in content:
            whole += piece
        await asyncio.sleep(0)
        if not overwrite and path in self._blobs:
            raise Conflict(f"blob {path!r} exists")
        self._check_version(path, if_etag)
        return self._store(path, bytes(whole), content_type, metadata)

    async def copy(self, source: str, target: str, *, etag: str) -> BlobInfo:
        check_new_path(target)
        info, content = await self._version(source, etag)
        return self._store(target, content, info.content_type, info.metadata)

    async def delete(self, path: str, *, etag: str | None = None) -> None:
        split_path(path)
        await asyncio.sleep(0)
        if path in self._blobs:
            self._check_version(path, etag)
            del self._blobs[path]

    async def list(self, prefix: str) -> AsyncIterator[BlobInfo]:
        split_prefix(prefix)
        await asyncio.sleep(0)
        for path in sorted(path for path in self._blobs if path.startswith(prefix)):
            if kept := self._blobs.get(path):
                yield _listed(kept[0])
                await asyncio.sleep(0)

    async def page(self, prefix: str, *, cursor: str | None = None, limit: int = 5000) -> BlobPage:
        assert 0 < limit <= 5000, "a page has up to 5,000"
        split_prefix(prefix)
        await asyncio.sleep(0)
        paths = sorted(path for path in self._blobs if path.startswith(prefix))
        start = bisect_right(paths, cursor) if cursor is not None else 0
        found = paths[start : start + limit]
        more = start + limit < len(paths)
        blobs = tuple(_listed(self._blobs[path][0]) for path in found)
        return BlobPage(blobs=blobs, cursor=found[-1] if more else None)

    def url(self, path: str) -> str:
        split_path(path)
        return f"https://memory.invalid/{quote(path)}"

    async def upload_url(self, path: str, *, valid_for: timedelta) -> UploadUrl:
        """An address nobody answers at: a test writes to `path` in the uploader's place."""
        check_new_path(path)
        assert valid_for > timedelta(0), "leave that has ended is none"
        await asyncio.sleep(0)
        return UploadUrl(
            url=self.url(path),
            headers={"x-ms-blob-type": "BlockBlob"},
            expires_at=self._clock.now() + valid_for,
        )

    async def _version(self, path: str, etag: str | None) -> tuple[BlobInfo, bytes]:
        split_path(path)
        await asyncio.sleep(0)
        if path not in self._blobs:
            raise NotFound(f"no blob {path!r}")
        info, content = self._blobs[path]
        if etag is not None and info.etag != bare_etag(etag):
            raise Conflict(f"blob {path!r} is another version now")
        return info, content

    def _check_version(self, path: str, etag: str | None) -> None:
        info, _ = self._blobs.get(path, (None, b""))
        if etag is not None and (info is None or info.etag != bare_etag(etag)):
            raise Conflict(f"blob {path!r} is another version now")

    def _store(
        self, path: str, content: bytes, content_type: str | None, metadata: Mapping[str, str]
    ) -> BlobInfo:
        info = BlobInfo(
            path=path,
            etag=f"0x{next(self._versions):X}",
            size=len(content),
            content_type=content_type or DEFAULT_CONTENT_TYPE,
            modified_at=self._clock.now(),
            metadata=dict(metadata),
        )
        self._blobs[path] = (info, content)
        return info


def _listed(info: BlobInfo) -> BlobInfo:
    return replace(info, metadata=NO_METADATA)
