"""The sweep's look at messages that were given up: told by reason, and no document is forgotten with its message.

They are looked at and left where they are: an operator may want to see them.
"""

import logging
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from shared.domain.documents import Document, DocumentEvent, DocumentStatus
from shared.domain.errors import Conflict, PosternError
from shared.domain.findings import Finding, FindingKind
from shared.ports.clock import Clock
from shared.ports.queue import DeadLetter, Queue
from shared.services.announce import Notice
from shared.services.documents.postpone import INFRASTRUCTURE, Postpone
from shared.services.policy import Policy
from shared.stores.cursors import Cursors, Round
from shared.stores.documents import Documents
from shared.stores.stored import Stored
from shared.wire.claims import BadClaim, Claim, claim_of, message_of, read_claim

log = logging.getLogger(__name__)

NAME: Final = "dead-letters"
PAGE: Final = 100
# A pass ends after so many; the next one goes on from there.
MAX_PAGES: Final = 10
_LONGEST_REASON: Final = 100
_WAITING: Final = (DocumentStatus.CLAIMED, DocumentStatus.QUEUED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepDeadLetters:
    documents: Documents
    cursors: Cursors
    queue: Queue
    postpone: Postpone
    notice: Notice
    clock: Clock
    policy: Policy

    async def __call__(self) -> None:
        before = await self.cursors.find(NAME)
        start = int(before.cursor) if before is not None and before.cursor is not None else 0
        found = 0
        for _ in range(MAX_PAGES):
            letters = await self.queue.dead_letters(start=start, limit=PAGE)
            for letter in letters:
                await self._guarded(letter)
            found += len(letters)
            start = letters[-1].sequence + 1 if letters else 0
            if not letters:
                break
        await self._remember(before, str(start) if start else None)
        if found:
            log.info("sweep.dead_letters", extra={"count": found})

    async def _remember(self, before: Round | None, cursor: str | None) -> None:
        if cursor is None and (before is None or before.cursor is None):
            return
        await self.cursors.put(NAME, Round(cursor=cursor, began_at=self.clock.now()))

    async def _guarded(self, letter: DeadLetter) -> None:
        """One that cannot be dealt with hides no other."""
        try:
            await self.notice(dead_letter_finding(letter, self.clock.now()))
            await self._rescue(read_claim(letter.body))
        except BadClaim:
            return
        except Conflict:
            log.info("document.moved_on", extra={"sequence": letter.sequence})
        except PosternError as error:
            log.warning("sweep.look_failed", extra={"what": "dead letter", "why": str(error)})

    async def _rescue(self, claim: Claim) -> None:
        """A document that waits for this very message waits for nothing: send it anew, or end it."""
        stored = await self.documents.find(claim.owner, claim.document)
        if stored is None or not _waits_for(stored.value, claim):
            return
        crashes = stored.value.crashes + 1
        if crashes >= self.policy.max_crashes:
            why = f"its messages were dead-lettered {crashes} times"
            await self.postpone.give_up(_taken(stored), INFRASTRUCTURE, why)
            return
        following = replace(
            stored.value, generation=claim.generation + 1, crashes=crashes, due_at=self.clock.now()
        )
        # Sent first: a record that is behind its message is worked on all the same.
        await self.queue.send(message_of(claim_of(following)))
        await self.documents.replace(stored, _queued(following))
        log.warning("document.rescued", extra={"document": claim.document, "what": "dead letter"})


def _waits_for(document: Document, claim: Claim) -> bool:
    """What is held by a worker, or has a later message, does not."""
    return document.status in _WAITING and document.generation <= claim.generation


def _queued(document: Document) -> Document:
    return document.after(DocumentEvent.QUEUE)


def _taken(stored: Stored[Document]) -> Stored[Document]:
    """As a worker would hold it: only what was begun can end."""
    return Stored(stored.value.after(DocumentEvent.BEGIN), stored.entity)


def dead_letter_finding(letter: DeadLetter, now: datetime) -> Finding:
    """One a reason and day of sending, however many there are and however often they are seen."""
    reason = letter.reason[:_LONGEST_REASON] or "unknown"
    return Finding(
        kind=FindingKind.DEAD_LETTER,
        subject=f"documents: {reason}@{letter.sent_at:%Y-%m-%d}",
        tenant=None,
        message=f"messages of the queue documents were given up: {reason}. Others of the day and reason are not"
        " reported one by one: look into the queue's dead letters, and into the logs for what crashed",
        found_at=now,
        detail={"reason": reason, "sequence": str(letter.sequence)},
    )
