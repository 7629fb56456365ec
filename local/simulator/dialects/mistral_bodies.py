"""Mistral's request and answer bodies: close to OpenAI's, and strict about what it does not know."""

from collections.abc import Mapping
from typing import Final

from local.simulator.answers.questions import Question, positive
from local.simulator.answers.replies import Failure, Reply
from local.simulator.dialects import openai_bodies
from local.simulator.dialects.port import RowNames
from local.simulator.failures import Json, LineRefused

CHAT = openai_bodies.CHAT
EMBEDDINGS = openai_bodies.EMBEDDINGS
ENDPOINTS = (CHAT, EMBEDDINGS)

FIELDS: Final = {
    CHAT: frozenset(
        {"model", "messages", "temperature", "top_p", "max_tokens", "min_tokens", "stream", "stop", "top_k"}
        | {"random_seed", "metadata", "response_format", "tools", "tool_choice", "presence_penalty", "n"}
        | {"frequency_penalty", "repetition_penalty", "logprobs", "top_logprobs", "prompt_logprobs"}
        | {"top_prompt_logprobs", "prediction", "parallel_tool_calls", "reasoning_effort", "prompt_mode"}
        | {"guardrails", "prompt_cache_key", "service_tier", "safe_prompt"}
    ),
    EMBEDDINGS: frozenset(
        {"model", "input", "metadata", "output_dimension", "output_dtype", "encoding_format"}
    ),
}
MESSAGE_FIELDS: Final[Mapping[object, frozenset[str]]] = {
    "system": frozenset({"role", "content"}),
    "user": frozenset({"role", "content"}),
    "assistant": frozenset({"role", "content", "tool_calls", "prefix"}),
    "tool": frozenset({"role", "content", "tool_call_id", "name"}),
}
MOST_TEMPERATURE: Final = 1.5

# The types of complaints that become a 422 with `detail`.
COMPLAINTS: Final = {
    "extra_forbidden": "Extra inputs are not permitted",
    "missing": "Field required",
    "literal_error": "Input should be 'system', 'user', 'assistant' or 'tool'",
    "less_than_equal": f"Input should be less than or equal to {MOST_TEMPERATURE}",
    "too_short": "List should have at least 1 item after validation, not 0",
    "dict_type": "Input should be a valid dictionary",
}


def complaint(kind: str, where: str) -> LineRefused:
    """`where` is a dotted path below the body."""
    return LineRefused(kind, COMPLAINTS[kind], param=f"body.{where}" if where else "body")


def detail_of(kind: str, param: str | None) -> list[Json]:
    """What pydantic would say, as Mistral passes it on."""
    where = [int(part) if part.isdigit() else part for part in (param or "body").split(".")]
    return [{"type": kind, "loc": where, "msg": COMPLAINTS[kind]}]


def question_of(body: Json, endpoint: str) -> Question:
    """Raises `LineRefused` with one of `COMPLAINTS` where the provider would answer 422."""
    for name in body:
        if name not in FIELDS[endpoint]:
            raise complaint("extra_forbidden", name)
    if endpoint == EMBEDDINGS:
        if not body.get("input"):
            raise complaint("missing", "input")
        asked = openai_bodies.question_of(body, endpoint)
        return Question(inputs=asked.inputs, dimensions=positive(body.get("output_dimension")), messages=0)
    _check_messages(body.get("messages"))
    temperature = body.get("temperature")
    if isinstance(temperature, int | float) and temperature > MOST_TEMPERATURE:
        raise complaint("less_than_equal", "temperature")
    return openai_bodies.question_of(body, endpoint)


def _check_messages(messages: object) -> None:
    if not isinstance(messages, list):
        raise complaint("missing", "messages")
    if not messages:
        raise complaint("too_short", "messages")
    for place, message in enumerate(messages):
        if not isinstance(message, dict):
            raise complaint("dict_type", f"messages.{place}")
        known = MESSAGE_FIELDS.get(message.get("role"))
        if known is None:
            raise complaint("literal_error", f"messages.{place}.role")
        for name in message:
            if name not in known:
                raise complaint("extra_forbidden", f"messages.{place}.{message['role']}.{name}")


def body_of(model: str, names: RowNames, reply: Reply, endpoint: str) -> Json:
    usage = reply.usage
    if endpoint == EMBEDDINGS:
        body = openai_bodies.body_of(model, names, reply, endpoint)
        return {"id": names.request, **body, "usage": {**body["usage"], "completion_tokens": 0}}
    # There is no field for a refusal: a model that refuses says so.
    said = reply.refusal if reply.refusal is not None else reply.text
    message = {"role": "assistant", "content": said, "tool_calls": None}
    return {
        "id": names.request,
        "object": "chat.completion",
        "created": names.created,
        "model": model,
        "choices": [{"index": 0, "finish_reason": reply.finish, "message": message}],
        "usage": {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens,
            "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        },
    }


def failure_body(failure: Failure) -> object:
    """Names stand in `type`; what stands in `code` is a number."""
    if failure.body is not None:
        return failure.body
    if failure.code in COMPLAINTS:
        return invalid(detail_of(failure.code, failure.message))
    return error_body(failure.status, failure.code, failure.message)


def invalid(detail: list[Json]) -> Json:
    return {
        "object": "error",
        "message": {"detail": detail},
        "type": "invalid_request_error",
        "param": None,
        "code": None,
    }


def error_body(status: int, kind: str | None, message: str) -> Json:
    default = "rate_limited" if status == 429 else "internal_server_error" if status >= 500 else None
    return {
        "object": "error",
        "message": message,
        "type": kind or default or "invalid_request_error",
        "param": None,
        "code": "3000" if status >= 500 else "1000",
        "raw_status_code": status,
    }
