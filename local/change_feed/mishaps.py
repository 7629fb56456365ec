"""What can go wrong with an event on its way, for tests that want it to."""

from __future__ import annotations

import random
from typing import Annotated

import msgspec

Seconds = Annotated[float, msgspec.Meta(ge=0, le=3600)]


class Knobs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All off. `loss` is the part of events that never arrive; `duplicates` are copies beside the first.

    Every copy comes `delay_seconds` late, and up to `jitter_seconds` more: that is what changes their order.
    The same `seed` gives the same course to the same sequence of events.
    """

    duplicates: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0
    delay_seconds: Seconds = 0.0
    jitter_seconds: Seconds = 0.0
    loss: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    seed: int = 0


class Mishaps:
    def __init__(self, knobs: Knobs) -> None:
        self.knobs = knobs
        self._random = random.Random(knobs.seed)

    def delays(self) -> list[float]:
        """In how many seconds each copy of the next event leaves; empty when it is lost."""
        knobs = self.knobs
        if self._random.random() < knobs.loss:
            return []
        return [
            knobs.delay_seconds + self._random.uniform(0, knobs.jitter_seconds)
            for _ in range(1 + knobs.duplicates)
        ]
