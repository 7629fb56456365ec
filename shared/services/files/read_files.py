"""Show files and hand out their content. A lapsed file is gone, swept or not."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from shared.domain.errors import Conflict
from shared.domain.files import File
from shared.domain.ids import TenantId
from shared.ports.blobs import Blobs
from shared.ports.clock import Clock
from shared.stores.files import Files
from shared.wire import paths
from shared.wire.openai_problems import NoSuch
from shared.wire.problems import printable


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePage:
    files: list[File]
    has_more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFiles:
    files: Files
    blobs: Blobs
    clock: Clock

    async def one_of(self, tenants: Sequence[TenantId], file_id: str) -> File:
        """The file, whichever of these tenants it belongs to. Raise `NotFound`."""
        for tenant in tenants:
            file = await self.files.find(tenant, file_id)
            if file is not None and not file.has_lapsed(self.clock.now()):
                return file
        raise no_such_file(file_id)

    async def page(
        self,
        tenants: Sequence[TenantId],
        *,
        purpose: str | None,
        limit: int,
        after: str | None,
        newest_first: bool,
    ) -> FilePage:
        """At most `limit` files of a purpose, or of any; those that follow the one with the id `after`."""
        if newest_first:
            found = await self._newest(tenants, purpose, limit + 1, after)
        else:
            found = await self.files.oldest_first(tenants, purpose=purpose, limit=limit + 1, after=after)
            found = [file for file in found if not file.has_lapsed(self.clock.now())]
        return FilePage(files=found[:limit], has_more=len(found) > limit)

    async def _newest(
        self, tenants: Sequence[TenantId], purpose: str | None, limit: int, after: str | None
    ) -> list[File]:
        found: list[File] = []
        now = self.clock.now()
        async for file in self.files.newest_first(tenants, after=after):
            if (purpose is None or file.purpose.value == purpose) and not file.has_lapsed(now):
                found.append(file)
            if len(found) >= limit:
                break
        return found

    async def content(self, file: File, *, offset: int, length: int) -> AsyncIterator[bytes]:
        """That part of the content. Whatever is wrong is raised here, before the first byte has gone out."""
        path = paths.file(file.tenant, file.id)
        info = await self.blobs.head(path)
        if info is None:
            raise no_such_file(file.id)
        # A file of results may have been written twice, with the same content.
        if info.size != file.bytes:
            raise Conflict(f"file {file.id} was changed behind our back")
        return self.blobs.read(path, etag=info.etag, offset=offset, length=length)


def no_such_file(file_id: str) -> NoSuch:
    return NoSuch(f"No such File object: {printable(file_id)}", param="id")
