"""Keep an uploaded file: its lapse, its content, its lapse as the form says it, then the record.

The record comes last: nobody sees a file that is not whole. What dies before it is found by its first lapse.
"""

import uuid
from collections.abc import AsyncIterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from shared.domain.files import File
from shared.domain.ids import TenantId
from shared.ports.blobs import Blobs
from shared.ports.clock import Clock
from shared.stores.files import Files, Lapse, Lapses, file_id
from shared.wire import paths
from shared.wire.file_form import FileForm

# A call ends after 230 s at the latest: then nobody is writing any more.
STILLBORN: Final = timedelta(hours=1)
CONTENT_TYPE: Final = "application/jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepFile:
    files: Files
    lapses: Lapses
    blobs: Blobs
    clock: Clock

    async def __call__(self, tenant: TenantId, form: FileForm, body: AsyncIterable[bytes]) -> File:
        """The file. Nothing is kept of a form that is refused, or breaks off."""
        now = self.clock.now()
        new_id = file_id(int(now.timestamp() * 1000), uuid.uuid4().hex[:16])
        await self.lapses.put(Lapse(tenant=tenant, file=new_id, at=now + STILLBORN))
        info = await self.blobs.write(
            paths.file(tenant, new_id), form.pieces(body), content_type=CONTENT_TYPE
        )
        wish = form.wish
        file = File(
            id=new_id,
            tenant=tenant,
            purpose=wish.purpose,
            filename=wish.filename,
            bytes=info.size,
            etag=info.etag,
            created_at=now,
            expires_at=now + timedelta(seconds=wish.seconds),
        )
        await self.lapses.put(Lapse(tenant=tenant, file=new_id, at=file.expires_at))
        await self.files.add(file)
        return file
