"""Make an upload the input of a job: claimed by that job alone, and copied as it is at this moment."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from shared.domain.errors import Conflict, NotFound
from shared.domain.jobs import Job
from shared.ports.blobs import BlobInfo, Blobs
from shared.ports.clock import Clock
from shared.stores.door import Upload, Uploads
from shared.stores.jobs import Jobs
from shared.stores.stored import Stored
from shared.wire import paths
from shared.wire.problems import Clash, Unusable

MAX_UPLOAD: Final = 4 * 1024**3
# A client's call ends after 230 s at the latest: then nobody is at it any more.
CLAIMED: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeUpload:
    uploads: Uploads
    jobs: Jobs
    blobs: Blobs
    clock: Clock

    async def __call__(self, job: Job, upload_id: str) -> None:
        """Safe to repeat for the same job. Later writes to the upload change nothing.

        Raise `NotFound`, `Unusable` when nothing usable is there, and `Clash` when another job has it.
        """
        stored = await self.uploads.find(job.tenant, upload_id)
        if stored is None:
            raise NotFound(f"no upload {upload_id[:80]!r}")
        await self._check_free(job, stored.value, self.clock.now())
        info = await self._content(job, upload_id)
        claim = replace(stored.value, used_by=job.id, claimed_until=self.clock.now() + CLAIMED)
        try:
            claimed = await self.uploads.replace(stored, claim)
        except Conflict as conflict:
            raise _in_use(upload_id) from conflict
        try:
            await self.blobs.copy(info.path, job.source.path, etag=info.etag)
        except (Conflict, NotFound) as changed:
            await self._release(claimed)
            raise Clash(
                f"upload {upload_id} changed while the job was accepted; post the job again"
            ) from changed

    async def _check_free(self, job: Job, upload: Upload, now: datetime) -> None:
        """A job that was never accepted has no claim, once nobody can be at it any more."""
        if upload.used_by is None or upload.used_by == job.id:
            return
        if await self.jobs.find(job.tenant, upload.used_by):
            raise Clash(
                f"upload {upload.id} was used by job {upload.used_by}; upload the file again",
                code="upload_used",
            )
        if upload.claimed_until is not None and upload.claimed_until > now:
            raise _in_use(upload.id)

    async def _content(self, job: Job, upload_id: str) -> BlobInfo:
        info = await self.blobs.head(paths.upload(job.tenant, upload_id))
        if info is None:
            raise Unusable(f"nothing was uploaded to {upload_id} yet; PUT the file to its url first")
        if info.size > MAX_UPLOAD:
            raise Unusable(f"the upload has {info.size:,} bytes; {MAX_UPLOAD:,} are allowed; split it")
        return info

    async def _release(self, claimed: Stored[Upload]) -> None:
        await self.uploads.replace(claimed, replace(claimed.value, used_by=None, claimed_until=None))


def _in_use(upload_id: str) -> Clash:
    return Clash(
        f"another job is being made of upload {upload_id}; ask again in a moment", code="in_progress"
    )
