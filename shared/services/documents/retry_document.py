"""Retry a finished document, because somebody asks for it: the same version, under the catalogue of now."""

from dataclasses import dataclass, replace
from datetime import datetime

from shared.domain.catalog import Lane
from shared.domain.documents import Document, DocumentEvent
from shared.domain.errors import Conflict, NotFound
from shared.domain.outcomes import Outcome, is_final
from shared.ports.catalog import CatalogSource
from shared.ports.clock import Clock
from shared.services.documents.describe import decide
from shared.services.documents.finish_document import FinishDocument
from shared.services.documents.send_claim import SendClaim
from shared.stores.documents import Documents, Gathering, OpenDocument, OpenDocuments, owner_of
from shared.stores.stored import Stored
from shared.wire.problems import Clash, Unusable


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryDocument:
    documents: Documents
    open: OpenDocuments
    gathering: Gathering
    catalog: CatalogSource
    clock: Clock
    send: SendClaim
    finish: FinishDocument

    async def __call__(self, stored: Stored[Document], include: frozenset[Outcome]) -> Document:
        """The document, on its way again. Raise `NotFound`, `Clash` while it is, `Unusable` if it never can."""
        _check_may_retry(stored.value, include)
        catalog = await self.catalog.current()
        if (hopeless := decide(stored.value, catalog)) is not None:
            raise Unusable(f"document {stored.value.id}: {hopeless.message}")
        if not stored.value.known:
            stored = await self._hand_over(stored)
            _check_may_retry(stored.value, include)
        if await self.open.has(stored.value.id):
            # Nobody has been told of the end that it has now, and soon nobody could.
            await self.finish.see_through(stored.value)
        again = _again(stored.value, self.clock.now())
        await self.open.put(OpenDocument(id=again.id, owner=owner_of(again), look_at=self.clock.now()))
        if catalog.pipelines[again.pipeline].lane is Lane.HOURS:
            await self.gathering.add(again)
            return (await self._replace(stored, again.after(DocumentEvent.GATHER))).value
        stored = await self._replace(stored, again)
        await self.send(stored)
        return (await self.documents.load(owner_of(again), again.id)).value

    async def _hand_over(self, stored: Stored[Document]) -> Stored[Document]:
        """From the operators' list to its tenant's, who is known by now."""
        document = replace(stored.value, known=True)
        try:
            moved = await self.documents.add(document)
        except Conflict:
            moved = await self.documents.load(document.tenant, document.id)
        await self.documents.remove(stored)
        return moved

    async def _replace(self, stored: Stored[Document], new: Document) -> Stored[Document]:
        try:
            return await self.documents.replace(stored, new)
        except Conflict as conflict:
            raise Clash(f"document {new.id} is being retried already", code="in_progress") from conflict


def _check_may_retry(document: Document, include: frozenset[Outcome]) -> None:
    if document.outcome is None or not document.is_finished:
        raise Clash(
            f"document {document.id} is {document.status.value}; retry it when it is finished",
            code="not_finished",
        )
    if document.erased_at is not None:
        raise NotFound(f"the content of document {document.id} was erased")
    if document.outcome in include or not is_final(document.outcome, document.reason):
        return
    # What has cost nothing may be tried again for nothing: somebody has mended a name or a file.
    if document.outcome is Outcome.FAILED and not document.attempts:
        return
    raise Unusable(
        f"document {document.id} has its final outcome, {document.outcome.value}; name it in include to buy it"
        " again"
        if document.outcome is not Outcome.SUCCEEDED
        else f"document {document.id} has succeeded; drop it again, or rescore its pipeline"
    )


def _again(document: Document, now: datetime) -> Document:
    return replace(
        document.after(DocumentEvent.RETRY),
        claimed_at=now,
        generation=document.generation + 1,
        retries=document.retries + 1,
        faults=0,
        troubled_since=None,
        crashes=0,
        late=False,
        due_at=None,
        job_id=None,
        outcome=None,
        reason=None,
        message=None,
        finished_at=None,
    )
