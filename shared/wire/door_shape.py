"""What the job as a whole adds to each of its bodies: parameters, a token limit, an answer format."""

import re
from collections.abc import Mapping
from typing import Final

from shared.domain.catalog import Endpoint
from shared.wire.door_faults import BadField
from shared.wire.problems import Unusable

# The three names that the limit of output tokens goes by. A body that has any of them keeps it.
TOKEN_LIMITS: Final = ("max_output_tokens", "max_completion_tokens", "max_tokens")

_LIMIT_OF: Final = {Endpoint.CHAT: "max_completion_tokens", Endpoint.RESPONSES: "max_output_tokens"}
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]+")


class Shaper:
    """Makes bodies effective: what a request will be sent with, the model apart.

    Doing it twice changes nothing. Raises `Unusable` if the job asks for what its endpoint does not have.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        params: Mapping[str, object],
        schema: Mapping[str, object] | None,
        default_max_output_tokens: int | None,
    ) -> None:
        limits = [name for name in TOKEN_LIMITS if name in params]
        if endpoint is Endpoint.EMBEDDINGS and (limits or schema is not None):
            what = "output_schema" if schema is not None else f"params.{limits[0]}"
            raise Unusable(f"{what} cannot be used with embeddings, which have no text output; leave it out")
        self._endpoint = endpoint
        self._params = {name: value for name, value in params.items() if name not in TOKEN_LIMITS}
        self._limit = params[limits[0]] if limits else default_max_output_tokens
        self._format = None if schema is None else _answer_format(schema)

    def shape(self, body: dict[str, object]) -> dict[str, object]:
        """`body` with what it lacks. Given values win; `body` itself may be changed."""
        shaped = {**self._params, **body} if self._params else body
        shaped.pop("model", None)
        # It can only be false here, which is what leaving it out means.
        shaped.pop("stream", None)
        if self._limit is not None and self._endpoint in _LIMIT_OF:
            self._add_limit(shaped)
        if self._format is not None:
            self._add_format(shaped, self._format)
        return shaped

    def _add_limit(self, body: dict[str, object]) -> None:
        if all(body.get(name) is None for name in TOKEN_LIMITS):
            body[_LIMIT_OF[self._endpoint]] = self._limit

    def _add_format(self, body: dict[str, object], answer: dict[str, object]) -> None:
        if self._endpoint is Endpoint.CHAT:
            wanted: dict[str, object] = {"type": "json_schema", "json_schema": answer}
            body["response_format"] = _agreed(body.get("response_format"), wanted, "body.response_format")
            return
        text = body.get("text") or {}
        if not isinstance(text, dict):
            raise BadField("body.text", "must be an object")
        wanted = {"type": "json_schema", **answer}
        body["text"] = {**text, "format": _agreed(text.get("format"), wanted, "body.text.format")}


def _agreed(given: object, wanted: dict[str, object], field: str) -> dict[str, object]:
    if given is not None and given != wanted:
        raise BadField(field, "contradicts the job's output_schema; leave one of the two out")
    return wanted


def _answer_format(schema: Mapping[str, object]) -> dict[str, object]:
    title = schema.get("title")
    name = _UNSAFE.sub("_", title).strip("_")[:64] if isinstance(title, str) else ""
    return {"name": name or "output", "strict": is_strict(schema), "schema": dict(schema)}


# Keywords that OpenAI's strict mode takes; a schema with any other one is asked for without it.
_STRICT_KEYWORDS: Final = frozenset(
    {"$defs", "$ref", "additionalProperties", "anyOf", "const", "description", "enum", "exclusiveMaximum"}
    | {"exclusiveMinimum", "format", "items", "maxItems", "maximum", "minItems", "minimum", "multipleOf"}
    | {"pattern", "properties", "required", "title", "type"}
)


def is_strict(schema: Mapping[str, object]) -> bool:
    """Whether providers enforce this schema as it is: closed objects only, every property required.

    They refuse other schemas in strict mode; those are asked for without it, and checked by us all the same.
    """
    return schema.get("type") == "object" and all(map(_is_strict_part, _parts(schema)))


def _parts(schema: object) -> list[Mapping[str, object]]:
    """The schema and all schemas in it. Its depth is bounded where it came in."""
    if not isinstance(schema, Mapping):
        return []
    named = [schema.get(key) for key in ("properties", "$defs")]
    below = [part for group in named if isinstance(group, Mapping) for part in group.values()]
    choices = schema.get("anyOf")
    below += choices if isinstance(choices, list) else []
    below.append(schema.get("items"))
    return [schema, *(found for part in below for found in _parts(part))]


def _is_strict_part(schema: Mapping[str, object]) -> bool:
    if not _STRICT_KEYWORDS.issuperset(schema):
        return False
    if schema.get("type") != "object" and "properties" not in schema:
        return True
    properties, required = schema.get("properties"), schema.get("required")
    closed = schema.get("additionalProperties") is False
    return (
        closed
        and isinstance(properties, Mapping)
        and isinstance(required, list)
        and set(properties) == {name for name in required if isinstance(name, str)}
    )
