"""Process one dropped document: read it, ask the model, tell everybody. One message, any number of deliveries.

What follows from the model's answer begins only when the answer is stored: a crash after that repeats no call.
"""

import logging
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import timedelta

from shared.domain.answers import Answer, answered, decided
from shared.domain.catalog import Alias, Catalog, Pipeline
from shared.domain.documents import Document, DocumentStatus, Turn, turn_of
from shared.domain.errors import Conflict, Deferred, GiveUp, NotFound, Rejected, TryAgainLater
from shared.domain.extraction import Extraction
from shared.domain.findings import Finding, FindingKind
from shared.domain.ids import AliasName
from shared.domain.outcomes import Outcome
from shared.domain.rows import MAX_MESSAGE, Judgement
from shared.domain.tasks import TaskOrder
from shared.ports.blobs import BlobInfo, Blobs
from shared.ports.catalog import CatalogSource
from shared.ports.clock import Clock
from shared.ports.extractor import Extractor
from shared.ports.queue import Queue
from shared.services.announce import Notice
from shared.services.documents.finish_document import BookDocument, FinishDocument
from shared.services.documents.grip import Grip, TakeDocument
from shared.services.documents.postpone import INFRASTRUCTURE, Postpone
from shared.services.extraction import GONE, extract_blob, gone
from shared.services.policy import Policy
from shared.services.streams import one_piece, whole
from shared.services.tasks.prompts import EMBED
from shared.services.tasks.run_task import RunTask
from shared.stores.documents import Documents
from shared.stores.stored import Stored
from shared.wire import paths as places
from shared.wire.answers import read_answer, write_answer
from shared.wire.claims import BadClaim, Claim, message_of, read_claim

log = logging.getLogger(__name__)

