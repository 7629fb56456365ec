"""The timer's pass over everything that nobody may be driving any more.

Each look is independent of the others: one that fails is reported and the rest go on.
"""

import logging
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from shared.domain.chunks import Chunk, ChunkState
from shared.domain.errors import Conflict, NotFound, PosternError
from shared.domain.findings import Finding, FindingKind
from shared.domain.jobs import Job
from shared.domain.pulses import FLOW, Pulse
from shared.ports.catalog import CatalogSource
from shared.ports.clock import Clock
from shared.ports.events import Event
from shared.ports.orchestrations import Orchestrations
from shared.ports.providers import Providers
from shared.services.announce import Announce, Notice
from shared.services.chunks.collect_chunk import CollectChunk
from shared.services.documents.sweep_dead_letters import SweepDeadLetters
from shared.services.documents.sweep_drop_zone import SweepDropZone
from shared.services.documents.sweep_open_documents import SweepOpenDocuments
from shared.services.files.sweep_files import SweepFiles
from shared.services.jobs.amend_job import amend_job
from shared.services.policy import Policy
from shared.services.sweeping.sweep_providers import SweepProviders
from shared.stores.jobs import Chunks, Jobs
from shared.stores.notices import Outbox
from shared.stores.pulses import Pulses
from shared.stores.stored import Stored
from shared.wire.event_data import job_event_data

log = logging.getLogger(__name__)

# A pulse is written just before its job's record; one without a record after this died in between.
STILLBORN: Final = timedelta(minutes=15)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    jobs: Jobs
    chunks: Chunks
    pulses: Pulses
    outbox: Outbox
    catalog: CatalogSource
    providers: Providers
    collect: CollectChunk
    announce: Announce
    notice: Notice
    clock: Clock
    policy: Policy
    sweep_providers: SweepProviders
    sweep_open_documents: SweepOpenDocuments
    sweep_drop_zone: SweepDropZone
    sweep_files: SweepFiles
    sweep_dead_letters: SweepDeadLetters

    async def __call__(self, orchestrations: Orchestrations) -> None:
        await self._guarded("jobs", self._look_at_all(orchestrations))
        await self._guarded("providers", self.sweep_providers())
        await self._guarded("documents", self.sweep_open_documents())
        await self._guarded("drop zone", self.sweep_drop_zone())
        await self._guarded("files", self.sweep_files())
        await self._guarded("dead letters", self.sweep_dead_letters())
        await self._guarded("outbox", self._publish())
        await self._guarded("engine", orchestrations.forget_finished())

    async def _guarded(self, what: str, look: Awaitable[None]) -> None:
        try:
            await look
        except PosternError as error:
            log.warning("sweep.look_failed", extra={"what": what, "why": str(error)})
        except Exception:
            # A record that nobody can read must not hide the others from the only pass that looks at them.
            log.exception("sweep.look_broken", extra={"what": what})

    async def _look_at_all(self, orchestrations: Orchestrations) -> None:
        async for pulse in self.pulses.all():
            await self._guarded(f"job {pulse.value.job_id}", self._look_at(pulse, orchestrations))

    async def _look_at(self, pulse: Stored[Pulse], orchestrations: Orchestrations) -> None:
        found = await self.jobs.find(pulse.value.tenant, pulse.value.job_id)
        now = self.clock.now()
        if found is None:
            if now - pulse.value.due_at > STILLBORN:
                await self.pulses.bury(pulse)
            return
        job = found.value
        if now >= pulse.value.deadline_at and not job.is_finished:
            await self._mark_late(job, now)
        await self._save_outputs(job, now)
        await self._restart_if_stuck(pulse, job, now, orchestrations)

    # Late jobs

    async def _mark_late(self, job: Job, now: datetime) -> None:
        if job.late:
            return
        # The flag comes last: it says that everybody has been told.
        await self.announce(late_event(replace(job, late=True), now))
        await self.notice(late_finding(job, now))
        await amend_job(self.jobs, job.tenant, job.id, lambda j: replace(j, late=True))

    # Orchestrations that are gone

    async def _restart_if_stuck(
        self, pulse: Stored[Pulse], job: Job, now: datetime, orchestrations: Orchestrations
    ) -> None:
        """Also one that an older version of the app drives: this one takes it over.

        One that a newer version drives is left alone as long as it is driven, or both would take it in turns.
        """
        beat = pulse.value
        older = beat.flow < FLOW
        if now - beat.due_at <= self.policy.stuck_after and not older:
            return
        # The next run's number is taken before it is started: two sweeps start one, and the old run is fenced.
        following = replace(beat, run=beat.run + 1, due_at=now, flow=FLOW)
        try:
            await self.pulses.replace(pulse, following)
        except Conflict:
            return
        if not older and (beat.run > 1 or job.plan is not None):
            await self.notice(lost_finding(job, following, now))
        log.warning("job.restarted", extra={"job_id": job.id, "run": following.run, "older": older})
        await orchestrations.start(job.id, following.run, tenant=job.tenant)

    # Outputs that the provider is about to drop

    async def _save_outputs(self, job: Job, now: datetime) -> None:
        for chunk in await self.chunks.of(job.id):
            lapse = chunk.remote.output_expires_at
            if chunk.state is ChunkState.ENDED and lapse and lapse - now < self.policy.lapse:
                await self._save_output(job, chunk, lapse)

    async def _save_output(self, job: Job, chunk: Chunk, lapse: datetime) -> None:
        await self.notice(lapse_finding(job, chunk, lapse, self.clock.now()))
        provider = self.providers.batch((await self.catalog.current()).deployment(chunk.deployment))
        try:
            stored = await self.chunks.load(job.id, chunk.n)
            if stored.value.state is ChunkState.ENDED:
                await self.collect(job, stored, provider)
        except (Conflict, NotFound) as moved:
            log.info("chunk.moved_on", extra={"job_id": job.id, "chunk": chunk.n, "why": str(moved)})

    # Events that are still unsent

    async def _publish(self) -> None:
        async for event in self.outbox.waiting():
            if not await self.announce.publish(event):
                return  # the topic does not answer; the next sweep tries again


