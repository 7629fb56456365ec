"""The sweep's look at unfinished documents: never sent, held by the dead, late, or not told of yet."""

import logging
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, assert_never

from shared.domain.documents import Document, DocumentEvent, DocumentStatus, Rescue, rescue_of
from shared.domain.errors import Conflict, PosternError
from shared.domain.findings import Finding, FindingKind
from shared.ports.clock import Clock
from shared.ports.queue import Queue
from shared.services.announce import Notice
from shared.services.documents.finish_document import FinishDocument
from shared.services.documents.postpone import INFRASTRUCTURE, Postpone
from shared.services.documents.send_claim import SendClaim
from shared.services.policy import Policy
from shared.stores.documents import SHARDS, Documents, OpenDocument, OpenDocuments
from shared.stores.stored import Stored
from shared.wire.claims import claim_of, message_of

log = logging.getLogger(__name__)

# Of one shard in one pass: a backlog must not hold up the rest of the sweep.
MAX_LOOKS: Final = 100
# Entered just before its record; one without a record after this died in between.
STILLBORN: Final = timedelta(minutes=15)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepOpenDocuments:
    documents: Documents
    open: OpenDocuments
    queue: Queue
    send: SendClaim
    finish: FinishDocument
    postpone: Postpone
    notice: Notice
    clock: Clock
    policy: Policy

    async def __call__(self) -> None:
        look = _LookAtQueue(self.queue)
        for shard in range(SHARDS):
            looks = 0
            async for entry in self.open.of_shard(shard):
                if self.clock.now() - entry.look_at <= self.policy.stuck_after:
                    continue
                await self._guarded(entry, look)
                looks += 1
                if looks == MAX_LOOKS:
                    break

    async def _guarded(self, entry: OpenDocument, queue: "_LookAtQueue") -> None:
        try:
            await self._look(entry, queue)
        except Conflict:
            log.info("document.moved_on", extra={"document": entry.id})
        except PosternError as error:
            log.warning("sweep.look_failed", extra={"what": "document", "why": str(error)})

    async def _look(self, entry: OpenDocument, queue: "_LookAtQueue") -> None:
        now = self.clock.now()
        stored = await self.documents.find(entry.owner, entry.id)
        if stored is None:
            if now - entry.look_at > STILLBORN:
                await self.open.remove(entry.id)
            return
        if stored.value.is_finished:
            await self.finish.see_through(stored.value)
            return
        # The next look is written first: one that fails must not be all that the sweep ever looks at.
        await self.open.put(replace(entry, look_at=now))
        stored = await self._mark_late(stored, now)
        await self._rescue(stored, now, queue)

    async def _rescue(self, stored: Stored[Document], now: datetime, queue: "_LookAtQueue") -> None:
        document, policy = stored.value, self.policy
        rescue = rescue_of(
            document,
            now,
            stuck_after=policy.stuck_after,
            lost_after=max(policy.document_late, policy.stuck_after),
            max_crashes=policy.max_crashes,
        )
        match rescue:
            case Rescue.NOTHING:
                return
            case Rescue.SEND:
                await self.notice(unsent_finding(document, now))
                await self.send(stored)
            case Rescue.SEND_ANEW:
                await self.notice(lost_finding(document, now))
                await self._send_anew(stored, now)
            case Rescue.SEND_IF_NONE:
                if await queue.is_empty():
                    await self.notice(gone_message_finding(document, now))
                    await self._send_lost(stored, now)
            case Rescue.GIVE_UP:
                crashes = document.crashes + (document.lease is not None)
                await self.postpone.give_up(stored, INFRASTRUCTURE, f"{crashes} workers died over it")
            case _:
                assert_never(rescue)

    async def _send_anew(self, stored: Stored[Document], now: datetime) -> None:
        document = stored.value
        following = replace(
            document,
            generation=document.generation + 1,
            crashes=document.crashes + (document.lease is not None),
            lease=None,
            due_at=now,
        )
        await self.queue.send(message_of(claim_of(following)))
        await self.documents.replace(stored, following.after(DocumentEvent.DEFER))

    async def _send_lost(self, stored: Stored[Document], now: datetime) -> None:
        """Nobody is to blame for it: no worker has died."""
        following = replace(stored.value, generation=stored.value.generation + 1, due_at=now)
        await self.queue.send(message_of(claim_of(following)))
        await self.documents.replace(stored, following.after(DocumentEvent.QUEUE))

    async def _mark_late(self, stored: Stored[Document], now: datetime) -> Stored[Document]:
        document = stored.value
        waits = document.status is DocumentStatus.GATHERED
        if document.late or waits or now - document.claimed_at < self.policy.document_late:
            return stored
        await self.notice(late_finding(document, now))
        return await self.documents.replace(stored, replace(document, late=True))


class _LookAtQueue:
    """One look at the queue in a pass, and none if nobody asks: what the pass itself sends counts for nothing."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._empty: bool | None = None

    async def is_empty(self) -> bool:
        if self._empty is None:
            self._empty = await self._queue.is_empty()
        return self._empty


def gone_message_finding(document: Document, now: datetime) -> Finding:
    """One a tenant and hour: whatever loses a queue loses many."""
    return Finding(
        kind=FindingKind.LOST_DOCUMENT,
        subject=f"queue:{document.tenant}@{now:%Y-%m-%dT%H}",
        tenant=document.tenant,
        message=f"document {document.id} waited for a message and the queue has none; it is sent anew. Others of"
        " this hour are not reported one by one: the queue was deleted, purged or made anew",
        found_at=now,
        detail={"document_id": document.id},
    )


def unsent_finding(document: Document, now: datetime) -> Finding:
    return Finding(
        kind=FindingKind.UNSENT_MESSAGE,
        subject=f"{document.id}:{document.generation}",
        tenant=document.tenant,
        message=f"document {document.id} was on record, and its message was not sent; it is sent now",
        found_at=now,
        detail={"document_id": document.id},
    )


def lost_finding(document: Document, now: datetime) -> Finding:
    return Finding(
        kind=FindingKind.LOST_DOCUMENT,
        subject=f"{document.id}:{document.generation}",
        tenant=document.tenant,
        message=f"document {document.id} was held by a worker that is gone; its message is sent anew",
        found_at=now,
        detail={"document_id": document.id},
    )


def late_finding(document: Document, now: datetime) -> Finding:
    return Finding(
        kind=FindingKind.LATE_DOCUMENT,
        subject=f"{document.tenant}/{document.pipeline}@{now:%Y-%m-%dT%H}",
        tenant=document.tenant,
        message=f"documents of pipeline {document.pipeline!r} are late: {document.id} was claimed at"
        f" {document.claimed_at:%Y-%m-%d %H:%M} UTC and is {document.status.value}. Others of this hour are marked"
        " and not reported one by one",
        found_at=now,
        detail={"document_id": document.id, "pipeline": document.pipeline},
    )
