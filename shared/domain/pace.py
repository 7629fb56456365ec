"""How fast a deployment may be asked, and by whom: pure values, moved on by what happens."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Self

from shared.domain.catalog import DeploymentLimits
from shared.domain.ids import TenantId
from shared.domain.waits import Backoff

# A call of two thousand tokens that takes six seconds: one place for each twenty thousand tokens a minute.
TOKENS_A_PLACE: Final = 20_000
# A process that takes many more messages than it has places for can pass on what is not their turn.
_MOST_PLACES: Final = 16
# For a deployment whose tokens per minute nobody has told us.
_UNTOLD_PLACES: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """The bounds of patience.

    `short_wait`: how long a call may be held back before it is put off. `committed_wait`: the same for a task
    that has answers already, which would be bought again. `lately`: how long a tenant counts as present after
    it was last seen. `longest_delay` bounds how far ahead work of a tenant beyond its share is put off.
    """

    short_wait: timedelta = timedelta(seconds=10)
    committed_wait: timedelta = timedelta(seconds=60)
    second_try: timedelta = timedelta(seconds=1)
    lately: timedelta = timedelta(seconds=10)
    longest_delay: timedelta = timedelta(minutes=2)
    faults: int = 5
    shut: Backoff = Backoff(first=timedelta(seconds=15), longest=timedelta(minutes=2))  # noqa: RUF009


def share_per_minute(limits: DeploymentLimits, *, instances: int) -> int | None:
    """The tokens a minute that one process may use; None when no limit is set."""
    if limits.tokens_per_minute is None:
        return None
    return max(int(limits.tokens_per_minute * limits.share / instances), 1)


def places(per_minute: int | None) -> int:
    """How many calls may be under way at once."""
    if per_minute is None:
        return _UNTOLD_PLACES
    return min(math.ceil(per_minute / TOKENS_A_PLACE), _MOST_PLACES)


def documents_beside(calls: int) -> int:
    """How many documents may be worked on for so many calls: a document is also read, and stored."""
    return calls + max(calls // 4, 1)


def most_held(documents: int) -> int:
    """The same, and half as many for whoever comes while one tenant holds them all."""
    return documents + max(documents // 2, 1)


def most_asked_for(share: int) -> int:
    """How many documents of a tenant are held or wait for a moment; what comes on top is put off at once."""
    return 2 * share


def share_of(tenant: TenantId, weights: Mapping[TenantId, int], size: int) -> int:
    """How many of `size` places are this tenant's among all that are present; never none."""
    return max(size * weights[tenant] // sum(weights.values()), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Concurrency:
    """How many calls the provider bears: one more a window, seven tenths after a refusal."""

    ceiling: int
    limit: float
    cut_at: datetime | None = None

    @classmethod
    def below(cls, ceiling: int) -> Self:
        """Half way up, to begin with."""
        return cls(ceiling=ceiling, limit=max(ceiling / 2, 1))

    @property
    def allowed(self) -> int:
        return int(self.limit)

    def after_answer(self, in_flight: int) -> Self:
        """Wider, if the limit was in use: calls that nobody made prove nothing."""
        if in_flight < self.allowed:
            return self
        return replace(self, limit=min(self.limit + 1 / self.limit, self.ceiling))

    def after_refusal(self, now: datetime) -> Self:
        """Narrower. Calls that were refused together are one refusal."""
        if self.cut_at is not None and now - self.cut_at < _ONE_CUT:
            return self
        return replace(self, limit=max(self.limit * _CUT, 1), cut_at=now)


_CUT: Final = 0.7
_ONE_CUT: Final = timedelta(milliseconds=250)


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """Opens after `most` faults in a row, and lets one call try again when its time is over.

    `open_until` None: closed. In the past: half open.
    """

    most: int
    shut: Backoff
    faults: int = 0
    openings: int = 0
    open_until: datetime | None = field(default=None)

    def is_open(self, now: datetime) -> bool:
        return self.open_until is not None and now < self.open_until

    def is_half_open(self, now: datetime) -> bool:
        return self.open_until is not None and now >= self.open_until

    def after_fault(self, now: datetime, *, lasting: bool) -> Self:
        """`lasting`: it will not pass by itself, as a refused key; one is enough."""
        if self.is_open(now):
            # A call from before; the wait has begun.
            return self
        faults = self.faults + 1
        if faults < self.most and not lasting and self.open_until is None:
            return replace(self, faults=faults)
        openings = self.openings + 1
        return replace(self, faults=faults, openings=openings, open_until=now + self.shut.after(openings))

    def after_answer(self) -> Self:
        return replace(self, faults=0, openings=0, open_until=None)
