"""The hold on a document while a worker works on it: a short lease, renewed as long as the worker lives."""

import asyncio
import contextlib
import logging
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

from shared.domain.documents import Document, DocumentEvent, DocumentLease
from shared.domain.errors import Conflict, PosternError, TryAgainLater
from shared.ports.clock import Clock
from shared.services.policy import Policy
from shared.stores.documents import Documents
from shared.stores.stored import Stored

log = logging.getLogger(__name__)

Change = Callable[[Document], Document]


class Grip:
    """Changes the record one after another, renewals included. Every change may raise `Conflict`: lost."""

    def __init__(
        self, documents: Documents, stored: Stored[Document], clock: Clock, lease: timedelta
    ) -> None:
        self._documents = documents
        self._stored = stored
        self._clock = clock
        self._lease = lease
        self._changing = asyncio.Lock()
        self._released = False

    @property
    def document(self) -> Document:
        return self._stored.value

    async def amend(self, change: Change) -> Document:
        async with self._changing:
            self._stored = await self._documents.replace(self._stored, change(self._stored.value))
            return self._stored.value

    async def renew(self) -> None:
        """Say that somebody is still at work, unless there is nothing to hold any more."""
        if not self._released:
            await self.amend(lambda document: replace(document, lease=self._until(document)))

    async def release(self) -> Stored[Document]:
        """The record for whoever ends the work; it is not renewed any more.

        A lease with little time left is renewed once more: nobody shall take over what is about to end.
        Raise `Conflict` if somebody has.
        """
        lease = self.document.lease
        if lease is None or lease.until - self._clock.now() < self._lease / 2:
            await self.renew()
        self._released = True
        async with self._changing:
            return self._stored

    def _until(self, document: Document) -> DocumentLease | None:
        if document.lease is None:
            return None
        return replace(document.lease, until=self._clock.now() + self._lease)


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeDocument:
    documents: Documents
    clock: Clock
    policy: Policy

    @asynccontextmanager
    async def __call__(self, stored: Stored[Document], generation: int) -> AsyncIterator[Grip]:
        """A hold on the document for one message. Raise `Conflict` if somebody is faster."""
        now, lease = self.clock.now(), self.policy.document_lease
        document = stored.value
        # A lease that is still there has run out: its holder died at work.
        crashes = document.crashes + (document.lease is not None)
        taken = replace(
            document.after(DocumentEvent.BEGIN),
            generation=generation,
            crashes=crashes,
            due_at=None,
            lease=DocumentLease(holder=uuid.uuid4().hex, until=now + lease),
        )
        grip = Grip(self.documents, await self.documents.replace(stored, taken), self.clock, lease)
        renewing = asyncio.create_task(self._keep_renewing(grip))
        try:
            yield grip
        except (TryAgainLater, Conflict):
            raise
        except Exception:
            # A defect of ours: the next delivery may try at once, but not for ever.
            await self._let_go(grip)
            raise
        finally:
            renewing.cancel()
            with contextlib.suppress(asyncio.CancelledError, Conflict):
                await renewing

    async def _keep_renewing(self, grip: Grip) -> None:
        every = (self.policy.document_lease / 3).total_seconds()
        while True:
            await asyncio.sleep(every)
            with contextlib.suppress(TryAgainLater):
                await grip.renew()

    async def _let_go(self, grip: Grip) -> None:
        with contextlib.suppress(PosternError):
            await grip.amend(lambda d: replace(d, lease=None, crashes=d.crashes + 1))
