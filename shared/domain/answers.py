"""What came of one document, whoever found out: a model, the extractor, or a look at its path."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from shared.domain.documents import ANSWERED, Document, DocumentEvent
from shared.domain.extraction import Extraction
from shared.domain.ids import DeploymentName
from shared.domain.outcomes import Outcome
from shared.domain.rows import Judgement
from shared.domain.tasks import TaskResult
from shared.domain.usage import NOTHING_SPENT, NOTHING_USED, Spend, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The end of a document, before anybody has been told.

    `output` is JSON on one line; `in_pieces`: a list of pieces with vectors, which a search index loads.
    `usage` and `spend` None: not known. `attempt` is the number under which the
    ledger knows it, `tries` how often the model was asked in all; `finished_at` is when it was booked, too.
    `superseded`: another version lies at the path by now, so there is no result to publish.
    """

    outcome: Outcome
    finished_at: datetime
    reason: str | None = None
    message: str | None = None
    output: bytes | None = None
    parts: Sequence[Mapping[str, object]] | None = None
    usage: Usage | None = NOTHING_USED
    spend: Spend | None = NOTHING_SPENT
    provider: str | None = None
    model: str | None = None
    deployment: DeploymentName | None = None
    calls: int = 0
    attempt: int = 0
    tries: int = 0
    media_type: str | None = None
    pages: int | None = None
    pages_without_text: tuple[int, ...] = ()
    superseded: bool = False
    in_pieces: bool = False


def decided(judgement: Judgement, now: datetime, *, tries: int = 0, superseded: bool = False) -> Answer:
    """An end without a model."""
    return Answer(
        outcome=judgement.outcome,
        reason=judgement.reason,
        message=judgement.message,
        finished_at=now,
        tries=tries,
        superseded=superseded,
    )


def answered(
    result: TaskResult, text: Extraction, *, attempt: int, now: datetime, in_pieces: bool = False
) -> Answer:
    """What a task made of the text, as the document's `attempt`-th attempt."""
    called = result.calls > 0
    return Answer(
        outcome=result.outcome,
        reason=result.reason,
        message=result.message,
        output=result.output,
        parts=result.parts,
        usage=result.usage if called else NOTHING_USED,
        spend=result.spend if called else NOTHING_SPENT,
        provider=result.provider,
        model=result.model,
        deployment=result.deployment,
        calls=result.calls,
        attempt=attempt,
        tries=attempt - 1 + result.attempts,
        media_type=text.media_type,
        pages=text.pages,
        pages_without_text=text.pages_without_text,
        finished_at=now,
        in_pieces=in_pieces and result.output is not None,
    )


def close(document: Document, answer: Answer) -> Document:
    """The document with its end. Raise `IllegalMove` if it has one."""
    event = DocumentEvent.FINISH if answer.outcome in ANSWERED else DocumentEvent.FAIL
    return replace(
        document.after(event),
        lease=None,
        due_at=None,
        asked_at=None,
        outcome=answer.outcome,
        reason=answer.reason,
        message=answer.message,
        media_type=answer.media_type,
        pages=answer.pages,
        pages_without_text=answer.pages_without_text,
        usage=answer.usage,
        spend=answer.spend,
        provider=answer.provider,
        model=answer.model,
        attempts=answer.tries,
        finished_at=answer.finished_at,
    )
