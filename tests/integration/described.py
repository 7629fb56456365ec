"""The API as its own document tells it: calls are made from it, and answers are held against it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx2
import jsonschema_rs

from shared.wire.openapi.document import openapi_document
from tests.integration.postern import Json

DOCUMENT = openapi_document()
SCHEMAS: Mapping[str, Any] = DOCUMENT["components"]["schemas"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """One operation."""

    method: str
    path: str
    told: Json

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    def parameters(self, place: str) -> list[Json]:
        """`place`: path, query or header."""
        return [each for each in self.told["parameters"] if each["in"] == place]

    @property
    def body(self) -> tuple[str, Json] | None:
        """Its media type and its schema."""
        if "requestBody" not in self.told:
            return None
        [(media, content)] = self.told["requestBody"]["content"].items()
        return media, content["schema"]

    def target(self, **values: str) -> str:
        path = self.path
        for each in self.parameters("path"):
            path = path.replace(f"{{{each['name']}}}", quote(values[each["name"]], safe=""))
        return path


def operations() -> list[Described]:
    """Those that remove something come last."""
    found = [
        Described(method=method.upper(), path=path, told=told)
        for path, methods in DOCUMENT["paths"].items()
        for method, told in methods.items()
    ]
    return sorted(found, key=lambda each: each.method == "DELETE")


def contradictions(operation: Described, response: httpx2.Response) -> Iterator[str]:
    """In what the answer is not as the document promises."""
    status = str(response.status_code)
    promised = operation.told["responses"].get(status)
    if promised is None:
        yield f"{status} is not described: {response.text[:300]}"
        return
    content: Json = promised.get("content", {})
    media = response.headers.get("content-type", "").partition(";")[0]
    if not content:
        if response.content:
            yield f"{status} should come without a body"
    elif media not in content:
        yield f"{status} comes as {media!r}, not as one of {list(content)}"
    elif "schema" in content[media]:
        yield from (f"{status}: {why}" for why in _misfits(content[media]["schema"], response.content))


def _misfits(schema: Json, content: bytes) -> Iterator[str]:
    whole = {**schema, "components": {"schemas": _closed(SCHEMAS)}}
    validator = jsonschema_rs.validator_for(whole, validate_formats=True)
    for error in validator.iter_errors(json.loads(content)):
        yield f"{error.message[:300]} at {list(error.instance_path)}"


def _closed(schema: Any) -> Any:
    """The same, and nothing may be there that is not described."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    closed = {name: _closed(each) for name, each in schema.items()}
    return (
        {"additionalProperties": False, **closed} if "properties" in schema and "type" in schema else closed
    )
