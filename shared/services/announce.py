"""Tell the outside, at least once: into the outbox first, then out."""

import logging
from dataclasses import dataclass
from datetime import datetime

from shared.domain.errors import NotAdmitted, PosternError, TryAgainLater
from shared.domain.findings import Finding, FindingKind
from shared.domain.ids import TenantId
from shared.ports.events import Event, Events
from shared.stores.notices import Findings, Outbox

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Announce:
    """Publish an event; what cannot be published now stays in the outbox for the sweep."""

    outbox: Outbox
    events: Events

    async def __call__(self, event: Event) -> None:
        await self.outbox.add(event)
        await self.publish(event)

    async def tell(self, event: Event) -> None:
        """Publish an event that its maker makes again unless this returns; the outbox is for what fails now."""
        try:
            await self.events.publish(event)
        except TryAgainLater as later:
            log.warning("event.unpublished", extra={"event_id": event.id, "why": str(later)})
            await self.outbox.add(event)

    async def publish(self, event: Event) -> bool:
        """Publish what is in the outbox already. False: it stays there."""
        try:
            await self.events.publish(event)
        except TryAgainLater as later:
            log.warning("event.unpublished", extra={"event_id": event.id, "why": str(later)})
            return False
        await self.outbox.remove(event)
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Record a finding, and announce it the first time."""

    findings: Findings
    announce: Announce

    async def __call__(self, finding: Finding) -> None:
        if await self.findings.has(finding):
            return
        # Into the outbox before the record: once it is recorded nobody announces it any more.
        event = event_of(finding)
        await self.announce.outbox.add(event)
        await self.findings.record(finding)
        log.warning(
            "finding.raised",
            extra={"kind": finding.kind.value, "subject": finding.subject, "tenant": finding.tenant},
        )
        await self.announce.publish(event)

    async def step_failing(
        self, job_id: str, tenant: TenantId, step: str, why: PosternError, now: datetime
    ) -> None:
        """Once a job and step: it is tried again, and somebody has to mend what is in its way."""
        await self(
            Finding(
                kind=FindingKind.STEP_FAILING,
                subject=f"{job_id}:{step}",
                tenant=tenant,
                message=f"job {job_id} cannot go on with {step}: {why}. It is tried again until that is mended",
                found_at=now,
                detail={"job_id": job_id, "step": step},
            )
        )

    async def not_admitted(self, deployment: str, why: NotAdmitted, now: datetime) -> None:
        """Once a day and deployment: somebody has to mend credentials, a role or an account."""
        await self(
            Finding(
                kind=FindingKind.NOT_ADMITTED,
                subject=f"{deployment}@{now:%Y-%m-%d}",
                tenant=None,
                message=f"deployment {deployment!r} refuses the app: {why}. Its jobs wait until that is mended",
                found_at=now,
            )
        )


def event_of(finding: Finding) -> Event:
    owner = f"tenants/{finding.tenant}/" if finding.tenant else "operators/"
    return Event(
        id=f"finding:{finding.kind.value}:{finding.subject}",
        type="postern.finding.raised",
        subject=f"{owner}findings/{finding.kind.value}",
        time=finding.found_at,
        data={
            "kind": finding.kind.value,
            "subject": finding.subject,
            "tenant": finding.tenant,
            "message": finding.message,
            **finding.detail,
        },
    )
