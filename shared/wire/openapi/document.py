"""Puts operations and shapes together."""

import re
from functools import cache
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from shared.wire.openapi.openai_shapes import OPENAI_SCHEMAS
from shared.wire.openapi.operation import Operation, Query
from shared.wire.openapi.operations import OPERATIONS
from shared.wire.openapi.shapes import SCHEMAS as NATIVE_SCHEMAS

VERSION: Final = "1"
SCHEMAS: Final = {**NATIVE_SCHEMAS, **OPENAI_SCHEMAS}
_PARAMETER: Final = re.compile(r"\{(\w+)\}")
_ANSWERS: Final = {
    200: "Here it is",
    201: "Made",
    202: "Accepted",
    204: "Done",
    206: "The part that was asked for",
    400: "Something in it is wrong",
    401: "Credentials are missing or not known",
    404: "No such thing, or not yours",
    409: "Not now, or not under this name",
    413: "Too large this way",
    416: "Nothing lies in that range",
    422: "Well-formed, and yet nothing can be made of it",
    503: "What it needs does not answer; try again in a moment",
}


@cache
def openapi_document() -> dict[str, Any]:
    """OpenAPI 3.1. The same object at every call."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Postern",
            "version": VERSION,
            "description": "The one guarded door through which a company's asynchronous LLM work leaves.",
        },
        "paths": paths,
        "components": {
            "schemas": {**SCHEMAS, **_bodies()},
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "api-key": {"type": "apiKey", "in": "header", "name": "api-key"},
                "x-api-key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
            },
        },
    }


def _operation(operation: Operation) -> dict[str, Any]:
    document: dict[str, Any] = {
        "operationId": _identity(operation),
        "summary": operation.summary,
        "security": [] if operation.public else [{"bearer": []}, {"api-key": []}, {"x-api-key": []}],
        "parameters": _parameters(operation),
        "responses": {str(s): _answer(s, kind) for s, kind in sorted(operation.answers.items())},
    }
    for media in operation.formats:
        document["responses"]["200"]["content"][media] = {}
    if operation.body is not None:
        document["requestBody"] = {
            "required": not operation.may_lack_body,
            "content": {operation.media: _schema(operation.body.__name__)},
        }
    return document


def _identity(operation: Operation) -> str:
    words = re.sub(r"[^a-z0-9]+", "_", operation.path.lower()).strip("_")
    return f"{operation.method.lower()}_{words}"


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in _PARAMETER.findall(operation.path)
    ]
    key = {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "The same key with the same body answers the same for seven days.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    }
    return in_path + [_query(q) for q in operation.query] + ([key] if operation.idempotent else [])


def _query(query: Query) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    if query.most is not None:
        schema = {"type": "integer", "minimum": 1, "maximum": query.most}
    if query.values:
        schema["enum"] = list(query.values)
    return {"name": query.name, "in": "query", "description": query.meaning, "schema": schema}


def _answer(status: int, kind: str | None) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": _ANSWERS[status]}
    if kind is None:
        return answer
    if kind in SCHEMAS:
        media = "application/problem+json" if kind == "Problem" else "application/json"
        answer["content"] = {media: _schema(kind)}
    else:
        answer["content"] = {kind: {}}
    return answer


def _schema(name: str) -> dict[str, Any]:
    return {"schema": {"$ref": f"#/components/schemas/{name}"}}


def _bodies() -> dict[str, Any]:
    """What the code itself validates bodies with."""
    models: set[type[BaseModel]] = {o.body for o in OPERATIONS if o.body is not None}
    ordered = sorted(models, key=lambda model: model.__name__)
    _, schemas = models_json_schema(
        [(model, "validation") for model in ordered], ref_template="#/components/schemas/{model}"
    )
    defined: dict[str, Any] = schemas.get("$defs", {})
    return defined
