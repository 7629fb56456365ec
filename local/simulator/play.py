"""What becomes of one request: the model's own answer, or what a rule says instead. Pure."""

import re
from dataclasses import replace

import msgspec

from local.simulator.answers import model, tokens
from local.simulator.answers.questions import Question
from local.simulator.answers.replies import Failure, Reply, Unrun, Usage, Verdict
from local.simulator.dialects.port import Line
from local.simulator.failures import Json
from local.simulator.rules import Then

FILTER_MESSAGE = (
    "The response was filtered due to the prompt triggering the content management policy. "
    "Please modify your prompt and retry."
)
REFUSAL = "I'm sorry, but I can't help with that."
MAX_INPUT_TOKENS = 272_000
# The same damages where a row has a typed result and no status.
RESULTS: dict[str, Json] = {
    "empty_body": {"type": "succeeded", "message": {}},
    "status_0": {"type": "unheard_of"},
}
# Where a row has words, whatever the dialect.
TEXT = re.compile(rb'"(?:content|text)":"')
ERROR_CODES = {429: "rate_limit_exceeded", 500: "server_error", 503: "service_unavailable"}


def verdict(line: Line, act: Then | None, *, filter_is_error: bool) -> Verdict:
    """Rules come first; without one the line's own faults do."""
    question = line.question
    if act is None:
        return line.fault or _too_long(question) or model.answer(question)
    outcome = act.outcome or "success"
    if outcome == "error":
        return _failure(act)
    if outcome == "expired":
        return Unrun(why="expired")
    if outcome == "content_filter":
        return _filtered(question, act, filter_is_error=filter_is_error)
    return _reply(question, act, outcome)


def _too_long(question: Question) -> Failure | None:
    asked = question.input_tokens
    if asked <= MAX_INPUT_TOKENS:
        return None
    message = f"The input of {asked} tokens exceeds the context window of {MAX_INPUT_TOKENS} tokens."
    return Failure(status=400, code="context_length_exceeded", message=message)


def _failure(act: Then) -> Failure:
    status = act.status or 400
    code = act.error_code or ERROR_CODES.get(status)
    return Failure(
        status=status, code=code, message=act.message or f"Simulated error {status}.", body=act.body
    )


def _filtered(question: Question, act: Then, *, filter_is_error: bool) -> Verdict:
    where = act.filtered or ("prompt" if filter_is_error else "completion")
    if where == "prompt":
        return Failure(
            status=act.status or 400,
            code="content_filter",
            message=act.message or FILTER_MESSAGE,
            body=act.body,
            is_filter=True,
        )
    text = _text(question, act)
    return model.spoken(question, text[: len(text) // 2], finish="content_filter")


def _reply(question: Question, act: Then, outcome: str) -> Reply:
    if outcome == "refusal":
        return model.spoken(question, "", refusal=_given(act) or act.message or REFUSAL)
    if outcome == "truncated":
        return _truncated(question, act)
    if outcome == "invalid_json":
        return model.spoken(question, _given(act) or _not_json(question))
    if question.inputs or act.text is None:
        return model.answer(question)
    return model.spoken(question, _text(question, act))


def _truncated(question: Question, act: Then) -> Reply:
    budget = question.max_tokens or 128
    if act.reasoning:
        usage = Usage(input_tokens=question.input_tokens, output_tokens=budget, reasoning_tokens=budget)
        return Reply(finish="length", usage=usage)
    text = _text(question, act)
    reply = model.spoken(question, tokens.cut(text[: len(text) // 2], budget), finish="length")
    return replace(reply, usage=replace(reply.usage, output_tokens=budget))


def _not_json(question: Question) -> str:
    """The beginning of the right answer inside prose: what a model does that forgets its schema."""
    text = model.text_for(question)
    return f"Sure! Here is the JSON you asked for:\n```json\n{text[: len(text) // 2]}"


def _text(question: Question, act: Then) -> str:
    given = _given(act)
    return given if given is not None else model.text_for(question)


def _given(act: Then) -> str | None:
    """The rule's text; an object is written as JSON."""
    if act.text is None or isinstance(act.text, str):
        return act.text
    return msgspec.json.encode(act.text).decode()


def written(row: Json, act: Then | None) -> bytes:
    """The row's bytes in its file, newline included, damaged or repeated as the rule says."""
    if not row:
        return b""
    whole = msgspec.json.encode(row)
    outcome = act.outcome if act else None
    if outcome == "missing":
        return b""
    if outcome == "duplicate":
        return whole + b"\n" + whole + b"\n"
    if outcome == "malformed" and act:
        return _damaged(row, whole, act.shape or "cut")
    return whole + b"\n"


def _damaged(row: Json, whole: bytes, shape: str) -> bytes:
    if "result" in row and shape in RESULTS:
        return msgspec.json.encode({**row, "result": RESULTS[shape]}) + b"\n"
    response = row.get("response") or {}
    if shape == "not_utf8":
        return TEXT.sub(lambda found: found[0] + b"\xff\xfe", whole, count=1) + b"\n"
    if shape == "not_object":
        return msgspec.json.encode([row.get("custom_id"), response.get("status_code")]) + b"\n"
    if shape == "empty_body":
        empty = {**response, "body": {}} if "body" in response else {}
        return msgspec.json.encode({**row, "response": empty}) + b"\n"
    if shape == "status_0" and "status_code" not in response:
        # Where the row itself has the status, an answer without one is no answer.
        return msgspec.json.encode({**row, "response": {}}) + b"\n"
    if shape == "status_0":
        return msgspec.json.encode({**row, "response": {**response, "status_code": 0}}) + b"\n"
    if shape == "no_custom_id":
        return msgspec.json.encode({**row, "custom_id": None}) + b"\n"
    return whole[: len(whole) * 2 // 3] + b"\n"
