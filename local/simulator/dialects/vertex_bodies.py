"""Gemini's request and answer bodies, as Vertex AI has them: `generateContent`."""

from datetime import UTC, datetime

from local.simulator.answers.questions import Question, positive, texts_of
from local.simulator.answers.replies import Failure, Reply
from local.simulator.dialects.port import RowNames
from local.simulator.failures import Json, LineRefused

THINKING_MODELS = ("gemini-2.5", "gemini-3")
FINISHES = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    408: "DEADLINE_EXCEEDED",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def question_of(body: Json, model: str) -> Question:
    """Raises `LineRefused` where the service would answer 400."""
    contents = body.get("contents")
    if not isinstance(contents, list) or not contents:
        raise LineRefused("INVALID_ARGUMENT", "at least one contents field is required")
    config = _object(body.get("generationConfig"))
    schema = config.get("responseJsonSchema") or _json_schema(config.get("responseSchema"))
    wants_json = config.get("responseMimeType") == "application/json"
    if schema is not None and not wants_json:
        raise LineRefused(
            "INVALID_ARGUMENT", "response_schema needs response_mime_type application/json to be set"
        )
    return Question(
        instructions="\n".join(texts_of(_object(body.get("systemInstruction")).get("parts"))),
        text="\n".join(text for content in contents for text in texts_of(_object(content).get("parts"))),
        messages=len(contents),
        schema=schema,
        wants_json=wants_json,
        max_tokens=positive(config.get("maxOutputTokens")),
        thinks=_thinks(model, config),
    )


def _thinks(model: str, config: Json) -> bool:
    thinking = _object(config.get("thinkingConfig"))
    return model.startswith(THINKING_MODELS) and thinking.get("thinkingBudget") != 0


def _json_schema(schema: object) -> Json | None:
    """The OpenAPI subset of `responseSchema` as JSON Schema: its types are in capitals there."""
    if not isinstance(schema, dict):
        return None
    made: Json = {}
    for name, value in schema.items():
        if name == "type":
            made[name] = str(value).lower()
        elif name == "properties":
            made[name] = {key: _json_schema(inner) for key, inner in value.items()}
        elif name == "items":
            made[name] = _json_schema(value)
        elif name == "anyOf":
            made[name] = [_json_schema(inner) for inner in value]
        else:
            made[name] = value
    return made


def body_of(model: str, names: RowNames, reply: Reply) -> Json:
    usage = reply.usage
    visible = usage.output_tokens - usage.reasoning_tokens
    counted: Json = {
        "promptTokenCount": usage.input_tokens,
        "totalTokenCount": usage.input_tokens + usage.output_tokens,
        "trafficType": "ON_DEMAND",
    }
    # What is zero is left out, as protocol buffers do.
    if visible:
        counted["candidatesTokenCount"] = visible
    if usage.reasoning_tokens:
        counted["thoughtsTokenCount"] = usage.reasoning_tokens
    if usage.cached_tokens:
        counted["cachedContentTokenCount"] = usage.cached_tokens
    return {
        "candidates": [_candidate(reply)],
        "usageMetadata": counted,
        "modelVersion": model,
        "createTime": rfc3339(names.created),
        "responseId": names.request,
    }


def _candidate(reply: Reply) -> Json:
    """Gemini has no field for a refusal: the nearest is an answer that the model broke off by itself."""
    if reply.refusal is not None:
        return {"finishReason": "RECITATION", "finishMessage": reply.refusal}
    content: Json = {"role": "model"}
    if reply.text:
        content["parts"] = [{"text": reply.text}]
    return {"content": content, "finishReason": FINISHES[reply.finish], "avgLogprobs": -0.25}


def blocked_body(model: str, names: RowNames, question: Question, message: str) -> Json:
    """A prompt that the filter has stopped: an answer without candidates."""
    asked = question.input_tokens
    return {
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": message},
        "usageMetadata": {"promptTokenCount": asked, "totalTokenCount": asked},
        "modelVersion": model,
        "createTime": rfc3339(names.created),
        "responseId": names.request,
    }


def failure_body(failure: Failure) -> object:
    return (
        failure.body
        if failure.body is not None
        else error_body(failure.status, failure.code, failure.message)
    )


def error_body(status: int, code: str | None, message: str) -> Json:
    """The envelope of every error. A code in capitals is Google's own; any other is none of its words."""
    named = code if code and code.isupper() else STATUSES.get(status, "UNKNOWN")
    return {"error": {"code": status, "message": message, "status": named}}


def rfc3339(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}
