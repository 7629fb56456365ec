"""Cancel a job: a flag in the record, read at every step; the event only shortens the wait."""

from dataclasses import dataclass, replace

from shared.domain.ids import TenantId
from shared.domain.jobs import Job
from shared.ports.clock import Clock
from shared.ports.orchestrations import Orchestrations
from shared.services.jobs.amend_job import amend_job
from shared.stores.jobs import Jobs
from shared.stores.pulses import Pulses


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelJob:
    jobs: Jobs
    pulses: Pulses
    clock: Clock

    async def __call__(self, tenant: TenantId, job_id: str, orchestrations: Orchestrations) -> Job:
        """The job, cancelled or about to be. A finished one stays as it is. Raise `NotFound`."""
        now = self.clock.now()

        def cancel(job: Job) -> Job:
            over = job.is_finished or job.is_cancelling
            return job if over else replace(job, cancel_requested_at=now)

        job = await amend_job(self.jobs, tenant, job_id, cancel)
        pulse = await self.pulses.find(job.id) if not job.is_finished else None
        if pulse is not None:
            await orchestrations.wake(job.id, pulse.value.run)
        return job
