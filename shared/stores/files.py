"""The files of tenants, and when each of them lapses."""

import logging
from collections import deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from shared.domain.errors import GiveUp
from shared.domain.files import File, Purpose
from shared.domain.ids import FileId, TenantId
from shared.ports.tables import Entity, Fields, Tables
from shared.stores.timed_ids import merged_by_row, newest_first_row, timed_id
from shared.wire.records.document import instant, needed_moment, pack, unpack

log = logging.getLogger(__name__)

FILES: Final = "files"
LAPSES: Final = "filelapses"
FILE: Final = "file/1"
LAPSE: Final = "lapse/1"
ID_PREFIX: Final = "file-"
_EVERYBODY: Final = "files"
_SECONDS_DIGITS: Final = 12


def file_id(millis: int, entropy: str) -> FileId:
    """An id that starts with its time. `entropy`: 16 hex digits."""
    return FileId(timed_id(ID_PREFIX, millis, entropy))


def is_file_id(file: str) -> bool:
    """Whether a file could have this id."""
    return _row(file) is not None


def _row(file: str) -> str | None:
    return newest_first_row(file, (ID_PREFIX,))


class Files:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def add(self, file: File) -> None:
        """Raise `Conflict` if it exists."""
        row = _row(file.id)
        if row is None:
            raise ValueError(f"{file.id!r} was not made by `file_id`")
        await self._tables.insert(FILES, file.tenant, row, _file_to(file))

    async def find(self, tenant: TenantId, file: str) -> File | None:
        """Any text may be asked for: what cannot be an id is simply not there."""
        row = _row(file)
        entity = await self._tables.get(FILES, tenant, row) if row else None
        return _file_from(entity.fields) if entity else None

    async def remove(self, tenant: TenantId, file: FileId) -> None:
        """Absent is fine."""
        if row := _row(file):
            await self._tables.delete(FILES, tenant, row)

    async def newest_first(
        self, tenants: Sequence[TenantId], *, after: str | None = None
    ) -> AsyncIterator[File]:
        """All files of these tenants; `after` is the id of the last one seen.

        A record that this version of the app cannot read hides no other: it is logged and left out.
        """
        row = _row(after) if after else None
        # The smallest row key that is greater than `row`.
        start = f"{row}!" if row else ""
        async for file in self._all(tenants, start, None):
            yield file

    async def oldest_first(
        self, tenants: Sequence[TenantId], *, purpose: str | None, limit: int, after: str | None = None
    ) -> list[File]:
        """The first `limit`, of a purpose or of any. Reads all that are newer than `after` to find them."""
        last: deque[File] = deque(maxlen=limit)
        async for file in self._all(tenants, "", _row(after) if after else None):
            if purpose is None or file.purpose.value == purpose:
                last.append(file)
        return list(last)[::-1]

    async def _all(self, tenants: Sequence[TenantId], start: str, stop: str | None) -> AsyncIterator[File]:
        scans = [self._tables.scan(FILES, tenant, start=start, stop=stop) for tenant in tenants]
        async for entity in merged_by_row(scans):
            try:
                file = _file_from(entity.fields)
            except GiveUp as unknown:
                log.warning("file.unreadable", extra={"row": entity.row, "why": str(unknown)})
                continue
            yield file


@dataclass(frozen=True, slots=True, kw_only=True)
class Lapse:
    """From `at` on, the sweep looks whether this file may go. A file may have several."""

    tenant: TenantId
    file: FileId
    at: datetime


class Lapses:
    """In the order of their time, so that the sweep reads only what is due."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def put(self, lapse: Lapse) -> None:
        await self._tables.put(LAPSES, _EVERYBODY, _lapse_row(lapse), _lapse_to(lapse))

    async def remove(self, lapse: Lapse) -> None:
        await self._tables.delete(LAPSES, _EVERYBODY, _lapse_row(lapse))

    async def due(self, now: datetime) -> AsyncIterator[Lapse]:
        """Every one that this version of the app can read, the oldest first."""
        async for entity in self._tables.scan(LAPSES, _EVERYBODY, stop=_seconds(now)):
            if (lapse := _lapse_from(entity)) is not None:
                yield lapse


def _seconds(at: datetime) -> str:
    return f"{int(at.timestamp()):0{_SECONDS_DIGITS}d}"


def _lapse_row(lapse: Lapse) -> str:
    return f"{_seconds(lapse.at)}-{lapse.file}"


def _lapse_to(lapse: Lapse) -> Fields:
    document = {"tenant": lapse.tenant, "file": lapse.file, "at": instant(lapse.at)}
    return pack(LAPSE, document)


def _lapse_from(entity: Entity) -> Lapse | None:
    try:
        record = unpack(entity.fields, known=(LAPSE,))
    except GiveUp as unknown:
        log.warning("lapse.unreadable", extra={"row": entity.row, "why": str(unknown)})
        return None
    return Lapse(
        tenant=TenantId(record["tenant"]), file=FileId(record["file"]), at=needed_moment(record["at"])
    )


def _file_to(file: File) -> Fields:
    document = {
        "id": file.id,
        "tenant": file.tenant,
        "purpose": file.purpose.value,
        "filename": file.filename,
        "bytes": file.bytes,
        "etag": file.etag,
        "created_at": instant(file.created_at),
        "expires_at": instant(file.expires_at),
    }
    return pack(FILE, document)


def _file_from(fields: Fields) -> File:
    record = unpack(fields, known=(FILE,))
    return File(
        id=FileId(record["id"]),
        tenant=TenantId(record["tenant"]),
        purpose=Purpose(record["purpose"]),
        filename=record["filename"],
        bytes=record["bytes"],
        etag=record["etag"],
        created_at=needed_moment(record["created_at"]),
        expires_at=needed_moment(record["expires_at"]),
    )
