"""OpenAI's request and answer bodies for chat completions, responses and embeddings."""

import base64
import struct

from local.simulator.answers.questions import Question, positive, said, texts_of, thinks
from local.simulator.answers.replies import Reply
from local.simulator.dialects.port import RowNames
from local.simulator.failures import Json, LineRefused

CHAT = "/v1/chat/completions"
RESPONSES = "/v1/responses"
EMBEDDINGS = "/v1/embeddings"
ENDPOINTS = (CHAT, RESPONSES, EMBEDDINGS)


def question_of(body: Json, endpoint: str) -> Question:
    """Raises `LineRefused` where the provider would answer 400."""
    if endpoint == CHAT:
        return _chat_question(body)
    if endpoint == RESPONSES:
        return _responses_question(body)
    return _embeddings_question(body)


def _chat_question(body: Json) -> Question:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise LineRefused(
            "missing_required_parameter", "Missing required parameter: 'messages'.", param="messages"
        )
    instructions, text, number = said(messages)
    wanted = body.get("response_format")
    form = wanted if isinstance(wanted, dict) else {}
    schema = (form.get("json_schema") or {}).get("schema") if form.get("type") == "json_schema" else None
    return Question(
        instructions=instructions,
        text=text,
        messages=number,
        schema=schema,
        wants_json=schema is not None or form.get("type") == "json_object",
        max_tokens=positive(body.get("max_completion_tokens")) or positive(body.get("max_tokens")),
        thinks=thinks(str(body.get("model", ""))),
    )


def _responses_question(body: Json) -> Question:
    asked = body.get("input")
    if not asked:
        raise LineRefused("missing_required_parameter", "Missing required parameter: 'input'.", param="input")
    messages = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
    instructions, text, number = said(messages, instructions=str(body.get("instructions") or ""))
    form = (body.get("text") or {}).get("format") or {}
    schema = form.get("schema") if form.get("type") == "json_schema" else None
    return Question(
        instructions=instructions,
        text=text,
        messages=number,
        schema=schema,
        wants_json=schema is not None or form.get("type") == "json_object",
        max_tokens=positive(body.get("max_output_tokens")),
        thinks=thinks(str(body.get("model", ""))),
    )


def _embeddings_question(body: Json) -> Question:
    asked = body.get("input")
    inputs = tuple(texts_of(asked)) if isinstance(asked, str | list) else ()
    if not inputs:
        raise LineRefused("missing_required_parameter", "Missing required parameter: 'input'.", param="input")
    return Question(inputs=inputs, dimensions=positive(body.get("dimensions")), messages=0)


def body_of(model: str, names: RowNames, reply: Reply, endpoint: str) -> Json:
    """The answer's body for the endpoint."""
    if endpoint == CHAT:
        return _chat_body(model, names, reply)
    if endpoint == RESPONSES:
        return _responses_body(model, names, reply)
    return _embeddings_body(model, reply)


def _chat_body(model: str, names: RowNames, reply: Reply) -> Json:
    usage = reply.usage
    message: Json = {
        "role": "assistant",
        "content": None if reply.refusal is not None else reply.text,
        "refusal": reply.refusal,
        "annotations": [],
    }
    return {
        "id": f"chatcmpl-{names.request}",
        "object": "chat.completion",
        "created": names.created,
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish}],
        "usage": {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens,
            "prompt_tokens_details": {"cached_tokens": usage.cached_tokens, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens, "audio_tokens": 0},
        },
        "system_fingerprint": "fp_simulated",
    }


INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


def _responses_body(model: str, names: RowNames, reply: Reply) -> Json:
    usage = reply.usage
    why = INCOMPLETE.get(reply.finish)
    part = {"type": "output_text", "text": reply.text, "annotations": []}
    if reply.refusal is not None:
        part = {"type": "refusal", "refusal": reply.refusal}
    status = "incomplete" if why else "completed"
    message = {
        "id": f"msg_{names.request}",
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": [part],
    }
    has_message = bool(reply.text) or reply.refusal is not None
    return {
        "id": f"resp_{names.request}",
        "object": "response",
        "created_at": names.created,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": why} if why else None,
        "instructions": None,
        "model": model,
        "output": [message] if has_message else [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": usage.input_tokens,
            "input_tokens_details": {"cached_tokens": usage.cached_tokens},
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
            "total_tokens": usage.input_tokens + usage.output_tokens,
        },
    }


def _embeddings_body(model: str, reply: Reply) -> Json:
    data = [
        {"object": "embedding", "index": place, "embedding": list(vector)}
        for place, vector in enumerate(reply.vectors)
    ]
    asked = reply.usage.input_tokens
    return {
        "object": "list",
        "data": data,
        "model": model,
        "usage": {"prompt_tokens": asked, "total_tokens": asked},
    }


def with_base64(body: Json) -> Json:
    """The same embeddings, packed as the SDK asks for them by default."""
    for each in body["data"]:
        packed = struct.pack(f"<{len(each['embedding'])}f", *each["embedding"])
        each["embedding"] = base64.b64encode(packed).decode()
    return body
