"""Accept a job: its input and what applies to it into blobs, then pulse, record and orchestration.

The pulse comes before the record: from the record's first moment the sweep would start a job that nobody did.
"""

import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import msgspec

from shared.domain.catalog import Catalog, Tenant
from shared.domain.errors import Conflict, TryAgainLater
from shared.domain.ids import JobId
from shared.domain.jobs import BatchFiles, Job, JobStatus, Source, SourceKind
from shared.domain.pulses import Pulse
from shared.ports.blobs import Blobs
from shared.ports.catalog import CatalogSource
from shared.ports.clock import Clock
from shared.ports.orchestrations import Orchestrations
from shared.services.door.check_job import Checked, CheckJob
from shared.services.door.take_file import TakeFile
from shared.services.door.take_upload import TakeUpload
from shared.services.jobs.job_spec import save_spec
from shared.services.policy import Policy
from shared.services.streams import Outlet
from shared.stores.jobs import Jobs
from shared.stores.pulses import Pulses
from shared.wire import paths
from shared.wire.bodies import JobBody
from shared.wire.paths import JobPaths

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptJob:
    jobs: Jobs
    pulses: Pulses
    take_upload: TakeUpload
    take_file: TakeFile
    blobs: Blobs
    catalog: CatalogSource
    check: CheckJob
    clock: Clock
    policy: Policy

    async def __call__(
        self, tenant: Tenant, body: JobBody, size: int, job_id: JobId, orchestrations: Orchestrations
    ) -> Job:
        """The accepted job. `size`: bytes of the posted body. Safe to repeat under the same `job_id`."""
        if (existing := await self.jobs.find(tenant.id, job_id)) is not None:
            return await self.start(existing.value, orchestrations)
        catalog: Catalog = await self.catalog.current()
        checked = await self.check(tenant, body, size, catalog)
        job = self._job(tenant, body, checked, job_id)
        await self._store_input(job, body, checked)
        accepted = await self.begin(job, orchestrations)
        if job.source.upload is not None:
            # The job has its own copy.
            await self.blobs.delete(job.source.upload)
        return accepted

    async def begin(self, job: Job, orchestrations: Orchestrations) -> Job:
        """From stored input to a running job."""
        await self._add_pulse(job)
        try:
            await self.jobs.add(job)
        except Conflict:
            job = (await self.jobs.load(job.tenant, job.id)).value
        log.info("job.accepted", extra={"job_id": job.id, "tenant": job.tenant, "alias": job.alias})
        return await self.start(job, orchestrations)

    async def start(self, job: Job, orchestrations: Orchestrations) -> Job:
        """Start what nobody has begun to plan; one that runs already, or whose run is over, is no error."""
        if job.status is not JobStatus.ACCEPTED:
            return job
        try:
            await orchestrations.start(job.id, 1, tenant=job.tenant)
        except TryAgainLater as later:
            # It is on record: the sweep starts it.
            log.warning("job.start_postponed", extra={"job_id": job.id, "why": str(later)})
        return job

    async def _add_pulse(self, job: Job) -> None:
        now = self.clock.now()
        pulse = Pulse(tenant=job.tenant, job_id=job.id, run=1, due_at=now, deadline_at=job.deadline_at)
        try:
            await self.pulses.add(pulse)
        except Conflict:
            await self._renew_pulse(job, now)

    async def _renew_pulse(self, job: Job, now: datetime) -> None:
        """An earlier try died after this. The sweep may be about to bury its pulse: make it young again."""
        stored = await self.pulses.find(job.id)
        if stored is None:
            raise TryAgainLater(f"the pulse of job {job.id} was removed just now")
        try:
            await self.pulses.replace(stored, replace(stored.value, due_at=now))
        except Conflict as conflict:
            raise TryAgainLater(f"the pulse of job {job.id} was changed just now") from conflict

    def _job(self, tenant: Tenant, body: JobBody, checked: Checked, job_id: JobId) -> Job:
        now = self.clock.now()
        deadline = self.policy.deadline(body.deadline_hours, checked.window)
        return Job(
            id=job_id,
            tenant=tenant.id,
            status=JobStatus.ACCEPTED,
            created_at=now,
            deadline_at=now + deadline,
            alias=checked.alias.name,
            endpoint=checked.endpoint,
            deployment=checked.deployment.name,
            provider=checked.deployment.provider,
            model=checked.deployment.model,
            run_id=body.run_id or job_id,
            source=_source(tenant, body, checked, job_id),
            tags=body.tags,
            dedupe=body.dedupe,
            batch=_batch(body),
        )

    async def _store_input(self, job: Job, body: JobBody, checked: Checked) -> None:
        await save_spec(self.blobs, job, checked.spec)
        if checked.references:
            async with Outlet(self.blobs, JobPaths(job.tenant, job.id).references) as outlet:
                for path, etag in sorted(checked.references.items()):
                    await outlet.write(msgspec.json.encode([path, etag]) + b"\n")
        if body.batch is not None:
            await self.take_file(job, body.batch.file)
        elif body.kind is SourceKind.UPLOAD:
            await self.take_upload(job, body.upload_id or "")
        else:
            await self.blobs.write(job.source.path, _lines(body.elements), content_type="application/jsonl")


def _batch(body: JobBody) -> BatchFiles | None:
    if body.batch is None:
        return None
    return BatchFiles(input=body.batch.file, output_seconds=body.batch.output_seconds)


def _source(tenant: Tenant, body: JobBody, checked: Checked, job_id: JobId) -> Source:
    return Source(
        kind=body.kind,
        path=JobPaths(tenant.id, job_id).source,
        checked=checked.in_full,
        upload=paths.upload(tenant.id, body.upload_id) if body.upload_id is not None else None,
    )


async def _lines(elements: Sequence[msgspec.Raw]) -> AsyncIterator[bytes]:
    """Each element on a line of its own, so that its line number is its position."""
    held: list[bytes] = []
    size = 0
    for element in elements:
        held.append(msgspec.json.format(bytes(element), indent=-1) + b"\n")
        size += len(held[-1])
        if size > 1024 * 1024:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)
