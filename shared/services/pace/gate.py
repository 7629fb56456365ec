"""The way to one deployment: how many calls at once, how many tokens a minute, and when not at all."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Final

from shared.domain.catalog import Tenant
from shared.domain.errors import Deferred, NotAdmitted, RateLimited, TryAgainLater
from shared.domain.pace import Breaker, Concurrency, Pacing, places
from shared.domain.rows import Row, RowKind
from shared.ports.clock import Clock, Sleep
from shared.services.pace.allowance import Allowance, Grant
from shared.services.pace.waiting import stirred

log = logging.getLogger(__name__)

INFRASTRUCTURE: Final = "infrastructure"

# Work that was put off together does not come back together.
_SPREAD: Final = 8
_SOONEST: Final = timedelta(seconds=1)


class Shut(Deferred):
    """The breaker is open: nothing was sent, and nothing should be for now."""


@dataclass(slots=True, eq=False, kw_only=True)
class _Waiter:
    tenant: Tenant
    tokens: int
    number: int
    grant: Grant | None = None
    is_turned_away: bool = False
    stir: asyncio.Event = field(default_factory=asyncio.Event)


class Gate:
    """One a deployment and process. Fair by tokens: whoever has used least of late, for its weight, goes next."""

    def __init__(
        self, *, name: str, per_minute: int | None, clock: Clock, sleep: Sleep, pacing: Pacing
    ) -> None:
        self._name = name
        self._clock = clock
        self._sleep = sleep
        self._pacing = pacing
        self._allowance = Allowance(per_minute, now=clock.now())
        self._concurrency = Concurrency.below(places(per_minute))
        self._breaker = Breaker(most=pacing.faults, shut=pacing.shut)
        self._trouble = ""
        self._paused_until: datetime | None = None
        self._waiting: list[_Waiter] = []
        self._in_flight = 0
        self._probe: Grant | None = None
        self._numbers = count()

    @property
    def in_flight(self) -> int:
        return self._in_flight

    @property
    def allowed(self) -> int:
        """How many calls may be under way at present."""
        return self._concurrency.allowed

    @property
    def is_shut(self) -> bool:
        return self._breaker.is_open(self._clock.now())

    def refuse_if_shut(self) -> None:
        """Raise `Shut` while the breaker is open."""
        if self.is_shut:
            raise self._shut()

    async def ask(
        self, tenant: Tenant, tokens: int, call: Callable[[], Awaitable[Row]], *, patience: timedelta
    ) -> Row:
        """What `call` answers, once it may go; `tokens` is the most it can take.

        Raise `Deferred` when its turn does not come within `patience`, `Shut` when the breaker is open, and
        whatever `call` raises, having taken note of it.
        """
        grant = await self._enter(tenant, tokens, patience)
        used = tokens
        try:
            row = await call()
            used = row.usage.input + row.usage.output if row.usage else tokens
            self._note(row)
            return row
        except (RateLimited, TryAgainLater) as fault:
            used = 0 if isinstance(fault, RateLimited | NotAdmitted) else tokens
            self._note_fault(fault)
            raise
        finally:
            self._leave(grant, used)

    async def _enter(self, tenant: Tenant, tokens: int, patience: timedelta) -> Grant:
        self.refuse_if_shut()
        waiter = _Waiter(tenant=tenant, tokens=tokens, number=next(self._numbers))
        self._waiting.append(waiter)
        deadline = self._clock.now() + patience
        try:
            return await self._turn(waiter, deadline)
        except BaseException:
            self._withdraw(waiter)
            raise

    async def _turn(self, waiter: _Waiter, deadline: datetime) -> Grant:
        self._let_in()
        while waiter.grant is None:
            now = self._clock.now()
            if waiter.is_turned_away:
                raise self._shut()
            if now >= deadline:
                raise self._put_off(waiter, now)
            waiter.stir.clear()
            await stirred(waiter.stir, self._sleep, min(self._next_change(now), deadline - now))
            self._let_in()
        return waiter.grant

    def _withdraw(self, waiter: _Waiter) -> None:
        """It goes without having called."""
        if waiter in self._waiting:
            self._waiting.remove(waiter)
            self._let_in()
        elif waiter.grant is not None:
            self._leave(waiter.grant, 0)

    def _let_in(self) -> None:
        now = self._clock.now()
        while self._waiting and self._has_room(now):
            waiter = self._next(now)
            # Nobody overtakes, or a large call would wait for ever. It must know how long that is now.
            if self._allowance.free_in(waiter.tokens, now):
                waiter.stir.set()
                return
            self._waiting.remove(waiter)
            self._in_flight += 1
            waiter.grant = self._allowance.take(waiter.tenant.id, waiter.tokens, now)
            if self._breaker.is_half_open(now):
                self._probe = waiter.grant
            waiter.stir.set()

    def _leave(self, grant: Grant, used: int) -> None:
        self._in_flight -= 1
        if self._probe is grant:
            self._probe = None
        self._allowance.settle(grant, used, self._clock.now())
        self._let_in()

    def _has_room(self, now: datetime) -> bool:
        if self._paused_until is not None and now < self._paused_until:
            return False
        if self._breaker.is_half_open(now) and self._probe is not None:
            return False
        return not self._breaker.is_open(now) and self._in_flight < self._concurrency.allowed

    def _next(self, now: datetime) -> _Waiter:
        def rank(waiter: _Waiter) -> tuple[float, int]:
            used = self._allowance.used_lately(waiter.tenant.id, now)
            return used / waiter.tenant.weight, waiter.number

        return min(self._waiting, key=rank)

    def _next_change(self, now: datetime) -> timedelta:
        """Until time alone may let somebody in; for ever, if only another call's end can."""
        if self._paused_until is not None and now < self._paused_until:
            return self._paused_until - now
        if not self._waiting or not self._has_room(now):
            return timedelta.max
        return self._allowance.free_in(self._next(now).tokens, now)

    def _note(self, row: Row) -> None:
        if row.kind is RowKind.UNREADABLE or (row.status or 0) >= 500:
            self._fault(row.message or f"an answer of status {row.status}", lasting=False)
            return
        self._breaker = self._breaker.after_answer()
        self._concurrency = self._concurrency.after_answer(self._in_flight)

    def _note_fault(self, fault: TryAgainLater) -> None:
        now = self._clock.now()
        if isinstance(fault, RateLimited):
            self._concurrency = self._concurrency.after_refusal(now)
            until = now + fault.retry_after
            self._paused_until = max(self._paused_until or until, until)
            log.warning(
                "deployment.limited",
                extra={"deployment": self._name, "until": self._paused_until, "calls_at_once": self.allowed},
            )
        else:
            self._fault(str(fault), lasting=isinstance(fault, NotAdmitted))

    def _fault(self, trouble: str, *, lasting: bool) -> None:
        before, self._trouble = self._breaker, trouble
        self._breaker = before.after_fault(self._clock.now(), lasting=lasting)
        if self.is_shut and self._breaker != before:
            until = self._breaker.open_until
            log.warning("deployment.shut", extra={"deployment": self._name, "until": until, "why": trouble})
            turned_away, self._waiting = self._waiting, []
            for waiter in turned_away:
                waiter.is_turned_away = True
                waiter.stir.set()

    def _shut(self) -> Shut:
        until = self._breaker.open_until or self._clock.now()
        return Shut(
            f"deployment {self._name!r} fails and is left alone for a while: {self._trouble}",
            retry_after=self._spread(until - self._clock.now()),
            fault=INFRASTRUCTURE,
        )

    def _put_off(self, waiter: _Waiter, now: datetime) -> Deferred:
        paused = self._paused_until - now if self._paused_until is not None else timedelta(0)
        wait = max(paused, self._allowance.free_in(waiter.tokens, now), self._pacing.short_wait / 2)
        return Deferred(
            f"deployment {self._name!r} has no room for another call at present",
            retry_after=self._spread(wait),
        )

    def _spread(self, wait: timedelta) -> timedelta:
        """Up to half as long again, evenly."""
        wait = max(wait, _SOONEST)
        return wait + wait / 2 * (next(self._numbers) % _SPREAD) / _SPREAD
