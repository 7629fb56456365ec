"""Storage events as Event Grid delivers them, in its own schema or as CloudEvents, one or a list."""

from typing import Any, Final
from urllib.parse import unquote, urlsplit

import msgspec

BLOB_CREATED: Final = "Microsoft.Storage.BlobCreated"
MAX_BYTES: Final = 1024 * 1024
# A file that was only opened: another event follows when it has its content.
_UNCOMMITTED: Final = frozenset({"CreateFile", "SftpCreate"})


class BadEvent(ValueError):
    """No storage event. The text repeats nothing of it."""


def read_created(body: bytes) -> list[str]:
    """The blobs (`container/name`, raw) that were created or replaced; other events are left out."""
    if len(body) > MAX_BYTES:
        raise BadEvent(f"the message has {len(body):,} bytes; a storage event has {MAX_BYTES:,} at most")
    try:
        content = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise BadEvent("the message is not JSON") from None
    events = content if isinstance(content, list) else [content]
    return [path for event in events if (path := _created(event)) is not None]


def _created(event: Any) -> str | None:
    if not isinstance(event, dict):
        raise BadEvent("the message holds something that is no event")
    # Event Grid's own schema says `eventType`, CloudEvents `type`.
    kind = event.get("eventType", event.get("type"))
    if not isinstance(kind, str):
        raise BadEvent("the message holds an event without a type")
    if kind != BLOB_CREATED:
        return None
    data = event.get("data")
    if not isinstance(data, dict) or not isinstance(data.get("url"), str):
        raise BadEvent("the message holds a storage event without the URL of its blob")
    return None if data.get("api") in _UNCOMMITTED else _path_of(data["url"], event.get("subject"))


def _path_of(url: str, subject: object) -> str:
    """Decoded once. Where the address has the account before the container, the subject tells."""
    try:
        path = urlsplit(url).path.lstrip("/")
    except ValueError:
        raise BadEvent("the message holds a storage event whose URL is none") from None
    container = subject.partition("/containers/")[2].partition("/")[0] if isinstance(subject, str) else ""
    first, _, rest = path.partition("/")
    if container and first != container and rest.startswith(f"{container}/"):
        path = rest
    return unquote(path)
