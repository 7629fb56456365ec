"""Storage events that come on a queue: claims where Event Grid cannot reach the app, and results of batches."""

import logging
from dataclasses import dataclass

from shared.domain.findings import Finding, FindingKind
from shared.ports.clock import Clock
from shared.ports.orchestrations import Orchestrations
from shared.services.announce import Notice
from shared.services.documents.claim_document import ClaimDocument
from shared.services.jobs.wake_job import WakeJob
from shared.wire.storage_events import BadEvent, read_created

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeStorageEvents:
    claim: ClaimDocument
    wake: WakeJob
    notice: Notice
    clock: Clock

    async def __call__(self, body: bytes, orchestrations: Orchestrations) -> None:
        """When it returns, the message has done its work; a message that is none is dropped with a finding."""
        try:
            places = read_created(body)
        except BadEvent as bad:
            await self._park(str(bad))
            return
        for place in places:
            if not await self.wake(place, orchestrations):
                await self.claim(place)

    async def _park(self, why: str) -> None:
        now = self.clock.now()
        log.warning("message.parked", extra={"why": why})
        await self.notice(
            Finding(
                kind=FindingKind.BAD_MESSAGE,
                subject=f"storage-events: {why}@{now:%Y-%m-%dT%H}",
                tenant=None,
                message=f"a message on the queue of storage events was dropped: {why}",
                found_at=now,
            )
        )
