"""Anthropic's bodies: what a Messages request asks, what a message looks like, and how errors are told."""

from local.simulator.answers.questions import Question, positive, texts_of
from local.simulator.answers.replies import Failure, Reply
from local.simulator.dialects.port import RowNames
from local.simulator.failures import Json, LineRefused

# The version that took the sampling parameters away.
NEWEST = "2026-10-21"
SAMPLING = ("temperature", "top_p", "top_k")
INVALID = "invalid_request_error"
TYPES = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
STOPS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}


def question_of(params: Json, version: str) -> Question:
    """Raises `LineRefused` where the model's API would answer 400."""
    for name in ("model", "messages", "max_tokens"):
        if name not in params:
            raise LineRefused(INVALID, f"{name}: Field required", param=name)
    if not positive(params["max_tokens"]):
        raise LineRefused(INVALID, "max_tokens: Input should be greater than or equal to 1")
    if params.get("stream"):
        raise LineRefused(INVALID, "stream: Streaming is not supported here")
    for name in SAMPLING:
        if version >= NEWEST and name in params:
            raise LineRefused(INVALID, f"{name}: Extra inputs are not permitted", param=name)
    messages = params["messages"]
    if not isinstance(messages, list) or not messages:
        raise LineRefused(INVALID, "messages: at least one message is required")
    form = (params.get("output_config") or {}).get("format") or {}
    schema = form.get("schema") if form.get("type") == "json_schema" else None
    return Question(
        instructions="\n".join(texts_of(params.get("system"))),
        text="\n".join(text for message in messages for text in _said(message)),
        messages=len(messages),
        schema=schema,
        wants_json=schema is not None,
        max_tokens=positive(params["max_tokens"]),
    )


def _said(message: object) -> list[str]:
    if not isinstance(message, dict) or message.get("role") not in {"user", "assistant"}:
        raise LineRefused(INVALID, 'messages.0.role: Input should be "user" or "assistant"')
    content = message.get("content")
    if content in (None, "", []):
        raise LineRefused(INVALID, "messages: all messages must have non-empty content")
    results = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    told = [
        text for part in results if part.get("type") == "tool_result" for text in texts_of(part["content"])
    ]
    return [*texts_of(content), *told]


def message_of(model: str, names: RowNames, reply: Reply, *, tier: str) -> Json:
    refused = reply.refusal is not None
    words = reply.text if reply.refusal is None else ""
    usage = reply.usage
    message: Json = {
        "id": f"msg_{names.request}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": words}] if words else [],
        "stop_reason": "refusal" if refused else STOPS[reply.finish],
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage.input_tokens - usage.cached_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": usage.cached_tokens,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"thinking_tokens": usage.reasoning_tokens},
            "service_tier": tier,
            "inference_geo": "not_available",
        },
    }
    if refused:
        message["stop_details"] = {"type": "refusal", "category": None, "explanation": reply.refusal}
    return message


def failure_of(failure: Failure) -> object:
    """The envelope of an error, over HTTP and in a row."""
    if failure.body is not None:
        return failure.body
    if failure.is_filter:
        return error_of(400, None, "Output blocked by content filtering policy")
    return error_of(failure.status, failure.code, failure.message)


def error_of(status: int, code: str | None, message: str) -> Json:
    """Anthropic has no codes beside its types: another dialect's word for it is left out."""
    kind = code if code in {INVALID, "api_error", *TYPES.values()} else None
    if kind is None:
        kind = TYPES.get(status, "api_error" if status >= 500 else INVALID)
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": None}
