"""Put a document's claim check on the queue, and note that it is there."""

import logging
from dataclasses import dataclass
from datetime import timedelta

from shared.domain.documents import Document, DocumentEvent, DocumentStatus
from shared.domain.errors import Conflict
from shared.ports.queue import Queue
from shared.stores.documents import Documents
from shared.stores.stored import Stored
from shared.wire.claims import claim_of, message_of

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SendClaim:
    documents: Documents
    queue: Queue

    async def __call__(self, stored: Stored[Document], *, delay: timedelta | None = None) -> None:
        """Send first, note then: what is noted is on the queue. Safe to repeat for the same generation."""
        document = stored.value
        await self.queue.send(message_of(claim_of(document)), delay=delay)
        if document.status is not DocumentStatus.CLAIMED:
            return
        try:
            await self.documents.replace(stored, document.after(DocumentEvent.QUEUE))
        except Conflict:
            # The message has overtaken this note: a worker holds the document.
            log.info("document.moved_on", extra={"document": document.id})
