"""What the door remembers: replies to idempotent calls, and uploads."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from shared.domain.ids import JobId, TenantId
from shared.ports.tables import Fields, Tables
from shared.stores.stored import Stored
from shared.wire.records.document import instant, moment, needed_moment, pack, unpack

REPLIES: Final = "idempotency"
UPLOADS: Final = "uploads"
REPLY: Final = "reply/1"
UPLOAD: Final = "upload/1"
# As `MakeUpload` makes them.
_UPLOAD_ID: Final = re.compile(r"upload_[0-9a-f]{32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """`body_digest` says what was asked, `job_id` what it was to become, `answer` what was answered.

    Without an answer the call is in flight, or died there: after `held_until` somebody else may finish it.
    """

    body_digest: str
    job_id: JobId
    begun_at: datetime
    held_until: datetime
    answer: str | None = None


class Replies:
    """By tenant and a digest of the client's Idempotency-Key."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def find(self, tenant: TenantId, key_digest: str) -> Stored[Reply] | None:
        entity = await self._tables.get(REPLIES, tenant, key_digest)
        return Stored(_reply_from(entity.fields), entity) if entity else None

    async def add(self, tenant: TenantId, key_digest: str, reply: Reply) -> Stored[Reply]:
        """Raise `Conflict` if the key is in use."""
        return Stored(reply, await self._tables.insert(REPLIES, tenant, key_digest, _reply_to(reply)))

    async def replace(self, old: Stored[Reply], new: Reply) -> Stored[Reply]:
        return Stored(new, await self._tables.replace(REPLIES, old.entity, _reply_to(new)))

    async def forget(self, old: Stored[Reply]) -> None:
        """Raise `Conflict` if somebody has taken it over meanwhile."""
        entity = old.entity
        await self._tables.delete(REPLIES, entity.partition, entity.row, etag=entity.etag)


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """`used_by` without such a job: somebody is making it, or died there, until `claimed_until`."""

    id: str
    created_at: datetime
    expires_at: datetime
    used_by: JobId | None = None
    claimed_until: datetime | None = None


class Uploads:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def add(self, tenant: TenantId, upload: Upload) -> None:
        await self._tables.insert(UPLOADS, tenant, upload.id, _upload_to(upload))

    async def find(self, tenant: TenantId, upload_id: str) -> Stored[Upload] | None:
        """Any text may be asked for: what cannot be an id is simply not there."""
        if not _UPLOAD_ID.fullmatch(upload_id):
            return None
        entity = await self._tables.get(UPLOADS, tenant, upload_id)
        return Stored(_upload_from(upload_id, entity.fields), entity) if entity else None

    async def replace(self, old: Stored[Upload], new: Upload) -> Stored[Upload]:
        return Stored(new, await self._tables.replace(UPLOADS, old.entity, _upload_to(new)))


def _reply_to(reply: Reply) -> Fields:
    document = {
        "body_digest": reply.body_digest,
        "job_id": reply.job_id,
        "begun_at": instant(reply.begun_at),
        "held_until": instant(reply.held_until),
        "answer": reply.answer,
    }
    return pack(REPLY, document)


def _reply_from(fields: Fields) -> Reply:
    record = unpack(fields, known=(REPLY,))
    return Reply(
        body_digest=record["body_digest"],
        job_id=JobId(record["job_id"]),
        begun_at=needed_moment(record["begun_at"]),
        held_until=needed_moment(record["held_until"]),
        answer=record["answer"],
    )


def _upload_to(upload: Upload) -> Fields:
    document = {
        "created_at": instant(upload.created_at),
        "expires_at": instant(upload.expires_at),
        "used_by": upload.used_by,
        "claimed_until": instant(upload.claimed_until),
    }
    return pack(UPLOAD, document)


def _upload_from(upload_id: str, fields: Fields) -> Upload:
    record = unpack(fields, known=(UPLOAD,))
    return Upload(
        id=upload_id,
        created_at=needed_moment(record["created_at"]),
        expires_at=needed_moment(record["expires_at"]),
        used_by=JobId(record["used_by"]) if record["used_by"] else None,
        claimed_until=moment(record.get("claimed_until")),
    )
