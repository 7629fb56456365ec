"""Change a job record under compare-and-set, as often as it takes."""

from collections.abc import Callable
from typing import Final

from shared.domain.errors import Conflict, TryAgainLater
from shared.domain.ids import TenantId
from shared.domain.jobs import Job
from shared.stores.jobs import Jobs

TRIES: Final = 20


async def amend_job(jobs: Jobs, tenant: TenantId, job_id: str, change: Callable[[Job], Job]) -> Job:
    """Apply `change`, a pure function, to the record as it then is. Nothing is written if nothing changes."""
    for _ in range(TRIES):
        stored = await jobs.load(tenant, job_id)
        changed = change(stored.value)
        if changed == stored.value:
            return changed
        try:
            return (await jobs.replace(stored, changed)).value
        except Conflict:
            continue
    raise TryAgainLater(f"job {job_id}: the record changes faster than it can be amended")
