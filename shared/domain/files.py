"""Files of the OpenAI-compatible API: inputs that a tenant uploads, and results that batches leave."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from shared.domain.ids import FileId, TenantId


class Purpose(StrEnum):
    """Values are persisted, and OpenAI's."""

    BATCH = "batch"
    BATCH_OUTPUT = "batch_output"


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """One file of a tenant. It is never changed; `etag` names its content, `bytes` is its size."""

    id: FileId
    tenant: TenantId
    purpose: Purpose
    filename: str
    bytes: int
    etag: str
    created_at: datetime
    expires_at: datetime

    def has_lapsed(self, now: datetime) -> bool:
        return self.expires_at <= now
