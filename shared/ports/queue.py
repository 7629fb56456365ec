"""Messages to our own workers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """`id` is what duplicate detection goes by, at most 128 characters. `body` stays below 4 KB, no content."""

    id: str
    body: bytes
    correlation_id: str
    properties: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


class Queue(Protocol):
    async def send(self, message: Message, *, delay: timedelta | None = None) -> None:
        """Durable before it returns; delivered at least once, after `delay`.

        A second message with the same id within the queue's window is dropped. Raise `TryAgainLater` if it
        may not have been taken.
        """
        ...
