"""Show a job as a batch. One that came the native way gets its files of results when it is first looked at.

Most native jobs are never looked at like this: writing the files for all of them would double what is stored.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from shared.domain.errors import NotFound
from shared.domain.ids import FileId, TenantId
from shared.domain.jobs import INVALID_INPUT, BatchFiles, Job
from shared.services.files.delete_file import DeleteFile
from shared.services.files.write_outputs import WriteOutputs
from shared.services.jobs.amend_job import amend_job
from shared.services.jobs.read_job import ReadJob, SeenJob
from shared.stores.jobs import Jobs
from shared.wire.file_form import MOST_SECONDS

log = logging.getLogger(__name__)

# As many as OpenAI has in one batch: that is a matter of seconds, and the client waits.
MOST_REQUESTS: Final = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowBatch:
    jobs: Jobs
    read_job: ReadJob
    write_outputs: WriteOutputs
    delete_file: DeleteFile

    async def __call__(self, tenants: Sequence[TenantId], batch_id: str) -> SeenJob:
        """The job, whichever of these tenants it belongs to. Raise `NotFound`."""
        seen = await self.read_job.one_of(tenants, batch_id)
        if not _lacks_files(seen.job):
            return seen
        try:
            files = await self.write_outputs(
                seen.job, BatchFiles(input=FileId(""), output_seconds=MOST_SECONDS)
            )
        except NotFound as gone:
            log.info("batch.results_gone", extra={"job_id": seen.job.id, "why": str(gone)})
            return seen

        def with_files(job: Job) -> Job:
            return job if job.batch is not None or job.erased_at else replace(job, batch=files)

        job = await amend_job(self.jobs, seen.job.tenant, seen.job.id, with_files)
        if job.erased_at:
            # Erased while we wrote: what we made of it goes too.
            for file in (files.output, files.errors):
                if file is not None:
                    await self.delete_file(job.tenant, file)
        return replace(seen, job=job)


def _lacks_files(job: Job) -> bool:
    if job.batch is not None or not job.is_finished or job.erased_at or job.reason == INVALID_INPUT:
        return False
    return job.plan is not None and job.plan.submitted <= MOST_REQUESTS
