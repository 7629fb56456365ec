"""Work that cannot be done now is sent again for later. The queue's own deliveries are for crashes only."""

import logging
from dataclasses import dataclass, replace
from datetime import timedelta

import msgspec

from shared.domain.answers import decided
from shared.domain.documents import Document, DocumentEvent
from shared.domain.errors import Conflict, Deferred, NotAdmitted, TryAgainLater
from shared.domain.findings import Finding, FindingKind
from shared.domain.outcomes import TRANSIENT_REASONS, Outcome
from shared.domain.rows import Judgement
from shared.ports.clock import Clock
from shared.ports.queue import Queue
from shared.services.announce import Notice
from shared.services.documents.finish_document import BookDocument, FinishDocument
from shared.services.documents.grip import Grip
from shared.services.policy import Policy
from shared.stores.documents import Documents
from shared.stores.stored import Stored
from shared.wire.claims import Claim, claim_of, message_of

log = logging.getLogger(__name__)

INFRASTRUCTURE = "infrastructure"
# Sets a message that no record knows of apart: one that a record does know of must never be dropped as its repeat.
UNRECORDED = "-unrecorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Postpone:
    documents: Documents
    queue: Queue
    finish: FinishDocument
    book: BookDocument
    notice: Notice
    clock: Clock
    policy: Policy

    async def __call__(self, grip: Grip, later: TryAgainLater) -> None:
        """Send the document's next message; or, when patience has run out, give it its end."""
        stored = await grip.release()
        if isinstance(later, Deferred) and later.spent is not None:
            await self.book.lost(stored.value, later.spent)
        troubled = self._troubled(stored.value, later)
        if self._is_hopeless(troubled):
            await self.give_up(stored, _reason(later), str(later))
            return
        await self._again(stored, troubled, later)

    async def blindly(self, claim: Claim, later: TryAgainLater) -> None:
        """The same for a message whose record cannot be had: the message counts for it."""
        following = msgspec.structs.replace(claim, generation=claim.generation + 1)
        delay = self.policy.document_wait.after(claim.generation)
        log.warning("document.postponed", extra={"document": claim.document, "why": str(later)})
        await self.queue.send(message_of(following, suffix=UNRECORDED), delay=delay)

    async def unrecorded(self, claim: Claim, later: Deferred) -> None:
        """The next message and nothing else: the document has not had its turn."""
        following = msgspec.structs.replace(claim, generation=claim.generation + 1)
        await self.queue.send(message_of(following, suffix=UNRECORDED), delay=later.retry_after)
        log.info("document.not_its_turn", extra={"document": claim.document, "why": str(later)})

    async def give_up(self, stored: Stored[Document], reason: str, why: str) -> None:
        """End the document for want of working parts, and tell an operator."""
        document, now = stored.value, self.clock.now()
        message = (
            f"given up after {document.attempts} attempts: {why[:300]}; retry the document when it works"
        )
        judgement = Judgement(outcome=Outcome.FAILED, reason=reason, message=message)
        await self.notice(
            Finding(
                kind=FindingKind.GIVEN_UP_DOCUMENT,
                subject=f"{document.id}:{document.retries}",
                tenant=document.tenant,
                message=f"document {document.id} was {message}",
                found_at=now,
                detail={"document_id": document.id, "pipeline": document.pipeline},
            )
        )
        await self.finish(stored, decided(judgement, now, tries=document.attempts))

    def _troubled(self, document: Document, later: TryAgainLater) -> Document:
        """What the record says after this. Not having had its turn is no trouble."""
        waits_for_its_turn = isinstance(later, Deferred) and later.fault is None
        if waits_for_its_turn:
            unspent = isinstance(later, Deferred) and later.spent is None
            attempts = document.attempts - (1 if unspent and document.asked_at else 0)
            return replace(document, attempts=attempts, faults=0, troubled_since=None)
        since = document.troubled_since or self.clock.now()
        return replace(document, faults=document.faults + 1, troubled_since=since)

    def _is_hopeless(self, document: Document) -> bool:
        since = document.troubled_since
        return since is not None and self.clock.now() - since >= self.policy.document_patience

    async def _again(self, stored: Stored[Document], troubled: Document, later: TryAgainLater) -> None:
        delay = self._delay(troubled, later)
        following = replace(
            troubled,
            generation=troubled.generation + 1,
            lease=None,
            asked_at=None,
            due_at=self.clock.now() + delay,
        )
        event = DocumentEvent.DEFER
        try:
            await self.queue.send(message_of(claim_of(following)), delay=delay)
        except TryAgainLater as refused:
            # Whatever is on record and was not sent, the sweep sends.
            log.warning("document.unsent", extra={"document": following.id, "why": str(refused)})
            event = DocumentEvent.HOLD
        log.warning("document.postponed", extra={"document": following.id, "why": str(later)})
        try:
            await self.documents.replace(stored, following.after(event))
        except (Conflict, TryAgainLater) as unnoted:
            # The message is out, and is ahead of a record that does not know it.
            log.warning("document.unnoted", extra={"document": following.id, "why": str(unnoted)})
        if isinstance(later, NotAdmitted):
            await self.notice.not_admitted(following.alias or "", later, self.clock.now())

    def _delay(self, troubled: Document, later: TryAgainLater) -> timedelta:
        asked = later.retry_after if isinstance(later, Deferred) else timedelta(0)
        if not troubled.faults:
            return asked or self.policy.document_wait.first
        return max(asked, self.policy.document_wait.after(troubled.faults))


def _reason(later: TryAgainLater) -> str:
    fault = later.fault if isinstance(later, Deferred) else None
    return fault if fault in TRANSIENT_REASONS else INFRASTRUCTURE
