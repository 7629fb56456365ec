"""What may be stored, said once for every implementation of a port.

Each check raises `ValueError` before anything is sent: the services answer late and unclearly, and the
local stand-ins for them break on some of it.
"""

import json
import re
from datetime import datetime

from shared.ports.events import Event
from shared.ports.tables import Fields, Value

MAX_KEY_CHARACTERS = 512
MAX_STRING_CHARACTERS = 30_000
MAX_ENTITY_BYTES = 400_000
MAX_ENTITY_JSON_BYTES = 1_000_000  # as sent, everything beyond ASCII escaped: what Azurite measures
MAX_FIELDS = 252
MAX_INTEGER = 2**63
MAX_BLOB_NAME_CHARACTERS = 1024
MAX_EVENT_BYTES = 1_000_000

_TABLE = re.compile(r"[A-Za-z][A-Za-z0-9]{2,62}")
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")
_RESERVED_FIELDS = frozenset({"PartitionKey", "RowKey", "Timestamp"})
_CONTAINER = re.compile(r"(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*")
# Beside the four signs all control characters: Unicode's category Cc.
_FORBIDDEN_IN_KEYS = re.compile(r"[/\\#?\x00-\x1f\x7f-\x9f]")


def check_table(table: str) -> None:
    if not _TABLE.fullmatch(table):
        raise ValueError(f"table name {table!r} is not 3 to 63 letters and digits, starting with a letter")


def check_key(key: str) -> None:
    if _characters(key) > MAX_KEY_CHARACTERS:
        raise ValueError(f"key of {len(key)} characters, more than {MAX_KEY_CHARACTERS}: {key[:40]!r}...")
    if _FORBIDDEN_IN_KEYS.search(key):
        raise ValueError(f"key {key!r} holds one of / \\ # ? or a control character")


def check_entity(partition: str, row: str, fields: Fields) -> None:
    check_key(partition)
    check_key(row)
    if len(fields) > MAX_FIELDS:
        raise ValueError(f"entity {row!r} has {len(fields)} fields, more than {MAX_FIELDS}")
    size = len(partition.encode()) + len(row.encode())
    for name, value in fields.items():
        _check_field_name(name)
        size += len(name) + _checked_size(name, value)
    if size > MAX_ENTITY_BYTES:
        raise ValueError(f"entity {row!r} has {size} bytes, more than {MAX_ENTITY_BYTES}")
    if size > MAX_ENTITY_JSON_BYTES // 6 and _json_size(fields) > MAX_ENTITY_JSON_BYTES:
        raise ValueError(f"entity {row!r} has more than {MAX_ENTITY_JSON_BYTES} bytes once written as JSON")


def split_path(path: str) -> tuple[str, str]:
    """The container and the name of a blob path."""
    container, name = split_prefix(path)
    if not name:
        raise ValueError(f"blob path {path!r} has no name after its container")
    return container, name


def split_prefix(prefix: str) -> tuple[str, str]:
    """The container of a prefix, and the beginning of names (may be empty)."""
    container, slash, name = prefix.partition("/")
    if not slash or not _CONTAINER.fullmatch(container):
        raise ValueError(f"{prefix!r} does not start with a container name and a slash")
    return container, name


def fault_of_name(name: str) -> str | None:
    """Why no blob can have this name; None if one can.

    HTTP clients and servers resolve dot segments and take a backslash for a slash: such a name would reach
    another blob than the one it spells.
    """
    try:
        characters = _characters(name)
    except UnicodeEncodeError:
        return "is no valid Unicode"
    if characters > MAX_BLOB_NAME_CHARACTERS:
        return f"has more than {MAX_BLOB_NAME_CHARACTERS} characters"
    if "\\" in name:
        return "holds a backslash"
    if not {".", ".."}.isdisjoint(name.split("/")):
        return "has a dot segment"
    return None


def check_new_path(path: str) -> None:
    _, name = split_path(path)
    if fault := fault_of_name(name):
        raise ValueError(f"blob path {path[:80]!r} {fault}")


def bare_etag(etag: str) -> str:
    """A blob's ETag without quotes: services quote it in some answers and not in others."""
    return etag.strip('"')


def check_event(event: Event) -> None:
    if not (event.id and event.type and event.subject):
        raise ValueError("an event needs an id, a type and a subject")
    if event.time.utcoffset() is None:
        raise ValueError(f"event {event.id!r} has a time without a zone")
    size = len(json.dumps(dict(event.data)).encode())
    if size > MAX_EVENT_BYTES:
        raise ValueError(f"event {event.id!r} has {size} bytes of data, more than {MAX_EVENT_BYTES}")


def _check_field_name(name: str) -> None:
    if not _FIELD.fullmatch(name) or name in _RESERVED_FIELDS:
        raise ValueError(f"field name {name!r} is not an identifier, or is reserved")


def _checked_size(name: str, value: Value) -> int:
    """The bytes that `value` takes, after a check of its type and range."""
    match value:
        case str():
            if _characters(value) > MAX_STRING_CHARACTERS:
                raise ValueError(f"field {name!r} has more than {MAX_STRING_CHARACTERS} characters")
            return len(value.encode())
        case int():
            if abs(value) >= MAX_INTEGER:
                raise ValueError(f"field {name!r} holds an integer of 2**63 or more")
        case datetime():
            if value.utcoffset() is None:
                raise ValueError(f"field {name!r} holds a time without a zone")
        case _:
            raise TypeError(f"field {name!r} holds a {type(value).__name__}")
    return 8


def _json_size(fields: Fields) -> int:
    return len(json.dumps({name: str(value) for name, value in fields.items()}))


def _characters(text: str) -> int:
    """UTF-16 units, as the services count; a lone surrogate is refused with `UnicodeEncodeError`."""
    return len(text.encode("utf-16-le")) // 2
