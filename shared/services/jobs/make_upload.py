"""A place to put a large input: straight into our storage, one blob, for a day."""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from shared.domain.ids import TenantId
from shared.ports.blobs import Blobs, UploadUrl
from shared.ports.clock import Clock
from shared.stores.door import Upload, Uploads
from shared.wire.paths import upload

VALID_FOR: Final = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeUpload:
    uploads: Uploads
    blobs: Blobs
    clock: Clock

    async def __call__(self, tenant: TenantId) -> tuple[Upload, UploadUrl]:
        now = self.clock.now()
        made = Upload(id=f"upload_{uuid.uuid4().hex}", created_at=now, expires_at=now + VALID_FOR)
        url = await self.blobs.upload_url(upload(tenant, made.id), valid_for=VALID_FOR)
        await self.uploads.add(tenant, made)
        return made, url
