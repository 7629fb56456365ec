"""Time under the test's control."""

from datetime import UTC, datetime, timedelta


class FixedClock:
    """Stands still until it is moved."""

    def __init__(self, at: datetime) -> None:
        self._now = _in_utc(at)

    def now(self) -> datetime:
        return self._now

    def advance(self, by: timedelta) -> None:
        assert by >= timedelta(0), "time does not run backwards; make a new clock"
        self._now += by

    async def sleep(self, seconds: float) -> None:
        """Whoever sleeps by this clock moves it: the wait is over at once."""
        self.advance(timedelta(seconds=seconds))


class SteppingClock:
    """Every look is `step` later than the one before, so that no two instants are equal."""

    def __init__(self, start: datetime, *, step: timedelta = timedelta(seconds=1)) -> None:
        assert step > timedelta(0), "a stepping clock needs a step"
        self._next = _in_utc(start)
        self._step = step

    def now(self) -> datetime:
        now = self._next
        self._next += self._step
        return now


def _in_utc(instant: datetime) -> datetime:
    assert instant.utcoffset() is not None, "instants are aware"
    return instant.astimezone(UTC)
