"""When a job of gathered documents has finished: each document gets its end, as in the minutes lane.

What was spent is booked by the job. Safe to repeat: a document that has its end is passed over.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from shared.domain.answers import Answer
from shared.domain.documents import DocumentStatus
from shared.domain.errors import Conflict
from shared.domain.jobs import Job, SourceKind
from shared.domain.outcomes import Outcome
from shared.domain.usage import NOTHING_SPENT, NOTHING_USED, Spend
from shared.ports.blobs import Blobs
from shared.ports.clock import Clock
from shared.services.documents.finish_document import FinishDocument
from shared.services.jobs.job_spec import load_spec
from shared.services.streams import own_lines
from shared.stores.documents import Documents
from shared.stores.stored import Stored
from shared.wire.dropped import FactsLine, read_dropped, read_facts
from shared.wire.paths import JobPaths
from shared.wire.results import NULL, ResultLine, read_result, usage_of

log = logging.getLogger(__name__)

SIDE_BY_SIDE: Final = 16
# Replaced by the time the job has finished at.
NEVER: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverDocuments:
    documents: Documents
    blobs: Blobs
    clock: Clock
    finish: FinishDocument

    async def __call__(self, job: Job) -> None:
        """Nothing, for a job of another kind."""
        if job.source.kind is not SourceKind.DOCUMENTS or job.erased_at is not None:
            return
        spec = await load_spec(self.blobs, job)
        if spec.documents is None or not spec.documents.deliver:
            return
        some: list[tuple[str, Answer]] = []
        async for each in self._answers(job):
            some.append(each)
            if len(some) == SIDE_BY_SIDE:
                await self._deliver_some(job, some)
                some = []
        await self._deliver_some(job, some)

    async def _deliver_some(self, job: Job, some: list[tuple[str, Answer]]) -> None:
        await asyncio.gather(*(self._deliver(job, name, answer) for name, answer in some))

    async def _answers(self, job: Job) -> AsyncIterator[tuple[str, Answer]]:
        """The documents in the order of the input, each with what came of it."""
        paths, finished_at = JobPaths(job.tenant, job.id), job.finished_at or self.clock.now()
        run = job.plan.rounds[0] if job.plan is not None and job.plan.rounds else None
        results = self._each(paths.results, read_result)
        facts = self._each(paths.facts(run), read_facts) if run is not None else None
        async for dropped in self._each(job.source.path, read_dropped):
            answer = _refused(job) if facts is None else _answer(await anext(results), await anext(facts))
            yield dropped.custom_id, replace(answer, finished_at=finished_at)

    async def _each[T](self, path: str, read: Callable[[bytes], T]) -> AsyncIterator[T]:
        async for handful in own_lines(self.blobs, path):
            for content in handful:
                yield read(content)

    async def _deliver(self, job: Job, name: str, answer: Answer) -> None:
        while True:
            stored = await self.documents.find(job.tenant, name)
            if stored is None or stored.value.status is not DocumentStatus.GATHERED:
                return
            # The note of which job has it may have been lost; another job's it is not.
            if stored.value.job_id not in (None, job.id):
                return
            ours = Stored(replace(stored.value, job_id=job.id), stored.entity)
            try:
                await self.finish(ours, answer)
            except Conflict:
                log.info("document.contended", extra={"document": name})
                continue
            return


def _answer(result: ResultLine, facts: FactsLine) -> Answer:
    """`cost` is all that the line tells: what a synchronous call would have cost stays with the job."""
    sent = result.attempts > 0
    amount = Decimal(result.cost.amount) if result.cost.amount is not None else None
    spend = Spend(amount=amount, standard=amount) if amount is not None else None
    return Answer(
        outcome=result.outcome,
        reason=result.reason,
        message=result.message,
        output=None if bytes(result.output) == bytes(NULL) else bytes(result.output),
        usage=usage_of(result) if sent else NOTHING_USED,
        spend=spend if sent else NOTHING_SPENT,
        provider=result.provider,
        model=result.model,
        tries=result.attempts,
        media_type=facts.media_type,
        pages=facts.pages,
        pages_without_text=facts.pages_without_text,
        finished_at=NEVER,
    )


def _refused(job: Job) -> Answer:
    """The job could not even be planned; its errors say why."""
    return Answer(
        outcome=Outcome.FAILED,
        reason="invalid_request",
        message=f"job {job.id}, in which the document was gathered, was refused; GET /v1/jobs/{job.id} says why",
        finished_at=NEVER,
    )
