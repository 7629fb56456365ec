"""Announcements to the outside."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A CloudEvent. `id` is deterministic, so that receivers recognise a repeat. `data` holds no content."""

    id: str
    type: str
    subject: str
    time: datetime
    data: Mapping[str, object]


class Events(Protocol):
    async def publish(self, event: Event) -> None:
        """At least once. Raise `TryAgainLater` if it may not have been taken."""
        ...
