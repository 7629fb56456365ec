"""Claim a dropped document: a record of this version of it, and a claim check on the queue.

An event is a hint to look at a path; what lies there at that moment is what is claimed. So a repeated, a late
or a reordered event changes nothing.
"""

import logging
from dataclasses import dataclass, replace
from enum import StrEnum

from shared.domain.answers import decided
from shared.domain.catalog import Lane
from shared.domain.documents import Document, DocumentStatus, PathVersions, document_id
from shared.domain.errors import Conflict
from shared.domain.rows import Judgement
from shared.ports.blobs import BlobInfo, Blobs
from shared.ports.catalog import CatalogSource
from shared.ports.clock import Clock
from shared.services.documents.describe import Described, describe
from shared.services.documents.event_progress import EventProgress
from shared.services.documents.finish_document import FinishDocument
from shared.services.documents.send_claim import SendClaim
from shared.stores.documents import Documents, Gathering, OpenDocument, OpenDocuments, Paths, owner_of
from shared.stores.stored import Stored
from shared.wire.drops import Drop, is_folder_marker, read_drop

log = logging.getLogger(__name__)


class Claimed(StrEnum):
    """What an event came to."""

    NEW = "new"
    KNOWN = "known"
    FOREIGN = "foreign"  # not in the drop zone
    FOLDER = "folder"  # a marker, no document
    GONE = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What lies at a path. `first`: nobody has seen this version before, so there is no record of it."""

    versions: PathVersions
    info: BlobInfo
    first: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimDocument:
    documents: Documents
    paths: Paths
    open: OpenDocuments
    gathering: Gathering
    blobs: Blobs
    catalog: CatalogSource
    clock: Clock
    send: SendClaim
    finish: FinishDocument
    progress: EventProgress

    async def __call__(self, blob_path: str, *, by_event: bool = True) -> Claimed:
        """`blob_path`: `container/name`, the name raw. Safe to repeat, and to call in parallel."""
        claimed = await self._claim(blob_path, by_event=by_event)
        log.info("document.claimed", extra={"what": claimed.value})
        return claimed

    async def _claim(self, blob_path: str, *, by_event: bool) -> Claimed:
        drop = read_drop(blob_path)
        if drop is None:
            return Claimed.FOREIGN
        seen = await self._look(drop, blob_path)
        if isinstance(seen, Claimed):
            return seen
        if by_event:
            await self.progress.note(seen.info.modified_at)
        described = describe(drop, seen.info, seen.versions, await self.catalog.current(), self.clock.now())
        found = None if seen.first else await self._recorded(described.document)
        if found is None:
            return await self._begin(described)
        if found.value.status is DocumentStatus.CLAIMED:
            # Whoever recorded it may have died before it was sent.
            await self._go_on(found, described.decided)
        return Claimed.KNOWN

    async def _recorded(self, document: Document) -> Stored[Document] | None:
        found = await self.documents.find(owner_of(document), document.id)
        if found is None and document.known:
            # It may have been recorded when its tenant or pipeline was not known yet.
            return await self.documents.find(None, document.id)
        return found

    async def _look(self, drop: Drop, blob_path: str) -> "_Seen | Claimed":
        """What lies there now, with its place in the order of the path's versions.

        The row is read before the look and replaced under its version: of two looks, the one that is noted
        last was made last. Most paths are new: for the first look there is taken to be no row.
        """
        row = None
        while True:
            info = await self.blobs.head(blob_path)
            if info is None:
                return Claimed.GONE
            if is_folder_marker(drop.path, info.size, info.metadata):
                return Claimed.FOLDER
            if row is not None and row.value.newest_etag == info.etag:
                return _Seen(versions=row.value, info=info, first=False)
            try:
                versions = await self._note_version(row, drop, info)
                return _Seen(versions=versions, info=info, first=True)
            except Conflict:
                row = await self.paths.find(drop.path)

    async def _note_version(
        self, row: Stored[PathVersions] | None, drop: Drop, info: BlobInfo
    ) -> PathVersions:
        name = document_id(drop.path, info.etag, info.modified_at)
        if row is None:
            first = PathVersions(path=drop.path, newest=1, newest_id=name, newest_etag=info.etag)
            return (await self.paths.add(first)).value
        newer = replace(row.value, newest=row.value.newest + 1, newest_id=name, newest_etag=info.etag)
        return (await self.paths.replace(row, newer)).value

    async def _begin(self, described: Described) -> Claimed:
        document = described.document
        gathers = described.decided is None and described.lane is Lane.HOURS
        if gathers:
            document = replace(document, status=DocumentStatus.GATHERED)
            await self.gathering.add(document)
        await self.open.put(
            OpenDocument(id=document.id, owner=owner_of(document), look_at=document.claimed_at)
        )
        try:
            stored = await self.documents.add(document)
        except Conflict:
            return Claimed.KNOWN  # a repeat of the event is at it this very moment
        if not gathers:
            await self._go_on(stored, described.decided)
        return Claimed.NEW

    async def _go_on(self, stored: Stored[Document], end: Judgement | None) -> None:
        if end is None:
            await self.send(stored)
            return
        try:
            await self.finish(stored, decided(end, self.clock.now()))
        except Conflict:
            log.info("document.moved_on", extra={"document": stored.value.id})