# Vectors of a long document; text is far below.
MAX_ANSWER_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessDocument:
    documents: Documents
    blobs: Blobs
    queue: Queue
    catalog: CatalogSource
    extractor: Extractor
    clock: Clock
    policy: Policy
    take: TakeDocument
    run_task: RunTask
    finish: FinishDocument
    book: BookDocument
    postpone: Postpone
    notice: Notice

    async def __call__(self, body: bytes) -> None:
        """When it returns, the message has done its work. What it raises is a crash."""
        try:
            claim = read_claim(body)
        except BadClaim as bad:
            await self._park(str(bad))
            return
        try:
            await self._deliver(claim)
        except TryAgainLater as later:
            await self.postpone.blindly(claim, later)

    async def _deliver(self, claim: Claim) -> None:
        try:
            await self._refuse_if_crowded(claim)
        except Deferred as later:
            await self.postpone.unrecorded(claim, later)
            return
        while True:
            stored = await self.documents.find(claim.owner, claim.document)
            if stored is None:
                await self._park(
                    f"the message names document {claim.document[:64]!r}, which is not on record"
                )
                return
            turn = turn_of(stored.value, claim.generation, self.clock.now())
            if turn is Turn.SKIP:
                log.info("document.repeated", extra={"document": claim.document})
                return
            if turn is Turn.WAIT:
                await self._look_again(stored.value, claim)
                return
            try:
                await self._work_in_turn(stored, claim)
            except Conflict:
                log.info("document.contended", extra={"document": claim.document})
                continue
            return

    async def _refuse_if_crowded(self, claim: Claim) -> None:
        """Before anything is read: what a flood's thousand messages cost is what others behind them wait for."""
        catalog = await self.catalog.current()
        pipeline = catalog.pipelines.get(claim.pipeline)
        if pipeline is not None:
            alias = AliasName(claim.alias) if claim.alias else pipeline.alias
            await self.run_task.refuse_if_crowded(alias, claim.owner)

    async def _work_in_turn(self, stored: Stored[Document], claim: Claim) -> None:
        """Nothing is read or written before it is the tenant's turn: a thousand that must wait cost little."""
        order = self._order(stored.value, await self.catalog.current())
        async with AsyncExitStack() as held:
            try:
                if isinstance(order, TaskOrder):
                    await held.enter_async_context(self.run_task.turn(order.alias, order.tenant))
            except Deferred as later:
                await self._put_off(stored, claim, later)
                return
            await self._work(stored, claim.generation)

    async def _put_off(self, stored: Stored[Document], claim: Claim, later: Deferred) -> None:
        """Not its turn is no news for the record; that nothing works is."""
        if later.fault is None and stored.value.status is DocumentStatus.QUEUED:
            await self.postpone.unrecorded(claim, later)
            return
        async with self.take(stored, claim.generation) as grip:
            await self.postpone(grip, later)

    async def _work(self, stored: Stored[Document], generation: int) -> None:
        async with self.take(stored, generation) as grip:
            try:
                if grip.document.crashes >= self.policy.max_crashes:
                    await self._give_up(grip)
                    return
                answer = await self._recorded(grip.document) or await self._answer(grip)
                await self.finish(await grip.release(), answer)
            except TryAgainLater as later:
                await self.postpone(grip, later)

    async def _look_again(self, document: Document, claim: Claim) -> None:
        """Somebody works on it. Should they die, this message comes again when their lease has run out."""
        if document.lease is None:
            return
        until = document.lease.until
        message = message_of(claim, suffix=f"-{until:%Y%m%d%H%M%S}")
        await self.queue.send(message, delay=until - self.clock.now())
        log.info("document.busy", extra={"document": document.id})

    async def _give_up(self, grip: Grip) -> None:
        crashes = grip.document.crashes
        await self.postpone.give_up(await grip.release(), INFRASTRUCTURE, f"{crashes} workers died over it")

    # What came of it

    async def _recorded(self, document: Document) -> Answer | None:
        """The answer that an earlier delivery has stored and not seen through."""
        if not document.attempts:
            return None
        place = places.answer(document.tenant, document.id, document.retries)
        try:
            return read_answer(await whole(self.blobs, place, limit=MAX_ANSWER_BYTES))
        except NotFound:
            return None

    async def _answer(self, grip: Grip) -> Answer:
        document = grip.document
        order = self._order(document, await self.catalog.current())
        if isinstance(order, Judgement):
            return decided(order, self.clock.now(), tries=document.attempts)
        while True:
            text = await extract_blob(self.blobs, self.extractor, _claimed_version(document))
            if isinstance(text, Extraction):
                return await self._ask(grip, order, text)
            if text.reason != GONE:
                return decided(text, self.clock.now(), tries=document.attempts)
            if (answer := await self._gone(document)) is not None:
                return answer

    async def _gone(self, document: Document) -> Answer | None:
        """What has become of a version that could not be read; None: it is there after all."""
        info = await self.blobs.head(places.dropped(document.path))
        if info is None:
            judgement = gone("the document was deleted before it was processed")
            return decided(judgement, self.clock.now(), tries=document.attempts)
        if info.etag != document.etag:
            judgement = gone("a newer version was dropped before this one was processed")
            return decided(judgement, self.clock.now(), tries=document.attempts, superseded=True)
        return None

    def _order(self, document: Document, catalog: Catalog) -> TaskOrder | Judgement:
        """What is asked, by the catalogue of now: it may have changed since the document was claimed."""
        pipeline = catalog.pipelines.get(document.pipeline)
        if pipeline is None:
            return _failed("unknown_pipeline", f"the pipeline {document.pipeline!r} was removed")
        try:
            alias = catalog.alias(document.alias or pipeline.alias)
        except NotFound as unknown:
            return _failed("invalid_request", str(unknown))
        return order_of(document, pipeline, alias)

    async def _ask(self, grip: Grip, order: TaskOrder, text: Extraction) -> Answer:
        if grip.document.asked_at is not None:
            # Asked before by somebody who died: what came of that nobody knows, and it may have cost something.
            await self.book.lost(grip.document)
        asked_at = self.clock.now()
        document = await grip.amend(lambda d: replace(d, attempts=d.attempts + 1, asked_at=asked_at))
        try:
            result = await self.run_task.in_turn(replace(order, text=text.text))
        except GiveUp as never:
            # Nothing was asked: the catalogue wants something that cannot be done.
            code = never.code if isinstance(never, Rejected) else "invalid_request"
            return decided(
                _failed(code, str(never)[:MAX_MESSAGE]), self.clock.now(), tries=document.attempts - 1
            )
        answer = answered(
            result,
            text,
            attempt=document.attempts,
            now=self.clock.now(),
            in_pieces=order.task == EMBED,
        )
        await self._store(document, answer)
        return answer

    async def _store(self, document: Document, answer: Answer) -> None:
        place = places.answer(document.tenant, document.id, document.retries)
        try:
            await self.blobs.write(place, one_piece(write_answer(answer)), content_type="application/json")
        except TryAgainLater as later:
            spent = None
            if answer.usage is not None and answer.spend is not None:
                spent = answer.usage, answer.spend
            raise Deferred(str(later), retry_after=timedelta(0), fault=INFRASTRUCTURE, spent=spent) from later

    # Messages that are none

    async def _park(self, why: str) -> None:
        """Once an hour and reason: a sender that is broken sends many."""
        now = self.clock.now()
        log.warning("message.parked", extra={"why": why})
        await self.notice(
            Finding(
                kind=FindingKind.BAD_MESSAGE,
                subject=f"{why[:200]}@{now:%Y-%m-%dT%H}",
                tenant=None,
                message=f"a message on the queue of documents was dropped: {why}. Only the app may send there",
                found_at=now,
            )
        )


def _claimed_version(document: Document) -> BlobInfo:
    """As the claim saw it; whoever reads it asks for this very version."""
    return BlobInfo(
        path=places.dropped(document.path),
        etag=document.etag,
        size=document.bytes,
        content_type=document.content_type,
        modified_at=document.modified_at,
    )


def order_of(document: Document, pipeline: Pipeline, alias: Alias) -> TaskOrder:
    """The order without its text."""
    return TaskOrder(
        task=pipeline.task,
        text="",
        pipeline=pipeline,
        schema=pipeline.schema_content,
        alias=alias,
        tenant=document.tenant,
        correlation_id=document.id,
        document_name=document.name,
    )


def _failed(reason: str, message: str) -> Judgement:
    return Judgement(outcome=Outcome.FAILED, reason=reason, message=message)
