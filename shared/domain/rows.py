"""What a provider answered to one request, in our words, and what we make of it. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, assert_never

from shared.domain.ids import RequestKey
from shared.domain.outcomes import Outcome
from shared.domain.usage import Usage

# Enough to understand a provider's complaint; long bodies stay in the raw file.
MAX_MESSAGE: Final = 500


class RowKind(StrEnum):
    ANSWER = "answer"
    ERROR = "error"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    UNREADABLE = "unreadable"


class Finish(StrEnum):
    STOP = "stop"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a provider's result, whatever its dialect.

    `key` is None when the line does not say whose answer it is. `status` is an HTTP status. `output` is the
    answer as JSON text: of a chat the message as a JSON string, of an embedding the vector. `text` is the
    message itself. `body` is the answer's JSON, OpenAI-shaped, on one line.
    """

    key: RequestKey | None
    kind: RowKind
    status: int | None = None
    code: str | None = None
    message: str | None = None
    text: str | None = None
    output: bytes | None = None
    refusal: str | None = None
    finish: Finish = Finish.STOP
    usage: Usage | None = None
    body: bytes | None = None


class Again(StrEnum):
    """Whether another attempt may change the verdict."""

    NEVER = "never"
    TRANSIENT = "transient"
    REPAIR = "repair"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """`output` is JSON on one line, or None when there is nothing to hand out."""

    outcome: Outcome
    reason: str | None = None
    message: str | None = None
    again: Again = Again.NEVER
    output: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """Why an answer does not satisfy the schema it was asked for."""

    reason: str
    message: str


# Takes the answer's text; returns the object as JSON on one line, or the flaw.
CheckAnswer = Callable[[str], bytes | Flaw]

MISSING: Final = Judgement(
    outcome=Outcome.FAILED,
    reason="missing",
    message="the provider returned no row for this request",
    again=Again.TRANSIENT,
)


# Key, billing, permission: told of one request, and true of the whole account.
_ACCOUNT: Final = frozenset({401, 402, 403})


def blames_the_account(row: Row) -> bool:
    """Whether the provider refused us rather than the request: no tenant is to blame, and an operator can help."""
    return row.kind is RowKind.ERROR and row.status in _ACCOUNT


def judge(row: Row, check: CheckAnswer | None) -> Judgement:
    """The verdict on one row. `check` is given when the job asked for an output schema."""
    match row.kind:
        case RowKind.UNREADABLE:
            return _failed("unreadable", row.message or "the row could not be read", Again.TRANSIENT)
        case RowKind.EXPIRED:
            return Judgement(outcome=Outcome.EXPIRED, again=Again.TRANSIENT, message=row.message)
        case RowKind.CANCELLED:
            return Judgement(outcome=Outcome.CANCELLED, message=row.message)
        case RowKind.ERROR:
            return judge_error(row.status, row.code, row.message)
        case RowKind.ANSWER:
            return _judge_answer(row, check)
        case _:
            assert_never(row.kind)


def judge_error(status: int | None, code: str | None, message: str | None) -> Judgement:
    """By status and code alone: a provider's prose is for humans, and it changes."""
    text = (message or "").strip()[:MAX_MESSAGE] or None
    if code == "content_filter":
        return Judgement(outcome=Outcome.REFUSED, reason="content_filter", message=text)
    if status == 429:
        return _failed("rate_limited", text, Again.TRANSIENT)
    if status in (408, 504) or code == "request_timeout":
        return _failed("timeout", text, Again.TRANSIENT)
    if status is None or status < 400 or status >= 500 or status in _ACCOUNT:
        return _failed("provider_error", text, Again.TRANSIENT)
    return _failed(code or "invalid_request", text, Again.NEVER)


def _judge_answer(row: Row, check: CheckAnswer | None) -> Judgement:
    if row.finish is Finish.CONTENT_FILTER:
        return Judgement(outcome=Outcome.REFUSED, reason="content_filter")
    if row.refusal:
        return Judgement(outcome=Outcome.REFUSED, reason="refusal", message=row.refusal[:MAX_MESSAGE])
    if row.finish is Finish.LENGTH:
        return _truncated(row, keep=check is None)
    if check is None:
        return Judgement(outcome=Outcome.SUCCEEDED, output=row.output)
    checked = check(row.text or "")
    if isinstance(checked, Flaw):
        return Judgement(
            outcome=Outcome.INVALID,
            reason=checked.reason,
            message=checked.message[:MAX_MESSAGE],
            again=Again.REPAIR,
        )
    return Judgement(outcome=Outcome.SUCCEEDED, output=checked)


def _truncated(row: Row, *, keep: bool) -> Judgement:
    tokens = row.usage.output if row.usage else None
    spent_thinking = not (row.text or "").strip() and bool(row.usage and row.usage.reasoning)
    return Judgement(
        outcome=Outcome.TRUNCATED,
        reason="reasoning" if spent_thinking else "max_tokens",
        message=f"cut at the token limit after {tokens} output tokens; raise max_output_tokens and retry with"
        " include: [truncated]"
        if tokens is not None
        else "cut at the token limit",
        # Half an object is no object; half a text is still worth reading, and it was paid for.
        output=row.output if keep else None,
    )


def _failed(reason: str, message: str | None, again: Again) -> Judgement:
    return Judgement(outcome=Outcome.FAILED, reason=reason, message=message, again=again)
