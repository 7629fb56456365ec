"""What Event Grid posts to a webhook: its handshake, and storage events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from local.host.blob_paths import BlobPath, path_of_url

VALIDATION = "Microsoft.EventGrid.SubscriptionValidationEvent"
BLOB_CREATED = "Microsoft.Storage.BlobCreated"


class _Event(msgspec.Struct, frozen=True, rename="camel"):
    event_type: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Handshake:
    """Event Grid asks whether this is the right address; it wants its code back."""

    code: str


def read_post(body: bytes) -> Handshake | tuple[BlobPath, ...]:
    """The handshake, or the blobs that were created; other events are left out. Raises `ValueError`."""
    try:
        events = msgspec.json.decode(body, type=list[_Event])
    except msgspec.DecodeError as exc:
        raise ValueError(f"the body is not a list of events in Event Grid's schema: {exc}") from exc
    for event in events:
        if event.event_type == VALIDATION:
            return Handshake(code=_text(event, "validationCode"))
    return tuple(path_of_url(_text(event, "url")) for event in events if event.event_type == BLOB_CREATED)


def _text(event: _Event, name: str) -> str:
    value = event.data.get(name)
    if not isinstance(value, str):
        raise ValueError(f"an event of type {event.event_type} has no data.{name}")  # noqa: TRY004 - of the body
    return value
