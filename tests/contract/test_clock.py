"""What every clock promises."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from shared.adapters.azure.clock import SystemClock
from shared.adapters.memory.clock import FixedClock, SteppingClock
from shared.ports.clock import Clock

START = datetime(2026, 3, 1, 12, tzinfo=timezone(timedelta(hours=2)))


@pytest.fixture(params=["system", "fixed", "stepping"])
def clock(request: pytest.FixtureRequest) -> Clock:
    clocks: dict[str, Clock] = {
        "system": SystemClock(),
        "fixed": FixedClock(START),
        "stepping": SteppingClock(START),
    }
    return clocks[request.param]


def test_an_instant_is_in_utc(clock: Clock) -> None:
    assert clock.now().tzinfo is UTC


def test_time_does_not_run_backwards(clock: Clock) -> None:
    assert clock.now() <= clock.now()


def test_the_system_clock_tells_the_machines_time() -> None:
    before = datetime.now(UTC)
    assert before <= SystemClock().now() <= datetime.now(UTC)


def test_a_fixed_clock_stands_until_it_is_moved() -> None:
    clock = FixedClock(START)
    assert clock.now() == clock.now() == START
    clock.advance(timedelta(minutes=5))
    assert clock.now() == START + timedelta(minutes=5)


def test_a_stepping_clock_never_tells_the_same_instant_twice() -> None:
    clock = SteppingClock(START, step=timedelta(seconds=2))
    assert [clock.now() - START for _ in range(3)] == [timedelta(seconds=n) for n in (0, 2, 4)]


def test_a_clock_without_a_zone_is_refused() -> None:
    with pytest.raises(AssertionError):
        FixedClock(datetime(2026, 3, 1))  # noqa: DTZ001 - the misuse itself
