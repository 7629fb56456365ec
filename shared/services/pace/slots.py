"""Whose turn it is: documents that may be worked on at once, shared out between tenants by weight."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Final

from shared.domain.catalog import Tenant
from shared.domain.errors import Deferred
from shared.domain.ids import TenantId
from shared.domain.pace import Pacing, most_asked_for, most_held, share_of
from shared.ports.clock import Clock, Sleep
from shared.services.pace.waiting import stirred

# How long a document takes, until some have told.
_FIRST_GUESS: Final = timedelta(seconds=5)
_WEIGHT_OF_NEWS: Final = 0.2
# Work is called back a little faster than it is done, so that no slot stays empty.
_EAGER: Final = 1.5
_SOONEST: Final = timedelta(seconds=1)
_LOOK: Final = timedelta(seconds=1)
# Multiples of it fall evenly into any interval.
_GOLDEN: Final = (math.sqrt(5) - 1) / 2


@dataclass(slots=True, eq=False, kw_only=True)
class _Presence:
    """One tenant, as long as it holds or awaits slots or was seen lately."""

    tenant: Tenant
    seen_at: datetime
    held: int = 0
    waiting: int = 0
    booked_until: datetime

    @property
    def asks_for(self) -> int:
        return self.held + self.waiting


@dataclass(slots=True, eq=False, kw_only=True)
class _Waiter:
    presence: _Presence
    number: int
    turn: asyncio.Event = field(default_factory=asyncio.Event)


class Slots:
    """One a deployment and process. `size` may change from moment to moment.

    A tenant that is alone may hold them all; beside them half as many are kept for whoever comes, so that nobody
    waits for another tenant's work to end before its own begins.
    """

    def __init__(self, *, size: Callable[[], int], clock: Clock, sleep: Sleep, pacing: Pacing) -> None:
        self._size = size
        self._clock = clock
        self._sleep = sleep
        self._pacing = pacing
        self._present: dict[TenantId, _Presence] = {}
        self._waiting: list[_Waiter] = []
        self._holding = _FIRST_GUESS
        self._numbers = count()

    @asynccontextmanager
    async def slot(self, tenant: Tenant) -> AsyncIterator[None]:
        """Hold one.

        Beyond the tenant's share as many may wait for a moment, so that no slot stays empty; whatever comes
        on top raises `Deferred` at once, and so does who has waited too long.
        """
        self.refuse_if_crowded(tenant)
        presence = self._see(tenant)
        await self._enter(presence)
        begun = self._clock.now()
        try:
            yield
        finally:
            took = self._clock.now() - begun
            self._holding += (took - self._holding) * _WEIGHT_OF_NEWS
            self._leave(presence)

    def refuse_if_crowded(self, tenant: Tenant) -> None:
        """Raise `Deferred` where `slot` would at once."""
        presence = self._see(tenant)
        if presence.asks_for >= most_asked_for(self.share(tenant.id)):
            raise self._put_off(presence)

    def held(self, tenant: TenantId) -> int:
        presence = self._present.get(tenant)
        return presence.held if presence else 0

    def share(self, tenant: TenantId) -> int:
        """How many slots are this tenant's at present."""
        weights = {name: present.tenant.weight for name, present in self._present.items()}
        return share_of(tenant, weights, self._size())

    def _see(self, tenant: Tenant) -> _Presence:
        now = self._clock.now()
        self._forget(now)
        presence = self._present.get(tenant.id)
        if presence is None:
            presence = _Presence(tenant=tenant, seen_at=now, booked_until=now)
            self._present[tenant.id] = presence
        presence.tenant, presence.seen_at = tenant, now
        return presence

    def _forget(self, now: datetime) -> None:
        """Whoever holds and awaits nothing, and has not been seen for a while."""
        gone = [
            name
            for name, present in self._present.items()
            if not present.asks_for
            and now - present.seen_at >= self._pacing.lately
            and present.booked_until <= now
        ]
        for name in gone:
            del self._present[name]

    async def _enter(self, presence: _Presence) -> None:
        waiter = _Waiter(presence=presence, number=next(self._numbers))
        self._waiting.append(waiter)
        presence.waiting += 1
        deadline = self._clock.now() + self._pacing.short_wait
        try:
            self._let_in()
            while not waiter.turn.is_set():
                now = self._clock.now()
                if now >= deadline:
                    raise self._put_off(presence)
                # Shares grow without a sound when a tenant has not been seen for a while.
                await stirred(waiter.turn, self._sleep, min(deadline - now, _LOOK))
                self._let_in()
        except BaseException:
            self._withdraw(waiter)
            raise

    def _withdraw(self, waiter: _Waiter) -> None:
        if waiter.turn.is_set():
            self._leave(waiter.presence)
        else:
            self._waiting.remove(waiter)
            waiter.presence.waiting -= 1

    def _leave(self, presence: _Presence) -> None:
        presence.held -= 1
        self._let_in()

    def _let_in(self) -> None:
        """Whoever holds least for its weight, then whoever came first."""
        self._forget(self._clock.now())
        while (waiter := self._next()) is not None:
            self._waiting.remove(waiter)
            waiter.presence.waiting -= 1
            waiter.presence.held += 1
            waiter.turn.set()

    def _next(self) -> _Waiter | None:
        if self._is_full():
            return None
        able = (w for w in self._waiting if w.presence.held < self.share(w.presence.tenant.id))
        return min(able, key=_rank, default=None)

    def _is_full(self) -> bool:
        return sum(present.held for present in self._present.values()) >= most_held(self._size())

    def _put_off(self, presence: _Presence) -> Deferred:
        """As many an hour as the tenant's slots get through, one after the other."""
        now = self._clock.now()
        share = self.share(presence.tenant.id)
        booked = max(presence.booked_until, now) + self._holding / (share * _EAGER)
        longest = self._pacing.longest_delay
        if booked - now > longest:
            booked = now + longest
            delay = longest * (1 + next(self._numbers) * _GOLDEN % 1) / 2
        else:
            delay = booked - now
        presence.booked_until = booked
        return Deferred(
            f"the tenant uses its {share} slots of this deployment", retry_after=max(delay, _SOONEST)
        )


def _rank(waiter: _Waiter) -> tuple[float, int]:
    return waiter.presence.held / waiter.presence.tenant.weight, waiter.number
