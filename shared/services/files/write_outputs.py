"""Split a finished batch's results into the two files that OpenAI's clients expect.

Safe to repeat: the same job leaves the same files under the same ids.
"""

import hashlib
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from shared.domain.errors import Conflict
from shared.domain.files import File, Purpose
from shared.domain.ids import FileId
from shared.domain.jobs import BatchFiles, Job
from shared.ports.blobs import Blobs
from shared.ports.clock import Clock
from shared.services.streams import Outlet, own_lines
from shared.stores.files import Files, Lapse, Lapses, file_id
from shared.wire import paths
from shared.wire.batch_lines import BatchLine, batch_line
from shared.wire.paths import JobPaths

OUTPUT: Final = "output"
ERROR: Final = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOutputs:
    files: Files
    lapses: Lapses
    blobs: Blobs
    clock: Clock

    async def __call__(self, job: Job, batch: BatchFiles) -> BatchFiles:
        """`batch` with the files of the job's results, which must be there already."""
        ids = {kind: _file_id(job, kind) for kind in (OUTPUT, ERROR)}
        found = await self._split(job, ids)
        for kind, file in ids.items():
            if found.lines[kind]:
                await self._keep(job, batch, kind, file)
        return replace(
            batch,
            output=ids[OUTPUT] if found.lines[OUTPUT] else None,
            errors=ids[ERROR] if found.lines[ERROR] else None,
            completed=found.lines[OUTPUT],
            failed=found.lines[ERROR] - found.never_ran,
        )

    async def _split(self, job: Job, ids: dict[str, FileId]) -> "_Found":
        found, position = _Found(), 0
        async with AsyncExitStack() as stack:
            outlets: dict[str, Outlet] = {}
            async for handful in own_lines(self.blobs, JobPaths(job.tenant, job.id).results):
                for result in handful:
                    line = batch_line(job.id, position, result)
                    kind = found.count(line)
                    if kind not in outlets:
                        # A file that would be empty is never made.
                        outlet = Outlet(self.blobs, paths.file(job.tenant, ids[kind]))
                        outlets[kind] = await stack.enter_async_context(outlet)
                    await outlets[kind].write(line.content)
                    position += 1
        return found

    async def _keep(self, job: Job, batch: BatchFiles, kind: str, file: FileId) -> None:
        info = await self.blobs.head(paths.file(job.tenant, file))
        if info is None:
            return
        made_at = job.settling_at or self.clock.now()
        record = File(
            id=file,
            tenant=job.tenant,
            purpose=Purpose.BATCH_OUTPUT,
            filename=f"{job.id}_{kind}.jsonl",
            bytes=info.size,
            etag=info.etag,
            created_at=made_at,
            expires_at=made_at + timedelta(seconds=batch.output_seconds),
        )
        await self.lapses.put(Lapse(tenant=job.tenant, file=file, at=record.expires_at))
        await self.files.remove(job.tenant, file)
        with suppress(Conflict):
            await self.files.add(record)


@dataclass(slots=True)
class _Found:
    lines: dict[str, int] = field(default_factory=lambda: {OUTPUT: 0, ERROR: 0})
    never_ran: int = 0

    def count(self, line: BatchLine) -> str:
        kind = OUTPUT if line.answered else ERROR
        self.lines[kind] += 1
        self.never_ran += not line.ran
        return kind


def _file_id(job: Job, kind: str) -> FileId:
    """By the time the results came, so that a listing has it where clients look for it."""
    made_at = job.settling_at or job.created_at
    entropy = hashlib.sha256(f"{job.tenant}/{job.id}/{kind}".encode()).hexdigest()[:16]
    return file_id(int(made_at.timestamp() * 1000), entropy)
