"""One JSON document in the columns of an entity."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from shared.domain.errors import GiveUp
from shared.ports.tables import Fields, Value

# A table's string column holds 32 K UTF-16 units; a document is spread over as many as it needs.
COLUMN: Final = 15_000
SCHEMA: Final = "schema"


def pack(schema: str, document: Mapping[str, Any], **columns: Value) -> Fields:
    """`columns` are what queries and people in a table viewer look at; the document is the truth."""
    text = msgspec.json.encode(document).decode()
    pieces = {f"doc{i // COLUMN}": text[i : i + COLUMN] for i in range(0, len(text), COLUMN)}
    return {SCHEMA: schema, **columns, **pieces}


def unpack(fields: Fields, *, known: tuple[str, ...]) -> dict[str, Any]:
    """The document, or `GiveUp` when it was written by a version we do not know."""
    schema = fields.get(SCHEMA)
    if not isinstance(schema, str) or schema not in known:
        raise GiveUp(f"record of unknown schema {schema!r}; this version of the app reads {', '.join(known)}")
    names = sorted((n for n in fields if n.startswith("doc")), key=lambda n: int(n[3:]))
    document: dict[str, Any] = msgspec.json.decode("".join(str(fields[n]) for n in names))
    return document


def instant(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def needed_moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
