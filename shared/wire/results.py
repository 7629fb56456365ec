"""The line that answers one request: written once when it is settled, completed by splicing.

A settled line is ours: `{"p": position, "k": key, "r": {...}}`. A result line is the client's: what `r` holds
with `custom_id` before it. No line here includes its line end.
"""

from typing import Final

import msgspec

from shared.domain.ids import RequestKey
from shared.domain.outcomes import Outcome
from shared.domain.rows import Judgement
from shared.domain.usage import Spend, Usage
from shared.wire.figures import CURRENCY, amounts

NULL: Final = msgspec.Raw(b"null")

_USAGE_MARK: Final = b',"usage":'
_RESULT_MARK: Final = b',"r":{'


class UsageFields(msgspec.Struct, frozen=True, gc=False):
    """Inclusive counts."""

    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0


class CostFields(msgspec.Struct, frozen=True, gc=False):
    """A decimal string; None when the price is not known."""

    amount: str | None = None
    currency: str = CURRENCY


class ResultFields(msgspec.Struct, frozen=True, kw_only=True):
    """What `r` holds. What differs between equal requests comes last, after `usage`.

    `output` and `response` are raw JSON, `null` where there is none.
    """

    outcome: Outcome
    reason: str | None
    message: str | None
    output: msgspec.Raw
    response: msgspec.Raw
    usage: UsageFields | None
    cost: CostFields
    provider: str | None
    model: str | None
    attempts: int
    reused: bool


class ResultLine(ResultFields, frozen=True, kw_only=True):
    """A result line as clients get it."""

    custom_id: str


class SettledLine(msgspec.Struct, frozen=True, kw_only=True):
    p: int
    k: str
    r: ResultFields


class _Tail(msgspec.Struct, frozen=True, kw_only=True):
    usage: UsageFields | None
    cost: CostFields
    provider: str | None
    model: str | None
    attempts: int
    reused: bool


class _Verdict(msgspec.Struct, frozen=True):
    outcome: Outcome
    reason: str | None = None


_encode: Final = msgspec.json.Encoder().encode
_read_tail: Final = msgspec.json.Decoder(_Tail).decode
_read_verdict: Final = msgspec.json.Decoder(_Verdict).decode
read_settled: Final = msgspec.json.Decoder(SettledLine).decode
read_result: Final = msgspec.json.Decoder(ResultLine).decode


def settled_line(
    *,
    position: int,
    key: RequestKey,
    judgement: Judgement,
    response: bytes | None,
    usage: Usage | None,
    spend: Spend | None,
    provider: str | None,
    model: str | None,
    attempts: int,
) -> bytes:
    """`response` is OpenAI-shaped JSON on one line. `usage` and `spend` None: not known.

    `provider` and `model` None: the request was never sent.

    `key` is of the safe alphabet that `shared.domain.keys` makes.
    """
    fields = ResultFields(
        outcome=judgement.outcome,
        reason=judgement.reason,
        message=judgement.message,
        output=NULL if judgement.output is None else msgspec.Raw(judgement.output),
        response=NULL if response is None else msgspec.Raw(response),
        usage=None if usage is None else _usage(usage),
        cost=CostFields() if spend is None else CostFields(amounts(spend)[0]),
        provider=provider,
        model=model,
        attempts=attempts,
        reused=False,
    )
    return b'{"p":%d,"k":"%s","r":%s}' % (position, key.encode(), _encode(fields))


def head(settled: bytes) -> tuple[int, RequestKey]:
    """Position and key, without reading the rest."""
    end = settled.index(b',"k":"')
    start = end + 6
    return int(settled[5:end]), RequestKey(settled[start : settled.index(b'"', start)].decode())


def with_custom_id(settled: bytes, custom_id: str) -> bytes:
    """The result line of the request that was called `custom_id`."""
    return b'{"custom_id":%s,%s' % (_encode(custom_id), settled[_start_of_result(settled) : -1])


def at_position(settled: bytes, position: int) -> bytes:
    """The same answer for an equal request elsewhere in the job."""
    return b'{"p":%d%s' % (position, settled[settled.index(b',"k":"') :])


def repeated(line: bytes) -> bytes:
    """The same answer given a second time, settled or result line: it costs nothing."""
    # Every quote inside a JSON string is escaped: this mark is always a key, and the last one the line's own.
    mark = line.rindex(_USAGE_MARK)
    closing = b"}}" if line.startswith(b'{"p":') else b"}"
    tail = _read_tail(b"{" + line[mark + 1 : len(line) - len(closing)] + b"}")
    free = _Tail(
        usage=UsageFields(),
        cost=CostFields("0"),
        provider=tail.provider,
        model=tail.model,
        attempts=tail.attempts,
        reused=True,
    )
    return line[:mark] + b"," + _encode(free)[1:-1] + closing


def verdict(line: bytes) -> tuple[Outcome, str | None]:
    """Outcome and reason of a settled or a result line."""
    if line.startswith(b'{"p":'):
        line = b"{" + line[_start_of_result(line) : -1]
    read = _read_verdict(line)
    return read.outcome, read.reason


def usage_of(fields: ResultFields) -> Usage | None:
    """The disjoint buckets again."""
    read = fields.usage
    if read is None:
        return None
    return Usage.from_inclusive(
        input_=read.input_tokens,
        cached=read.cached_input_tokens,
        cache_write=read.cache_write_tokens,
        output=read.output_tokens,
        reasoning=read.reasoning_tokens,
    )


def _start_of_result(settled: bytes) -> int:
    return settled.index(_RESULT_MARK) + len(_RESULT_MARK)


def _usage(usage: Usage) -> UsageFields:
    return UsageFields(usage.input, usage.cached_input, usage.cache_write, usage.output, usage.reasoning)
