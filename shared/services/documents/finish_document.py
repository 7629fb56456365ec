"""Give a document its end: ledger, result, event, record. Every effect may be repeated.

The record is the commit: what comes before it is repeated until it is written, what comes after it for as long
as the document is entered as open.
"""

import asyncio
import logging
from collections.abc import Awaitable
from dataclasses import dataclass

from shared.domain.answers import Answer, close
from shared.domain.catalog import Lane
from shared.domain.documents import Document
from shared.domain.errors import TryAgainLater
from shared.domain.findings import Finding, FindingKind
from shared.domain.ledger import LedgerRow
from shared.domain.usage import NOTHING_USED, Spend, Usage
from shared.ports.blobs import Blobs
from shared.ports.catalog import CatalogSource
from shared.ports.events import Event
from shared.ports.prices import Prices
from shared.services.announce import Announce, Notice
from shared.services.documents.publish_result import PublishResult
from shared.stores.documents import Documents, OpenDocuments
from shared.stores.ledger import Ledger
from shared.stores.stored import Stored
from shared.wire import paths as places
from shared.wire.document_views import document_event_data

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishDocument:
    documents: Documents
    open: OpenDocuments
    blobs: Blobs
    publish: PublishResult
    book: "BookDocument"
    announce: Announce
    notice: Notice

    async def __call__(self, stored: Stored[Document], answer: Answer) -> Document:
        """The finished document. Raise `Conflict` when the record has changed: somebody else has it."""
        document = stored.value
        finished = close(document, answer)
        if answer.calls:
            await self.book(document, answer)
        await self.publish(document, answer)
        if not document.known:
            await self.notice(unknown_finding(finished))
        await self.documents.replace(stored, finished)
        log.info(
            "document.finished",
            extra={
                "document": finished.id,
                "tenant": finished.tenant,
                "pipeline": finished.pipeline,
                "outcome": answer.outcome.value,
                "reason": answer.reason,
            },
        )
        try:
            await self.see_through(finished)
        except TryAgainLater as later:
            # It has its end: the sweep does the rest.
            log.warning("document.untidy", extra={"document": finished.id, "why": str(later)})
        return finished

    async def see_through(self, finished: Document) -> None:
        """Tell of its end, and take away what only an unfinished document needs: its entry, which says that
        this is still to be done, goes last."""
        steps: list[Awaitable[None]] = [self.announce.tell(finished_event(finished))]
        if finished.attempts and finished.job_id is None:
            kept = places.answer(finished.tenant, finished.id, finished.retries)
            steps.append(self.blobs.delete(kept))
        await asyncio.gather(*steps)
        await self.open.remove(finished.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class BookDocument:
    """One ledger row an attempt, so that a repeat can be seen."""

    ledger: Ledger
    catalog: CatalogSource
    prices: Prices

    async def __call__(self, document: Document, answer: Answer) -> None:
        await self._book(
            document,
            attempt=answer.attempt,
            answer=answer,
            usage=answer.usage or NOTHING_USED,
            spend=answer.spend if answer.spend is not None else Spend(unpriced=answer.calls),
            requests=answer.calls,
        )

    async def lost(self, document: Document, spent: tuple[Usage, Spend] | None = None) -> None:
        """The attempt that is out, and whose answer nobody has: what it cost, as far as it is known."""
        usage, spend = spent or (NOTHING_USED, Spend(unpriced=1))
        await self._book(
            document, attempt=document.attempts, answer=None, usage=usage, spend=spend, requests=1
        )

    async def _book(
        self,
        document: Document,
        *,
        attempt: int,
        answer: Answer | None,
        usage: Usage,
        spend: Spend,
        requests: int,
    ) -> None:
        catalog = await self.catalog.current()
        alias = catalog.aliases.get(document.alias) if document.alias else None
        name = answer.deployment if answer else alias.minutes[0] if alias and alias.minutes else None
        deployment = catalog.deployments.get(name) if name else None
        card = self.prices.card(deployment, Lane.MINUTES) if deployment else None
        await self.ledger.book(
            LedgerRow(
                tenant=document.tenant,
                booked_at=answer.finished_at if answer else document.asked_at or document.claimed_at,
                source=f"document|{document.id}",
                attempt=attempt,
                lane=Lane.MINUTES.value,
                tags=document.tags,
                run_id=document.run_id or document.id,
                alias=document.alias or "",
                deployment=name or "",
                provider=(answer.provider if answer else None) or (deployment.provider if deployment else ""),
                model=(answer.model if answer else None) or (deployment.model if deployment else ""),
                requests=requests,
                outcomes={answer.outcome.value: 1} if answer else {},
                usage=usage,
                unattributed=NOTHING_USED,
                spend=spend,
                price_source=card.source if card else "none",
                price_as_of=card.as_of if card else None,
            )
        )


def finished_event(document: Document) -> Event:
    owner = f"tenants/{document.tenant}" if document.known else "operators"
    return Event(
        id=f"document:{document.id}:{document.retries}",
        type=f"postern.document.{document.status.value}",
        subject=f"{owner}/documents/{document.id}",
        time=document.finished_at or document.claimed_at,
        data=document_event_data(document),
    )


def unknown_finding(document: Document) -> Finding:
    return Finding(
        kind=FindingKind.UNKNOWN_DESTINATION,
        subject=f"{document.tenant}/{document.pipeline}"[:512],
        tenant=None,
        message=f"a document was dropped where no pipeline of a tenant is: {document.message}. Further ones"
        " there are recorded without another finding",
        found_at=document.finished_at or document.claimed_at,
        detail={"document_id": document.id},
    )
