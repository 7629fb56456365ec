"""Messages to our own workers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """`id` is what duplicate detection goes by, at most 128 characters. `body` stays below 4 KB, no content."""

    id: str
    body: bytes
    correlation_id: str
    properties: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A message that was given up. `sequence` orders them; `reason` and `description` are the service's words."""

    sequence: int
    body: bytes
    sent_at: datetime
    reason: str
    description: str


class Queue(Protocol):
    async def send(self, message: Message, *, delay: timedelta | None = None) -> None:
        """Durable before it returns; delivered at least once, after `delay`.

        A second message with the same id within the queue's window is dropped. Raise `TryAgainLater` if it
        may not have been taken.
        """
        ...

    async def is_empty(self) -> bool:
        """Whether there is no message at all: none that waits, is scheduled or is being worked on, dead letters
        left out. Raise `TryAgainLater`."""
        ...

    async def dead_letters(self, *, start: int = 0, limit: int = 100) -> Sequence[DeadLetter]:
        """At most `limit` of the messages that were given up, ascending, from the sequence `start` on.

        They stay where they are. Fewer than `limit` do not mean the end, none does. Raise `TryAgainLater`.
        """
        ...
