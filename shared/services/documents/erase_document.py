"""Erase a finished document's content: what was dropped, and what came of it. Record and ledger stay."""

import logging
from dataclasses import dataclass, replace

from shared.domain.documents import Document
from shared.domain.errors import Conflict
from shared.ports.blobs import Blobs
from shared.ports.clock import Clock
from shared.stores.documents import Documents, Paths
from shared.stores.stored import Stored
from shared.wire import paths as places
from shared.wire.problems import Clash

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseDocument:
    documents: Documents
    paths: Paths
    blobs: Blobs
    clock: Clock

    async def __call__(self, stored: Stored[Document]) -> None:
        """Safe to repeat. Only this version goes: what was dropped there later stays. Raise `Clash`."""
        document = stored.value
        if not document.is_finished:
            raise Clash(
                f"document {document.id} is {document.status.value}; erase it when it is finished",
                code="not_finished",
            )
        if document.erased_at is None:
            # The mark comes first: from then on nobody retries what is about to go.
            await self._mark(stored)
        await self.blobs.delete(places.answer(document.tenant, document.id, document.retries))
        await self._delete_drop(document)
        await self._delete_result(document)

    async def _mark(self, stored: Stored[Document]) -> None:
        try:
            await self.documents.replace(stored, replace(stored.value, erased_at=self.clock.now()))
        except Conflict as conflict:
            raise Clash(f"document {stored.value.id} changed at this moment; erase it again") from conflict

    async def _delete_drop(self, document: Document) -> None:
        try:
            await self.blobs.delete(places.dropped(document.path), etag=document.etag)
        except Conflict:
            log.info("document.replaced", extra={"document": document.id})

    async def _delete_result(self, document: Document) -> None:
        target = places.result(document.path)
        if target is None:
            return
        while True:
            # As in publishing: the look comes first, so that a newer result written after it is noticed.
            there = await self.blobs.head(target)
            lines = places.pieces(document.path)
            pieces = await self.blobs.head(lines) if lines is not None else None
            row = await self.paths.find(document.path)
            if there is None or (row is not None and row.value.standing != document.version):
                return
            try:
                # The result goes last: while it is there, a repeat goes on with what it names.
                if pieces is not None:
                    await self.blobs.delete(pieces.path, etag=pieces.etag)
                await self.blobs.delete(target, etag=there.etag)
            except Conflict:
                continue
            return
