"""A result line as a row of a table: one column a fact."""

from typing import Final

import msgspec

from shared.wire.results import NULL, UsageFields, read_result


class TableRow(msgspec.Struct, frozen=True, kw_only=True):
    """The columns, in their order. None: not known, or not there.

    `output` is the text itself where the answer is one, else its JSON. `cost_usd` is a decimal string.
    `response` is JSON.
    """

    custom_id: str
    outcome: str
    reason: str | None
    message: str | None
    output: str | None
    input_tokens: int | None
    cached_input_tokens: int | None
    cache_write_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    cost_usd: str | None
    provider: str | None
    model: str | None
    attempts: int
    reused: bool
    response: str | None


COLUMNS: Final[tuple[str, ...]] = TableRow.__struct_fields__


def table_row(line: bytes) -> TableRow:
    """From a result line of ours."""
    result = read_result(line)
    counts = _counts(result.usage)
    return TableRow(
        custom_id=result.custom_id,
        outcome=result.outcome.value,
        reason=result.reason,
        message=result.message,
        output=_text(result.output),
        input_tokens=counts[0],
        cached_input_tokens=counts[1],
        cache_write_tokens=counts[2],
        output_tokens=counts[3],
        reasoning_tokens=counts[4],
        cost_usd=result.cost.amount,
        provider=result.provider,
        model=result.model,
        attempts=result.attempts,
        reused=result.reused,
        response=_json(result.response),
    )


def _counts(usage: UsageFields | None) -> tuple[int | None, ...]:
    return (None,) * 5 if usage is None else msgspec.structs.astuple(usage)


def _text(output: msgspec.Raw) -> str | None:
    if bytes(memoryview(output)[:1]) == b'"':
        return msgspec.json.decode(output, type=str)
    return _json(output)


def _json(raw: msgspec.Raw) -> str | None:
    return None if raw == NULL else bytes(raw).decode()
