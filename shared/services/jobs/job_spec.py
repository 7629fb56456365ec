"""What applies to all requests of a job, as it was accepted."""

from shared.domain.jobs import Job
from shared.ports.blobs import Blobs
from shared.services.streams import one_piece, whole
from shared.wire.paths import JobPaths
from shared.wire.spec import JobSpec, read_spec, write_spec

# Template and schema are bounded to 64 KB each at the door, parameters to less.
MAX_BYTES = 1024 * 1024


async def save_spec(blobs: Blobs, job: Job, spec: JobSpec) -> None:
    path = JobPaths(job.tenant, job.id).spec
    await blobs.write(path, one_piece(write_spec(spec)), content_type="application/json")


async def load_spec(blobs: Blobs, job: Job) -> JobSpec:
    return read_spec(await whole(blobs, JobPaths(job.tenant, job.id).spec, limit=MAX_BYTES))
