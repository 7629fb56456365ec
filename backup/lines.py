"""A row of a table as a line of JSON, with the types that Table storage has and JSON has not."""

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from azure.data.tables import EdmType, EntityProperty


def to_line(entity: Mapping[str, Any]) -> bytes:
    """Without a line break. Names in order: the same row is the same line."""
    written = {name: _written(value) for name, value in sorted(entity.items())}
    return json.dumps(written, ensure_ascii=False, separators=(",", ":")).encode()


def from_line(line: bytes) -> dict[str, Any]:
    return {name: _read(value) for name, value in json.loads(line).items()}


def _written(value: Any) -> Any:
    match value:
        case str() | bool() | int():
            return value
        case datetime():
            # The SDK's own time keeps the seventh digit as the service gave it.
            exact = getattr(value, "tables_service_value", "")
            return {"time": exact or value.astimezone(UTC).isoformat()}
        case float():
            return {"double": value.hex()}
        case bytes():
            return {"binary": base64.b64encode(value).decode()}
        case UUID():
            return {"guid": str(value)}
        case EntityProperty() if value.edm_type == EdmType.INT64:
            return {"int64": str(value.value)}
        case _:
            raise TypeError(f"a property of type {type(value).__name__} is not known here")


def _read(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, text),) = value.items()
    match kind:
        case "time":
            return EntityProperty(text, EdmType.DATETIME)
        case "double":
            return float.fromhex(text)
        case "binary":
            return base64.b64decode(text)
        case "guid":
            return UUID(text)
        case "int64":
            return EntityProperty(int(text), EdmType.INT64)
        case _:
            raise ValueError(f"a property of the kind {kind!r} is not known here")
