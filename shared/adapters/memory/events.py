"""Events kept in a list."""

import asyncio

from shared.adapters.limits import check_event
from shared.domain.errors import TryAgainLater
from shared.ports.events import Event


class MemoryEvents:
    """`published` holds every event taken, in order, repeats included."""

    def __init__(self) -> None:
        self.published: list[Event] = []
        self._refusals = 0

    def refuse(self, times: int) -> None:
        """Make the next `times` publications fail."""
        self._refusals = times

    async def publish(self, event: Event) -> None:
        check_event(event)
        await asyncio.sleep(0)
        if self._refusals:
            self._refusals -= 1
            raise TryAgainLater(f"event {event.id!r} was not taken")
        self.published.append(event)
