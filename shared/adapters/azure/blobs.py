"""Blobs on Azure Blob Storage."""

from collections.abc import AsyncIterable, AsyncIterator, Mapping
from datetime import timedelta
from typing import Any

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import BlobProperties
from azure.storage.blob.aio import BlobClient, ContainerClient

from shared.adapters.azure.connections import StorageConnection
from shared.adapters.azure.containers import ensure_container
from shared.adapters.azure.copies import copy_and_wait
from shared.adapters.azure.errors import azure_errors, translate_each
from shared.adapters.azure.signatures import UploadSignatures
from shared.adapters.azure.uploads import Upload
from shared.adapters.limits import bare_etag, check_new_path, fault_of_name, split_path, split_prefix
from shared.domain.errors import Conflict, GiveUp, NotFound
from shared.ports.blobs import NO_METADATA, BlobInfo, BlobPage, UploadUrl
from shared.ports.clock import Clock

DEFAULT_CONTENT_TYPE = "application/octet-stream"
_LIST_PAGE = 5000
_ABSENT = {"match_condition": MatchConditions.IfMissing}
_RANGE_NOT_SATISFIABLE = 416


class AzureBlobs:
    """A container is created when it is first written to; until then it is empty.

    ETags are given without quotes, as Event Grid and listings write them, and taken with or without.
    """

    def __init__(self, storage: StorageConnection, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock
        self._signatures = UploadSignatures(storage, clock)

    async def head(self, path: str) -> BlobInfo | None:
        try:
            with azure_errors(f"blob {path!r}"):
                return _to_info(path, await self._existing(path).get_blob_properties())
        except NotFound:
            return None

    async def read(
        self, path: str, *, etag: str | None = None, offset: int = 0, length: int | None = None
    ) -> AsyncIterator[bytes]:
        pieces = self._pieces(self._existing(path), etag, offset, length)
        try:
            async for piece in translate_each(pieces, f"blob {path!r}"):
                yield piece
        except Conflict:
            # Azurite says "changed" of a blob that is gone, too.
            if await self.head(path) is None:
                raise NotFound(f"no blob {path!r}") from None
            raise

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
        upload = Upload(
            blob=self._blob(path),
            container=self._container(path),
            content_type=content_type or DEFAULT_CONTENT_TYPE,
            metadata=metadata,
            condition=_condition(if_etag) if if_etag else {} if overwrite else _ABSENT,
        )
        with azure_errors(f"blob {path!r}"):
            size, answer = await upload.send(content)
        return BlobInfo(
            path=path,
            etag=bare_etag(answer["etag"]),
            size=size,
            content_type=upload.content_type,
            modified_at=answer["last_modified"],
            metadata=dict(metadata),
        )

    async def copy(self, source: str, target: str, *, etag: str) -> BlobInfo:
        check_new_path(target)
        try:
            with azure_errors(f"copy of blob {source!r} to {target!r}"):
                copied = await copy_and_wait(
                    self._existing(source).url, _quoted(etag), self._blob(target), self._container(target)
                )
        except Conflict:
            if await self.head(source) is None:
                raise NotFound(f"no blob {source!r}") from None
            raise
        return _to_info(target, copied)

    async def delete(self, path: str, *, etag: str | None = None) -> None:
        try:
            with azure_errors(f"blob {path!r}"):
                await self._existing(path).delete_blob(delete_snapshots="include", **_condition(etag))
        except NotFound:
            return
        except Conflict:
            # Azurite says "changed" of a blob that is gone, too.
            if await self.head(path) is not None:
                raise

    async def list(self, prefix: str) -> AsyncIterator[BlobInfo]:
        container, beginning = split_prefix(prefix)
        client = self._storage.blobs.here().get_container_client(container)
        found = client.list_blobs(name_starts_with=beginning or None, results_per_page=1000)
        try:
            async for blob in translate_each(aiter(found), f"blobs under {prefix!r}"):
                yield _to_info(f"{container}/{blob.name}", blob)
        except NotFound:
            return  # no container yet

    async def page(self, prefix: str, *, cursor: str | None = None, limit: int = _LIST_PAGE) -> BlobPage:
        container, beginning = split_prefix(prefix)
        client = self._storage.blobs.here().get_container_client(container)
        found = client.list_blobs(name_starts_with=beginning or None, results_per_page=limit)
        # The SDK's iterator of pages knows where the next one begins; its type does not say so.
        pages: Any = found.by_page(continuation_token=cursor)
        try:
            async for page in translate_each(aiter(pages), f"blobs under {prefix!r}"):
                blobs = tuple([_to_info(f"{container}/{blob.name}", blob) async for blob in page])
                return BlobPage(blobs=blobs, cursor=pages.continuation_token or None)
        except NotFound:
            pass  # no container yet
        except GiveUp as refused:
            if cursor is None:
                raise
            raise NotFound(f"no page of {prefix!r} begins there") from refused
        return BlobPage(blobs=(), cursor=None)

    def url(self, path: str) -> str:
        return str(self._blob(path).url)

    async def upload_url(self, path: str, *, valid_for: timedelta) -> UploadUrl:
        check_new_path(path)
        expires_at = self._clock.now() + valid_for
        with azure_errors(f"leave to upload {path!r}"):
            await ensure_container(self._container(path))
            url = await self._signatures.sign(self._blob(path), expires_at)
        return UploadUrl(url=url, headers={"x-ms-blob-type": "BlockBlob"}, expires_at=expires_at)

    async def _pieces(
        self, blob: BlobClient, etag: str | None, offset: int, length: int | None
    ) -> AsyncIterator[bytes]:
        """The range asked for; nothing where it lies behind the end."""
        version = _condition(etag)
        if length == 0:
            await blob.get_blob_properties(**version)
            return
        # An empty blob has no range at all, not even from its start.
        start = None if offset == 0 and length is None else offset
        try:
            # Every later piece is asked for under the ETag of the first, given or not.
            download = await blob.download_blob(start, length, **version)
        except HttpResponseError as exc:
            if exc.status_code != _RANGE_NOT_SATISFIABLE:
                raise
            await blob.get_blob_properties(**version)
            return
        async for piece in download.chunks():
            yield piece

    def _existing(self, path: str) -> BlobClient:
        _, name = split_path(path)
        if fault := fault_of_name(name):
            raise NotFound(f"no blob {path[:80]!r}: a blob's name never {fault}")
        return self._blob(path)

    def _blob(self, path: str) -> BlobClient:
        container, name = split_path(path)
        return self._storage.blobs.here().get_blob_client(container, name)

    def _container(self, path: str) -> ContainerClient:
        container, _ = split_path(path)
        return self._storage.blobs.here().get_container_client(container)


def _condition(etag: str | None) -> dict[str, Any]:
    if etag is None:
        return {}
    return {"etag": _quoted(etag), "match_condition": MatchConditions.IfNotModified}


def _quoted(etag: str) -> str:
    return f'"{bare_etag(etag)}"'


def _to_info(path: str, found: BlobProperties) -> BlobInfo:
    return BlobInfo(
        path=path,
        etag=bare_etag(found.etag),
        size=found.size,
        content_type=found.content_settings.content_type,
        modified_at=found.last_modified,
        metadata=dict(found.metadata or {}),
    )