def late_event(job: Job, now: datetime) -> Event:
    return Event(
        id=f"job:{job.id}:late",
        type="postern.job.late",
        subject=f"tenants/{job.tenant}/jobs/{job.id}",
        time=now,
        data=job_event_data(job),
    )


def late_finding(job: Job, now: datetime) -> Finding:
    return Finding(
        kind=FindingKind.LATE_JOB,
        subject=job.id,
        tenant=job.tenant,
        message=f"job {job.id} is {job.status.value} past its deadline {job.deadline_at:%Y-%m-%d %H:%M} UTC; it is"
        " still polled, more slowly, and finishes when the provider does",
        found_at=now,
        detail={"job_id": job.id},
    )


def lost_finding(job: Job, pulse: Pulse, now: datetime) -> Finding:
    return Finding(
        kind=FindingKind.LOST_ORCHESTRATION,
        subject=f"{job.id}:{pulse.run}",
        tenant=job.tenant,
        message=f"job {job.id} made no progress and was started again (run {pulse.run}); it goes on with the"
        " provider batches that exist",
        found_at=now,
        detail={"job_id": job.id},
    )


def lapse_finding(job: Job, chunk: Chunk, lapse: datetime, now: datetime) -> Finding:
    return Finding(
        kind=FindingKind.OUTPUT_ABOUT_TO_LAPSE,
        subject=f"{job.id}:{chunk.n}:{chunk.remote.batch}",
        tenant=job.tenant,
        message=f"the output of batch {chunk.remote.batch} of job {job.id} was to be dropped by the provider at"
        f" {lapse:%Y-%m-%d %H:%M} UTC before it was collected; it is copied now",
        found_at=now,
        detail={"job_id": job.id},
    )
