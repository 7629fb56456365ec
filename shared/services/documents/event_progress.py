"""How far the events of drops have been dealt with: what tells a claim that is slow from an event that is lost."""

import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from shared.domain.errors import PosternError
from shared.ports.clock import Clock
from shared.stores.cursors import Cursors, Round

log = logging.getLogger(__name__)

NAME: Final = "events"
# A note for every claim would be a write for every claim.
EVERY: Final = timedelta(seconds=2)
# Claims that are behind by more than so many times the wait are not waited for any longer.
LONGEST: Final = 12


@dataclass(slots=True, kw_only=True)
class EventProgress:
    """Every process notes its own; the last note stands."""

    cursors: Cursors
    clock: Clock
    _noted_at: datetime | None = field(default=None, init=False)
    _newest: datetime | None = field(default=None, init=False)

    async def note(self, dropped_at: datetime) -> None:
        """The event of a document that was dropped then has been dealt with. Never fails."""
        now = self.clock.now()
        newest = dropped_at if self._newest is None else max(self._newest, dropped_at)
        self._newest = newest
        if self._noted_at is not None and now - self._noted_at < EVERY:
            return
        self._noted_at = now
        try:
            await self.cursors.put(NAME, Round(cursor=None, began_at=now, verified_until=newest))
        except PosternError as error:
            log.warning("events.unnoted", extra={"why": str(error)})

    async def overdue_before(self, wait: timedelta) -> datetime:
        """What was dropped before this moment should have had its event, with `wait` for the event to come.

        Where events are dealt with, but only those of older drops, the claims are behind: what was dropped
        later still has its turn to come.
        """
        now = self.clock.now()
        overdue = now - wait
        noted = await self.cursors.find(NAME)
        if noted is None or noted.verified_until is None or now - noted.began_at > wait:
            return overdue
        return max(min(overdue, noted.verified_until - wait), now - LONGEST * wait)
