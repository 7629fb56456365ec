"""A deployment's tokens: no more in any sixty seconds than its share, and evenly enough for newcomers."""

import math
from collections import deque
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from shared.domain.ids import TenantId

MINUTE: Final = timedelta(minutes=1)
# This part of the share may go at once, the rest as the minute passes: together never more than the share.
_BURST: Final = 1 / 6


@dataclass(slots=True, eq=False)
class Grant:
    """Tokens set aside for one call."""

    tenant: TenantId
    tokens: int
    at: datetime


class Allowance:
    """`per_minute` None: no limit is known; tokens are counted all the same, to be fair by.

    A call that alone is larger than the share goes when nothing else has gone for a minute. Whatever it
    takes beyond its turn is waited for afterwards.
    """

    def __init__(self, per_minute: int | None, *, now: datetime) -> None:
        self._per_minute = per_minute
        self._burst = (per_minute or 0) * _BURST
        self._level = self._burst
        self._refilled_at = now
        self._grants: deque[Grant] = deque()
        self._taken = 0
        self._by_tenant: dict[TenantId, int] = {}

    def free_in(self, tokens: int, now: datetime) -> timedelta:
        """How long until so many may be taken; zero: now."""
        self._pass_time(now)
        if self._per_minute is None:
            return timedelta(0)
        return max(self._bucket_wait(tokens), self._window_wait(tokens, now))

    def take(self, tenant: TenantId, tokens: int, now: datetime) -> Grant:
        if wait := self.free_in(tokens, now):
            raise ValueError(f"these tokens are not free before {wait} has passed")
        grant = Grant(tenant=tenant, tokens=tokens, at=now)
        self._grants.append(grant)
        self._level -= tokens
        self._add(tenant, tokens)
        return grant

    def settle(self, grant: Grant, used: int, now: datetime) -> None:
        """Give back what was set aside and not used. More than was set aside is counted too."""
        self._pass_time(now)
        unused = grant.tokens - used
        self._level = min(self._level + unused, self._burst)
        if now - grant.at < MINUTE:
            self._add(grant.tenant, -unused)
        grant.tokens = used

    def used_lately(self, tenant: TenantId, now: datetime) -> int:
        self._pass_time(now)
        return self._by_tenant.get(tenant, 0)

    def _bucket_wait(self, tokens: int) -> timedelta:
        lacking = min(tokens, self._burst) - self._level
        # Sums of fractions are a little off; nobody waits for a thousandth of a token.
        if lacking < 0.001:
            return timedelta(0)
        return timedelta(microseconds=math.ceil(lacking / self._rate * 1e6))

    def _window_wait(self, tokens: int, now: datetime) -> timedelta:
        """Until enough of the oldest grants are a minute old, or none is left."""
        excess = self._taken + tokens - (self._per_minute or 0)
        wait = timedelta(0)
        for grant in self._grants:
            if excess <= 0:
                break
            excess -= grant.tokens
            wait = grant.at + MINUTE - now
        return wait

    @property
    def _rate(self) -> float:
        """Tokens a second."""
        return (self._per_minute or 0) * (1 - _BURST) / MINUTE.total_seconds()

    def _pass_time(self, now: datetime) -> None:
        passed = max((now - self._refilled_at).total_seconds(), 0)
        self._refilled_at = max(now, self._refilled_at)
        self._level = min(self._level + passed * self._rate, self._burst)
        while self._grants and now - self._grants[0].at >= MINUTE:
            old = self._grants.popleft()
            self._add(old.tenant, -old.tokens)

    def _add(self, tenant: TenantId, tokens: int) -> None:
        self._taken += tokens
        left = self._by_tenant.get(tenant, 0) + tokens
        if left:
            self._by_tenant[tenant] = left
        else:
            self._by_tenant.pop(tenant, None)
