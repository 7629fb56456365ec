"""Finish a job: results, report, the record, the event; then tidy up.

The record is the commit. Everything after it is repeated until the pulse, the last thing to go, is gone.
"""

import logging
from dataclasses import dataclass, replace
from datetime import timedelta

import msgspec

from shared.domain.chunks import Chunk, ChunkState
from shared.domain.errors import NotFound, PosternError, Rejected, Superseded, TryAgainLater
from shared.domain.findings import Finding, FindingKind
from shared.domain.ids import JobId, TenantId
from shared.domain.jobs import INVALID_INPUT, Job, JobEvent, add_up, event_of_end
from shared.ports.blobs import Blobs
from shared.ports.catalog import CatalogSource
from shared.ports.clock import Clock
from shared.ports.events import Event
from shared.ports.providers import Providers
from shared.services.announce import Announce, Notice
from shared.services.chunks.clear_chunk import ClearChunk
from shared.services.documents.deliver_documents import DeliverDocuments
from shared.services.files.write_outputs import WriteOutputs
from shared.services.jobs.amend_job import amend_job
from shared.services.jobs.heart import Heart
from shared.services.jobs.merge_results import Unbalanced, merge_results
from shared.services.policy import Policy
from shared.services.streams import one_piece
from shared.stores.jobs import Chunks, Jobs
from shared.stores.pulses import Pulses
from shared.wire.event_data import job_event_data
from shared.wire.paths import JobPaths
from shared.wire.views import report_json

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishJob:
    jobs: Jobs
    chunks: Chunks
    pulses: Pulses
    blobs: Blobs
    catalog: CatalogSource
    providers: Providers
    heart: Heart
    clock: Clock
    announce: Announce
    notice: Notice
    clear: ClearChunk
    deliver: DeliverDocuments
    write_outputs: WriteOutputs
    policy: Policy

    async def __call__(self, tenant: TenantId, job_id: JobId, run: int) -> timedelta | None:
        """None: nothing is left to do. Otherwise the time until the next try.

        Raise `Superseded` when another run drives the job.
        """
        wait: timedelta | None = None
        async with self.heart.beating(job_id, run):
            try:
                await self._finish(tenant, job_id)
            except TryAgainLater as later:
                log.warning("finish.postponed", extra={"job_id": job_id, "why": str(later)})
                wait = self.policy.hiccup
            except Unbalanced as unbalanced:
                await self._alarm(tenant, job_id, unbalanced)
                wait = self.policy.poll
            except Superseded:
                raise
            except PosternError as error:
                await self.notice.step_failing(job_id, tenant, "finishing", error, self.clock.now())
                wait = self.policy.poll
        if wait is not None:
            await self.heart.beat(job_id, run, next_in=wait)
            return wait
        await self.pulses.remove(job_id)
        return None

    async def _finish(self, tenant: TenantId, job_id: JobId) -> None:
        job = (await self.jobs.load(tenant, job_id)).value
        chunks = await self.chunks.of(job_id)
        if not job.is_finished:
            job = await self._close(job, chunks)
        await self.announce(finished_event(job))
        await self.deliver(job)
        for chunk in chunks:
            if chunk.state is ChunkState.SETTLED:
                await self._clear(job, chunk)

    async def _close(self, job: Job, chunks: list[Chunk]) -> Job:
        totals = add_up(job.plan, chunks)
        if job.plan is None or totals.tally.total != job.plan.submitted:
            raise Unbalanced(
                f"job {job.id}: {totals.tally.total} outcomes for"
                f" {job.plan.submitted if job.plan else 'an unknown number of'} inputs"
            )
        paths = JobPaths(job.tenant, job.id)
        await self.blobs.write(
            paths.results, merge_results(self.blobs, job, chunks), content_type="application/x-ndjson"
        )
        batch = await self.write_outputs(job, job.batch) if job.batch is not None else None
        now = self.clock.now()

        def close(current: Job) -> Job:
            if current.is_finished:
                return current
            refused = current.reason == INVALID_INPUT
            end = event_of_end(totals.tally, cancelling=current.is_cancelling)
            return replace(
                current.after(JobEvent.SETTLE).after(JobEvent.FAIL if refused else end),
                totals=totals,
                batch=batch,
                finished_at=now,
                results_kept_until=now + self.policy.keep_results,
            )

        report = msgspec.json.encode(report_json(close(job), chunks))
        await self.blobs.write(paths.report, one_piece(report), content_type="application/json")
        return await amend_job(self.jobs, job.tenant, job.id, close)

    async def _clear(self, job: Job, chunk: Chunk) -> None:
        """Delete what the provider still keeps. Raise `TryAgainLater` if that may pass later.

        What cannot be deleted at all is a finding: the job is finished, and the files lapse by themselves.
        """
        try:
            deployment = (await self.catalog.current()).deployment(chunk.deployment)
            stored = await self.chunks.load(chunk.job_id, chunk.n)
            await self.clear(stored, self.providers.batch(deployment))
        except (Rejected, NotFound) as error:
            step = f"deleting the files of chunk {chunk.n}"
            await self.notice.step_failing(job.id, job.tenant, step, error, self.clock.now())

    async def _alarm(self, tenant: TenantId, job_id: JobId, unbalanced: Unbalanced) -> None:
        await self.notice(
            Finding(
                kind=FindingKind.UNBALANCED,
                subject=job_id,
                tenant=tenant,
                message=f"{unbalanced}; the job stays open until its record is mended",
                found_at=self.clock.now(),
                detail={"job_id": job_id},
            )
        )


def finished_event(job: Job) -> Event:
    return Event(
        id=f"job:{job.id}:{job.status.value}",
        type=f"postern.job.{job.status.value}",
        subject=f"tenants/{job.tenant}/jobs/{job.id}",
        time=job.finished_at or job.created_at,
        data=job_event_data(job),
    )
