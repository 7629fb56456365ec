"""What a request's body must have, endpoint by endpoint. The rest is the provider's to judge."""

from collections.abc import Callable, Mapping
from typing import Final

from shared.domain.catalog import Endpoint
from shared.wire.door_faults import STREAMING, BadField, kind_of
from shared.wire.door_shape import TOKEN_LIMITS

# More than any model writes; keeps sums of estimates far from overflowing.
MAX_OUTPUT_TOKENS: Final = 10_000_000

_EMBEDDING_ONLY: Final = frozenset({"dimensions", "encoding_format"})


def check_body(endpoint: Endpoint, body: dict[str, object]) -> None:
    """Raise `BadField` unless the body can be an `endpoint` request in a batch."""
    if body.get("stream"):
        raise BadField("body.stream", "a batch cannot stream; leave it out", code=STREAMING)
    if body.get("n") not in (None, 1):
        raise BadField("body.n", "each request gets one answer; send it several times to get more")
    for name in TOKEN_LIMITS:
        if name in body:
            _check_limit(name, body[name])
    _CHECKS[endpoint](body)


def guess_endpoint(body: dict[str, object], *, input_means: Endpoint) -> Endpoint | None:
    """The endpoint a body was written for. `input_means` settles what only names `input`."""
    if "messages" in body:
        return Endpoint.CHAT
    if "input" not in body:
        return None
    given = body["input"]
    if not _EMBEDDING_ONLY.isdisjoint(body) or (
        isinstance(given, list) and given and not isinstance(given[0], dict)
    ):
        return Endpoint.EMBEDDINGS
    if isinstance(given, list) or not {"instructions", "max_output_tokens", "text"}.isdisjoint(body):
        return Endpoint.RESPONSES
    return input_means


def _check_limit(name: str, value: object) -> None:
    if value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_OUTPUT_TOKENS:
        raise BadField(f"body.{name}", f"must be a whole number from 1 to {MAX_OUTPUT_TOKENS:,}")


def _check_chat(body: dict[str, object]) -> None:
    messages = _required(body, "messages")
    if not isinstance(messages, list):
        raise BadField("body.messages", f"must be an array of messages, not {kind_of(messages)}")
    if not messages:
        raise BadField("body.messages", "must not be empty")
    for n, message in enumerate(messages):
        if not isinstance(message, dict):
            raise BadField(f"body.messages[{n}]", f"must be an object, not {kind_of(message)}")
        if not isinstance(message.get("role"), str):
            raise BadField(f"body.messages[{n}].role", "must be a string, such as 'user'")
        if not isinstance(message.get("content"), str | list | None):
            raise BadField(f"body.messages[{n}].content", "must be a string or an array of parts")


def _check_responses(body: dict[str, object]) -> None:
    given = _required(body, "input")
    if not isinstance(given, str | list):
        raise BadField("body.input", f"must be a string or an array of items, not {kind_of(given)}")
    if not given:
        raise BadField("body.input", "must not be empty")
    if isinstance(given, list):
        for n, item in enumerate(given):
            if not isinstance(item, dict):
                raise BadField(f"body.input[{n}]", f"must be an object, not {kind_of(item)}")


def _check_embeddings(body: dict[str, object]) -> None:
    given = _required(body, "input")
    if not isinstance(given, str | list):
        raise BadField("body.input", f"must be a string or an array, not {kind_of(given)}")
    if not given:
        raise BadField("body.input", "must not be empty")
    if isinstance(given, list) and not _is_embeddable(given):
        raise BadField("body.input", "must hold texts, tokens, or arrays of tokens, and not a mixture")


def _is_embeddable(items: list[object]) -> bool:
    if isinstance(items[0], list):
        return all(isinstance(item, list) and item and _are_tokens(item) for item in items)
    return all(isinstance(item, str) and item for item in items) or _are_tokens(items)


def _are_tokens(items: list[object]) -> bool:
    return all(type(item) is int and item >= 0 for item in items)


def _required(body: dict[str, object], name: str) -> object:
    if name not in body:
        raise BadField(f"body.{name}", "is missing")
    return body[name]


_CHECKS: Final[Mapping[Endpoint, Callable[[dict[str, object]], None]]] = {
    Endpoint.CHAT: _check_chat,
    Endpoint.RESPONSES: _check_responses,
    Endpoint.EMBEDDINGS: _check_embeddings,
}
