"""The few things an orchestrator may ask of the durable runtime."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

# The runtime's task objects are opaque to us.
Awaited = Any


class DurableContext(Protocol):
    @property
    def now(self) -> datetime:
        """The same instant at every replay."""
        ...

    def call(self, activity: str, input_: object) -> Awaited: ...

    def timer(self, fire_at: datetime) -> Awaited: ...

    def event(self, name: str) -> Awaited:
        """The next event of that name that nobody waits for yet."""
        ...

    def first_of(self, tasks: Sequence[Awaited]) -> Awaited: ...

    def begin_anew(self, input_: object) -> None:
        """End this history and start a new one; events not yet consumed are kept."""
        ...
