"""Records of dropped documents, the versions of their paths, and which of them are unfinished."""

import hashlib
import logging
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from shared.domain.documents import Document, PathVersions
from shared.domain.errors import GiveUp, NotFound
from shared.domain.ids import DocumentId, TenantId
from shared.ports.tables import Fields, Tables
from shared.stores.notices import OPERATORS
from shared.stores.stored import Stored
from shared.wire.records import document_record
from shared.wire.records.document import needed_moment, pack, unpack

log = logging.getLogger(__name__)

DOCUMENTS: Final = "documents"
PATHS: Final = "documentpaths"
OPEN: Final = "opendocuments"
GATHERED: Final = "gathered"
OPEN_SCHEMA: Final = "open/1"
GATHERED_SCHEMA: Final = "gathered/1"
SHARDS: Final = 8
ID_PREFIX: Final = "doc_"
_MILLIS_DIGITS: Final = 12
_LAST: Final = 16**_MILLIS_DIGITS - 1


def document_row(document: str) -> str | None:
    """Newest first; None when the id cannot be one of ours."""
    digits = document.removeprefix(ID_PREFIX)
    if not document.startswith(ID_PREFIX) or len(digits) != _MILLIS_DIGITS + 16:
        return None
    if not all(c in "0123456789abcdef" for c in digits):
        return None
    return f"{_LAST - int(digits[:_MILLIS_DIGITS], 16):0{_MILLIS_DIGITS}x}-{document}"


def _partition(owner: TenantId | None) -> str:
    return owner if owner is not None else OPERATORS


def owner_of(document: Document) -> TenantId | None:
    """Whose list the record is in. None: only operators see it."""
    return document.tenant if document.known else None


class Documents:
    """`owner` None asks for the records that only operators see."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def add(self, document: Document) -> Stored[Document]:
        """Raise `Conflict` if it exists."""
        row = document_row(document.id)
        if row is None:
            raise ValueError(f"{document.id!r} was not made by `document_id`")
        partition = _partition(owner_of(document))
        fields = document_record.to_fields(document)
        return Stored(document, await self._tables.insert(DOCUMENTS, partition, row, fields))

    async def find(self, owner: TenantId | None, document: str) -> Stored[Document] | None:
        """Any text may be asked for: what cannot be an id is simply not there."""
        row = document_row(document)
        entity = await self._tables.get(DOCUMENTS, _partition(owner), row) if row else None
        return Stored(document_record.from_fields(entity.fields), entity) if entity else None

    async def load(self, owner: TenantId | None, document: str) -> Stored[Document]:
        found = await self.find(owner, document)
        if found is None:
            raise NotFound(f"no document {document[:80]!r}")
        return found

    async def replace(self, old: Stored[Document], new: Document) -> Stored[Document]:
        """Raise `Conflict` if the record has changed since `old` was read."""
        fields = document_record.to_fields(new)
        return Stored(new, await self._tables.replace(DOCUMENTS, old.entity, fields))

    async def remove(self, old: Stored[Document]) -> None:
        """Raise `Conflict` if the record has changed since `old` was read."""
        entity = old.entity
        await self._tables.delete(DOCUMENTS, entity.partition, entity.row, etag=entity.etag)

    async def newest_first(
        self, owner: TenantId | None, *, after: str | None = None
    ) -> AsyncIterator[Document]:
        """All of an owner's documents; `after` is the id of the last one seen.

        A record that this version of the app cannot read hides no other: it is logged and left out.
        """
        row = document_row(after) if after else None
        # The smallest row key that is greater than `row`.
        start = f"{row}!" if row else ""
        async for entity in self._tables.scan(DOCUMENTS, _partition(owner), start=start):
            try:
                document = document_record.from_fields(entity.fields)
            except GiveUp as unknown:
                log.warning("document.unreadable", extra={"row": entity.row, "why": str(unknown)})
                continue
            yield document


class Paths:
    """One row a path that anything was ever dropped at."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def find(self, path: str) -> Stored[PathVersions] | None:
        entity = await self._tables.get(PATHS, *_keys_of(path))
        return Stored(document_record.versions_from_fields(entity.fields), entity) if entity else None

    async def add(self, versions: PathVersions) -> Stored[PathVersions]:
        """Raise `Conflict` if there is one."""
        fields = document_record.versions_to_fields(versions)
        return Stored(versions, await self._tables.insert(PATHS, *_keys_of(versions.path), fields))

    async def replace(self, old: Stored[PathVersions], new: PathVersions) -> Stored[PathVersions]:
        """Raise `Conflict` if it has changed since `old` was read."""
        fields = document_record.versions_to_fields(new)
        return Stored(new, await self._tables.replace(PATHS, old.entity, fields))


def _keys_of(path: str) -> tuple[str, str]:
    digest = hashlib.sha256(path.encode()).hexdigest()
    return digest[:2], digest


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDocument:
    """A document that is not finished. The sweep has no reason to look at it before `look_at`."""

    id: DocumentId
    owner: TenantId | None
    look_at: datetime


class OpenDocuments:
    """Entered before the record, removed after its end: whoever is in the record and unfinished is here."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def put(self, document: OpenDocument) -> None:
        await self._tables.put(OPEN, _shard(document.id), document.id, _open_to(document))

    async def has(self, document: DocumentId) -> bool:
        return await self._tables.get(OPEN, _shard(document), document) is not None

    async def remove(self, document: DocumentId) -> None:
        await self._tables.delete(OPEN, _shard(document), document)

    async def of_shard(self, shard: int) -> AsyncIterator[OpenDocument]:
        async for entity in self._tables.scan(OPEN, f"open-{shard}"):
            yield _open_from(entity.row, entity.fields)


class Gathering:
    """Documents that wait for their pipeline's cron, by tenant and pipeline, the oldest first."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def add(self, document: Document) -> None:
        fields: Fields = {"schema": GATHERED_SCHEMA}
        await self._tables.put(GATHERED, _gathering(document.tenant, document.pipeline), document.id, fields)

    async def of(self, tenant: TenantId, pipeline: str) -> AsyncIterator[DocumentId]:
        async for entity in self._tables.scan(GATHERED, _gathering(tenant, pipeline)):
            yield DocumentId(entity.row)

    async def remove(self, tenant: TenantId, pipeline: str, document: DocumentId) -> None:
        await self._tables.delete(GATHERED, _gathering(tenant, pipeline), document)


def _gathering(tenant: TenantId, pipeline: str) -> str:
    return f"{tenant}|{pipeline}"


def _shard(document: DocumentId) -> str:
    return f"open-{zlib.crc32(document.encode()) % SHARDS}"


def _open_to(document: OpenDocument) -> Fields:
    record = {"owner": document.owner, "look_at": document.look_at.isoformat()}
    return pack(OPEN_SCHEMA, record)


def _open_from(row: str, fields: Fields) -> OpenDocument:
    record = unpack(fields, known=(OPEN_SCHEMA,))
    return OpenDocument(
        id=DocumentId(row),
        owner=TenantId(record["owner"]) if record["owner"] is not None else None,
        look_at=needed_moment(record["look_at"]),
    )
