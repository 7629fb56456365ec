"""How an answer is kept between the model's reply and the end of everything that follows from it."""

from typing import Any, Final

import msgspec

from shared.domain.answers import Answer
from shared.domain.ids import DeploymentName
from shared.domain.outcomes import Outcome
from shared.wire.records.document import needed_moment
from shared.wire.records.figures import spend_from, spend_to, usage_from, usage_to

SCHEMA: Final = "answer/1"
_NULL: Final = b"null"


class _Stored(msgspec.Struct, frozen=True, kw_only=True):
    schema: str = SCHEMA
    outcome: str
    reason: str | None
    message: str | None
    output: msgspec.Raw
    parts: Any
    usage: list[int] | None
    spend: dict[str, Any] | None
    provider: str | None
    model: str | None
    deployment: str | None
    calls: int
    attempt: int
    tries: int
    media_type: str | None
    pages: int | None
    pages_without_text: tuple[int, ...]
    finished_at: str
    in_pieces: bool = False


_read: Final = msgspec.json.Decoder(_Stored).decode


def write_answer(answer: Answer) -> bytes:
    return msgspec.json.encode(
        _Stored(
            outcome=answer.outcome.value,
            reason=answer.reason,
            message=answer.message,
            output=msgspec.Raw(_NULL if answer.output is None else answer.output),
            parts=answer.parts,
            usage=None if answer.usage is None else usage_to(answer.usage),
            spend=None if answer.spend is None else spend_to(answer.spend),
            provider=answer.provider,
            model=answer.model,
            deployment=answer.deployment,
            calls=answer.calls,
            attempt=answer.attempt,
            tries=answer.tries,
            media_type=answer.media_type,
            pages=answer.pages,
            pages_without_text=answer.pages_without_text,
            finished_at=answer.finished_at.isoformat(),
            in_pieces=answer.in_pieces,
        )
    )


def read_answer(content: bytes) -> Answer:
    """Raise `ValueError` for what `write_answer` of this or the previous version did not write."""
    stored = _read(content)
    if stored.schema != SCHEMA:
        raise ValueError(f"answer of unknown schema {stored.schema[:20]!r}")
    return Answer(
        outcome=Outcome(stored.outcome),
        reason=stored.reason,
        message=stored.message,
        output=None if bytes(stored.output) == _NULL else bytes(stored.output),
        parts=stored.parts,
        usage=None if stored.usage is None else usage_from(stored.usage),
        spend=None if stored.spend is None else spend_from(stored.spend),
        provider=stored.provider,
        model=stored.model,
        deployment=DeploymentName(stored.deployment) if stored.deployment else None,
        calls=stored.calls,
        attempt=stored.attempt,
        tries=stored.tries,
        media_type=stored.media_type,
        pages=stored.pages,
        pages_without_text=stored.pages_without_text,
        finished_at=needed_moment(stored.finished_at),
        in_pieces=stored.in_pieces,
    )
