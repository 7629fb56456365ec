"""What the provider in memory answers: OpenAI-shaped lines, and everything that can be wrong with them."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from shared.domain.catalog import Endpoint
from shared.domain.chunks import BatchEnd

Line = Mapping[str, Any]


class Fate(StrEnum):
    """What becomes of one request."""

    SUCCESS = "success"
    CONTENT_FILTER = "content_filter"  # the prompt is blocked: an error row
    FILTERED = "filtered"  # the answer is blocked: a success row that says so
    REFUSAL = "refusal"
    TRUNCATED = "truncated"
    INVALID_JSON = "invalid_json"
    REJECTED = "rejected"  # 400
    UNPAID = "unpaid"  # 402: the account has no credit left
    ERROR = "error"  # 500
    RATE_LIMITED = "rate_limited"
    MISSING = "missing"
    DUPLICATE = "duplicate"
    MALFORMED = "malformed"  # the line breaks off inside the answer
    MENDED = "mended"  # a broken line, and then the same one whole


_ERRORS: Mapping[Fate, tuple[int, dict[str, object]]] = {
    Fate.CONTENT_FILTER: (
        400,
        {"code": "content_filter", "innererror": {"code": "ResponsibleAIPolicyViolation"}},
    ),
    Fate.REJECTED: (400, {"code": "invalid_request", "message": "Invalid value"}),
    Fate.UNPAID: (402, {"code": "billing_error", "message": "Your credit balance is too low"}),
    Fate.ERROR: (500, {"code": "server_error", "message": "The server had an error"}),
    Fate.RATE_LIMITED: (429, {"code": "rate_limit_exceeded", "message": "Slow down"}),
}
_FINISH = {Fate.TRUNCATED: "length", Fate.FILTERED: "content_filter"}
_NEVER_RAN = {BatchEnd.EXPIRED: "batch_expired", BatchEnd.CANCELLED: "batch_cancelled"}


@dataclass(slots=True)
class Results:
    """The two files of an ended batch, and what the provider says about them."""

    output: list[bytes]
    errors: list[bytes]
    completed: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """`fate` and `answer` see the text of a request's body."""

    endpoint: Endpoint
    fate: Callable[[str], Fate]
    answer: Callable[[str], str]

    def write(self, lines: Iterable[Line], *, end: BatchEnd, done: int | None) -> Results:
        """Answer the first `done` lines (None: all of them); the rest never ran."""
        results = Results([], [])
        for position, line in enumerate(lines):
            if done is None or position < done:
                self._run(line, results)
            else:
                code = _NEVER_RAN.get(end, "batch_expired")
                results.errors.append(_row(line, None, {"code": code, "message": "This request never ran"}))
        return results

    def _run(self, line: Line, results: Results) -> None:
        prompt = json.dumps(line["body"], ensure_ascii=False)
        fate = self.fate(prompt)
        if fate in _ERRORS:
            results.failed += 1
            status, error = _ERRORS[fate]
            results.errors.append(_row(line, {"status_code": status, "body": {"error": error}}, None))
            return
        results.completed += 1
        tokens_in, tokens_out = len(prompt.split()), len(self.answer(prompt).split())
        results.input_tokens += tokens_in
        results.output_tokens += tokens_out
        body = self._body(fate, self.answer(prompt), tokens_in, tokens_out)
        row = _row(line, {"status_code": 200, "request_id": "r", "body": body}, None)
        results.output.extend(_spoilt(row, fate))

    def _body(self, fate: Fate, text: str, tokens_in: int, tokens_out: int) -> dict[str, object]:
        if fate is Fate.INVALID_JSON:
            text = "{" + text
        if self.endpoint is Endpoint.EMBEDDINGS:
            usage = {"prompt_tokens": tokens_in, "total_tokens": tokens_in}
            return {
                "object": "list",
                "data": [{"index": 0, "embedding": [float(len(text)), 0.5]}],
                "usage": usage,
            }
        refusal = "I cannot help with that." if fate is Fate.REFUSAL else None
        content = None if refusal else text
        if self.endpoint is Endpoint.RESPONSES:
            return _response(fate, content, refusal, tokens_in, tokens_out)
        return {
            "object": "chat.completion",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": content, "refusal": refusal},
                    "finish_reason": _FINISH.get(fate, "stop"),
                }
            ],
            "usage": {
                "prompt_tokens": tokens_in,
                "completion_tokens": tokens_out,
                "total_tokens": tokens_in + tokens_out,
            },
        }


def alien_row() -> bytes:
    """An answer to a question that nobody asked."""
    choice = {"index": 0, "message": {"role": "assistant", "content": "?"}, "finish_reason": "stop"}
    return _row({"custom_id": "alien-0"}, {"status_code": 200, "body": {"choices": [choice]}}, None)


def _response(
    fate: Fate, content: str | None, refusal: str | None, tokens_in: int, tokens_out: int
) -> dict[str, object]:
    reason = {Fate.TRUNCATED: "max_output_tokens", Fate.FILTERED: "content_filter"}.get(fate)
    part = {"type": "refusal", "refusal": refusal} if refusal else {"type": "output_text", "text": content}
    return {
        "object": "response",
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "output": [{"type": "message", "role": "assistant", "content": [part]}],
        "usage": {"input_tokens": tokens_in, "output_tokens": tokens_out},
    }


def _row(line: Line, response: object, error: object) -> bytes:
    told = {"id": "batch_req_0", "custom_id": line["custom_id"], "response": response, "error": error}
    return json.dumps(told, ensure_ascii=False).encode() + b"\n"


def _spoilt(row: bytes, fate: Fate) -> list[bytes]:
    match fate:
        case Fate.MISSING:
            return []
        case Fate.DUPLICATE:
            return [row, row]
        case Fate.MALFORMED:
            return [row[: len(row) // 2] + b"\n"]
        case Fate.MENDED:
            return [row[: len(row) // 2] + b"\n", row]
        case _:
            return [row]
