"""Rules: what a test asks the simulator to do. Shapes and their checks; README.md has the table."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Literal, get_args

import msgspec

from local.simulator.failures import CallRefused

type Provider = Literal["azure_openai", "openai", "anthropic", "mistral", "vertex", "openai_compatible"]
type Operation = Literal[
    "upload",
    "create",
    "retrieve",
    "list",
    "cancel",
    "download",
    "chat",
    "embeddings",
    "file_retrieve",
    "file_list",
    "delete",
    "models",
    "publish",
]
type Outcome = Literal[
    "success",
    "content_filter",
    "refusal",
    "error",
    "missing",
    "duplicate",
    "malformed",
    "truncated",
    "invalid_json",
    "expired",
]
type Ending = Literal["completed", "failed", "expired", "cancelled", "stuck"]
type Shape = Literal["cut", "last_line", "not_utf8", "not_object", "empty_body", "status_0", "no_custom_id"]

OPERATIONS: tuple[str, ...] = get_args(Operation.__value__)
SYNCHRONOUS = frozenset({"chat", "embeddings"})
PROVIDER_NAMES = {"azure": "azure_openai", "compatible": "openai_compatible"}


class Match(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that is given must hold. An empty match fits everything."""

    provider: Provider | Literal["azure", "compatible", "events"] | None = None
    operation: Operation | None = None
    contains: str | None = None
    custom_id: str | None = None
    model: str | None = None
    key: str | None = None

    @property
    def provider_name(self) -> str | None:
        return PROVIDER_NAMES.get(self.provider or "", self.provider)


class Then(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Exactly one of three kinds; which fields go with which: `FIELDS`."""

    status: int | None = None
    headers: dict[str, str] | None = None
    body: Any = None
    delay_ms: int | None = None
    drop: Literal["before", "after"] | None = None
    applied: bool | None = None
    pending_reads: int | None = None
    no_expiry: bool | None = None
    list_lag_seconds: float | None = None
    retrieve_lag_seconds: float | None = None

    outcome: Outcome | None = None
    text: Any = None
    error_code: str | None = None
    message: str | None = None
    shape: Shape | None = None
    filtered: Literal["prompt", "completion"] | None = None
    reasoning: bool | None = None

    batch: Ending | None = None
    after_seconds: float | None = None
    completed: int | float | None = None
    state: Literal["validating", "in_progress", "finalizing"] | None = None
    cancel_seconds: float | None = None
    lost_output: bool | None = None


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`times`: how often it is used before it is spent; None: for ever."""

    match: Match = Match()
    then: Then
    times: int | None = None

    @property
    def kind(self) -> "Kind":
        if self.then.batch is not None:
            return Kind.BATCH
        if self.then.outcome is not None or self.then.text is not None:
            return Kind.REQUEST
        return Kind.OPERATION


class Kind(StrEnum):
    OPERATION = "operation"
    REQUEST = "request"
    BATCH = "batch"


FIELDS = {
    Kind.OPERATION: {
        *("status", "headers", "body", "delay_ms", "drop", "applied"),
        *("pending_reads", "no_expiry", "list_lag_seconds", "retrieve_lag_seconds"),
    },
    Kind.REQUEST: {
        *("outcome", "text", "status", "body", "headers", "delay_ms"),
        *("error_code", "message", "shape", "filtered", "reasoning"),
    },
    Kind.BATCH: {
        *("batch", "error_code", "message", "after_seconds"),
        *("completed", "state", "cancel_seconds", "lost_output"),
    },
}
# Fields that say something only together with one operation, or one outcome.
ONLY_WITH_OPERATION = {
    "pending_reads": "upload",
    "no_expiry": "upload",
    "list_lag_seconds": "create",
    "retrieve_lag_seconds": "create",
}
ONLY_WITH_OUTCOME = {
    "shape": ("malformed",),
    "filtered": ("content_filter",),
    "reasoning": ("truncated",),
    "status": ("error", "content_filter"),
    "body": ("error", "content_filter"),
    "error_code": ("error",),
    "message": ("error", "content_filter", "refusal"),
}
ONLY_WITH_BATCH = {
    "state": ("stuck",),
    "error_code": ("failed",),
    "message": ("failed",),
    "completed": ("expired", "cancelled", "stuck"),
    "cancel_seconds": ("completed", "cancelled", "stuck"),
    "lost_output": ("completed", "cancelled", "stuck"),
}

_DECODER = msgspec.json.Decoder(list[Rule])


def read_rules(body: bytes) -> list[Rule]:
    """The rules of a request, or `CallRefused` that says which field of which rule makes no sense."""
    stripped = body.strip()
    try:
        rules = _DECODER.decode(b"[" + stripped + b"]" if stripped.startswith(b"{") else stripped)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CallRefused(400, "invalid_rule", str(error)) from error
    for place, rule in enumerate(rules):
        for complaint in _complaints(rule):
            raise CallRefused(400, "invalid_rule", f"rule {place}: {complaint}")
    return rules


def _complaints(rule: Rule) -> Iterable[str]:
    given = {name for name in rule.then.__struct_fields__ if getattr(rule.then, name) is not None}
    if not given:
        yield "`then` is empty"
    for name in sorted(given - FIELDS[rule.kind]):
        yield f"`{name}` has no meaning in a rule for a {rule.kind.value}: make it a rule of its own"
    if rule.times is not None and rule.times < 1:
        yield "`times` must be at least 1"
    yield from _negatives(rule.then, given)
    yield from _misplaced(rule, given)


def _negatives(then: Then, given: set[str]) -> Iterable[str]:
    for name in sorted(given):
        value = getattr(then, name)
        if isinstance(value, int | float) and value < 0:
            yield f"`{name}` must not be negative"
    if then.status is not None and not 200 <= then.status <= 599:
        yield "`status` must be an HTTP status from 200 to 599"
    if isinstance(then.completed, float) and then.completed > 1:
        yield "`completed` is a number of lines, or a fraction up to 1.0"


def _misplaced(rule: Rule, given: set[str]) -> Iterable[str]:
    then, operation = rule.then, rule.match.operation
    if rule.kind is Kind.OPERATION:
        for name in sorted(given & ONLY_WITH_OPERATION.keys()):
            if operation != ONLY_WITH_OPERATION[name]:
                yield f"`{name}` needs match.operation {ONLY_WITH_OPERATION[name]!r}"
        if then.applied and then.status is None:
            yield "`applied` needs a `status` to answer after the effect"
    elif rule.kind is Kind.REQUEST:
        if operation not in {None, "create", *SYNCHRONOUS}:
            yield f"an `outcome` cannot be matched by operation {operation!r}"
        yield from _only_with(given, ONLY_WITH_OUTCOME, then.outcome or "success", "outcome")
    else:
        if operation not in {None, "create"}:
            yield f"a `batch` rule cannot be matched by operation {operation!r}"
        if then.completed is not None and then.state not in {None, "in_progress"}:
            yield "`completed` needs `state` in_progress"
        yield from _only_with(given, ONLY_WITH_BATCH, then.batch or "", "batch")


def _only_with(given: set[str], table: dict[str, tuple[str, ...]], value: str, field: str) -> Iterable[str]:
    for name in sorted(given & table.keys()):
        if value not in table[name]:
            yield f"`{name}` needs `{field}` {' or '.join(table[name])}"
